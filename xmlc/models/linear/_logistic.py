"""Regularised logistic regressions, eight labels side by side: kernels.

For one label of n instances x_i, with y_i in {0, 1}, features of which it sees the first ``width``, and C > 0,

    f(w, b) = |w|^2 / 2 + C sum_i log(1 + exp(-s_i z_i)),  z_i = x_i w + b,  s_i = 2 y_i - 1

is minimised by Newton's method, the steps found by conjugate gradients (CG): truncated Newton, C.-J. Lin, R. C. Weng,
S. S. Keerthi, *Trust Region Newton Method for Large-Scale Logistic Regression*, JMLR 9, 2008; with a line search in
place of the trust region. What is particular here:

* The constant b is eliminated from the Newton system, which centres each feature by its mean under the weights
  d_i = p_i (1 - p_i). Features that are scaled but not shifted would otherwise be nearly parallel to the constant.
* CG is preconditioned by 1 + C sum_i d_i v_k with the variance v_k of the feature: a constant for scaled features, and
  for others what scales them. On enron the exact diagonal of the matrix needs half as many products again.
* A product with the matrix reads each row once, for X p and X^T u. Eight labels share that pass (see
  `multiply_row`): each lane is in a state of its own, and takes the next label of the queue when its path of C ends.
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

TOLERANCE = 1e-20  # of the squared Newton decrement, relative to f
SAFE = 1e-11  # below it the objective's own rounding hides what a step gains, and full steps converge
SUFFICIENT = 1e-4  # share of the predicted gain that a step must bring
MAX_STEPS, MAX_PRODUCTS, MAX_HALVINGS = 100, 2000, 50  # of one label and C; of one step


@njit(cache=True, nogil=True, error_model="numpy")
def solve_labels(
    X, rows, held_out, label_rows, label_starts, queue, widths, variances, grid, weights, constants, losses, decrements
):
    """Minimise f for several labels, each for an ascending path of C from the solution before.

    Parameters
    ----------
    X : tuple of indptr int64, indices uint32, data float64
        CSR of all instances and features.
    rows, held_out : int64
        Instances to train on, and those on which losses are wanted, or none.
    label_rows, label_starts : int64
        CSC of the label matrix: the instances of each label.
    queue : int64 (q,)
        Labels; each has positives and negatives among ``rows``.
    widths : int64 (m,)
        How many features each label sees.
    variances : float64 (d,)
        Of the features.
    grid : float64 (q, g)
    weights : float64 (q, d), constants : float64 (q,)
        Set to the solution for the last C.
    losses : float64 (q, g)
        Set to the mean logistic losses on ``held_out``; untouched if there are none.
    decrements : float64 (q,)
        Set to the largest, over C, of the squared Newton decrements, relative to f, with which the solutions ended.

    Returns
    -------
    int64
        How often the rows were gone through.
    """
    n, d = rows.size, variances.size
    place_of = np.full(X[0].size - 1, -1, dtype=np.int64)
    for i in range(n):
        place_of[rows[i]] = i
    by_row, by_column = no_rows(n), no_columns(d)
    lanes = idle_lanes()
    begun, passes = np.int64(0), np.int64(0)
    while True:
        busy = False
        for lane in range(LANES):
            if lanes.state[lane] == IDLE and begun < queue.size:
                label = queue[begun]
                carrying = label_rows[label_starts[label] : label_starts[label + 1]]
                _begin(by_row, by_column, lanes, lane, begun, widths[label], place_of, carrying, grid[begun, 0])
                begun += 1
            busy |= lanes.state[lane] != IDLE
        if not busy:
            return passes
        passes += 1
        _pass_over(X, rows, by_row, by_column, lanes)
        _conjugate(by_row, by_column, lanes)
        for lane in range(LANES):
            if lanes.state[lane] == GRADIENT:
                for k in range(d):
                    by_column.residuals[k, lane] = by_column.sums[k, lane]
                enter(lanes, lane, MEANS)
            elif lanes.state[lane] == MEANS:
                _start_step(by_row, by_column, lanes, lane, variances)
            if lanes.state[lane] == CONJUGATE and _step_is_found(lanes, lane):
                _take_step(by_row, by_column, lanes, lane)
            if lanes.state[lane] == SOLVED:
                item, place = lanes.item[lane], lanes.place[lane]
                decrements[item] = max(decrements[item], lanes.decrement[lane]) if place else lanes.decrement[lane]
                if held_out.size:
                    label = queue[item]
                    carrying = label_rows[label_starts[label] : label_starts[label + 1]]
                    losses[item, place] = mean_loss(X, held_out, carrying, by_column.weights, lanes, lane)
                if place + 1 < grid.shape[1]:
                    _go_on(lanes, lane, grid[item, place + 1])
                else:
                    for k in range(d):
                        weights[item, k] = by_column.weights[k, lane]
                    constants[item] = lanes.constant[lane]
                    enter(lanes, lane, IDLE)


@njit(cache=True, nogil=True, error_model="numpy")
def _begin(by_row, by_column, lanes, lane, item, width, place_of, carrying, C):
    """Put a label into a lane: weights 0, and the constant that is best then."""
    n, positives = by_row.targets.shape[0], 0
    for i in range(n):
        by_row.targets[i, lane] = 0.0
    for i in range(carrying.size):
        place = place_of[carrying[i]]
        if place >= 0:
            by_row.targets[place, lane] = 1.0
            positives += 1
    lanes.constant[lane] = log(positives / (n - positives))
    for i in range(n):
        by_row.scores[i, lane] = lanes.constant[lane]
        by_row.moves[i, lane] = 0.0
    for k in range(by_column.weights.shape[0]):
        by_column.weights[k, lane] = 0.0
    lanes.item[lane], lanes.place[lane], lanes.width[lane], lanes.square[lane] = item, -1, width, 0.0
    lanes.loss[lane] = evaluate(by_row, lanes, lane, 0.0, 0.0)
    _go_on(lanes, lane, C)


@njit(cache=True, nogil=True, error_model="numpy")
def _go_on(lanes, lane, C):
    """Begin with the next C on the path, at the present solution."""
    lanes.place[lane] += 1
    lanes.n_steps[lane] = 0
    lanes.C[lane] = C
    lanes.objective[lane] = 0.5 * lanes.square[lane] + C * lanes.loss[lane]
    enter(lanes, lane, GRADIENT)


@njit(cache=True, nogil=True, error_model="numpy")
def _pass_over(X, rows, by_row, by_column, lanes):
    """Read the matrix once: rows times directions, and sums of rows times the factors of each lane's state."""
    indptr, indices, data = X
    multiple = np.zeros((1, LANES))
    by_column.sums[:] = 0.0
    for i in range(rows.size):
        start, end = indptr[rows[i]], indptr[rows[i] + 1]
        multiply_row(indices, data, start, end, by_column.directions, i, by_row.products)
        for lane in range(LANES):
            product = by_row.products[i, lane] - lanes.centre[lane]
            by_row.products[i, lane] = product
            bent = by_row.curvatures[i, lane] * (lanes.on_product[lane] * product + lanes.on_means[lane])
            multiple[0, lane] = bent + lanes.on_gradient[lane] * by_row.residuals[i, lane]
        add_row(indices, data, start, end, multiple, 0, by_column.sums)


