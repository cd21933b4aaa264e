"""The most promising of many bounds: kernels.

The bounds of a block form groups of neighbours, one cache line each, so that few lines are read again.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import borrowed

GROUP = 16  # bounds in a group: the float32 of a cache line
LEAST = np.float32(1e-45)  # the least positive float32
SMALL = np.float32(1e-35)  # above it the number of bars, divided by it, is no infinite float32


@njit(cache=True, nogil=True)
def group_maxima(bounds, maxima):
    """Write the maximum of each group of bounds."""
    for g in range(maxima.size):
        largest = np.float32(0)
        for bound in borrowed(bounds, g * GROUP, (g + 1) * GROUP):
            largest = bound if bound > largest else largest
        maxima[g] = largest


@njit(cache=True, nogil=True)
def below_kth_largest(values, k, counts):
    """Return a number that at least k of more than k values reach, and not many more: an edge of a histogram.

    ``counts`` is room for the histogram, whose bars have equal widths. Linear, without a branch per value. 0, which all
    reach, where all values are below `SMALL`.
    """
    largest = np.float32(0)
    for value in values:
        largest = value if value > largest else largest
    if largest < SMALL:
        return np.float32(0)
    for bar in range(counts.size):
        counts[bar] = 0
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
def collect(bounds, maxima, start, end, groups, found):
    """Write who has a positive bound of at least ``start`` and below ``end``, return how many.

    ``groups`` is room for the numbers of groups. Written without branches, which would be guessed wrong often.
    """
    start = start if start > LEAST else LEAST
    n_groups, n_found = 0, 0
    for g in range(maxima.size):
        groups[n_groups] = g
        n_groups += maxima[g] >= start
    for g in borrowed(groups, 0, n_groups):
        for i in range(g * GROUP, g * GROUP + GROUP):
            found[n_found] = i
            n_found += (bounds[i] >= start) & (bounds[i] < end)
    return n_found
