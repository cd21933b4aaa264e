"""A logistic regression over the scores of several models. Kernels of `xmlc.models.stacking`."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import stable_order
from xmlc.kernels.float64 import log, sigmoid, softplus

# An unranked label has the score 0, which has no logarithm.
SMALLEST_SCORE = 1e-3
SMALLEST_MEAN = 1e-6  # clips the mean score, so that its logit is finite
MOST_STEPS = 50
SHORTEST_STEP = 1e-6
# Newton's method stops if a step decreases the loss by no more, relative to the loss.
ENOUGH = 1e-10


@njit
def merge_lists(labels, scores):
    """Return the candidates of n instances: the labels that at least one member ranks.

    ``labels``, int32, and ``scores``, float32, (n, M, K), are the members' results, ended by -1.

    Returns
    -------
    counts : int64 (n,)
    candidates : int32 (q,)
        The candidates of one instance after another, ascending within an instance.
    values : float64 (q, M)
        The members' scores of each candidate, clipped to [0, 1] and 0 if unranked.
    """
    n, n_members, n_ranked = labels.shape
    labels = labels.reshape((n, n_members * n_ranked))
    scores = scores.reshape((n, n_members * n_ranked))
    counts = np.zeros(n, dtype=np.int64)
    candidates = np.empty(labels.size, dtype=np.int32)
    values = np.zeros((labels.size, n_members))
    used = 0
    for i in range(n):
        for place in stable_order(labels[i]):
            label = labels[i, place]
            if label < 0:
                continue
            if counts[i] == 0 or label != candidates[used - 1]:
                candidates[used] = label
                used += 1
                counts[i] += 1
            values[used - 1, place // n_ranked] = min(max(scores[i, place], 0.0), 1.0)
    return counts, candidates[:used].copy(), values[:used].copy()


@njit
def n_features_of(n_members):
    return 2 + (n_members + 1) + (n_members + 1) * (n_members + 2) // 2


@njit
def features_of(candidates, scores, log_shares):
    """Return the features of each pair of an instance and a candidate, float64 (q, p).

    They are the logit of the mean score, the constant 1, M + 1 logarithms, and all products of two
    of these: log(score + 0.001) for each of M members, then the log of the label's share.
    ``candidates`` are int32 (q,), ``scores`` float64 (q, M) and ``log_shares`` float64 (m,).
    """
    n_members = scores.shape[1]
    end_of_logs = 3 + n_members
    features = np.empty((candidates.size, n_features_of(n_members)))
    for pair in range(candidates.size):
        own = features[pair]
        mean = 0.0
        for member in range(n_members):
            mean += scores[pair, member]
            own[2 + member] = log(scores[pair, member] + SMALLEST_SCORE)
        mean = min(max(mean / n_members, SMALLEST_MEAN), 1.0 - SMALLEST_MEAN)
        own[0] = log(mean / (1.0 - mean))
        own[1] = 1.0
        own[end_of_logs - 1] = log_shares[candidates[pair]]
        place = end_of_logs
        for first in range(2, end_of_logs):
            for second in range(2, first + 1):
                own[place] = own[first] * own[second]
                place += 1
    return features


@njit
def scores_of(features, coefficients):
    z = np.empty(len(features))
    for pair in range(z.size):
        z[pair] = product(features[pair], coefficients)
    return z


@njit
def row_features(counts, z):
    """Return the best score of each instance and the log of its expected number of labels.

    The expected number is the sum of sigmoid(z) over the candidates, in their order, plus 0.001.
    Both features, float64 (n, 2), are 0 without candidates. ``counts``, int64 (n,), and ``z``,
    float64 (q,), are the numbers and scores of candidates.
    """
    features = np.zeros((counts.size, 2))
    pair = 0
    for i in range(counts.size):
        if counts[i] == 0:
            continue
        best = z[pair]
        total = 0.0
        for _ in range(counts[i]):
            best = max(best, z[pair])
            total += sigmoid(z[pair])
            pair += 1
        features[i, 0] = best
        features[i, 1] = log(total + SMALLEST_SCORE)
    return features


@njit
def calibrated_estimates(counts, z, of_rows, calibration):
    """Return each candidate's estimate, sigmoid(a z + b + c best + d log(sum)), float32 (q,).

    ``of_rows`` is the result of `row_features`, *best* and *log(sum)*, and ``calibration`` has a,
    b, c and d.
    """
    estimates = np.empty(z.size, dtype=np.float32)
    pair = 0
    for i in range(counts.size):
        for _ in range(counts[i]):
            logit = calibration[0] * z[pair] + calibration[1]
            logit = logit + calibration[2] * of_rows[i, 0] + calibration[3] * of_rows[i, 1]
            estimates[pair] = sigmoid(logit)
            pair += 1
    return estimates


@njit
def product(first, second):
    """Return the inner product of two float64 arrays, summed in order."""
    total = 0.0
    for k in range(first.size):
        total += first[k] * second[k]
    return total


@np.errstate(all="ignore")
def fit_stacked(
    features: np.ndarray, true: np.ndarray, weights: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Minimise the weighted logistic loss plus half the squared distance of the coefficients from
    ``start``.

    Newton's method halves each step until the objective decreases enough. Its loop takes no time,
    but would take long to compile as a kernel.

    The arrays are those of `xmlc.models._held_out.Pairs`, ``start`` and the result float64 (p,).
    """
    found = start.copy()
    loss = loss_of(features, true, weights, found, start)
    for _ in range(MOST_STEPS):
        gradient, curvature = derivatives_of(features, true, weights, found, start)
        step = gradient.copy()
        solve_newton(curvature, step)
        slope = product(gradient, step)
        before = loss
        length = 1.0
        while length > SHORTEST_STEP:
            shorter = found - length * step
            loss = loss_of(features, true, weights, shorter, start)
            if loss <= before - 1e-4 * length * slope:
                break
            length *= 0.5
        if not loss < before:
            return found
        found = shorter
        if before - loss <= ENOUGH * before:
            return found
    return found


