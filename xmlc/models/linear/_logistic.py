"""Train regularised logistic regressions with kernels that process eight labels in parallel.

The training set of a label has n instances x_i with targets y_i in {0, 1} and weights v_i. The classifier of the label
uses only the first ``width`` features. For C > 0 the kernels minimise

    f(w, b) = |w|^2 / 2 + C sum_i v_i log(1 + exp(-s_i z_i)),  z_i = x_i w + b,  s_i = 2 y_i - 1

by truncated Newton, in which conjugate gradients (CG) find the steps (C.-J. Lin, R. C. Weng, S. S. Keerthi, *Trust
Region Newton Method for Large-Scale Logistic Regression*, JMLR 9, 2008). In contrast to the paper, a line search
replaces the trust region. The optimisation method has these properties:

* The constant b is eliminated from the Newton system. This elimination centres each feature: it subtracts the mean of
  the feature under the weights d_i = v_i p_i (1 - p_i). Without centring, a feature that is scaled but not shifted
  could be nearly parallel to the constant feature.
* The preconditioner of CG for feature k is 1 + C sum_i d_i v_k. Here v_k is the variance of the feature. For features
  scaled to variance 1, the preconditioner is a constant. On the dataset enron, CG with the exact diagonal as its
  preconditioner needs 50 % more matrix products.
* A product of the Newton matrix with a vector takes one pass over X, for both X p and X^T u. Eight labels share one
  pass over X (see `multiply_row`). The labels that are trained in parallel occupy eight lanes, and each lane has its
  own phase. A lane starts the next label when its present label is solved for all values of C.
* An exact Newton step by Cholesky decomposition would take d^3 / 3 operations, as many as hundreds to thousands of
  products of the Newton matrix with a vector. A Newton step by CG needs only 5 to 100 products of the Newton matrix
  with a vector.

The squared Newton decrement is twice the predicted decrease of f in the next step. Training of a label ends when the
squared Newton decrement is below `TOLERANCE` times f. The kernels compare the squared Newton decrement with this limit
before and after CG. Before CG, |gradient|^2 is an upper bound of the squared decrement, because no eigenvalue of the
matrix of second derivatives is below 1. After CG, the squared Newton decrement is known. If the squared Newton
decrement is small enough after CG, the present Newton step is the last. The tolerance is relative to f, and much larger
than rounding errors.
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

LANES = 8  # This is the number of labels that a kernel trains in parallel.
TOLERANCE = 1e-20  # The training of a label ends when the squared Newton decrement, relative to f, is below this limit.
SAFE = 1e-11  # Below this squared Newton decrement, relative to f, rounding hides the decrease of f. Steps stay whole.
SUFFICIENT = 1e-4  # A Newton step is halved if the ratio of actual to predicted decrease of f is below this limit.
# These are the largest numbers of Newton steps for a label and C, and of CG products and halvings per Newton step.
MAX_STEPS, MAX_PRODUCTS, MAX_HALVINGS = 100, 2000, 50

IDLE, GRADIENT, MEANS, CONJUGATE, SOLVED = np.arange(5)  # Each lane is in one of these five phases, see `Lanes`.


class Problem(NamedTuple):
    """Hold a training set in the form that the solver uses, for all labels and all cross-validation folds."""

    indptr: np.ndarray  # Start of each row in ``indices``, int64 (n + 1,).
    indices: np.ndarray  # Features of the non-zeros in CSR order, uint32 (nnz,).
    data: np.ndarray  # Scaled values of the non-zeros, float64 (nnz,).
    label_rows: np.ndarray  # Ascending instances of each label, int64 (the row indices of the label matrix in CSC).
    label_starts: np.ndarray  # Start of each label in ``label_rows``, int64 (m + 1,).
    scale: np.ndarray  # Factor by which each column was multiplied, float64 (width,).
    variances: np.ndarray  # Variance of each column after scaling, float64 (width,).
    widths: np.ndarray  # Number of first columns that the classifier of each label uses, int64 (m,).
    importance: np.ndarray  # Weight of each instance's loss, float64 (n,).


class Solution(NamedTuple):
    """Hold the logistic regressions of some labels."""

    weights: np.ndarray  # Weights of each label for the last C, float64 (labels, width).
    constants: np.ndarray  # Constant of each label for the last C, float64 (labels,).
    losses: np.ndarray  # Mean held-out logistic loss, NaN without held-out instances, float64 (labels, values of C).
    decrements: np.ndarray  # Largest final squared Newton decrement of any C, relative to f, float64 (labels,).


class ByRow(NamedTuple):
    """Hold the part of the lanes' state that has one number per instance.

    Each array is float64 (n, 8), with one column per lane.
    """

    targets: np.ndarray  # Weight of the instance, negative if the instance does not have the label.
    scores: np.ndarray  # Linear score z.
    residuals: np.ndarray  # Weight of the instance times (p - y).
    curvatures: np.ndarray  # Weight of the instance times p (1 - p).
    products: np.ndarray  # Product of the centred row with CG's direction.
    moves: np.ndarray  # Product of the centred row with the Newton step.


class ByColumn(NamedTuple):
    """Hold the part of the lanes' state that has one number per feature.

    Each array is float64 (d, 8), with one column per lane.
    """

    weights: np.ndarray
    directions: np.ndarray  # Search direction p of CG.
    sums: np.ndarray  # Sums that `pass_over` computes.
    residuals: np.ndarray  # Residual r of CG, at first the negative gradient.
    steps: np.ndarray  # Newton step that CG has found so far.
    means: np.ndarray  # Mean of the feature, weighted by the curvatures.
    inverses: np.ndarray  # Inverse of the preconditioner, or 0 for a feature that the label does not use.


class Lanes(NamedTuple):
    """Hold arrays of shape (8,) with one number per lane, such as the lane's label, the index of its C, and its phase.

    The phase determines the sum that the next pass over the rows computes for the lane. After each pass over the rows,
    `solve_labels` calls a function that changes the phase of each lane::

        phase      computed in the pass         after the pass     -> next phase

        IDLE       nothing, waits for a label   begin_label        -> GRADIENT
        GRADIENT   the gradient of the loss     keeps it           -> MEANS
        MEANS      the means of the features    start_newton_step  -> CONJUGATE, or SOLVED at the minimum
        CONJUGATE  the matrix times a direction conjugate          -> CONJUGATE, until the step is found, then
                                                take_newton_step   -> GRADIENT, or SOLVED at the minimum
        SOLVED     nothing, left at once        begin_path         -> GRADIENT for the next C, else IDLE

    `take_newton_step` also computes residuals and curvatures at the new weights. The setup of a Newton system therefore
    takes only two passes, in the phases GRADIENT and MEANS. Each CG step takes one further pass over the rows in the
    phase CONJUGATE.

    Kernels receive the state of all lanes as ``by_row``, ``by_column`` and ``lanes``, and update these arrays in place.
    The argument ``lane`` is the index of one lane.
    """

    phase: np.ndarray  # Phase of the lane, int64.
    item: np.ndarray  # Index of the lane's label in the list of labels, int64.
    place: np.ndarray  # Index of the present C among the ascending values of C, int64.
    n_steps: np.ndarray  # Number of Newton steps so far, int64.
    n_products: np.ndarray  # Number of products that CG has computed in the present Newton step, int64.
    width: np.ndarray  # Number of features that the label uses, int64.
    C: np.ndarray  # Present value of C, float64. All following fields of this class are float64, too.
    constant: np.ndarray
    square: np.ndarray  # Squared norm of the weights.
    loss: np.ndarray
    objective: np.ndarray
    slope: np.ndarray  # Sum of ``ByRow.residuals``.
    curvature: np.ndarray  # Sum of ``ByRow.curvatures``.
    centre: np.ndarray  # Inner product of the means and the direction.
    remaining: np.ndarray  # The number r M^-1 r for the residual r and the preconditioner M.
    target: np.ndarray  # Value of ``remaining`` at which CG ends.
    gain: np.ndarray  # Squared Newton decrement of CG's present solution.
    decrement: np.ndarray  # Squared Newton decrement of the last step, relative to the objective.


def solve_path(
    problem: Problem, labels: np.ndarray, grid: np.ndarray, rows: np.ndarray, held_out: np.ndarray | None = None
) -> Solution:
    """Minimise f for some labels and ascending values of C.

    The solution for each value of C is the start for the next value.

    Parameters
    ----------
    problem : Problem
    labels : ndarray of int64, shape (labels,)
        Labels to train. Each label must have positives and negatives among ``rows``.
    grid : ndarray of float64, shape (labels, values of C)
        Ascending values of C for each label.
    rows : ndarray of int64
        Instances on which the labels are trained.
    held_out : ndarray of int64, optional
        Instances on which the losses are computed.
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
    """Return zeros, float64 (n_arrays, size, 8). Each row of 8 numbers is aligned with a cache line."""
    room = np.zeros((n_arrays * size + 1) * LANES)
    start = -(room.ctypes.data // room.itemsize) % LANES
    return room[start : start + n_arrays * size * LANES].reshape(n_arrays, size, LANES)


@njit(cache=True, nogil=True, error_model="numpy")
def solve_labels(problem, labels, grid, rows, held_out, by_row, by_column, lanes, solution):
    """Run the loop of `solve_path`.

    Parameters
    ----------
    problem, labels, grid, rows, held_out
        As in `solve_path`, but ``held_out`` may be empty instead of None.
    by_row, by_column, lanes
        State of the lanes, all zero before the call, updated in place.
    solution : Solution
        The result, updated in place. All numbers of the result are 0 or NaN before the call.
    """
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
            found = lanes.remaining[lane] <= lanes.target[lane] or lanes.n_products[lane] >= MAX_PRODUCTS
            if lanes.phase[lane] == CONJUGATE and found:
                take_newton_step(by_row, by_column, lanes, lane)
            if lanes.phase[lane] == SOLVED:
                item, place = lanes.item[lane], lanes.place[lane]
                solution.decrements[item] = max(solution.decrements[item], lanes.decrement[lane])
                if held_out.size:
                    solution.losses[item, place] = mean_loss(problem, labels[item], held_out, by_column, lanes, lane)
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
    """Return the instances that have a label, int64, ascending."""
    return problem.label_rows[problem.label_starts[label] : problem.label_starts[label + 1]]


@njit(cache=True, nogil=True, error_model="numpy")
def begin_label(problem, label, C, place_of, by_row, by_column, lanes, lane):
    """Start a label in a lane, with weights 0 and a constant that would be optimal if all instances had equal weights.

    Parameters
    ----------
    problem : Problem
    label : int64
    C : float64
        The first value of C for which the label is solved.
    place_of : int64 (instances,)
        For each instance, its index in ``rows`` of `solve_labels`, or -1 if the instance is not in ``rows``.
    by_row, by_column, lanes
        State of the lanes, updated in place.
    lane : int
    """
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
    lanes.loss[lane] = evaluate_loss(by_row, lanes, lane, 0.0, 0.0)
    begin_path(lanes, lane, 0, C)


@njit(cache=True, nogil=True, error_model="numpy")
def begin_path(lanes, lane, place, C):
    """Set the next value of C for a lane, which starts from its solution for the previous C.

    Parameters
    ----------
    lanes : Lanes
        State of the lanes, updated in place.
    lane : int
    place : int
        Index of C among the ascending values of C.
    C : float64
        The value of C.
    """
    lanes.place[lane], lanes.n_steps[lane], lanes.C[lane] = place, 0, C
    lanes.objective[lane] = 0.5 * lanes.square[lane] + C * lanes.loss[lane]
    lanes.phase[lane] = GRADIENT


@njit(cache=True, nogil=True, error_model="numpy")
def pass_over(problem, rows, by_row, by_column, lanes):
    """Make one pass over the matrix, and compute the row products and the sums that each lane needs in its phase.

    Parameters
    ----------
    problem : Problem
    rows : int64 (n,)
        Instances on which the labels are trained.
    by_row, by_column, lanes
        State of the lanes. The pass writes ``by_row.products`` and ``by_column.sums``.
    """
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
    """Make one step of preconditioned conjugate gradients in each lane whose phase is CONJUGATE."""
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


@njit(cache=True, nogil=True, error_model="numpy")
def start_newton_step(variances, by_row, by_column, lanes, lane):
    """Set up the Newton system at the present weights, unless these weights are the solution.

    Parameters
    ----------
    variances : float64 (width,)
        Variance of each column.
    by_row, by_column, lanes
        State of the lanes, updated in place.
    lane : int
    """
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
    # Far from the solution, CG reduces the norm of the residual to a tenth. Near the solution, CG reduces the residual
    # further, so that Newton's method converges quadratically. CG also ends when the residual is below the tolerance,
    # because a smaller residual would not help.
    lanes.target[lane] = max(min(0.01, remaining / objective) * remaining, 0.01 * TOLERANCE * objective)
    lanes.phase[lane] = CONJUGATE


@njit(cache=True, nogil=True, error_model="numpy")
def take_newton_step(by_row, by_column, lanes, lane):
    """Make the Newton step that CG found, halved until the objective decreases enough."""
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
        loss, square = evaluate_loss(by_row, lanes, lane, length, shift), 0.0
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
def evaluate_loss(by_row, lanes, lane, length, shift):
    """Return the weighted sum of losses after ``length`` times the Newton step.

    The function also stores the residuals and curvatures.

    Parameters
    ----------
    by_row, lanes
        State of the lanes. The function writes the residuals, the curvatures and their sums.
    lane : int
    length : float64
        Factor by which the Newton step is multiplied.
    shift : float64
        The full Newton step changes each score by the sum of ``shift`` and ``by_row.moves``.
    """
    loss = slope = total = 0.0
    for i in range(by_row.scores.shape[0]):
        score = by_row.scores[i, lane] + length * (by_row.moves[i, lane] + shift)
        weight, positive = abs(by_row.targets[i, lane]), by_row.targets[i, lane] > 0.0
        margin = score if positive else -score
        e = exp(-abs(margin))
        share = 1.0 / (1.0 + e)
        # This formula for the probability of the wrong class is accurate even if the probability is small.
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
def mean_loss(problem, label, rows, by_column, lanes, lane):
    """Return the weighted mean logistic loss of a lane's present solution on the instances ``rows``.

    Parameters
    ----------
    problem : Problem
    label : int64
        Label of the lane.
    rows : int64
        Numbers of the instances.
    by_column : ByColumn
        Weights of all lanes.
    lanes : Lanes
        Constants of all lanes.
    lane : int
    """
    indptr, indices, data, importance = problem.indptr, problem.indices, problem.data, problem.importance
    weights, constant = by_column.weights, lanes.constant[lane]
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


# The kernels below compute the products of a sparse row with eight vectors, as eight parallel float64 sums. The kernels
# read the matrix once for eight vectors. The eight factors for a non-zero are consecutive in memory, and the eight sums
# stay in a register. On an AMD EPYC with AVX-512, each of the two kernels takes 1.1 ns per non-zero for eight vectors,
# and 0.7 ns for a single vector. No operation combines the numbers of different lanes. Each multiplication and each
# addition is rounded separately, and all sums have a fixed order. The results of a lane are therefore bit-identical on
# any processor and for any labels in the other lanes.


def _row_at(vectors: Vectors, rows: Any, number: Any) -> Any:
    """Return the address of row ``number`` of ``rows``, an array with one column per lane."""
    return vectors.at(rows, vectors.builder.mul(number, ir.Constant(number.type, LANES)))


def _data_of(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Return the memory addresses of the four arrays that `multiply_row` or `add_row` receives."""
    return [context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in (0, 1, 4, 6)]


@intrinsic
def multiply_row(typing_context, indices, data, start, end, vectors, row, products):
    """Set ``products[row]`` to the inner products of one sparse row with eight vectors.

    Each inner product has two partial sums, over the non-zeros at even and at odd positions of the row. An addition to
    one partial sum does not wait for the previous addition to the other partial sum.

    Parameters
    ----------
    indices : uint32 (nnz,)
        Column of each non-zero of a CSR matrix.
    data : float64 (nnz,)
        Value of each non-zero.
    start, end : int64
        The non-zeros of the row have the positions ``start .. end - 1``.
    vectors : float64 (columns, 8)
        The eight vectors.
    row : int64
        Index of the row of ``products`` that the function writes.
    products : float64 (rows, 8)
        The inner products. The function writes one row of the array.
    """

    def generate(context, builder, signature, arguments):
        lanes = Vectors(builder, LANES, DOUBLE)
        indices, data, vectors, products = _data_of(context, builder, signature, arguments)
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
    """Add multiples of a sparse row to eight vectors.

    The eight factors are ``multiples[row]``. No column may occur twice in the sparse row.

    Parameters
    ----------
    indices, data, start, end
        As in `multiply_row`.
    multiples : float64 (rows, 8)
        Each row of this array contains eight factors, one for each vector.
    row : int64
        Index of the row of ``multiples`` that contains the factors.
    sums : float64 (columns, 8)
        The eight vectors, updated in place.
    """

    def generate(context, builder, signature, arguments):
        lanes = Vectors(builder, LANES, DOUBLE)
        indices, data, multiples, sums = _data_of(context, builder, signature, arguments)
        start, end, row = arguments[2], arguments[3], arguments[5]
        multiple = lanes.load(_row_at(lanes, multiples, row))
        with cgutils.for_range_slice(builder, start, end, ir.Constant(start.type, 1)) as (place, _):
            column, value = index_at(builder, indices, place, place.type), lanes.entry(data, place)
            target = _row_at(lanes, sums, column)
            lanes.store(builder.fadd(lanes.load(target), builder.fmul(value, multiple)), target)
        return context.get_dummy_value()

    return types.void(indices, data, start, end, multiples, row, sums), generate
