"""Assign a node's instances to its two sides by nDCG: kernels (Prabhu and Varma, KDD 2014, Section 4)."""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.kernels import elementwise
from xmlc.kernels.arrays import borrowed, copy_into

# Gains are integers in units of 2**-16: their sums can be updated as instances change sides without drifting from what
# a sum from scratch would give, do not depend on order, and equal ones are exactly equal.
FIXED_POINT = 1 << 16
# A label and its weighted sum share a sorting key of 64 bits.
LABEL_BITS = 24
LARGEST_SCORE = (1 << 40) - 1
GAIN_TOLERANCE = 1e-6


def discount_table(size: int) -> np.ndarray:
    """Return nDCG's discounts 1 / log2(2 + rank) of the ranks 0 .. size - 1, float64."""
    return 1.0 / elementwise.log2(np.arange(2, size + 2))


def ideal_table(size: int) -> np.ndarray:
    """Return 1 / DCG of the best ranking of k labels for k = 0 .. size - 1, int64 in units of 2**-16; 0 for k = 0."""
    best = np.cumsum(discount_table(size))
    return np.rint(np.concatenate(([0.0], 1.0 / best))[:size] * FIXED_POINT).astype(np.int64)


def dcg_table(size: int) -> np.ndarray:
    """Return what stands in the place of `ideal_table` where DCG is the objective: 1 for k > 0."""
    return np.where(np.arange(size) > 0, FIXED_POINT, 0).astype(np.int64)


@njit(cache=True, nogil=True)
def partition_by_ndcg(starts, labels, weights, ideal, discounts, side):
    """Alternate between ranking the labels of each side and moving each instance to the side that ranks it better.

    Parameters
    ----------
    starts : int64 (n + 1,), labels : uint32
        Label sets of the node's instances, labels numbered within the node in ascending order.
    weights : float32 (n_labels,)
        Gain of each label: 1, or its inverse propensity.
    ideal : int64
        `ideal_table`, or `dcg_table` for DCG, at least as long as the largest label set plus one.
    discounts : float64
        `discount_table`, at least n_labels long.
    side : int8 (n,)
        Start, 1 or -1; overwritten by the result.

    Returns
    -------
    value : float
        Mean nDCG of the instances on their sides.
    n_rounds : int

    Notes
    -----
    A label's place on a side is its rank by gains summed over the side's instances, ties to the smaller label.
    An instance that both sides rank equally well stays where it is. Ends when a round gains less than 1e-6.
    A round reads 4 bytes for each label of each instance, and what is indexed by label from the cache.
    """
    total, positive = sum_gains(starts, labels, ideal, side, weights.size)
    scale = score_scale(total, weights)
    keys, scratch = np.empty(weights.size, dtype=np.uint64), np.empty(weights.size, dtype=np.uint64)
    gains, difference = np.empty((2, weights.size), dtype=np.int64), np.empty(weights.size, dtype=np.int64)
    previous, n_rounds = -1.0, 0
    while True:
        n_rounds += 1
        rank_labels(positive, weights, scale, discounts, keys, scratch, gains[0])
        rank_labels(total - positive, weights, scale, discounts, keys, scratch, gains[1])
        for label in range(weights.size):
            difference[label] = gains[0, label] - gains[1, label]
        moved = choose_sides(starts, labels, difference, ideal, side, positive)
        value = 0.0
        for label in range(weights.size):
            here, there = np.float64(positive[label]), np.float64(total[label] - positive[label])
            value += here * gains[0, label] + there * gains[1, label]
        value /= float(FIXED_POINT) * FIXED_POINT * max(1, side.size)
        if moved == 0 or value - previous < GAIN_TOLERANCE:
            return value, n_rounds
        previous = value


@njit(cache=True, nogil=True)
def sum_gains(starts, labels, ideal, side, n_labels):
    """Sum each label's ideal gains over all instances and over those on the positive side, in fixed point."""
    total = np.zeros(n_labels, dtype=np.int64)
    positive = np.zeros(n_labels, dtype=np.int64)
    for i in range(side.size):
        own = borrowed(labels, starts[i], starts[i + 1])
        gain = ideal[own.size]
        here = gain if side[i] > 0 else 0
        for label in own:
            total[label] += gain
            positive[label] += here
    return total, positive


@njit(cache=True, nogil=True)
def score_scale(total, weights):
    """Return what weighted sums are multiplied by to have at most 40 bits: 1 below tens of millions of instances."""
    scale = 1.0
    for label in range(weights.size):
        while np.float64(total[label]) * weights[label] * scale >= float(LARGEST_SCORE):
            scale *= 0.5
    return scale


@njit(cache=True, nogil=True)
def rank_labels(sums, weights, scale, discounts, keys, scratch, gains):
    """Rank labels by weighted sum, ties to the smaller label, and write the gain of each label's place."""
    least, largest = np.int64(LARGEST_SCORE), np.int64(0)
    for label in range(sums.size):
        score = np.int64(np.float64(sums[label]) * weights[label] * scale + 0.5)
        keys[label] = np.uint64((LARGEST_SCORE - score) << LABEL_BITS | label)
        least, largest = min(least, score), max(largest, score)
    sort_scores(keys, scratch, LARGEST_SCORE - largest, LARGEST_SCORE - least)
    for rank in range(keys.size):
        label = keys[rank] & np.uint64((1 << LABEL_BITS) - 1)
        gains[label] = np.int64(weights[label] * discounts[rank] * FIXED_POINT + 0.5)


@njit(cache=True, nogil=True)
def sort_scores(keys, scratch, least, largest):
    """Sort by the bits above the label's, between ``least`` and ``largest``, stable: radix sort.

    In as few passes as digits of at most 9 bits allow; sums of small nodes have few bits.
    """
    bits = 1
    while largest > least and (largest - least) >> bits:
        bits += 1
    n_passes = (bits + 8) // 9
    width = (bits + n_passes - 1) // n_passes
    places = np.empty(1 << width, dtype=np.uint32)
    mask, base = np.uint64(places.size - 1), np.uint64(least) << np.uint64(LABEL_BITS)
    source, target = keys, scratch
    for digit in range(n_passes):
        shift = np.uint64(LABEL_BITS + digit * width)
        places[:] = 0
        for key in source:
            places[((key - base) >> shift) & mask] += np.uint32(1)
        place = np.uint32(0)
        for value in range(places.size):
            place, places[value] = place + places[value], place
        for key in source:
            value = ((key - base) >> shift) & mask
            target[places[value]] = key
            places[value] += np.uint32(1)
        source, target = target, source
    if n_passes % 2:
        copy_into(keys, scratch)


@njit(cache=True, nogil=True)
def choose_sides(starts, labels, difference, ideal, side, positive):
    """Move each instance to the side where its labels gain more, keep ``positive`` up to date, count the moves."""
    moved = 0
    for i in range(side.size):
        own = borrowed(labels, starts[i], starts[i + 1])
        gained = np.int64(0)
        for label in own:
            gained += difference[label]
        if (gained > 0 and side[i] < 0) or (gained < 0 and side[i] > 0):
            side[i] = -side[i]
            moved += 1
            change = ideal[own.size] * side[i]
            for label in own:
                positive[label] += change
    return moved
