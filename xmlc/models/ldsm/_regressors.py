"""Train the regressors of one node: kernels (ldsm2020, Algorithm 2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.kernels.counter_random import random_unit
from xmlc.kernels.float32 import inverse_sqrt, sigmoid
from xmlc.kernels.sums import dot, sparse_dot
from xmlc.models.ldsm._directions import best_directions, direction_costs, objective

SMALLEST_SQUARE = np.float32(1e-30)  # where sums of squares start, so that none is zero; gradients are far larger


class Settings(NamedTuple):
    """Hyperparameters of a node; see `LdSM`."""

    arity: int
    epochs: int
    learning_rate: float
    lambda_1: float
    lambda_2: float
    adaptive: bool
    random_ties: bool
    uniform_start: bool
    prune: bool


@njit(cache=True, nogil=True, error_model="numpy")
def adaptive_update(ids, values, slope, rate, weights, squares, fresh):
    """Take a step of normalised adaptive gradient; return the new margin.

    Weight i moves by rate * g_i / sqrt(sum of its g_i ** 2), g_i = slope * x_i, x scaled to -1 .. 1 (Ross, Mineiro and
    Langford, 2013, Algorithm 2). ``fresh`` is scratch, float32 (2, at least ids.size).

    Notes
    -----
    Arithmetic is done on the consecutive ``fresh``, with vector instructions; only loads and stores of 8 bytes each per
    non-zero follow the indices.
    """
    own, new_squares = fresh[0, : ids.size], fresh[1, : ids.size]
    for k in range(ids.size):
        gradient = slope * values[k]
        square = squares[ids[k]] + gradient * gradient
        weight = weights[ids[k]] - rate * gradient * inverse_sqrt(square)
        new_squares[k] = square
        own[k] = weight
    for k in range(ids.size):
        weights[ids[k]] = own[k]
        squares[ids[k]] = new_squares[k]
    return dot(own, values)


@njit(cache=True, nogil=True)
def plain_update(ids, values, slope, rate, weights, fresh):
    """Take a step of stochastic gradient descent; return the new margin."""
    own = fresh[0, : ids.size]
    for k in range(ids.size):
        own[k] = weights[ids[k]] - rate * slope * values[k]
    for k in range(ids.size):
        weights[ids[k]] = own[k]
    return dot(own, values)


@njit(cache=True, nogil=True)
def gather_sums(labels, sums, own):
    """Copy S_j^i of an instance's labels side by side."""
    for j in range(own.shape[0]):
        source, target = sums[j], own[j, : labels.size]
        for k in range(labels.size):
            target[k] = source[labels[k]]


@njit(cache=True, nogil=True)
def start_weights(weights, n_all, key):
    """Draw the weights, float32 (M, p), uniform in -1/n_all .. 1/n_all; set them to 0 if ``n_all`` is 0."""
    largest = 1.0 / n_all if n_all > 0 else 0.0
    for j in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            weights[j, k] = largest * (2.0 * random_unit(key, j * weights.shape[1] + k) - 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def train_regressors(data, n, n_labels, settings, key, weights, squares, objectives):
    """Stream the instances of a node ``epochs`` times through its M regressors.

    Each instance is given its best directions; each regressor takes one step of logistic regression towards 1 or 0,
    and its margin after the step, clamped to 0 .. 1, counts as the probability of its direction.

    Parameters
    ----------
    data : NodeData
    n, n_labels : int
        Numbers of instances and labels of the node.
    settings : Settings
    key : uint64
        Stream of random numbers for ties.
    weights : float32 (M, p)
        The weights to start from, overwritten.
    squares : float32 (M, p)
        Overwritten; the sums of squared gradients of the adaptive method.
    objectives : float64 (epochs,)
        Overwritten by J after each epoch.

    Notes
    -----
    Per epoch and regressor 24 bytes move per non-zero (8 streamed, 16 in the node's own weights) and 8 to 12 per label.
    """
    arity = settings.arity
    sums = np.zeros((arity, n_labels), dtype=np.float32)
    totals, costs = np.zeros(arity, dtype=np.float64), np.empty(1 << arity, dtype=np.float64)
    most_values, most_labels = longest(data.starts, n), longest(data.label_starts, n)
    fresh, room = np.empty((2, most_values), dtype=np.float32), np.empty((arity, most_labels), dtype=np.float32)
    squares[:] = SMALLEST_SQUARE
    rate, norm, n_seen, step = np.float32(settings.learning_rate), 0.0, 0, 0
    for epoch in range(settings.epochs):
        for i in range(n):
            labels = data.label_ids[data.label_starts[i] : data.label_starts[i + 1]]
            ids, values = (
                data.ids[data.starts[i] : data.starts[i + 1]],
                data.values[data.starts[i] : data.starts[i + 1]],
            )
            gather_sums(labels, sums, room)
            n_seen, step = n_seen + labels.size, step + 1
            direction_costs(room, labels.size, totals, n_seen, settings.lambda_1, settings.lambda_2, costs)
            chosen = best_directions(costs, settings.random_ties, key, step)
            if settings.adaptive:
                norm += dot(values, values)
                rate = np.float32(settings.learning_rate * np.sqrt(step / norm))
            for j in range(arity):
                slope = sigmoid(sparse_dot(ids, values, weights[j])) - np.float32((chosen >> j) & 1)
                if settings.adaptive:
                    margin = adaptive_update(ids, values, slope, rate, weights[j], squares[j], fresh)
                else:
                    margin = plain_update(ids, values, slope, rate, weights[j], fresh)
                margin = min(max(margin, np.float32(0)), np.float32(1))
                if margin > 0:
                    totals[j] += np.float64(margin) * labels.size
                    spread(sums[j], labels, room[j, : labels.size], margin)
        objectives[epoch] = objective(sums, totals, max(1, n_seen), settings.lambda_1, settings.lambda_2)


@njit(cache=True, nogil=True)
def longest(starts, n):
    """Return the size of the longest of n rows."""
    most = 0
    for i in range(n):
        most = max(most, starts[i + 1] - starts[i])
    return most


@njit(cache=True, nogil=True)
def spread(sums, labels, own, margin):
    """Add a prediction to S_j^i of the instance's labels; ``own`` holds what they were."""
    for k in range(labels.size):
        sums[labels[k]] = own[k] + margin
