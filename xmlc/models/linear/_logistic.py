"""Regularised logistic regressions, eight labels side by side: kernels.

For one label of n instances x_i, with y_i in {0, 1}, features of which it sees the first ``width``, and C > 0,

    f(w, b) = |w|^2 / 2 + C sum_i v_i log(1 + exp(-s_i z_i)),  z_i = x_i w + b,  s_i = 2 y_i - 1

with the weight v_i of each instance, is minimised by Newton's method, the steps found by conjugate gradients (CG):
truncated Newton, C.-J. Lin, R. C. Weng, S. S. Keerthi, *Trust Region Newton Method for Large-Scale Logistic
Regression*, JMLR 9, 2008; with a line search in place of the trust region. What is particular here:

* The constant b is eliminated from the Newton system, which centres each feature by its mean under the weights
  d_i = v_i p_i (1 - p_i). Features that are scaled but not shifted would otherwise be nearly parallel to the constant.
* CG is preconditioned by 1 + C sum_i d_i v_k with the variance v_k of the feature: a constant for scaled features, and
  for others what scales them. On enron the exact diagonal of the matrix needs half as many products again.
* A product with the matrix reads each row once, for X p and X^T u. Eight labels share that pass (see
  `multiply_row`): each lane is in a phase of its own, and takes the next label of the queue when its path of C ends.
* Exact Newton steps by Cholesky would take d^3 / 3 operations, as much as some hundred to thousands of the products of
  which a step needs 5 to 100.

A lane ends where the squared Newton decrement, twice what the next step can still gain, is below `TOLERANCE` times f:
after CG, and then the step is taken, or by the bound |gradient|^2, which holds because the matrix of second derivatives
is at least the unit matrix. Relative to f this has no unit, and is far above what rounding leaves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from xmlc.core.kernel_cache import njit
from xmlc.kernels.float64 import exp, log, log1p
from xmlc.kernels.vectors import DOUBLE, Vectors, index_at

LANES = 8  # labels side by side
TOLERANCE = 1e-20  # of the squared Newton decrement, relative to f
SAFE = 1e-11  # below it the objective's own rounding hides what a step gains, and full steps converge
SUFFICIENT = 1e-4  # share of the predicted gain that a step must bring
MAX_STEPS, MAX_PRODUCTS, MAX_HALVINGS = 100, 2000, 50  # of one label and C; of one step

IDLE, GRADIENT, MEANS, CONJUGATE, SOLVED = np.arange(5)  # phases of a lane, see `Lanes`


class Problem(NamedTuple):
    """A training set in the form that the solver takes, shared by all labels and folds."""

    indptr: np.ndarray  # int64 (n + 1,): CSR of the scaled features, width of them
    indices: np.ndarray  # uint32
    data: np.ndarray  # float64
    label_rows: np.ndarray  # int64: CSC of the label matrix, the instances of each label, ascending
    label_starts: np.ndarray  # int64 (m + 1,)
    scale: np.ndarray  # float64 (width,): what each column was multiplied with
    variances: np.ndarray  # float64 (width,): its variance since
    widths: np.ndarray  # int64 (m,): how many columns each label's classifier sees, from the first on
    importance: np.ndarray  # float64 (n,): the weight of each instance's loss

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return self.indptr.size - 1


class Solution(NamedTuple):
    """Logistic regressions of some labels."""

    weights: np.ndarray  # float64 (labels, width): for the last C, as the constants
    constants: np.ndarray  # float64 (labels,)
    losses: np.ndarray  # float64 (labels, values of C): mean logistic losses on held-out instances; NaN without any
    decrements: np.ndarray  # float64 (labels,): largest squared Newton decrement, relative to f, that a C ended with


class ByRow(NamedTuple):
    """State of the lanes by instance, float64 (n, 8)."""

    targets: np.ndarray  # the weight of an instance that carries the label, minus the weight of any other
    scores: np.ndarray  # z
    residuals: np.ndarray  # p - y, times the weight
    curvatures: np.ndarray  # p (1 - p), times the weight
    products: np.ndarray  # of the row, centred, with CG's direction
    moves: np.ndarray  # the same of the Newton step


class ByColumn(NamedTuple):
    """State of the lanes by feature, float64 (d, 8)."""

    weights: np.ndarray
    directions: np.ndarray  # CG's p
    sums: np.ndarray  # of rows, as `pass_over` leaves them
    residuals: np.ndarray  # CG's r, at first the negative gradient
    steps: np.ndarray  # CG's solution
    means: np.ndarray  # of the feature under the curvatures
    inverses: np.ndarray  # of the preconditioner; 0 for a feature that the label does not see


class Lanes(NamedTuple):
    """State of each lane by itself, (8,): a label, a place on its path of C, and a phase.

    The phase says what the next pass over the rows adds up for the lane. The loop in `solve_labels` makes a pass, and
    then each lane goes on::

        IDLE       waits for a label            begin_label        -> GRADIENT
        GRADIENT   the gradient of the loss     keeps it           -> MEANS
        MEANS      the means of the features    start_newton_step  -> CONJUGATE, or SOLVED at the minimum
        CONJUGATE  the matrix times a direction conjugate          -> CONJUGATE, until the step is found, then
                                                take_newton_step   -> GRADIENT, or SOLVED at the minimum
        SOLVED     nothing, left at once        begin_path         -> GRADIENT for the next C, else IDLE

    `take_newton_step` computes residuals and curvatures at the new weights by itself, so that GRADIENT and MEANS are
    the two passes of which a Newton system is set up, and each product of conjugate gradients is another.
    """

    phase: np.ndarray  # int64
    item: np.ndarray  # int64: place among the labels
    place: np.ndarray  # int64: on the path of C
    n_steps: np.ndarray  # int64: Newton's
    n_products: np.ndarray  # int64: CG's in this step
    width: np.ndarray  # int64: features seen
    C: np.ndarray  # float64, as all below
    constant: np.ndarray
    square: np.ndarray  # of the weights
    loss: np.ndarray
    objective: np.ndarray
    slope: np.ndarray  # sum of residuals
    curvature: np.ndarray  # sum of curvatures
    centre: np.ndarray  # product of means and direction
    remaining: np.ndarray  # r M^-1 r
    target: np.ndarray  # at which CG ends
    gain: np.ndarray  # squared decrement, as far as CG has come
    decrement: np.ndarray  # squared, relative to the objective, of the last step


def solve_path(
    problem: Problem, labels: np.ndarray, grid: np.ndarray, rows: np.ndarray, held_out: np.ndarray | None = None
) -> Solution:
    """Minimise f for some labels, each for an ascending path of C from the solution before.

    Parameters
    ----------
    problem : Problem
    labels : ndarray of int64, shape (labels,)
        Each has positives and negatives among ``rows``.
    grid : ndarray of float64, shape (labels, values of C)
    rows : ndarray of int64
        Instances to train on.
    held_out : ndarray of int64, optional
        Instances to compute losses on.
    """
    n, d = rows.size, problem.scale.size
    solution = Solution(
        np.zeros((labels.size, d)), np.zeros(labels.size), np.full(grid.shape, np.nan), np.zeros(labels.size)
    )
    lanes = Lanes(*np.zeros((6, LANES), dtype=np.int64), *np.zeros((12, LANES)))
    by_row, by_column = ByRow(*cache_lines(6, n)), ByColumn(*cache_lines(7, d))
    held_out = np.empty(0, dtype=np.int64) if held_out is None else held_out
    solve_labels(problem, labels, grid, rows, held_out, by_row, by_column, lanes, solution)
    return solution


def cache_lines(n_arrays: int, size: int) -> np.ndarray:
    """Return zeros, float64 (n_arrays, size, 8), whose rows of lanes are cache lines: no load crosses two."""
    room = np.zeros((n_arrays * size + 1) * LANES)
    start = -(room.ctypes.data // room.itemsize) % LANES
    return room[start : start + n_arrays * size * LANES].reshape(n_arrays, size, LANES)


@njit(cache=True, nogil=True, error_model="numpy")
def solve_labels(problem, labels, grid, rows, held_out, by_row, by_column, lanes, solution):
    """Do what `solve_path` says; ``by_row``, ``by_column`` and ``lanes`` are all zero, ``solution`` is written."""
    place_of = np.full(problem.indptr.size - 1, -1, dtype=np.int64)
    for i in range(rows.size):
        place_of[rows[i]] = i
    n_begun, n_done = 0, 0
    while n_done < labels.size:
        for lane in range(LANES):
            if lanes.phase[lane] == IDLE and n_begun < labels.size:
                lanes.item[lane] = n_begun
                begin_label(problem, labels[n_begun], grid[n_begun, 0], place_of, by_row, by_column, lanes, lane)
                n_begun += 1
        pass_over(problem, rows, by_row, by_column, lanes)
        conjugate(by_row, by_column, lanes)
        for lane in range(LANES):
            if lanes.phase[lane] == GRADIENT:
                for k in range(by_column.sums.shape[0]):
                    by_column.residuals[k, lane] = by_column.sums[k, lane]
                lanes.phase[lane] = MEANS
            elif lanes.phase[lane] == MEANS:
                start_newton_step(problem.variances, by_row, by_column, lanes, lane)
            if lanes.phase[lane] == CONJUGATE and step_is_found(lanes, lane):
                take_newton_step(by_row, by_column, lanes, lane)
            if lanes.phase[lane] == SOLVED:
                item, place = lanes.item[lane], lanes.place[lane]
                solution.decrements[item] = max(solution.decrements[item], lanes.decrement[lane])
                if held_out.size:
                    solution.losses[item, place] = mean_loss(
                        problem, labels[item], held_out, by_column.weights, lanes.constant[lane], lane
                    )
                if place + 1 < grid.shape[1]:
                    begin_path(lanes, lane, place + 1, grid[item, place + 1])
                else:
                    for k in range(by_column.weights.shape[0]):
                        solution.weights[item, k] = by_column.weights[k, lane]
                    solution.constants[item] = lanes.constant[lane]
                    lanes.phase[lane] = IDLE
                    n_done += 1


@njit(cache=True, nogil=True)
def instances_of(problem, label):
    """Return the instances that carry a label, int64."""
    return problem.label_rows[problem.label_starts[label] : problem.label_starts[label + 1]]


@njit(cache=True, nogil=True, error_model="numpy")
def begin_label(problem, label, C, place_of, by_row, by_column, lanes, lane):
    """Put a label into a lane: weights 0, and the constant that is best then if all instances weigh the same."""
    n, positives = by_row.targets.shape[0], 0
    for row in range(place_of.size):
        if place_of[row] >= 0:
            by_row.targets[place_of[row], lane] = -problem.importance[row]
    for row in instances_of(problem, label):
        if place_of[row] >= 0:
            by_row.targets[place_of[row], lane] = problem.importance[row]
            positives += 1
    lanes.constant[lane] = log(positives / (n - positives))
    for i in range(n):
        by_row.scores[i, lane] = lanes.constant[lane]
        by_row.moves[i, lane] = 0.0
    for k in range(by_column.weights.shape[0]):
        by_column.weights[k, lane] = 0.0
    lanes.width[lane], lanes.square[lane] = problem.widths[label], 0.0
    lanes.loss[lane] = evaluate(by_row, lanes, lane, 0.0, 0.0)
    begin_path(lanes, lane, 0, C)


@njit(cache=True, nogil=True, error_model="numpy")
def begin_path(lanes, lane, place, C):
    """Go to a place on the path of C, at the present solution."""
    lanes.place[lane], lanes.n_steps[lane], lanes.C[lane] = place, 0, C
    lanes.objective[lane] = 0.5 * lanes.square[lane] + C * lanes.loss[lane]
    lanes.phase[lane] = GRADIENT


@njit(cache=True, nogil=True, error_model="numpy")
def pass_over(problem, rows, by_row, by_column, lanes):
    """Read the matrix once: rows times directions, and sums of rows times what each lane's phase wants."""
    indptr, indices, data = problem.indptr, problem.indices, problem.data
    multiple, wanted = np.zeros((1, LANES)), np.zeros((3, LANES))
    for lane in range(LANES):
        wanted[0, lane] = lanes.phase[lane] == CONJUGATE
        wanted[1, lane] = lanes.phase[lane] == MEANS
        wanted[2, lane] = lanes.phase[lane] == GRADIENT
    by_column.sums[:] = 0.0
    for i in range(rows.size):
        start, end = indptr[rows[i]], indptr[rows[i] + 1]
        multiply_row(indices, data, start, end, by_column.directions, i, by_row.products)
        for lane in range(LANES):
            product = by_row.products[i, lane] - lanes.centre[lane]
            by_row.products[i, lane] = product
            bent = by_row.curvatures[i, lane] * (wanted[0, lane] * product + wanted[1, lane])
            multiple[0, lane] = bent + wanted[2, lane] * by_row.residuals[i, lane]
        add_row(indices, data, start, end, multiple, 0, by_column.sums)


