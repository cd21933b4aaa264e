"""One instance's samples counted by label and size, for GFM: kernels.

Most of an instance's ones are of few labels, and most of its labels are drawn seldom. So the ones are read once, each
new label gets a row of counters for all sizes, and what is left after that concerns labels and no longer ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import borrowed, sort, unowned

FILL = 16  # ones that `spread_columns` writes at once: the int32 of a cache line


class CountingScratch(NamedTuple):
    """Memory of a thread to count a block of instances: O(m + ones of an instance + largest table)."""

    place: np.ndarray  # int32 (m,): row of counters of each label of the instance; -1 between instances
    column: np.ndarray  # int64 (largest size + 1,): which of the sizes with mass a size is
    columns: np.ndarray  # int32 (ones + FILL,): that of the sample of each one
    sizes: np.ndarray  # float64 (largest size + 1,): those with mass
    ids: np.ndarray  # uint32 (ones + 1,): labels in the order in which they first occurred
    keys: np.ndarray  # uint64 (ones,): for each label how seldom it occurs, and its id in the lower bits
    counts: np.ndarray  # uint32 (labels x sizes of an instance,): all zero between instances
    shares: np.ndarray  # float64 (n_samples + 1,): c / n_samples


@njit(cache=True, nogil=True)
def counting_scratch(indptr, m, n_samples):
    """Make the memory for instances of m labels whose samples' rows start at ``indptr``, int64 (n * n_samples + 1,)."""
    longest, most = np.int64(0), np.int64(0)
    for r in range(indptr.size - 1):
        longest = max(longest, indptr[r + 1] - indptr[r])
    for i in range((indptr.size - 1) // n_samples):
        most = max(most, indptr[(i + 1) * n_samples] - indptr[i * n_samples])
    largest_table = min(longest, n_samples) * min(most, m)
    return CountingScratch(
        np.full(m, -1, dtype=np.int32),
        np.empty(longest + 1, dtype=np.int64),
        np.empty(most + FILL, dtype=np.int32),
        np.empty(longest + 1),
        np.empty(most + 1, dtype=np.uint32),
        np.empty(most, dtype=np.uint64),
        np.zeros(largest_table, dtype=np.uint32),
        np.arange(n_samples + 1) / n_samples,
    )


@njit(cache=True, nogil=True)
def compact_samples(indptr, labels, first, n_samples, scratch):
    """Count one instance's samples by label and size, keeping only labels that were hit and sizes that occurred.

    Time is linear in the samples' entries, in the largest size and in L S. The counts are exact; each is divided by
    ``n_samples`` once.

    Parameters
    ----------
    indptr : int64, labels : uint32
        The samples, those of the instance from row ``first`` on.
    scratch : CountingScratch
        Left as it was found.

    Returns
    -------
    P : float64 (S, L), sizes : float64 (S,), p_empty : float64, ids : uint32 (L,)
        Labels by descending number of ones, of equal ones the smaller id first.
    """
    scratch = unowned(scratch)
    n_sizes, n_empty = index_sizes(indptr, first, n_samples, scratch.column, scratch.sizes)
    n_ids = count_ones(indptr, labels, first, n_samples, n_sizes, scratch)
    ranked = rank_labels(n_ids, n_sizes, n_samples, scratch)
    P, ids = np.empty((n_sizes, n_ids)), np.empty(n_ids, dtype=np.uint32)
    for i in range(n_ids):
        ids[i] = np.uint32(ranked[i] & np.uint64(0xFFFFFFFF))
        start = np.uint64(scratch.place[ids[i]] * n_sizes)
        for s in range(np.uint64(n_sizes)):
            P[s, i] = scratch.shares[scratch.counts[start + s]]
        scratch.place[ids[i]] = -1
    scratch.counts[: n_ids * n_sizes] = 0
    return P, scratch.sizes[:n_sizes].copy(), n_empty / n_samples, ids


@njit(cache=True, nogil=True)
def index_sizes(indptr, first, n_samples, column, sizes):
    """Number the sizes above 0 that occur, ascending; return how many they are, and how many samples are empty."""
    largest = np.int64(0)
    for r in range(first, first + n_samples):
        largest = max(largest, indptr[r + 1] - indptr[r])
    column[: largest + 1] = 0
    for r in range(first, first + n_samples):
        column[indptr[r + 1] - indptr[r]] += 1
    n_empty, n_sizes = column[0], np.int64(0)
    for size in range(1, largest + 1):
        occurs = column[size] > 0
        column[size], sizes[n_sizes] = n_sizes, size
        n_sizes += occurs
    return n_sizes, n_empty


@njit(cache=True, nogil=True)
def spread_columns(indptr, first, n_samples, column, columns):
    """Write for each one of the instance which of the sizes with mass its sample has.

    By `FILL` entries at a time: what is written beyond a sample's end, the next ones overwrite. A loop over each
    sample's own ones ends after another number of them each time, which the processor would guess wrong.
    """
    base = np.uint64(indptr[first])
    for r in range(first, first + n_samples):
        start, end = np.uint64(indptr[r]) - base, np.uint64(indptr[r + 1]) - base
        own = np.int32(column[end - start])
        for place in range(start, max(end, start + np.uint64(1)), np.uint64(FILL)):
            for k in range(np.uint64(FILL)):
                columns[place + k] = own


@njit(cache=True, nogil=True)
def count_ones(indptr, labels, first, n_samples, n_sizes, scratch):
    """Count the ones by label and size in one pass; return the number of labels. 8 bytes read, 4 changed per one."""
    place, ids, counts, columns, n_ids = scratch.place, scratch.ids, scratch.counts, scratch.columns, np.int32(0)
    spread_columns(indptr, first, n_samples, scratch.column, columns)
    start, end = np.uint64(indptr[first]), np.uint64(indptr[first + n_samples])
    for e in range(start, end):
        # Written without a branch, which would be guessed wrong for each label that is drawn once.
        label = labels[e]
        row, ids[n_ids] = place[label], label
        is_new = row < 0
        row = n_ids if is_new else row
        place[label] = row
        n_ids += np.int32(is_new)
        counts[np.uint64(row * n_sizes + columns[e - start])] += np.uint32(1)
    return np.int64(n_ids)


@njit(cache=True, nogil=True)
def rank_labels(n_ids, n_sizes, n_samples, scratch):
    """Return the counted labels by descending count, then ascending id: uint64 keys, whose lower 32 bits are the id."""
    keys = borrowed(scratch.keys, 0, n_ids)
    for i in range(n_ids):
        count = np.int64(0)
        for s in range(n_sizes):
            count += scratch.counts[i * n_sizes + s]
        keys[i] = (np.uint64(n_samples - count) << np.uint64(32)) | np.uint64(scratch.ids[i])
    sort(keys)
    return keys