@njit(cache=True, nogil=True, error_model="numpy")
def _conjugate(by_row, by_column, lanes):
    """Take one step of preconditioned conjugate gradients in every lane that is at it; the others stand still."""
    p, sums, r, steps, means, inverses = by_column[1:]
    bent, left, length, turn = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    for k in range(p.shape[0]):
        for lane in range(LANES):
            bent[lane] += p[k, lane] * (p[k, lane] + lanes.C[lane] * sums[k, lane])
    for lane in range(LANES):
        if lanes.state[lane] == CONJUGATE:
            length[lane] = lanes.remaining[lane] / bent[lane]
    for k in range(p.shape[0]):
        for lane in range(LANES):
            steps[k, lane] += length[lane] * p[k, lane]
            r[k, lane] -= length[lane] * (p[k, lane] + lanes.C[lane] * sums[k, lane])
            left[lane] += r[k, lane] * r[k, lane] * inverses[k, lane]
    for lane in range(LANES):
        if lanes.state[lane] == CONJUGATE:
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
def _step_is_found(lanes, lane):
    return lanes.remaining[lane] <= lanes.target[lane] or lanes.n_products[lane] >= MAX_PRODUCTS


@njit(cache=True, nogil=True, error_model="numpy")
def _start_step(by_row, by_column, lanes, lane, variances):
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
        enter(lanes, lane, SOLVED)
        return
    lanes.centre[lane], lanes.remaining[lane], lanes.gain[lane], lanes.n_products[lane] = centre, remaining, 0.0, 0
    # The residual falls to a tenth, and near the solution quadratically; below the tolerance no product helps.
    lanes.target[lane] = max(min(0.01, remaining / objective) * remaining, 0.01 * TOLERANCE * objective)
    enter(lanes, lane, CONJUGATE)


@njit(cache=True, nogil=True, error_model="numpy")
def _take_step(by_row, by_column, lanes, lane):
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
    enter(lanes, lane, SOLVED if solved or lanes.n_steps[lane] == MAX_STEPS else GRADIENT)


# What the solver of logistic regressions knows of eight labels side by side, and their losses: kernels.


# States of a lane. A plain number is a type of its own for numba, and so would be each call of `enter`.
IDLE, GRADIENT, MEANS, CONJUGATE, SOLVED = (np.int64(state) for state in range(5))