@njit(cache=True, nogil=True, error_model="numpy")
def conjugate(by_row, by_column, lanes):
    """Take one step of preconditioned conjugate gradients in every lane that is at it; the others stand still."""
    p, sums, r, steps, means, inverses = by_column[1:]
    bent, left, length, turn = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    for k in range(p.shape[0]):
        for lane in range(LANES):
            bent[lane] += p[k, lane] * (p[k, lane] + lanes.C[lane] * sums[k, lane])
    for lane in range(LANES):
        if lanes.phase[lane] == CONJUGATE:
            length[lane] = lanes.remaining[lane] / bent[lane]
    for k in range(p.shape[0]):
        for lane in range(LANES):
            steps[k, lane] += length[lane] * p[k, lane]
            r[k, lane] -= length[lane] * (p[k, lane] + lanes.C[lane] * sums[k, lane])
            left[lane] += r[k, lane] * r[k, lane] * inverses[k, lane]
    for lane in range(LANES):
        if lanes.phase[lane] == CONJUGATE:
            lanes.gain[lane] += length[lane] * lanes.remaining[lane]
            turn[lane] = left[lane] / lanes.remaining[lane]
            lanes.remaining[lane] = left[lane]
            lanes.n_products[lane] += 1
        lanes.centre[lane] = 0.0
    for k in range(p.shape[0]):
        for lane in range(LANES):
            p[k, lane] = inverses[k, lane] * r[k, lane] + turn[lane] * p[k, lane]
            lanes.centre[lane] += means[k, lane] * p[k, lane]
    for i in range(by_row.moves.shape[0]):
        for lane in range(LANES):
            by_row.moves[i, lane] += length[lane] * by_row.products[i, lane]


