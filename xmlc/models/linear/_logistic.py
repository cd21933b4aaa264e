"""Train regularised logistic regressions with kernels that process eight labels in parallel.

The training set of a label has n instances x_i with targets y_i in {0, 1} and weights v_i. The
classifier of the label uses only the first ``width`` features. For C > 0 the kernels minimise

    f(w, b) = |w|^2 / 2 + C sum_i v_i log(1 + exp(-s_i z_i)),  z_i = x_i w + b,  s_i = 2 y_i - 1

by truncated Newton, in which conjugate gradients (CG) find the steps (C.-J. Lin, R. C. Weng, S. S.
Keerthi, *Trust Region Newton Method for Large-Scale Logistic Regression*, JMLR 9, 2008). In
contrast to the paper, a line search replaces the trust region. The optimisation method has these
properties:

* The constant b is eliminated from the Newton system. This elimination centres each feature: it
  subtracts the mean of the feature under the weights d_i = v_i p_i (1 - p_i). Without centring, a
  feature that is scaled but not shifted could be nearly parallel to the constant feature.
* The preconditioner of CG for feature k is 1 + C sum_i d_i v_k. Here v_k is the variance of the
  feature. For features scaled to variance 1, the preconditioner is a constant. On the dataset
  enron, CG with the exact diagonal as its preconditioner needs 50 % more matrix products.
* A product of the Newton matrix with a vector takes one pass over X, for both X p and X^T u. Eight
  labels share one pass over X (see `multiply_row`). The labels that are trained in parallel occupy
  eight lanes, and each lane has its own phase. A lane starts the next label when its present label
  is solved for all values of C.
* An exact Newton step by Cholesky decomposition would take d^3 / 3 operations, as many as hundreds
  to thousands of products of the Newton matrix with a vector. A Newton step by CG needs only 5 to
  100 products of the Newton matrix with a vector.

The squared Newton decrement is twice the predicted decrease of f in the next step. Training of a
label ends when the squared Newton decrement is below `TOLERANCE` times f. The kernels compare the
squared Newton decrement with this limit before and after CG. Before CG, |gradient|^2 is an upper
bound of the squared decrement, because no eigenvalue of the matrix of second derivatives is below
1. After CG, the squared Newton decrement is known. If the squared Newton decrement is small enough
after CG, the present Newton step is the last. The tolerance is relative to f, and much larger than
rounding errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of, row_of_csr
from xmlc.kernels.float64 import exp, log, log1p, softplus
from xmlc.models.linear._row_products import LANES, add_row, multiply_row

# The training of a label ends when the squared Newton decrement, relative to f, is below this
# limit.
TOLERANCE = 1e-20
# Below this squared Newton decrement, relative to f, rounding hides the decrease of f. Steps stay
# whole.
SAFE = 1e-11
# A Newton step is halved if the ratio of actual to predicted decrease of f is below this limit.
SUFFICIENT = 1e-4
MAX_STEPS = 100  # Newton steps for a label and a value of C
MAX_PRODUCTS = 2000  # products of CG in a Newton step
MAX_HALVINGS = 50  # of a Newton step

# Each lane is in one of these five phases, see `Lanes`.
IDLE, GRADIENT, MEANS, CONJUGATE, SOLVED = np.arange(5)


class Problem(NamedTuple):
    """A training set in the form that the solver uses, for all labels and all cross-validation
    folds.
    """

    indptr: np.ndarray  # Start of each row in ``indices``, int64 (n + 1,).
    indices: np.ndarray  # Features of the non-zeros in CSR order, uint32 (nnz,).
    data: np.ndarray  # Scaled values of the non-zeros, float64 (nnz,).
    # Ascending instances of each label, int64 (the row indices of the label matrix in CSC).
    label_rows: np.ndarray
    label_starts: np.ndarray  # Start of each label in ``label_rows``, int64 (m + 1,).
    scale: np.ndarray  # Factor by which each column was multiplied, float64 (width,).
    variances: np.ndarray  # Variance of each column after scaling, float64 (width,).
    # Number of first columns that the classifier of each label uses, int64 (m,).
    widths: np.ndarray
    importance: np.ndarray  # Weight of each instance's loss, float64 (n,).


class Solution(NamedTuple):
    """The logistic regressions of some labels."""

    weights: np.ndarray  # Weights of each label for the last C, float64 (labels, width).
    constants: np.ndarray  # Constant of each label for the last C, float64 (labels,).
    # Mean held-out logistic loss, NaN without held-out instances, float64 (labels, values of C).
    losses: np.ndarray
    # Largest final squared Newton decrement of any C, relative to f, float64 (labels,).
    decrements: np.ndarray


class ByRow(NamedTuple):
    """The part of the lanes' state that has one number per instance.

    Each array is float64 (n, 8), with one column per lane.
    """

    targets: np.ndarray  # Weight of the instance, negative if the instance does not have the label.
    scores: np.ndarray  # Linear score z.
    residuals: np.ndarray  # Weight of the instance times (p - y).
    curvatures: np.ndarray  # Weight of the instance times p (1 - p).
    products: np.ndarray  # Product of the centred row with CG's direction.
    moves: np.ndarray  # Product of the centred row with the Newton step.


class ByColumn(NamedTuple):
    """The part of the lanes' state that has one number per feature.

    Each array is float64 (d, 8), with one column per lane.
    """

    weights: np.ndarray
    directions: np.ndarray  # Search direction p of CG.
    sums: np.ndarray  # Sums that `pass_over` computes.
    residuals: np.ndarray  # Residual r of CG, at first the negative gradient.
    steps: np.ndarray  # Newton step that CG has found so far.
    means: np.ndarray  # Mean of the feature, weighted by the curvatures.
    # Inverse of the preconditioner, or 0 for a feature that the label does not use.
    inverses: np.ndarray


class Lanes(NamedTuple):
    """Arrays of shape (8,) with one number per lane, such as the lane's label, the index of its C,
    and its phase.

    The phase determines the sum that the next pass over the rows computes for the lane. After each
    pass over the rows, `solve_labels` calls a function that changes the phase of each lane::

        phase      computed in the pass         after the pass     -> next phase

        IDLE       nothing, waits for a label   begin_label        -> GRADIENT
        GRADIENT   the gradient of the loss     keeps it           -> MEANS
        MEANS      the means of the features    start_newton_step  -> CONJUGATE, or SOLVED
        CONJUGATE  the matrix times a direction conjugate          -> CONJUGATE, or the step:
                                                take_newton_step   -> GRADIENT, or SOLVED
        SOLVED     nothing, left at once        begin_path         -> GRADIENT, or IDLE

    A label is SOLVED at its minimum. Then its next C begins with GRADIENT, if there is one.

    `take_newton_step` also computes residuals and curvatures at the new weights. The setup of a
    Newton system therefore takes only two passes, in the phases GRADIENT and MEANS. Each CG step
    takes one further pass over the rows in the phase CONJUGATE.

    Kernels receive the state of all lanes as ``by_row``, ``by_column`` and ``lanes``, and update
    these arrays in place. The argument ``lane`` is the index of one lane.
    """

    phase: np.ndarray  # Phase of the lane, int64.
    item: np.ndarray  # Index of the lane's label in the list of labels, int64.
    place: np.ndarray  # Index of the present C among the ascending values of C, int64.
    n_steps: np.ndarray  # Number of Newton steps so far, int64.
    # Number of products that CG has computed in the present Newton step, int64.
    n_products: np.ndarray
    width: np.ndarray  # Number of features that the label uses, int64.
    # Present value of C, float64. All following fields of this class are float64, too.
    C: np.ndarray
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
    problem: Problem,
    labels: np.ndarray,
    grid: np.ndarray,
    rows: np.ndarray,
    held_out: np.ndarray | None = None,
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
    d = problem.scale.size
    weights = np.zeros((labels.size, d))
    solution = Solution(
        weights, np.zeros(labels.size), np.full(grid.shape, np.nan), np.zeros(labels.size)
    )
    lanes = Lanes(*np.zeros((6, LANES), dtype=np.int64), *np.zeros((12, LANES)))
    by_row = ByRow(*cache_lines(6, rows.size))
    by_column = ByColumn(*cache_lines(7, d))
    if held_out is None:
        held_out = np.empty(0, dtype=np.int64)
    solve_labels(problem, labels, grid, rows, held_out, by_row, by_column, lanes, solution)
    return solution


def cache_lines(n_arrays: int, size: int) -> np.ndarray:
    """Return zeros, float64 (n_arrays, size, 8).

    Each row of 8 numbers is aligned with a cache line.
    """
    numbers = np.zeros((n_arrays * size + 1) * LANES)
    start = -(numbers.ctypes.data // numbers.itemsize) % LANES
    return numbers[start : start + n_arrays * size * LANES].reshape(n_arrays, size, LANES)


@njit(error_model="numpy")
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
    n_begun = 0
    n_done = 0
    while n_done < labels.size:
        for lane in range(LANES):
            if lanes.phase[lane] == IDLE and n_begun < labels.size:
                lanes.item[lane] = n_begun
                begin_label(
                    problem, labels[n_begun], grid[n_begun, 0], rows, by_row, by_column, lanes, lane
                )
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
            is_found = (
                lanes.remaining[lane] <= lanes.target[lane]
                or lanes.n_products[lane] >= MAX_PRODUCTS
            )
            if lanes.phase[lane] == CONJUGATE and is_found:
                take_newton_step(by_row, by_column, lanes, lane)
            if lanes.phase[lane] == SOLVED:
                item = lanes.item[lane]
                place = lanes.place[lane]
                solution.decrements[item] = max(solution.decrements[item], lanes.decrement[lane])
                if held_out.size:
                    solution.losses[item, place] = mean_loss(
                        problem, labels[item], held_out, by_column, lanes, lane
                    )
                if place + 1 < grid.shape[1]:
                    begin_path(lanes, lane, place + 1, grid[item, place + 1])
                else:
                    for k in range(by_column.weights.shape[0]):
                        solution.weights[item, k] = by_column.weights[k, lane]
                    solution.constants[item] = lanes.constant[lane]
                    lanes.phase[lane] = IDLE
                    n_done += 1


@njit
def sides_of(problem, label):
    """Return 1 for each instance with the label and -1 for each other instance, float64 (n,)."""
    sides = np.full(problem.importance.size, -1.0)
    for place in range(problem.label_starts[label], problem.label_starts[label + 1]):
        sides[problem.label_rows[place]] = 1.0
    return sides


@njit(error_model="numpy")
def begin_label(problem, label, C, rows, by_row, by_column, lanes, lane):
    """Start a label in a lane, with weights 0 and a constant that would be optimal if all instances
    had equal weights.

    Parameters
    ----------
    problem : Problem
    label : int64
    C : float64
        The first value of C for which the label is solved.
    rows : int64 (n,)
        Instances on which the label is trained.
    by_row, by_column, lanes
        State of the lanes, updated in place.
    lane : int
    """
    sides = sides_of(problem, label)
    n = rows.size
    positives = 0
    for i in range(n):
        by_row.targets[i, lane] = sides[rows[i]] * problem.importance[rows[i]]
        positives += sides[rows[i]] > 0.0
    lanes.constant[lane] = log(positives / (n - positives))
    for i in range(n):
        by_row.scores[i, lane] = lanes.constant[lane]
        by_row.moves[i, lane] = 0.0
    for k in range(by_column.weights.shape[0]):
        by_column.weights[k, lane] = 0.0
    lanes.width[lane] = problem.widths[label]
    lanes.square[lane] = 0.0
    lanes.loss[lane] = evaluate_loss(by_row, lanes, lane, 0.0, 0.0)
    begin_path(lanes, lane, 0, C)


@njit(error_model="numpy")
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
    lanes.place[lane] = place
    lanes.n_steps[lane] = 0
    lanes.C[lane] = C
    lanes.objective[lane] = 0.5 * lanes.square[lane] + C * lanes.loss[lane]
    lanes.phase[lane] = GRADIENT


@njit(error_model="numpy")
def pass_over(problem, rows, by_row, by_column, lanes):
    """Make one pass over the matrix, and compute the row products and the sums that each lane needs
    in its phase.

    Parameters
    ----------
    problem : Problem
    rows : int64 (n,)
        Instances on which the labels are trained.
    by_row, by_column, lanes
        State of the lanes. The pass writes ``by_row.products`` and ``by_column.sums``.
    """
    # 1 in the row of the lane's phase, because a branch would be slow
    in_phase = np.zeros((SOLVED + 1, LANES))
    for lane in range(LANES):
        in_phase[lanes.phase[lane], lane] = 1.0
    multiples = np.zeros(LANES)
    by_column.sums[:] = 0.0
    for i in range(rows.size):
        columns, values = row_of_csr(problem, rows[i])
        products = row_of(by_row.products, i)
        multiply_row(columns, values, by_column.directions, products)
        for lane in range(LANES):
            product = products[lane] - lanes.centre[lane]
            products[lane] = product
            bent = by_row.curvatures[i, lane] * (
                in_phase[CONJUGATE, lane] * product + in_phase[MEANS, lane]
            )
            multiples[lane] = bent + in_phase[GRADIENT, lane] * by_row.residuals[i, lane]
        add_row(columns, values, multiples, by_column.sums)


@njit(error_model="numpy")
def conjugate(by_row, by_column, lanes):
    """Make one step of preconditioned conjugate gradients in each lane whose phase is CONJUGATE."""
    p, sums, r, steps, means, inverses = by_column[1:]
    bent = np.zeros(LANES)
    left = np.zeros(LANES)
    length = np.zeros(LANES)
    turn = np.zeros(LANES)
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


@njit(error_model="numpy")
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
    C = lanes.C[lane]
    curvature = lanes.curvature[lane]
    slope = lanes.slope[lane]
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
    lanes.centre[lane] = centre
    lanes.remaining[lane] = remaining
    lanes.gain[lane] = 0.0
    lanes.n_products[lane] = 0
    # Far from the solution, CG reduces the norm of the residual to a tenth. Near the solution, CG
    # reduces the residual further, so that Newton's method converges quadratically. CG also ends
    # when the residual is below the tolerance, because a smaller residual would not help.
    lanes.target[lane] = max(
        min(0.01, remaining / objective) * remaining, 0.01 * TOLERANCE * objective
    )
    lanes.phase[lane] = CONJUGATE


@njit(error_model="numpy")
def take_newton_step(by_row, by_column, lanes, lane):
    """Make the Newton step that CG found, halved until the objective decreases enough."""
    weights = by_column.weights
    steps = by_column.steps
    objective = lanes.objective[lane]
    slope = lanes.slope[lane]
    curvature = lanes.curvature[lane]
    shift = -slope / curvature
    decrement = lanes.gain[lane] + lanes.C[lane] * slope * slope / curvature
    is_last = lanes.remaining[lane] <= lanes.target[lane] and decrement <= TOLERANCE * objective
    turn = shift
    for k in range(weights.shape[0]):
        turn -= by_column.means[k, lane] * steps[k, lane]
    length = 1.0
    for _ in range(MAX_HALVINGS):
        loss = evaluate_loss(by_row, lanes, lane, length, shift)
        square = 0.0
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
    lanes.square[lane] = square
    lanes.loss[lane] = loss
    lanes.objective[lane] = reached
    lanes.decrement[lane] = decrement / objective
    lanes.n_steps[lane] += 1
    lanes.phase[lane] = GRADIENT
    if is_last or lanes.n_steps[lane] == MAX_STEPS:
        lanes.phase[lane] = SOLVED


@njit(error_model="numpy")
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
        target = by_row.targets[i, lane]
        weight = abs(target)
        margin = score
        if target < 0.0:
            margin = -score
        e = exp(-abs(margin))
        share = 1.0 / (1.0 + e)
        # This formula for the probability of the wrong class is accurate even if the probability is
        # small.
        wrong = share
        if margin >= 0.0:
            wrong = e * share
        residual = -target * wrong
        curvature = weight * (e * share * share)
        loss += weight * (log1p(e) - min(margin, 0.0))
        slope += residual
        total += curvature
        by_row.residuals[i, lane] = residual
        by_row.curvatures[i, lane] = curvature
    lanes.slope[lane] = slope
    lanes.curvature[lane] = max(total, 1e-300)
    return loss


@njit(error_model="numpy")
def mean_loss(problem, label, rows, by_column, lanes, lane):
    """Return the weighted mean logistic loss of a lane's present solution on the instances
    ``rows``.

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
    sides = sides_of(problem, label)
    loss = total = 0.0
    for row in rows:
        score = lanes.constant[lane]
        columns, values = row_of_csr(problem, row)
        for place in range(columns.size):
            score += values[place] * by_column.weights[columns[place], lane]
        loss += problem.importance[row] * softplus(-sides[row] * score)
        total += problem.importance[row]
    return loss / total
