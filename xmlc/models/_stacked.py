"""Fit and evaluate a logistic regression over the scores of several models.

These functions are kernels of the estimator in `xmlc.models.stacking`.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import stable_order
from xmlc.kernels.float64 import log, sigmoid, softplus

# This constant is added to each score before the logarithm is taken, because an unranked label has
# score 0.
SMALLEST_SCORE = 1e-3
SMALLEST_MEAN = 1e-6  # The mean score is clipped to 1e-6 .. 1 - 1e-6, so that its logit is finite.
MOST_STEPS = 50
SHORTEST_STEP = 1e-6
# Newton's method stops when the relative decrease of the loss in a step is at most this number.
ENOUGH = 1e-10


@njit
def merge_lists(labels, scores):
    """Return the candidates of n instances, and the score of each member for each candidate.

    A label is a candidate of an instance if at least one member ranks it for the instance.

    Parameters
    ----------
    labels : int32 (n, M, K)
        The labels that each of M members ranks for each instance. If a member ranks fewer than K
        labels, the rest of its list is -1.
    scores : float32 (n, M, K)
        The scores of the labels in ``labels``.

    Returns
    -------
    counts : int64 (n,)
        Number of candidates of each instance.
    candidates : int32 (q,)
        The candidates of one instance after another, with ascending labels for each instance.
    values : float64 (q, M)
        The score that each member gives to each candidate, at most 1. The score is 0 if the member
        did not rank the candidate.
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
    """Return the number of features that `features_of` writes for ``n_members`` members."""
    return 2 + (n_members + 1) + (n_members + 1) * (n_members + 2) // 2


@njit
def features_of(candidates, scores, log_shares):
    """Return the features of each pair of an instance and a candidate, float64 (q, p).

    The features are the logit of the mean score, the constant 1, M + 1 logarithms, and all products
    of two logarithms. The logarithms are log(score + 0.001) for the score of each of M members, and
    the log of the label's share.

    Parameters
    ----------
    candidates : int32 (q,)
        The label of each pair (instance, candidate).
    scores : float64 (q, M)
        The scores that the M members give to each pair.
    log_shares : float64 (m,)
        Logarithm of each label's share of the training set.
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
    """Return the inner product of each row of ``features``, float64 (q, p), and ``coefficients``,
    float64 (p,).
    """
    z = np.empty(len(features))
    for pair in range(z.size):
        z[pair] = product(features[pair], coefficients)
    return z


@njit
def row_features(counts, z):
    """Return two features of each instance: its best score, and the log of the expected number of
    its labels.

    The expected number of labels is the sum of sigmoid(z) over the candidates, in their order, plus
    0.001.

    Parameters
    ----------
    counts : int64 (n,)
        Number of candidates of each instance.
    z : float64 (q,)
        The scores of the candidates of one instance after another.

    Returns
    -------
    float64 (n, 2)
        The two features, which are 0 for an instance without candidates.
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
    """Return the estimate of each candidate, sigmoid(a z + b + c best + d log(sum)), float32 (q,).

    Parameters
    ----------
    counts : int64 (n,)
        Number of candidates of each instance.
    z : float64 (q,)
        Score of each candidate.
    of_rows : float64 (n, 2)
        The features *best* and *log(sum)* of each instance, the result of `row_features`.
    calibration : float64 (4,)
        The coefficients a, b, c and d.
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
    """Return the inner product of two float64 arrays.

    The products are summed in order, from the first entry to the last.
    """
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

    The minimum is found by Newton's method. A Newton step is halved until the objective decreases
    enough. The function is no kernel, because its loop takes no time but would take long to
    compile.

    Parameters
    ----------
    features : float64 (q, p)
        Features of each pair (instance, label).
    true : bool (q,)
        Whether the instance of each pair has the label.
    weights : float64 (q,)
        Weight of each pair in the loss.
    start : float64 (p,)
        Coefficients from which Newton's method starts.

    Returns
    -------
    float64 (p,)
        The coefficients at the minimum.
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
    """Return the objective that `fit_stacked` minimises.

    Parameters
    ----------
    features, true, weights, start
        As for `fit_stacked`.
    coefficients : float64 (p,)
        Coefficients of the regression.
    """
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
    """Return the gradient of `loss_of`, float64 (p,), and the lower triangle of its Hessian,
    float64 (p, p).

    Parameters
    ----------
    features, true, weights, coefficients, start
        As for `loss_of`.
    """
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
    """Solve a positive definite linear system by Cholesky decomposition, and overwrite both
    arguments.

    Parameters
    ----------
    matrix : float64 (p, p)
        The matrix of the system, of which the function reads only the lower triangle.
    right : float64 (p,)
        The right-hand side, which the function replaces by the solution.
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