class ByRow(NamedTuple):
    """State of the lanes by instance, float64 (n, 8)."""

    targets: np.ndarray  # 1 where the instance carries the label, else 0
    scores: np.ndarray  # z
    residuals: np.ndarray  # p - y
    curvatures: np.ndarray  # p (1 - p)
    products: np.ndarray  # of the row, centred, with CG's direction
    moves: np.ndarray  # the same of the Newton step


class ByColumn(NamedTuple):
    """State of the lanes by feature, float64 (d, 8)."""

    weights: np.ndarray
    directions: np.ndarray  # CG's p
    sums: np.ndarray  # of rows, as `_pass_over` leaves them
    residuals: np.ndarray  # CG's r, at first the negative gradient
    steps: np.ndarray  # CG's solution
    means: np.ndarray  # of the feature under the curvatures
    inverses: np.ndarray  # of the preconditioner; 0 for a feature that the label does not see


class LaneStates(NamedTuple):
    """State of each lane by itself, (8,)."""

    state: np.ndarray  # int64
    item: np.ndarray  # int64: place in the queue
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
    on_product: np.ndarray  # 1 in the state CONJUGATE, else 0
    on_means: np.ndarray
    on_gradient: np.ndarray


@njit(cache=True, nogil=True)
def no_rows(n):
    """Return a `ByRow` of zeros."""
    a = np.zeros((6, n, LANES))
    return ByRow(a[0], a[1], a[2], a[3], a[4], a[5])


@njit(cache=True, nogil=True)
def no_columns(d):
    """Return a `ByColumn` of zeros."""
    a = np.zeros((7, d, LANES))
    return ByColumn(a[0], a[1], a[2], a[3], a[4], a[5], a[6])


@njit(cache=True, nogil=True)
def idle_lanes():
    """Return `LaneStates` that have nothing to do."""
    a, b = np.zeros((6, LANES), dtype=np.int64), np.zeros((15, LANES))
    first = (a[0], a[1], a[2], a[3], a[4], a[5], b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8])
    return LaneStates(*first, b[9], b[10], b[11], b[12], b[13], b[14])


@njit(cache=True, nogil=True)
def enter(lanes, lane, state):
    """Set a lane's state, and the sums of its next pass."""
    lanes.state[lane] = state
    lanes.on_product[lane] = 1.0 if state == CONJUGATE else 0.0
    lanes.on_means[lane] = 1.0 if state == MEANS else 0.0
    lanes.on_gradient[lane] = 1.0 if state == GRADIENT else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def evaluate(by_row, lanes, lane, length, shift):
    """Return the summed loss after ``length`` times the step found; set residuals and curvatures there, and their sums.

    ``shift`` is what the step adds to all scores.
    """
    loss = slope = total = 0.0
    for i in range(by_row.scores.shape[0]):
        score = by_row.scores[i, lane] + length * (by_row.moves[i, lane] + shift)
        positive = by_row.targets[i, lane] > 0.5
        margin = score if positive else -score
        e = exp(-abs(margin))
        share = 1.0 / (1.0 + e)
        # Written so that small probabilities, of being wrong, keep all their digits.
        wrong = e * share if margin >= 0.0 else share
        residual = -wrong if positive else wrong
        curvature = e * share * share
        loss += log1p(e) - min(margin, 0.0)
        slope += residual
        total += curvature
        by_row.residuals[i, lane] = residual
        by_row.curvatures[i, lane] = curvature
    lanes.slope[lane], lanes.curvature[lane] = slope, max(total, 1e-300)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def mean_loss(X, rows, carrying, weights, lanes, lane):
    """Return the mean logistic loss of a lane's present solution on some instances."""
    indptr, indices, data = X
    carries = np.zeros(indptr.size - 1, dtype=np.bool_)
    for i in range(carrying.size):
        carries[carrying[i]] = True
    loss = 0.0
    for row in rows:
        score = lanes.constant[lane]
        for place in range(indptr[row], indptr[row + 1]):
            score += data[place] * weights[indices[place], lane]
        margin = score if carries[row] else -score
        loss += log1p(exp(-abs(margin))) - min(margin, 0.0)
    return loss / rows.size


# Eight float64 sums side by side, one for each of eight right-hand sides of the same sparse row.
#
# A matrix is read once for eight vectors: what a non-zero is multiplied with lies in one row of eight numbers, and
# the sums stay in a register. A non-zero takes 1.1 ns each way where one vector alone takes 0.7 (AMD EPYC, AVX-512):
# eight vectors cost little more than one. No number of one lane ever meets one of another, every multiplication and
# addition is rounded by itself, and sums have a fixed order: a lane's bits do not depend on the processor, nor on the
# other lanes.


LANES = 8


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
