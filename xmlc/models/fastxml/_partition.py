"""Assignment of a node's instances to two sides by nDCG (Prabhu and Varma, KDD 2014, Section 4).
Kernels.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels import elementwise
from xmlc.kernels.arrays import unchecked_view, unowned

# Gains are integers in units of 2**-16, whose sums have no rounding errors. So they do not depend
# on the order of the instances, and equal sums are exactly equal.
FIXED_POINT = 1 << 16
# A sorting key of 64 bits has a label (24 bits) and its score (40 bits).
LABEL_BITS = 24
SCORE_BITS = 40
LARGEST_SCORE = (1 << SCORE_BITS) - 1
DIGIT_BITS = 9  # sorted by one pass of the radix sort, with 512 counters
MOST_PASSES = -(-SCORE_BITS // DIGIT_BITS)
GAIN_TOLERANCE = 1e-6


def discount_table(size: int) -> np.ndarray:
    """Return nDCG's discounts 1 / log2(2 + rank) for the ranks 0 .. size - 1, float64."""
    return 1.0 / elementwise.log2(np.arange(2, size + 2))


def ideal_table(size: int) -> np.ndarray:
    """Return 1 / DCG for the ideal ranking of k labels, with k = 0 .. size - 1.

    Entries are int64 in units of 2**-16, and 0 for k = 0.
    """
    best = np.array(list(accumulate(discount_table(size).tolist())))
    return np.rint(np.concatenate(([0.0], 1.0 / best))[:size] * FIXED_POINT).astype(np.int64)


def dcg_table(size: int) -> np.ndarray:
    """Return the table for DCG instead of nDCG: 2**16 for k > 0, and 0 for k = 0."""
    return np.where(np.arange(size) > 0, FIXED_POINT, 0).astype(np.int64)


@njit
def partition_by_ndcg(starts, labels, weights, ideal, discounts, side):
    """Alternate between ranking labels on each side and moving instances to the side that ranks
    theirs better.

    Each side ranks the labels by the sum of their gains over its instances, smaller numbers first
    among equals. An instance stays if both sides rank its labels equally well. The loop ends if a
    round moves no instance, or improves the mean nDCG by less than 1e-6.

    Parameters
    ----------
    starts : int64 (n + 1,), labels : uint32
        Label sets of the node's instances, with labels numbered within the node, ascending.
    weights : float32 (n_labels,)
        Gain of each label, either 1 or its inverse propensity.
    ideal : int64
        `ideal_table` or `dcg_table`, with more entries than the largest label set.
    discounts : float64
        At least n_labels discounts.
    side : int8 (n,)
        Initial side of each instance, 1 or -1, which the resulting one replaces.

    Returns
    -------
    value : float
        Mean nDCG.
    """
    starts, labels, weights, ideal, discounts, side = unowned(
        (starts, labels, weights, ideal, discounts, side)
    )
    negative, positive = sum_gains(starts, labels, ideal, side, weights.size)
    scale = score_scale(negative + positive, weights)
    here = np.empty(weights.size, dtype=np.int64)  # gain of each label's rank on the positive side
    there = np.empty(weights.size, dtype=np.int64)  # and on the negative side
    keys = np.empty(weights.size, dtype=np.uint64)
    scratch = np.empty(weights.size, dtype=np.uint64)
    counts = np.empty(MOST_PASSES << DIGIT_BITS, dtype=np.uint32)
    previous = -1.0
    while True:
        rank_by_gain(positive, weights, scale, discounts, keys, scratch, counts, here)
        rank_by_gain(negative, weights, scale, discounts, keys, scratch, counts, there)
        moved = choose_sides(starts, labels, here - there, ideal, side, negative, positive)
        value = 0.0
        for label in range(weights.size):
            value += (
                np.float64(positive[label]) * here[label]
                + np.float64(negative[label]) * there[label]
            )
        value /= float(FIXED_POINT) * FIXED_POINT * max(1, side.size)
        if moved == 0 or value - previous < GAIN_TOLERANCE:
            return value
        previous = value


@njit
def sum_gains(starts, labels, ideal, side, n_labels):
    """Return each label's int64 sum of ``ideal`` for both sides, negative first."""
    negative = np.zeros(n_labels, dtype=np.int64)
    positive = np.zeros(n_labels, dtype=np.int64)
    for i in range(side.size):
        own = unchecked_view(labels, starts[i], starts[i + 1])
        sums = negative
        if side[i] > 0:
            sums = positive
        for label in own:
            sums[label] += ideal[own.size]
    return negative, positive


