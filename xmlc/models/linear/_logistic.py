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
  `_lanes`): each lane is in a state of its own, and takes the next label of the queue when its path of C ends.
* Exact Newton steps by Cholesky would take d^3 / 3 operations, as much as some hundred to thousands of the products of
  which a step needs 5 to 100.

A lane ends where the squared Newton decrement, twice what the next step can still gain, is below `TOLERANCE` times f:
after CG, and then the step is taken, or by the bound |gradient|^2, which holds because the matrix of second derivatives
is at least the unit matrix. Relative to f this has no unit, and is far above what rounding leaves.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels.float64 import log
from xmlc.models.linear._lanes import LANES, add_row, multiply_row
from xmlc.models.linear._logistic_lanes import (
    CONJUGATE,
    GRADIENT,
    IDLE,
    MEANS,
    SOLVED,
    enter,
    evaluate,
    idle_lanes,
    mean_loss,
    no_columns,
    no_rows,
)
from xmlc.runtime.kernel_cache import njit

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
    """Read the matrix once: rows times directions, and sums of rows times what each lane's state asks for."""
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
