"""Regularised logistic regressions, trained by kernels that process eight labels in parallel.

The training set of a label has n instances x_i with targets y_i in {0, 1} and weights v_i, of which
the classifier uses the first ``width`` features. For C > 0 the kernels minimise

    f(w, b) = |w|^2 / 2 + C sum_i v_i log(1 + exp(-s_i z_i)),  z_i = x_i w + b,  s_i = 2 y_i - 1

by truncated Newton, in which conjugate gradients (CG) find the steps (C.-J. Lin, R. C. Weng, S. S.
Keerthi, *Trust Region Newton Method for Large-Scale Logistic Regression*, JMLR 9, 2008), but with a
line search instead of the paper's trust region.

* The constant b is eliminated from the Newton system. This subtracts from each feature its mean
  under the weights d_i = v_i p_i (1 - p_i), without which a feature that is scaled but not shifted
  could be nearly parallel to the constant.
* The preconditioner of CG for feature k is 1 + C u_k sum_i d_i, with the feature's variance u_k. On
  the dataset enron, CG with the exact diagonal needs 50 % more matrix products.
* A product of the Newton matrix with a vector takes one pass over X, for both X p and X^T u, which
  eight labels share. Each label's lane has its own phase, and starts the next label as soon as the
  last one is solved for all values of C.
* An exact Newton step by Cholesky decomposition would take as many operations as hundreds to
  thousands of such products, while a step by CG needs only 5 to 100.

Training of a label ends when the squared Newton decrement, twice the predicted decrease of f in the
next step, is below `TOLERANCE` times f, much more than rounding errors. Before CG, this is tested
with |gradient|^2, an upper bound because no eigenvalue of the Hessian is below 1. After CG, it is
tested with the decrement itself, and the present step is then the last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of, row_of_csr
from xmlc.kernels.float64 import exp, log, log1p, softplus
from xmlc.models.linear._row_products import LANES, add_row, multiply_row

# largest squared Newton decrement, relative to f, at which training ends
TOLERANCE = 1e-20
# squared decrement below which steps stay whole, because rounding hides the decrease of f
SAFE = 1e-11
# least ratio of actual to predicted decrease of f, or else a step is halved
SUFFICIENT = 1e-4
MAX_STEPS = 100  # Newton steps for a label and a value of C
MAX_PRODUCTS = 2000  # products of CG in a Newton step
MAX_HALVINGS = 50  # of a Newton step

# phases of a lane, see `Lanes`
IDLE, GRADIENT, MEANS, CONJUGATE, SOLVED = np.arange(5)


class Problem(NamedTuple):
    """A training set for all labels and cross-validation folds."""

    indptr: np.ndarray  # start of each row in ``indices``, int64 (n + 1,)
    indices: np.ndarray  # feature of each non-zero in CSR order, uint32 (nnz,)
    data: np.ndarray  # scaled value of each non-zero, float64 (nnz,)
    # ascending instances of each label, int64
    label_rows: np.ndarray
    label_starts: np.ndarray  # start of each label in ``label_rows``, int64 (m + 1,)
    scale: np.ndarray  # factor of each column, float64 (width,)
    variances: np.ndarray  # variance of each column after scaling, float64 (width,)
    # number of first columns that each label's classifier uses, int64 (m,)
    widths: np.ndarray
    importance: np.ndarray  # weight of each instance's loss, float64 (n,)


class Solution(NamedTuple):
    """The logistic regressions of some labels."""

    weights: np.ndarray  # for the last C, float64 (labels, width)
    constants: np.ndarray  # for the last C, float64 (labels,)
    # mean held-out log loss, NaN without held-out instances, float64 (labels, values of C)
    losses: np.ndarray
    # largest final squared Newton decrement of any C, relative to f, float64 (labels,)
    decrements: np.ndarray


class ByRow(NamedTuple):
    """The lanes' numbers per instance, each float64 (n, 8)."""

    targets: np.ndarray  # weight of the instance, negative without the label
    scores: np.ndarray  # linear score z
    residuals: np.ndarray  # weight times (p - y)
    curvatures: np.ndarray  # weight times p (1 - p)
    products: np.ndarray  # centred row times CG's direction
    moves: np.ndarray  # centred row times the Newton step


class ByColumn(NamedTuple):
    """The lanes' numbers per feature, each float64 (d, 8)."""

    weights: np.ndarray
    directions: np.ndarray  # search direction p of CG
    sums: np.ndarray  # computed by `pass_over`
    residuals: np.ndarray  # residual r of CG, at first the negative gradient
    steps: np.ndarray  # Newton step that CG has found so far
    means: np.ndarray  # mean of the feature, weighted by the curvatures
    # inverse of the preconditioner, or 0 for a feature that the label does not use
    inverses: np.ndarray