@njit
def score_scale(total, weights):
    """Return the factor with which the weighted sums of labels fit into 40 bits, 1 unless there are
    tens of millions of instances.
    """
    scale = 1.0
    for label in range(weights.size):
        while np.float64(total[label]) * weights[label] * scale >= float(LARGEST_SCORE):
            scale *= 0.5
    return scale


@njit
def rank_by_gain(sums, weights, scale, discounts, keys, scratch, counts, gains):
    """Rank labels by score, smaller numbers first among equals, and write the gain of each rank.

    The score of a label is the product of its sum, its weight, and ``scale``. A stable radix sort
    orders the differences from the largest score, at most 9 bits in a pass, so small nodes, whose
    scores have few bits, need few passes. The last pass writes gains instead of keys.

    ``sums`` and ``gains`` are int64, ``weights`` float32, ``keys`` and ``scratch`` uint64. The
    scratch array ``counts``, uint32, has an entry for each pass and each value of a digit.
    """
    least = np.int64(LARGEST_SCORE)
    largest = np.int64(0)
    for label in range(sums.size):
        score = np.int64(np.float64(sums[label]) * weights[label] * scale + 0.5)
        gains[label] = score
        least = min(least, score)
        largest = max(largest, score)
    bits = 1  # one bit is enough without labels, when ``largest`` is below ``least``
    while (largest - least) >> bits > 0:
        bits += 1
    n_passes = (bits + DIGIT_BITS - 1) // DIGIT_BITS
    width = (bits + n_passes - 1) // n_passes
    count_digits(gains, largest, n_passes, width, keys, counts)
    for digit in range(n_passes - 1):
        sort_by_digit(
            keys,
            digit,
            width,
            unchecked_view(counts, digit << width, (digit + 1) << width),
            scratch,
        )
        keys, scratch = unchecked_view(scratch, 0, scratch.size), unchecked_view(keys, 0, keys.size)
    shift = np.uint64(LABEL_BITS + (n_passes - 1) * width)
    ranks = unchecked_view(counts, (n_passes - 1) << width, n_passes << width)
    for k in range(keys.size):
        label = keys[k] & np.uint64((1 << LABEL_BITS) - 1)
        digit = keys[k] >> shift
        gains[label] = np.int64(weights[label] * discounts[ranks[digit]] * FIXED_POINT + 0.5)
        ranks[digit] += np.uint32(1)


@njit
def count_digits(scores, largest, n_passes, width, keys, counts):
    """Write the sorting key of each score, and count for each pass and digit the smaller digits."""
    size = 1 << width
    mask = np.uint64((1 << width) - 1)
    for place in range(n_passes * size):
        counts[place] = 0
    for label in range(scores.size):
        rest = np.uint64(largest - scores[label])
        first = np.uint64(0)
        keys[label] = rest << np.uint64(LABEL_BITS) | np.uint64(label)
        for _ in range(n_passes):
            counts[first + (rest & mask)] += np.uint32(1)
            rest >>= np.uint64(width)
            first += np.uint64(size)
    for digit in range(n_passes):
        smaller = np.uint32(0)
        for place in range(digit * size, (digit + 1) * size):
            smaller, counts[place] = smaller + counts[place], smaller


@njit
def sort_by_digit(keys, digit, width, places, target):
    """Copy keys to ``target`` in the order of one digit, with the next position for each of its
    values in ``places``.
    """
    shift = np.uint64(LABEL_BITS + digit * width)
    mask = np.uint64((1 << width) - 1)
    for k in range(keys.size):
        value = (keys[k] >> shift) & mask
        target[places[value]] = keys[k]
        places[value] += np.uint32(1)


@njit
def choose_sides(starts, labels, difference, ideal, side, negative, positive):
    """Move instances to the side on which their labels gain more, update the sums, and count the
    moves.
    """
    moved = 0
    for i in range(side.size):
        own = unchecked_view(labels, starts[i], starts[i + 1])
        gained = np.int64(0)
        for label in own:
            gained += difference[label]
        if (gained > 0 and side[i] < 0) or (gained < 0 and side[i] > 0):
            side[i] = -side[i]
            moved += 1
            change = ideal[own.size] * side[i]
            for label in own:
                positive[label] += change
                negative[label] -= change
    return moved
