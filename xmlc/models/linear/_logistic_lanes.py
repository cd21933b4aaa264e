"""What the solver of logistic regressions knows of eight labels side by side, and their losses: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.float64 import exp, log1p
from xmlc.models.linear._lanes import LANES
from xmlc.runtime.kernel_cache import njit

# States of a lane. A plain number is a type of its own for numba, and so would be each call of `enter`.
IDLE, GRADIENT, MEANS, CONJUGATE, SOLVED = (np.int64(state) for state in range(5))


class ByRow(NamedTuple):
    """What lanes know of instances, float64 (n, 8)."""

    targets: np.ndarray  # 1 where the instance carries the label, else 0
    scores: np.ndarray  # z
    residuals: np.ndarray  # p - y
    curvatures: np.ndarray  # p (1 - p)
    products: np.ndarray  # of the row, centred, with CG's direction
    moves: np.ndarray  # the same of the Newton step


class ByColumn(NamedTuple):
    """What lanes know of features, float64 (d, 8)."""

    weights: np.ndarray
    directions: np.ndarray  # CG's p
    sums: np.ndarray  # of rows, as `_pass_over` leaves them
    residuals: np.ndarray  # CG's r, at first the negative gradient
    steps: np.ndarray  # CG's solution
    means: np.ndarray  # of the feature under the curvatures
    inverses: np.ndarray  # of the preconditioner; 0 for a feature that the label does not see


class Lanes(NamedTuple):
    """What a lane knows of itself, (8,)."""

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
    """Return `Lanes` that have nothing to do."""
    a, b = np.zeros((6, LANES), dtype=np.int64), np.zeros((15, LANES))
    first = (a[0], a[1], a[2], a[3], a[4], a[5], b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8])
    return Lanes(*first, b[9], b[10], b[11], b[12], b[13], b[14])


@njit(cache=True, nogil=True)
def enter(lanes, lane, state):
    """Set a lane's state, and what the next pass shall add up for it."""
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