class Lanes(NamedTuple):
    """The state of eight lanes, one number each in arrays of shape (8,).

    The phase decides which sum the next pass over the rows computes for the lane, and which
    function `solve_labels` then calls::

        phase      computed in the pass         after the pass     -> next phase

        IDLE       nothing, waits for a label   begin_label        -> GRADIENT
        GRADIENT   the gradient of the loss     keeps it           -> MEANS
        MEANS      the means of the features    start_newton_step  -> CONJUGATE, or SOLVED
        CONJUGATE  the matrix times a direction conjugate          -> CONJUGATE, or the step:
                                                take_newton_step   -> GRADIENT, or SOLVED
        SOLVED     nothing, left at once        begin_path         -> GRADIENT, or IDLE

    A label is SOLVED at its minimum, before its next C, if any, begins with GRADIENT. As
    `take_newton_step` computes residuals and curvatures at the new weights, only GRADIENT and MEANS
    set up a Newton system, and each step of CG takes one further pass. Kernels update ``by_row``,
    ``by_column`` and ``lanes`` in place, and ``lane`` is the index of one lane.
    """

    phase: np.ndarray  # int64, like all fields up to ``width``
    item: np.ndarray  # index of the lane's label in the list of labels
    place: np.ndarray  # index of the present C among the ascending values
    n_steps: np.ndarray  # Newton steps so far
    # products of CG in the present Newton step
    n_products: np.ndarray
    width: np.ndarray  # number of features that the label uses
    # present value, float64, like all fields below
    C: np.ndarray
    constant: np.ndarray
    square: np.ndarray  # squared norm of the weights
    loss: np.ndarray
    objective: np.ndarray
    slope: np.ndarray  # sum of ``ByRow.residuals``
    curvature: np.ndarray  # sum of ``ByRow.curvatures``
    centre: np.ndarray  # inner product of the means and the direction
    remaining: np.ndarray  # r M^-1 r for the residual r and the preconditioner M
    target: np.ndarray  # value of ``remaining`` at which CG ends
    gain: np.ndarray  # squared Newton decrement of CG's present solution
    decrement: np.ndarray  # squared decrement of the last step, relative to the objective


def solve_path(
    problem: Problem,
    labels: np.ndarray,
    grid: np.ndarray,
    rows: np.ndarray,
    held_out: np.ndarray | None = None,
) -> Solution:
    """Minimise f for some labels and ascending values of C, each from the solution for the last.

    The labels, int64, have positives and negatives among the training instances ``rows``, int64,
    and ``grid``, float64 (labels, values of C), ascends for each of them. Instances ``held_out``
    are for the losses.
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
    """Return zeros, float64 (n_arrays, size, 8), whose rows of 8 are aligned with cache lines."""
    numbers = np.zeros((n_arrays * size + 1) * LANES)
    start = -(numbers.ctypes.data // numbers.itemsize) % LANES
    return numbers[start : start + n_arrays * size * LANES].reshape(n_arrays, size, LANES)


@njit(error_model="numpy")
def solve_labels(problem, labels, grid, rows, held_out, by_row, by_column, lanes, solution):
    """Run the loop of `solve_path`, whose ``held_out`` may be empty here instead of None.

    ``by_row``, ``by_column`` and ``lanes`` are all zero before the call, and ``solution``, which
    receives the result, 0 or NaN.
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
    """Return 1 for each instance with the label and -1 for others, float64 (n,)."""
    sides = np.full(problem.importance.size, -1.0)
    for place in range(problem.label_starts[label], problem.label_starts[label + 1]):
        sides[problem.label_rows[place]] = 1.0
    return sides


@njit(error_model="numpy")
def begin_label(problem, label, C, rows, by_row, by_column, lanes, lane):
    """Start a label in a lane, with weights 0 and the constant that is optimal for equal weights of
    the instances ``rows``. ``C`` is its first value.
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
    """Set value number ``place`` of C for a lane, which starts from the solution for the last."""
    lanes.place[lane] = place
    lanes.n_steps[lane] = 0
    lanes.C[lane] = C
    lanes.objective[lane] = 0.5 * lanes.square[lane] + C * lanes.loss[lane]
    lanes.phase[lane] = GRADIENT


@njit(error_model="numpy")
def pass_over(problem, rows, by_row, by_column, lanes):
    """Pass once over the instances ``rows``, and write ``by_row.products`` and ``by_column.sums``
    as the phase of each lane needs them.
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
    """Make a step of preconditioned conjugate gradients in each lane whose phase is CONJUGATE."""
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
    """Set up the Newton system at the present weights, unless they are the solution."""
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
    # CG reduces the norm of the residual to a tenth and, near the solution, further, so that Newton
    # steps converge quadratically, but not below the tolerance, which would not help.
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

    The full step changes each score by ``by_row.moves`` plus ``shift``. Residuals, curvatures and
    their sums at the new scores are stored.
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
        # accurate for small probabilities of the wrong class, too
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