@njit(cache=True, nogil=True)
def step_is_found(lanes, lane):
    return lanes.remaining[lane] <= lanes.target[lane] or lanes.n_products[lane] >= MAX_PRODUCTS


@njit(cache=True, nogil=True, error_model="numpy")
def start_newton_step(variances, by_row, by_column, lanes, lane):
    """Set up the Newton system at the present weights, unless they are the solution."""
    p, sums, r, steps, means, inverses = by_column[1:]
    C, curvature, slope = lanes.C[lane], lanes.curvature[lane], lanes.slope[lane]
    square = remaining = centre = 0.0
    for k in range(p.shape[0]):
        steps[k, lane] = 0.0
        means[k, lane] = sums[k, lane] / curvature
        if k < lanes.width[lane]:
            r[k, lane] = -(by_column.weights[k, lane] + C * (r[k, lane] - means[k, lane] * slope))
            inverses[k, lane] = 1.0 / (1.0 + C * curvature * variances[k])
        else:
            r[k, lane] = inverses[k, lane] = 0.0
        p[k, lane] = inverses[k, lane] * r[k, lane]
        square += r[k, lane] * r[k, lane]
        remaining += r[k, lane] * p[k, lane]
        centre += means[k, lane] * p[k, lane]
    for i in range(by_row.moves.shape[0]):
        by_row.moves[i, lane] = 0.0
    objective = lanes.objective[lane]
    bound = square + C * slope * slope / curvature
    if bound <= TOLERANCE * objective:
        lanes.decrement[lane] = bound / objective
        lanes.phase[lane] = SOLVED
        return
    lanes.centre[lane], lanes.remaining[lane], lanes.gain[lane], lanes.n_products[lane] = centre, remaining, 0.0, 0
    # The residual falls to a tenth, and near the solution quadratically; below the tolerance no product helps.
    lanes.target[lane] = max(min(0.01, remaining / objective) * remaining, 0.01 * TOLERANCE * objective)
    lanes.phase[lane] = CONJUGATE