@njit
def loss_of(features, true, weights, coefficients, start):
    """Return the objective that `fit_stacked` minimises, at ``coefficients``, float64 (p,)."""
    loss = 0.0
    for k in range(start.size):
        loss += 0.5 * (coefficients[k] - start[k]) ** 2
    for pair in range(true.size):
        z = product(features[pair], coefficients)
        if true[pair]:
            z = -z
        loss += weights[pair] * softplus(z)
    return loss


@njit
def derivatives_of(features, true, weights, coefficients, start):
    """Return the gradient of `loss_of`, (p,), and the lower triangle of its Hessian, (p, p)."""
    size = start.size
    gradient = coefficients - start
    curvature = np.zeros((size, size))
    for k in range(size):
        curvature[k, k] = 1.0
    for pair in range(true.size):
        own = features[pair]
        p = sigmoid(product(own, coefficients))
        residual = weights[pair] * (p - true[pair])
        variance = weights[pair] * p * (1.0 - p)
        for k in range(size):
            gradient[k] += residual * own[k]
            multiple = variance * own[k]
            for j in range(k + 1):
                curvature[k, j] += multiple * own[j]
    return gradient, curvature


@njit
def solve_newton(matrix, right):
    """Solve a positive definite system by Cholesky decomposition, and overwrite both arguments.

    Only the lower triangle of ``matrix`` is read, and ``right`` receives the solution.
    """
    size = right.size
    for k in range(size):
        for j in range(k + 1):
            rest = matrix[k, j]
            for i in range(j):
                rest -= matrix[k, i] * matrix[j, i]
            if j < k:
                matrix[k, j] = rest / matrix[j, j]
            else:
                matrix[k, k] = np.sqrt(rest)
        right[k] = (right[k] - product(matrix[k, :k], right[:k])) / matrix[k, k]
    for k in range(size - 1, -1, -1):
        for i in range(k + 1, size):
            right[k] -= matrix[i, k] * right[i]
        right[k] /= matrix[k, k]
