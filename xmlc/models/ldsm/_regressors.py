"""Train the regressors of one node: kernels (ldsm2020, Algorithm 2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.kernels.counter_random import random_unit
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.sums import dot
from xmlc.models.ldsm._directions import best_directions, best_of_two, direction_costs, objective
from xmlc.models.ldsm._pairs import SLOT, adaptive_step, pair_margins, plain_step
from xmlc.runtime.kernel_cache import njit

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


@njit(cache=True, nogil=True)
def gather_sums(labels, sums, own):
    """Copy S_j^i of an instance's labels side by side: from (pairs, m, 2) into a row of ``own`` for each direction."""
    for pair in range(sums.shape[0]):
        for k in range(labels.size):
            own[2 * pair, k], own[2 * pair + 1, k] = sums[pair, labels[k], 0], sums[pair, labels[k], 1]


@njit(cache=True, nogil=True)
def start_slots(slots, arity, n_all, key):
    """Draw the weights uniform in -1/n_all .. 1/n_all, 0 if ``n_all`` is 0, and set the squares to their start.

    Parameters
    ----------
    slots : float32 (pairs, p, 4)
        Weights and squares as in `_pairs`; overwritten. What belongs to no direction, if M is odd, gets weight 0.
    arity, n_all : int
    key : uint64
    """
    for j in range(2 * slots.shape[0]):
        largest = 1.0 / n_all if n_all > 0 and j < arity else 0.0
        for k in range(slots.shape[1]):
            slots[j // 2, k, j % 2] = largest * (2.0 * random_unit(key, j * slots.shape[1] + k) - 1.0)
            slots[j // 2, k, 2 + j % 2] = SMALLEST_SQUARE


@njit(cache=True, nogil=True, error_model="numpy")
def train_regressors(data, n, n_labels, settings, key, slots, objectives):
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
    slots : float32 (pairs, p, 4)
        What `start_slots` made; overwritten by the trained weights and the sums of squared gradients.
    objectives : float64 (epochs,)
        Overwritten by J after each epoch.

    Notes
    -----
    Per epoch and pair of regressors 8 bytes are streamed per non-zero, and 16 read twice and written; 16 per label.
    """
    arity, n_pairs, size = settings.arity, slots.shape[0], slots.shape[1] * SLOT
    sums = np.zeros((n_pairs, n_labels, 2), dtype=np.float32)
    totals, costs = np.zeros(arity, dtype=np.float64), np.empty(1 << arity, dtype=np.float64)
    room = np.empty((2 * n_pairs, longest(data.label_starts, n)), dtype=np.float32)
    estimates, flat, flat_sums = np.empty(2 * n_pairs, dtype=np.float32), slots.reshape(-1), sums.reshape(-1)
    starts, all_ids, all_values = data.starts, data.ids, data.values
    label_starts, label_ids, lengths = data.label_starts, data.label_ids, squared_lengths(data.starts, data.values, n)
    adaptive, random_ties, learning_rate = settings.adaptive, settings.random_ties, settings.learning_rate
    lambda_1, lambda_2 = settings.lambda_1, settings.lambda_2
    rate, norm, n_seen, step = np.float32(learning_rate), 0.0, 0, 0
    for epoch in range(settings.epochs):
        for i in range(n):
            labels = borrowed(label_ids, label_starts[i], label_starts[i + 1])
            ids, values = borrowed(all_ids, starts[i], starts[i + 1]), borrowed(all_values, starts[i], starts[i + 1])
            n_seen, step = n_seen + labels.size, step + 1
            # What the choice of directions does not depend on comes first, and the processor works on both at once.
            for pair in range(n_pairs):
                scores = pair_margins(ids, values, borrowed(flat, pair * size, (pair + 1) * size))
                estimates[2 * pair], estimates[2 * pair + 1] = sigmoid(scores[0]), sigmoid(scores[1])
            if arity == 2:
                both = borrowed(flat_sums, 0, flat_sums.size)
                chosen = best_of_two(labels, both, totals, n_seen, lambda_1, lambda_2, random_ties, key, step)
            else:
                gather_sums(labels, sums, room)
                direction_costs(room, labels.size, totals, n_seen, lambda_1, lambda_2, costs)
                chosen = best_directions(costs, random_ties, key, step)
            if adaptive:
                norm += lengths[i]
                rate = np.float32(learning_rate * np.sqrt(step / norm))
            for pair in range(n_pairs):
                own = borrowed(flat, pair * size, (pair + 1) * size)
                first = estimates[2 * pair] - np.float32((chosen >> 2 * pair) & 1)
                second = estimates[2 * pair + 1] - np.float32((chosen >> (2 * pair + 1)) & 1)
                margins = train_pair(ids, values, own, first, second, rate, adaptive)
                spread(borrowed(flat_sums, 2 * n_labels * pair, 2 * n_labels * (pair + 1)), labels, margins)
                for side in range(min(2, arity - 2 * pair)):
                    totals[2 * pair + side] += np.float64(margins[side]) * labels.size
        objectives[epoch] = objective(sums, totals, max(1, n_seen), lambda_1, lambda_2)


@njit(cache=True, nogil=True)
def train_pair(ids, values, slots, first, second, rate, adaptive):
    """Take a step of two regressors with the slopes ``first`` and ``second``; return their margins, clamped."""
    if adaptive:
        margins = adaptive_step(ids, values, slots, first, second, rate)
    else:
        margins = plain_step(ids, values, slots, first, second, rate)
    zero, one = np.float32(0), np.float32(1)
    return min(max(margins[0], zero), one), min(max(margins[1], zero), one)


@njit(cache=True, nogil=True)
def spread(sums, labels, margins):
    """Add two predictions to S_j^i of the instance's labels, which stand side by side in ``sums``."""
    for k in range(labels.size):
        place = 2 * np.int64(labels[k])
        sums[place] += margins[0]
        sums[place + 1] += margins[1]


@njit(cache=True, nogil=True)
def squared_lengths(starts, values, n):
    """Return the squared length of each of n instances, float32 (n,)."""
    lengths = np.empty(n, dtype=np.float32)
    for i in range(n):
        own = borrowed(values, starts[i], starts[i + 1])
        lengths[i] = dot(own, own)
    return lengths


@njit(cache=True, nogil=True)
def longest(starts, n):
    """Return the size of the longest of n rows."""
    most = 0
    for i in range(n):
        most = max(most, starts[i + 1] - starts[i])
    return most
