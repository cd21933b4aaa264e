"""The most promising of many bounds: kernels.

The bounds of a block form groups of neighbours, one cache line each, so that few lines are read again.
"""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit

GROUP = 16  # bounds in a group: the float32 of a cache line
LEAST = np.float32(1e-45)  # the least positive float32


@njit(cache=True, nogil=True)
def group_maxima(bounds, halves, maxima):
    """Write the maximum of each group of bounds.

    Half of them drop out four times over, which compiles to vector instructions; ``halves`` is room for as many.
    """
    n = bounds.size
    larger_of_pairs(bounds, halves[: n // 2])
    larger_of_pairs(halves[: n // 2], halves[n // 2 : n // 2 + n // 4])
    larger_of_pairs(halves[n // 2 : n // 2 + n // 4], halves[: n // 8])
    larger_of_pairs(halves[: n // 8], maxima)


@njit(cache=True, nogil=True)
def larger_of_pairs(values, larger):
    """Write the larger of each two neighbours."""
    for i in range(larger.size):
        one, other = values[2 * i], values[2 * i + 1]
        larger[i] = one if one > other else other


@njit(cache=True, nogil=True)
def below_kth_largest(values, k, counts):
    """Return a number that at least k of more than k values reach, and not many more: an edge of a histogram.

    ``counts`` is room for the histogram, whose bars have equal widths. Linear, without a branch per value.
    """
    largest = values.max()
    if not largest > 0:
        return np.float32(0)
    counts[:] = 0
    scale = np.float32((counts.size - 1) / largest)
    for value in values:
        counts[np.int32(value * scale)] += 1
    bar, n_above = counts.size, 0
    while n_above < k:
        bar -= 1
        n_above += counts[bar]
    # A little lower, because the product above was rounded.
    return np.float32(bar * (1 - 1e-6) / scale)


@njit(cache=True, nogil=True)
def collect(bounds, maxima, start, groups, found):
    """Write who has a positive bound of at least ``start``, return how many.

    ``groups`` is room for the numbers of groups. Written without branches, which would be guessed wrong often.
    """
    start = max(start, LEAST)
    n_groups, n_found = 0, 0
    for g in range(maxima.size):
        groups[n_groups] = g
        n_groups += maxima[g] >= start
    for g in groups[:n_groups]:
        for i in range(g * GROUP, g * GROUP + GROUP):
            found[n_found] = i
            n_found += bounds[i] >= start
    return n_found


@njit(cache=True, nogil=True)
def split(candidates, bounds, mark, upper):
    """Move those whose bound reaches a mark to ``upper``; return how many these are, and how many stay in front."""
    n_upper, n_lower = 0, 0
    for k in range(candidates.size):
        i = candidates[k]
        upper[n_upper], candidates[n_lower] = i, i
        n_upper += bounds[i] >= mark
        n_lower += bounds[i] < mark
    return n_upper, n_lower