@njit(cache=True, nogil=True, error_model="numpy")
def take_newton_step(by_row, by_column, lanes, lane):
    """Go along the step that was found, halved until the objective falls enough."""
    weights, steps = by_column.weights, by_column.steps
    objective = lanes.objective[lane]
    shift = -lanes.slope[lane] / lanes.curvature[lane]
    decrement = lanes.gain[lane] + lanes.C[lane] * lanes.slope[lane] * lanes.slope[lane] / lanes.curvature[lane]
    turn = shift
    for k in range(weights.shape[0]):
        turn -= by_column.means[k, lane] * steps[k, lane]
    solved = lanes.remaining[lane] <= lanes.target[lane] and decrement <= TOLERANCE * objective
    length = 1.0
    for _ in range(MAX_HALVINGS):
        loss, square = evaluate(by_row, lanes, lane, length, shift), 0.0
        for k in range(weights.shape[0]):
            weight = weights[k, lane] + length * steps[k, lane]
            square += weight * weight
        reached = 0.5 * square + lanes.C[lane] * loss
        if decrement <= SAFE * objective or reached <= objective - SUFFICIENT * length * decrement:
            break
        length *= 0.5
    for i in range(by_row.scores.shape[0]):
        by_row.scores[i, lane] += length * (by_row.moves[i, lane] + shift)
    for k in range(weights.shape[0]):
        weights[k, lane] += length * steps[k, lane]
    lanes.constant[lane] += length * turn
    lanes.square[lane], lanes.loss[lane], lanes.objective[lane] = square, loss, reached
    lanes.decrement[lane] = decrement / objective
    lanes.n_steps[lane] += 1
    lanes.phase[lane] = SOLVED if solved or lanes.n_steps[lane] == MAX_STEPS else GRADIENT


