"""Sums of the instances of each label, as sorted sparse rows: kernels.

A label's features are gathered as bits: one bit per feature, and one bit per word of 64 features above it. To read
them off in order costs a few instructions per feature and no sorting, and the bits of 100,000 features fit the first
cache.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed, copy_into
from xmlc.kernels.bits import lowest_bit
from xmlc.runtime.kernel_cache import njit

ONE = np.uint64(1)
ZERO = np.uint64(0)
LOW_BITS = np.uint64(63)
WORD, BLOCK = np.uint64(6), np.uint64(12)  # shifts: 64 features per word, 64 words per block


@njit(cache=True, nogil=True)
def count_features(x, label_starts, label_rows, n_features, start, end, counts):
    """Write into ``counts`` (int64, (m,)) how many features the instances of each label ``start .. end - 1`` have.

    Parameters
    ----------
    x : KernelCSR
        Instances (n, n_features).
    label_starts, label_rows : int64 (m + 1,), uint32
        The instances of each label.
    n_features, start, end : int
    """
    words = np.zeros((n_features >> 6) + 1, dtype=np.uint64)
    for label in range(start, end):
        count, visited = 0, 0
        rows = label_rows[label_starts[label] : label_starts[label + 1]]
        for row in rows:
            features = borrowed(x.indices, x.indptr[row], x.indptr[row + 1])
            visited += features.size
            for feature in features:
                bit = ONE << (feature & LOW_BITS)
                word = words[feature >> WORD]
                count += (word & bit) == ZERO
                words[feature >> WORD] = word | bit
        counts[label] = count
        if visited > words.size:
            words[:] = ZERO
        else:
            for row in rows:
                for feature in borrowed(x.indices, x.indptr[row], x.indptr[row + 1]):
                    words[feature >> WORD] = ZERO


@njit(cache=True, nogil=True)
def fill_representations(x, label_starts, label_rows, n_features, start, end, starts, indices, data):
    """Write the rows ``start .. end - 1`` of the representations: sums of the label's instances, of unit length.

    Sums are float64 and rounded once. Moves 8 bytes per non-zero of an instance and touches one float64 and two bits
    of scratch for it; a sum that is zero stays in the row.

    Parameters
    ----------
    x, label_starts, label_rows, n_features, start, end
        As in `count_features`; the rows of ``x`` are those to be added up.
    starts : int64 (m + 1,)
        Where the row of each label begins.
    indices, data : uint32, float32
        The rows, written here; indices ascend within a row.
    """
    sums = np.zeros(n_features, dtype=np.float64)
    words = np.zeros((n_features >> 6) + 1, dtype=np.uint64)
    blocks = np.zeros((n_features >> 12) + 1, dtype=np.uint64)
    for label in range(start, end):
        for row in label_rows[label_starts[label] : label_starts[label + 1]]:
            for k in range(np.uint64(x.indptr[row]), np.uint64(x.indptr[row + 1])):
                feature = x.indices[k]
                sums[feature] += x.data[k]
                words[feature >> WORD] |= ONE << (feature & LOW_BITS)
                blocks[feature >> BLOCK] |= ONE << ((feature >> WORD) & LOW_BITS)
        place = np.uint64(starts[label])
        square = 0.0
        for b in range(np.uint64(blocks.size)):
            while blocks[b] != ZERO:
                w = (b << WORD) | lowest_bit(blocks[b])
                blocks[b] &= blocks[b] - ONE
                word = words[w]
                words[w] = ZERO
                while word != ZERO:
                    feature = (w << WORD) | lowest_bit(word)
                    word &= word - ONE
                    indices[place] = feature
                    data[place] = sums[feature]
                    square += sums[feature] * sums[feature]
                    sums[feature] = 0.0
                    place += ONE
        if square > 0.0:
            data[starts[label] : starts[label + 1]] *= np.float32(1.0 / np.sqrt(square))


@njit(cache=True, nogil=True)
def keep_heaviest(starts, indices, data, kept_starts, kept_indices, kept_data):
    """Copy the entries of each row that are largest in magnitude, of equal ones those of the smaller features.

    What is kept of a row is scaled to unit length; a row of which all is kept stays as it is.

    Parameters
    ----------
    starts : int64 (k + 1,), indices : uint32, data : float32
        Rows.
    kept_starts : int64 (k + 1,)
        Where each shorter row begins, which says how many entries it has: at most as many as before.
    kept_indices : uint32, kept_data : float32
        The shorter rows, written here; indices ascend within a row.
    """
    for row in range(starts.size - 1):
        start, end = starts[row], starts[row + 1]
        place, room = kept_starts[row], kept_starts[row + 1] - kept_starts[row]
        if room == end - start:
            copy_into(kept_indices[place:], indices[start:end])
            copy_into(kept_data[place:], data[start:end])
            continue
        sizes = np.abs(data[start:end])
        mark = np.partition(sizes, sizes.size - room)[sizes.size - room]
        n_equal = room
        for size in sizes:
            n_equal -= size > mark
        square = 0.0
        for k in range(start, end):
            size = abs(data[k])
            is_kept = size > mark or (size == mark and n_equal > 0)
            n_equal -= is_kept and size == mark
            if is_kept:
                kept_indices[place], kept_data[place] = indices[k], data[k]
                square += np.float64(data[k]) * np.float64(data[k])
                place += 1
        if square > 0.0:
            kept_data[kept_starts[row] : kept_starts[row + 1]] *= np.float32(1.0 / np.sqrt(square))
