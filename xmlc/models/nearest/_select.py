"""The most promising of many bounds: kernels.

The bounds of a block form groups. 64 groups lie side by side, the members of one 64 places apart, so that maxima are
taken of vectors.
"""

from __future__ import annotations

import numpy as np
from numba import njit

GROUP_WIDTH = 64  # groups side by side
LARGEST_GROUP = 32  # instances in a group


@njit(cache=True, nogil=True)
def group_size(n_rows, S):
    """Return how many members a group has: so many that there are a few times as many groups as S."""
    group = 1
    while group < LARGEST_GROUP and group * 16 * S <= n_rows:
        group *= 2
    return group


@njit(cache=True, nogil=True)
def group_maxima(bounds, n_rows, group, maxima):
    """Write the maximum of each group of bounds, at least 0; return the number of groups."""
    chunk = GROUP_WIDTH * group
    n_chunks = (n_rows + chunk - 1) // chunk
    bounds[n_rows : n_chunks * chunk] = 0
    for c in range(n_chunks):
        largest = maxima[c * GROUP_WIDTH : (c + 1) * GROUP_WIDTH]
        largest[:] = 0
        for k in range(group):
            these = bounds[c * chunk + k * GROUP_WIDTH : c * chunk + (k + 1) * GROUP_WIDTH]
            for g in range(GROUP_WIDTH):
                largest[g] = these[g] if these[g] > largest[g] else largest[g]
    return n_chunks * GROUP_WIDTH


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
def collect(bounds, largest, group, start, end, found):
    """Write who has a positive bound in start <= bound < end, return how many."""
    n_found = 0
    for g in range(largest.size):
        if largest[g] > 0 and largest[g] >= start:
            base = (g // GROUP_WIDTH) * GROUP_WIDTH * group + g % GROUP_WIDTH
            for i in range(base, base + group * GROUP_WIDTH, GROUP_WIDTH):
                # Written without a branch, which would be guessed wrong again and again.
                found[n_found] = i
                n_found += (bounds[i] > 0) & (bounds[i] >= start) & (bounds[i] < end)
    return n_found