@njit(cache=True, nogil=True, error_model="numpy")
def evaluate(by_row, lanes, lane, length, shift):
    """Return the weighted sum of losses after ``length`` times the step found; set residuals, curvatures, their sums.

    ``shift`` is what the step adds to all scores.
    """
    loss = slope = total = 0.0
    for i in range(by_row.scores.shape[0]):
        score = by_row.scores[i, lane] + length * (by_row.moves[i, lane] + shift)
        weight, positive = abs(by_row.targets[i, lane]), by_row.targets[i, lane] > 0.0
        margin = score if positive else -score
        e = exp(-abs(margin))
        share = 1.0 / (1.0 + e)
        # Written so that small probabilities, of being wrong, keep all their digits.
        wrong = e * share if margin >= 0.0 else share
        residual = weight * (-wrong if positive else wrong)
        curvature = weight * (e * share * share)
        loss += weight * (log1p(e) - min(margin, 0.0))
        slope += residual
        total += curvature
        by_row.residuals[i, lane] = residual
        by_row.curvatures[i, lane] = curvature
    lanes.slope[lane], lanes.curvature[lane] = slope, max(total, 1e-300)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def mean_loss(problem, label, rows, weights, constant, lane):
    """Return the weighted mean of the logistic losses of a lane's present solution on some instances."""
    indptr, indices, data, importance = problem.indptr, problem.indices, problem.data, problem.importance
    carries = np.zeros(indptr.size - 1, dtype=np.bool_)
    for row in instances_of(problem, label):
        carries[row] = True
    loss = total = 0.0
    for row in rows:
        score = constant
        for place in range(indptr[row], indptr[row + 1]):
            score += data[place] * weights[indices[place], lane]
        margin = score if carries[row] else -score
        loss += importance[row] * (log1p(exp(-abs(margin))) - min(margin, 0.0))
        total += importance[row]
    return loss / total


