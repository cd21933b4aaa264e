"""Provide kernels that assign the instances of a node to two sides by nDCG (Prabhu and Varma, KDD
2014, Section 4).
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels import elementwise
from xmlc.kernels.arrays import unchecked_view, unowned

# Gains are integers in units of 2**-16, so that adding and subtracting gains causes no rounding
# errors. Sums of gains do not depend on the order of the instances, and equal sums are exactly
# equal.
FIXED_POINT = 1 << 16
# A sorting key of 64 bits contains a label (24 bits) and the label's score (40 bits).
LABEL_BITS = 24
SCORE_BITS = 40
LARGEST_SCORE = (1 << SCORE_BITS) - 1
DIGIT_BITS = 9  # Each pass of the radix sort handles 9 bits, and needs 512 counters.
MOST_PASSES = -(-SCORE_BITS // DIGIT_BITS)
GAIN_TOLERANCE = 1e-6


def discount_table(size: int) -> np.ndarray:
    """Return nDCG's discounts 1 / log2(2 + rank) for the ranks 0 .. size - 1, float64."""
    return 1.0 / elementwise.log2(np.arange(2, size + 2))


def ideal_table(size: int) -> np.ndarray:
    """Return 1 / DCG for the ideal ranking of k labels, with k = 0 .. size - 1.

    The entries of the table are int64 numbers in units of 2**-16. The entry for k = 0 is 0.
    """
    best = np.array(list(accumulate(discount_table(size).tolist())))
    return np.rint(np.concatenate(([0.0], 1.0 / best))[:size] * FIXED_POINT).astype(np.int64)


def dcg_table(size: int) -> np.ndarray:
    """Return the table that replaces `ideal_table` if DCG is the objective.

    The entries of the table are 1 (in units of 2**-16) for k > 0, and 0 for k = 0.
    """
    return np.where(np.arange(size) > 0, FIXED_POINT, 0).astype(np.int64)


@njit
def partition_by_ndcg(starts, labels, weights, ideal, discounts, side):
    """Alternate between ranking labels on each side and moving instances to the side that ranks
    their labels better.

    Parameters
    ----------
    starts : int64 (n + 1,), labels : uint32
        Label sets of the node's instances. Labels are numbered within the node, in ascending order.
    weights : float32 (n_labels,)
        Gain of each label, either 1 or the label's inverse propensity.
    ideal : int64
        `ideal_table` for nDCG, or `dcg_table` for DCG. ``ideal`` has more entries than the largest
        label set.
    discounts : float64
        At least n_labels discounts from `discount_table`.
    side : int8 (n,)
        Initial side of each instance, 1 or -1. ``side`` is overwritten with the resulting sides.

    Returns
    -------
    value : float
        Mean nDCG of the instances. Each instance is evaluated with the ranking of its side.

    Notes
    -----
    Each side ranks the labels by the sum of their gains over the side's instances. Among labels
    with equal sums, the label with the smaller number ranks first. An instance whose labels both
    sides rank equally well stays on its side. The loop ends if a round moves no instance, or
    improves the mean nDCG by less than 1e-6. A round reads 4 bytes for each label of each instance.
    Arrays with one entry per label are read from the cache.
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
    """Return for the negative and the positive side the sum of ``ideal`` over each label's
    instances, int64.
    """
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
    """Return the factor that scales the weighted sums of labels so that they fit into 40 bits.

    The factor is 1 unless there are tens of millions of instances.
    """
    scale = 1.0
    for label in range(weights.size):
        while np.float64(total[label]) * weights[label] * scale >= float(LARGEST_SCORE):
            scale *= 0.5
    return scale


@njit
def rank_by_gain(sums, weights, scale, discounts, keys, scratch, counts, gains):
    """Rank labels by their weighted sums, and write the gain of each label's rank.

    Among labels with equal scores, the label with the smaller number ranks first.

    Parameters
    ----------
    sums : int64 (n_labels,), weights : float32 (n_labels,), scale : float
        The score of a label is the product of the label's sum, the label's weight, and ``scale``.
    discounts : float64
        Discounts from `discount_table`.
    keys, scratch : uint64 (n_labels,), counts : uint32
        Scratch arrays. ``counts`` has one counter for each pass and each value of a digit.
    gains : int64 (n_labels,)
        Overwritten with the gain of each label's rank.

    Notes
    -----
    The sort is a stable radix sort by the difference between the largest score and each score. Each
    pass sorts by at most 9 bits of the scores. In small nodes, scores have few bits and need few
    passes. The kernel counts the digits of all passes while it builds the keys. The last pass of
    the sort writes gains instead of keys.
    """
    least = np.int64(LARGEST_SCORE)
    largest = np.int64(0)
    for label in range(sums.size):
        score = np.int64(np.float64(sums[label]) * weights[label] * scale + 0.5)
        gains[label] = score
        least = min(least, score)
        largest = max(largest, score)
    bits = 1  # Without labels, ``largest`` is smaller than ``least``, and one bit is enough.
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
    """Write the sorting key of each score.

    For each pass and digit, write the number of keys with a smaller digit.
    """
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
    """Copy keys to ``target`` in the order of one digit of their scores.

    ``places`` holds the next position for each value of the digit.
    """
    shift = np.uint64(LABEL_BITS + digit * width)
    mask = np.uint64((1 << width) - 1)
    for k in range(keys.size):
        value = (keys[k] >> shift) & mask
        target[places[value]] = keys[k]
        places[value] += np.uint32(1)


@njit
def choose_sides(starts, labels, difference, ideal, side, negative, positive):
    """Move each instance to the side on which its labels gain more, update the sums, and return the
    number of moves.
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
