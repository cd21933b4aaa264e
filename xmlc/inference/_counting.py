"""Count the samples of one instance by label and size, with kernels, as input for GFM.

A one is a positive label of a sample, and the size of a sample is its number of ones. In the samples of an instance, a
few labels occur often, and most labels occur rarely. The kernels read the positive labels of all samples only once. At
its first occurrence, a label gets a row of counters, one for each size. After reading the samples, all steps loop over
the labels that occur, and not over samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import sort, unchecked_view, unowned

FILL = 16  # `spread_columns` writes FILL int32 numbers at once, a whole cache line.


class CountingScratch(NamedTuple):
    """Hold a thread's memory for counting a block of instances.

    The memory is O(m + c + t). Here c is the largest number of ones of an instance, and t is the size of
    the largest table of counters.

    Attributes
    ----------
    place : int32 (m,)
        Number of each label's row of counters, or -1 if the label has no row yet.
    column : int64 (largest size + 1,)
        Index of each size in ``sizes``.
    columns : int32 (ones + FILL,)
        For each positive label of a sample, index of the sample's size in ``sizes``.
    sizes : float64 (largest size + 1,)
        The sizes that occur.
    ids : uint32 (ones + 1,)
        Labels in the order of their first occurrence.
    keys : uint64 (ones,)
        Sort key of each label: n_samples minus the label's count in the upper bits, and the label's id in the lower
        bits.
    counts : uint32 (labels x sizes of an instance,)
        Counters, which are all 0 between instances.
    shares : float64 (n_samples + 1,)
        Entry c is the share c / n_samples.
    """

    place: np.ndarray
    column: np.ndarray
    columns: np.ndarray
    sizes: np.ndarray
    ids: np.ndarray
    keys: np.ndarray
    counts: np.ndarray
    shares: np.ndarray


@njit(cache=True, nogil=True)
def counting_scratch(indptr, m, n_samples):
    """Allocate and return the memory of a thread for counting a block of instances.

    Parameters
    ----------
    indptr : int64 (n * n_samples + 1,)
        Row starts of the samples.
    m : int
        Number of labels.
    n_samples : int
        Samples per instance.
    """
    longest, most = np.int64(0), np.int64(0)
    for r in range(indptr.size - 1):
        longest = max(longest, indptr[r + 1] - indptr[r])
    for i in range((indptr.size - 1) // n_samples):
        most = max(most, indptr[(i + 1) * n_samples] - indptr[i * n_samples])
    place, column = np.full(m, -1, dtype=np.int32), np.empty(longest + 1, dtype=np.int64)
    columns, sizes = np.empty(most + FILL, dtype=np.int32), np.empty(longest + 1)
    ids, keys = np.empty(most + 1, dtype=np.uint32), np.empty(most, dtype=np.uint64)
    counts = np.zeros(min(longest, n_samples) * min(most, m), dtype=np.uint32)
    return CountingScratch(place, column, columns, sizes, ids, keys, counts, np.arange(n_samples + 1) / n_samples)


@njit(cache=True, nogil=True)
def compact_samples(indptr, labels, first, n_samples, scratch):
    """Return the matrix P of one instance, counted from its samples, for the labels and sizes that occur.

    Time is linear in the number of ones, in the largest size and in L S. An entry of P is an exact count, divided by
    ``n_samples``.

    Parameters
    ----------
    indptr : int64
        Start of each sample in ``labels``.
    labels : uint32
        Label ids, sample by sample.
    first : int
        First sample of the instance.
    n_samples : int
        Samples per instance.
    scratch : CountingScratch
        Memory of the thread, which the kernel leaves ready for the next instance.

    Returns
    -------
    P : float64 (S, L)
        Share of the samples that have the size and the label.
    sizes : float64 (S,)
        Sizes above 0 that occur, ascending.
    p_empty : float64
        Share of the samples without labels.
    ids : uint32 (L,)
        Labels by descending number of samples with the label, then by ascending id.
    """
    scratch = unowned(scratch)
    n_sizes, n_empty = index_sizes(indptr, first, n_samples, scratch.column, scratch.sizes)
    n_ids = count_ones(indptr, labels, first, n_samples, n_sizes, scratch)
    ranked = rank_by_counts(n_ids, n_sizes, n_samples, scratch)
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
    """Index the sizes above 0 that occur, and return the number of sizes and the number of empty samples."""
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
    """For each sample of an instance, write the index of the sample's size once per positive label of the sample.

    The kernel writes `FILL` entries at a time. The next sample overwrites entries that were written beyond the end of a
    sample. A loop over the exact size would have a different length for each sample, which the processor would
    mispredict.
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
    """Count the positive labels of samples by label and size, and return the number of labels that occur.

    For each positive label of a sample, the kernel reads 8 bytes and updates 4 bytes.
    """
    place, ids, counts, columns, n_ids = scratch.place, scratch.ids, scratch.counts, scratch.columns, np.int32(0)
    spread_columns(indptr, first, n_samples, scratch.column, columns)
    start, end = np.uint64(indptr[first]), np.uint64(indptr[first + n_samples])
    for e in range(start, end):
        # The loop has no branches, because the processor would mispredict a branch for each label that is drawn once.
        label = labels[e]
        row, ids[n_ids] = place[label], label
        is_new = row < 0
        row = n_ids if is_new else row
        place[label] = row
        n_ids += np.int32(is_new)
        counts[np.uint64(row * n_sizes + columns[e - start])] += np.uint32(1)
    return np.int64(n_ids)


@njit(cache=True, nogil=True)
def rank_by_counts(n_ids, n_sizes, n_samples, scratch):
    """Return the labels by descending count, then ascending id, as uint64 keys whose lower 32 bits are the id."""
    keys = unchecked_view(scratch.keys, 0, n_ids)
    for i in range(n_ids):
        count = np.int64(0)
        for s in range(n_sizes):
            count += scratch.counts[i * n_sizes + s]
        keys[i] = (np.uint64(n_samples - count) << np.uint64(32)) | np.uint64(scratch.ids[i])
    sort(keys)
    return keys
