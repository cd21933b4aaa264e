"""The construction of the index, piece of instances by piece: kernels.

A piece is a range of instances within one block. Its non-zeros are ordered by feature by counting, in room that a cache
holds, and then go to their rows and to their lists of postings at once: so each row comes out in ascending order of
places, and each list in that of instances. Nothing depends on how the instances are cut into pieces.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels.bits import bits_float, float_bits
from xmlc.runtime.kernel_cache import njit

WORD_BITS = 64
POSTING_STEPS = 32767  # a posting holds its value as a multiple of the feature's step, in 16 bits with sign
LENGTH_STEPS = 65000  # lengths of at most 1, and a little more by rounding, as 16 bits without sign


@njit(cache=True, nogil=True)
def count_features(x, start, end, counts, largest):
    """Count the features of instances ``start .. end - 1``, and find the largest magnitude of each; 8 bytes a non-zero.

    Parameters
    ----------
    x : KernelCSR
    counts : uint32 (d,), largest : float32 (d,)
        All zero; written.
    """
    for p in range(np.uint64(x.indptr[start]), np.uint64(x.indptr[end])):
        feature, magnitude = x.indices[p], abs(x.data[p])
        counts[feature] += np.uint32(1)
        largest[feature] = magnitude if magnitude > largest[feature] else largest[feature]


@njit(cache=True, nogil=True)
def order_by_frequency(frequencies, n):
    """Order features by descending frequency, of equal ones the smaller number first: by counting, in O(d + n).

    Parameters
    ----------
    frequencies : int64 (d,)
        0 .. n each.

    Returns
    -------
    places, order : uint32 (d,)
        Place of each feature, and feature in each place.
    """
    next_place = np.zeros(n + 2, dtype=np.int64)
    for frequency in frequencies:
        next_place[n - frequency + 1] += 1
    for k in range(n + 1):
        next_place[k + 1] += next_place[k]
    places, order = np.empty(frequencies.size, dtype=np.uint32), np.empty(frequencies.size, dtype=np.uint32)
    for feature in range(frequencies.size):
        place = next_place[n - frequencies[feature]]
        next_place[n - frequencies[feature]] += 1
        places[feature], order[place] = place, feature
    return places, order


@njit(cache=True, nogil=True)
def start_lists(counts, listed, blocks, n_blocks):
    """Find where lists start in their blocks, and each piece's part of a list.

    Parameters
    ----------
    counts : uint32 (pieces, d)
    listed : uint32 (n_lists,)
        The features that have lists.
    blocks : int64 (pieces,)
        Block of each piece, ascending.

    Returns
    -------
    list_starts : uint32 (n_blocks, n_lists + 1)
    cursors : uint32 (pieces, n_lists)
        Where a piece's first posting of a list goes, from the start of the block's postings on.
    """
    starts, cursors = np.zeros((n_blocks, listed.size + 1), np.uint32), np.empty((blocks.size, listed.size), np.uint32)
    for piece in range(blocks.size):
        sizes, own, before = starts[blocks[piece], 1:], counts[piece], cursors[piece]
        for j in range(listed.size):
            before[j] = sizes[j]
            sizes[j] += own[listed[j]]
    for block in range(n_blocks):
        for j in range(listed.size):
            starts[block, j + 1] += starts[block, j]
    for piece in range(blocks.size):
        cursors[piece] += starts[blocks[piece], :-1]
    return starts, cursors


@njit(cache=True, nogil=True)
def by_feature(x, start, end, counts, order):
    """Order the non-zeros of a piece by the place of their feature, of one feature by instance.

    Parameters
    ----------
    x : KernelCSR
    counts : uint32 (d,)
        Of the piece.
    order : uint32 (number of features with non-zeros,)
        Feature in each place.

    Returns
    -------
    entries : uint64 (nnz of the piece,)
        Instance, from ``start`` on, in the upper half and the bits of the value in the lower.
    runs : uint32 (number of features of the piece + 1, 2)
        Place of each feature that the piece has, ascending, and its first entry; the last one ends the entries. Most
        features of sparse data are in few pieces, and to look whether one is there takes longer than an entry.
    """
    ends, begin = np.empty(counts.size, dtype=np.uint32), np.uint32(0)
    runs, n_runs = np.empty((order.size + 1, 2), dtype=np.uint32), 0
    for place in range(order.size):
        count = counts[order[place]]
        ends[order[place]] = begin
        runs[n_runs, 0], runs[n_runs, 1] = place, begin
        n_runs += count > 0
        begin += count
    runs[n_runs, 0], runs[n_runs, 1] = order.size, begin
    entries = np.empty(begin, dtype=np.uint64)
    for i in range(start, end):
        row = np.uint64(i - start) << np.uint64(32)
        for p in range(np.uint64(x.indptr[i]), np.uint64(x.indptr[i + 1])):
            feature = x.indices[p]
            entry = ends[feature]
            entries[entry] = row | np.uint64(float_bits(x.data[p]))
            ends[feature] = entry + np.uint32(1)
    return entries, runs[: n_runs + 1]


@njit(cache=True, nogil=True, error_model="numpy")
def write_piece(x, start, end, shift, counts, order, first, steps, cursors, row_places, row_values, postings):
    """Write the rows and the postings of instances ``start .. end - 1``.

    Parameters
    ----------
    x : KernelCSR
    shift : int
        Number of the first instance in its block.
    counts, order
        See `by_feature`.
    first : int
        Place of the first feature with lists.
    steps : float32 (n_lists,)
    cursors : uint32 (n_lists,)
        Of the piece, see `start_lists`.
    row_places : uint32 (nnz,), row_values : float32 (nnz,), postings : uint32 (those of the block,)
        Written.
    """
    base = x.indptr[start]
    own_places, own_values = row_places[base : x.indptr[end]], row_values[base : x.indptr[end]]
    entries, runs = by_feature(x, start, end, counts, order)
    targets = (x.indptr[start:end] - base).astype(np.uint32)
    for k in range(runs.shape[0] - 1):
        place, is_listed, step, posting = runs[k, 0], runs[k, 0] >= first, 0.0, np.uint64(0)
        if is_listed:
            step, posting = np.float64(steps[place - first]), np.uint64(cursors[place - first])
        for e in range(runs[k, 1], runs[k + 1, 1]):
            row, value = np.uint32(entries[e] >> np.uint64(32)), bits_float(np.uint32(entries[e]))
            target = targets[row]
            own_places[target], own_values[target] = place, value
            targets[row] = target + np.uint32(1)
            if is_listed:
                # A step that underflowed to nothing leaves nothing to round to.
                whole = np.int32(np.floor(value / step)) if step > 0 else np.int32(0)
                postings[posting] = (np.uint32(whole) << np.uint32(16)) | (row + np.uint32(shift))
                posting += np.uint64(1)


@njit(cache=True, nogil=True)
def write_frequent(row_starts, row_places, row_values, start, end, words, lengths, largest):
    """Write words, lengths and largest magnitudes of the frequent features of some instances, see `NeighbourIndex`.

    Parameters
    ----------
    row_starts, row_places, row_values
        The rows of the index, whose fronts are read.
    words : uint64 (W, n), lengths : uint16 (W, n), largest : uint16 (n,)
        All zero; written.
    """
    squares = np.zeros(words.shape[0])
    for i in range(start, end):
        squares[:] = 0
        most = np.float32(0)
        for p in range(row_starts[i], row_starts[i + 1]):
            place = row_places[p]
            if place >= words.shape[0] * WORD_BITS:
                break
            words[place >> 6, i] |= np.uint64(1) << np.uint64(place & 63)
            squares[place >> 6] += np.float64(row_values[p]) ** 2
            most = max(most, abs(row_values[p]))
        for w in range(words.shape[0]):
            lengths[w, i] = np.uint16(np.ceil(np.sqrt(squares[w]) * LENGTH_STEPS))
        largest[i] = np.uint16(np.ceil(most * LENGTH_STEPS))