# Eight float64 sums side by side, one for each of eight right-hand sides of the same sparse row: kernels.
#
# A matrix is read once for eight vectors: what a non-zero is multiplied with lies in one row of eight numbers, and
# the sums stay in a register. A non-zero takes 1.1 ns each way where one vector alone takes 0.7 (AMD EPYC, AVX-512):
# eight vectors cost little more than one. No number of one lane ever meets one of another, every multiplication and
# addition is rounded by itself, and sums have a fixed order: a lane's bits do not depend on the processor, nor on the
# other lanes.


def _row_at(vectors: Vectors, rows: Any, number: Any) -> Any:
    """Return the address of a row of lanes."""
    return vectors.at(rows, vectors.builder.mul(number, ir.Constant(number.type, LANES)))


@intrinsic
def multiply_row(typing_context, indices, data, start, end, vectors, row, products):
    """Set ``products[row]`` to the inner products of one sparse row with eight vectors.

    Each is the sum of two, over the non-zeros in even and in odd places of the row, in order: an addition need not wait
    for the one before.

    Parameters
    ----------
    indices : uint32, data : float64
        Non-zeros of a CSR matrix.
    start, end : int64
        Those of the row.
    vectors : float64 (columns, 8)
    row : int64
    products : float64 (rows, 8)
    """

    def generate(context, builder, signature, arguments):
        lanes = Vectors(builder, LANES, DOUBLE)
        indices, data, vectors, products = (
            context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in (0, 1, 4, 6)
        )
        start, end, row = arguments[2], arguments[3], arguments[5]
        one, zeros = ir.Constant(start.type, 1), lanes.constant(0.0)
        even, odd = (cgutils.alloca_once_value(builder, zeros) for _ in range(2))

        def add_product(place: Any, total: Any) -> None:
            column, value = index_at(builder, indices, place, place.type), lanes.entry(data, place)
            product = builder.fmul(value, lanes.load(_row_at(lanes, vectors, column)))
            builder.store(builder.fadd(builder.load(total), product), total)

        last = builder.sub(end, builder.and_(builder.sub(end, start), one))
        with cgutils.for_range_slice(builder, start, last, ir.Constant(start.type, 2)) as (place, _):
            add_product(place, even)
            add_product(builder.add(place, one), odd)
        with builder.if_then(builder.icmp_signed("<", last, end)):
            add_product(last, even)
        total = builder.fadd(builder.load(even), builder.load(odd))
        lanes.store(total, _row_at(lanes, products, row))
        return context.get_dummy_value()

    return types.void(indices, data, start, end, vectors, row, products), generate


@intrinsic
def add_row(typing_context, indices, data, start, end, multiples, row, sums):
    """Add a sparse row, ``multiples[row]`` times, to eight vectors ``sums``, of float64 (columns, 8).

    Other parameters as of `multiply_row`; ``multiples`` is float64 (rows, 8). No column may occur twice in the row.
    """

    def generate(context, builder, signature, arguments):
        lanes = Vectors(builder, LANES, DOUBLE)
        indices, data, multiples, sums = (
            context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in (0, 1, 4, 6)
        )
        start, end, row = arguments[2], arguments[3], arguments[5]
        multiple = lanes.load(_row_at(lanes, multiples, row))
        with cgutils.for_range_slice(builder, start, end, ir.Constant(start.type, 1)) as (place, _):
            column, value = index_at(builder, indices, place, place.type), lanes.entry(data, place)
            target = _row_at(lanes, sums, column)
            lanes.store(builder.fadd(lanes.load(target), builder.fmul(value, multiple)), target)
        return context.get_dummy_value()

    return types.void(indices, data, start, end, multiples, row, sums), generate
