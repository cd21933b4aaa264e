"""The most promising of many bounds: kernels.

The bounds of a block form groups. 64 groups lie side by side, the members of one 64 places apart, so that maxima are
taken of vectors.
"""

from __future__ import annotations

from numba import njit

GROUP_WIDTH = 64  # groups side by side
LARGEST_GROUP = 32  # instances in a group


@njit(cache=True, nogil=True)
def group_size(n_rows, S):
    """Return how many members a group has: so many that there are a few times as many groups as S."""
    group = 1
    while group < LARGEST_GROUP and group * 8 * S <= n_rows:
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
def kth_largest(values, k):
    """Return the k-th largest value, 1 <= k <= size; reorders the values (quickselect, linear in the mean)."""
    low, high = 0, values.size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return values[k - 1]


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
