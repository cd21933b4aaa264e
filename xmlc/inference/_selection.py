"""Sum the largest entries of a column of GFM's matrix F, and define when two values are regarded as equal.

Labels are sorted by descending marginal, so that the entries of a column of F are nearly in descending order.
"""

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import unchecked_view

# Expected F-measures that differ by at most TIE are regarded as equal, because rounding errors are smaller than TIE.
TIE = 1e-12
# Values are rounded to multiples of GRAIN before labels are ranked, so that rounding errors do not change the order.
GRAIN = 2.0**-40
LANES = 16  # `sum_above` computes LANES sums in parallel, with vector instructions.


@njit(cache=True, nogil=True)
def sum_of_largest(values, k):
    """Return the sum of the ``k`` largest values by selection, in linear time on average.

    The pivot is the k-th value in the given order. In more than half of the columns of F, the values before the pivot
    are exactly the values above it. The kernel adds them without moving any value. In most other columns of F, one
    or two passes have to move values.

    Parameters
    ----------
    values : float64 (L,)
        Values, which the kernel reorders.
    k : int from 1 to L
        Number of values in the sum.
    """
    low, high, k = np.uint64(0), np.uint64(values.size), np.uint64(k)
    last = k - np.uint64(1)
    if count_above(values, values[last]) != last or count_above(unchecked_view(values, 0, k), values[last]) != last:
        while k < high:
            pivot = values[last]
            greater = move_to_front(values, low, high, pivot, False)
            if k <= greater:
                high = greater
                continue
            low = move_to_front(values, greater, high, pivot, True)
            if k <= low:
                break
    total = 0.0
    for i in range(k):
        total += values[i]
    return total


@njit(cache=True, nogil=True)
def count_above(values, least):
    """Return how many values exceed ``least``. The loop uses vector instructions."""
    n_above = 0
    for value in values:
        n_above += value > least
    return n_above


@njit(cache=True, nogil=True)
def move_to_front(values, low, high, pivot, equal):
    """Move the values above the pivot to the front, and return the position after the last moved value.

    If ``equal`` is true, move the values equal to the pivot instead of the values above the pivot. Moved values keep
    their order. Each moved value is exchanged with the first value that is not moved. A register holds the value that
    is not moved, because reading memory that was just written takes about five cycles.

    Parameters
    ----------
    values : float64 (L,)
        Values, of which positions ``low .. high - 1`` are reordered, with low < high. At least one value in this range
        must not exceed the pivot.
    low, high : uint64
        Range of the positions to reorder.
    pivot : float64
        Value to which all values are compared.
    equal : bool
        Whether to move values equal to the pivot instead of values above it.
    """
    first, end, one = values[low], low, np.uint64(1)
    for i in range(low, high):
        value = values[i]
        values[i] = first
        if value == pivot if equal else value > pivot:
            values[end] = value
            end += one
            first = values[min(end, high - one)]
        else:
            first = value
    if end < high:
        values[end] = first
    return end


@njit(cache=True, nogil=True)
def sum_above(values, least, sums):
    """Return the sum of max(value - least, 0) over all values. Vector instructions add `LANES` sums in parallel.

    Parameters
    ----------
    values : float64 (L,)
        Values to add.
    least : float64
        Values below ``least`` add nothing to the sum.
    sums : float64 (LANES,)
        Receives the parallel sums.
    """
    for lane in range(LANES):
        sums[lane] = 0.0
    whole = values.size // LANES * LANES
    for start in range(0, whole, LANES):
        for lane in range(LANES):
            above = values[start + lane] - least
            sums[lane] += above if above > 0.0 else 0.0
    for i in range(whole, values.size):
        above = values[i] - least
        sums[i - whole] += above if above > 0.0 else 0.0
    total = 0.0
    for lane in range(LANES):
        total += sums[lane]
    return total
