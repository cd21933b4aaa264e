"""Labels represented by their instances: sums of sparse rows, of unit length.

A label's features are gathered as bits: one bit per feature, and one bit per word of 64 features above it. To read
them off in order costs a few instructions per feature and no sorting, and the bits of 100,000 features fit the first
cache.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR, as_features, as_labels, kernel_csr, proven, unit_rows, without_zeros
from xmlc.errors import XmlcError
from xmlc.kernels.arrays import borrowed, copy_into
from xmlc.kernels.bits import lowest_bit
from xmlc.runtime.kernel_cache import njit
from xmlc.runtime.parallel import run_pieces

NONZEROS_PER_PIECE = 1 << 18  # of instances, counted once for each of their labels
ONE = np.uint64(1)
ZERO = np.uint64(0)
LOW_BITS = np.uint64(63)
WORD, BLOCK = np.uint64(6), np.uint64(12)  # shifts: 64 features per word, 64 words per block


def label_representations(
    X: object, Y: object, n_jobs: int | None = None, most_features: int | None = None
) -> sparse.csr_array:
    """Represent each label by its instances: the sum of their unit-length features, scaled to unit length.

    As in Parabel (Prabhu et al., "Parabel: Partitioned label trees for extreme classification with application
    to dynamic search advertising", WWW 2018), where the features of the label's positive instances are averaged.
    Sparse throughout; takes two additions of a bit and one of a value for each pair of a label and a non-zero of one of
    its instances. Beside the result it needs a unit-length copy of X, and 10 bytes per feature and thread.

    Parameters
    ----------
    X : sparse or dense array, shape (n, d)
    Y : sparse or dense boolean array, shape (n, m)
    n_jobs : int or None
        Threads, see `xmlc.runtime.threads.resolve_threads`; the bits do not depend on it.
    most_features : int or None
        A label keeps at most so many features, those with the largest sums in magnitude, of equal ones the smaller
        numbers. A label of many instances has most features of the vocabulary: on the shape of Amazon-3M all of them
        would be 20 GB. None keeps all.

    Returns
    -------
    csr_array of float32, shape (m, d)
        Rows of unit length, sorted indices; the row of a label without instances is empty.

    Raises
    ------
    XmlcError
        X and Y differ in their number of instances, or X holds a value that is not finite.
    """
    X, Y = as_features(X), as_labels(Y)
    if X.shape[0] != Y.shape[0]:
        raise XmlcError(f"X has {X.shape[0]} instances but Y has {Y.shape[0]}")
    by_label = sparse.csr_array(Y.T)
    m, n_features = Y.shape[1], X.shape[1]
    x = kernel_csr(unit_rows(X))
    label_starts, label_rows = by_label.indptr.astype(np.int64), by_label.indices.astype(np.uint32)
    nonzeros = 1 + x.indices.size // max(X.shape[0], 1)  # of an instance
    blocks = item_blocks(np.diff(label_starts) * nonzeros, NONZEROS_PER_PIECE)
    counts = np.zeros(m, dtype=np.int64)
    common = (x, label_starts, label_rows, n_features)
    run_pieces(count_features, [(*common, *block, counts) for block in blocks], n_jobs)
    kept = counts if most_features is None else np.minimum(counts, most_features)
    starts = np.concatenate(([0], np.cumsum(kept)))
    indices, data = np.empty(starts[-1], dtype=np.uint32), np.empty(starts[-1], dtype=np.float32)
    if most_features is None:
        run_pieces(fill_representations, [(*common, *block, starts, indices, data) for block in blocks], n_jobs)
    else:
        run_pieces(_fill_heaviest, [(*common, *block, counts, starts, indices, data) for block in blocks], n_jobs)
    if starts[-1] <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)  # scipy wants both index arrays of one type
    result = sparse.csr_array((data, indices.view(np.int32), starts), shape=(m, n_features))
    result.has_sorted_indices = True
    return without_zeros(proven(result))


def _fill_heaviest(
    x: KernelCSR,
    label_starts: np.ndarray,
    label_rows: np.ndarray,
    n_features: int,
    start: int,
    end: int,
    counts: np.ndarray,
    starts: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
) -> None:
    """Represent the labels ``start .. end - 1`` by all their features, and write those that are kept."""
    own_starts = np.concatenate(([0], np.cumsum(counts[start:end])))
    own_indices, own_data = np.empty(own_starts[-1], dtype=np.uint32), np.empty(own_starts[-1], dtype=np.float32)
    rows = (x, label_starts[start : end + 1], label_rows, n_features)
    fill_representations(*rows, 0, end - start, own_starts, own_indices, own_data)
    keep_heaviest(own_starts, own_indices, own_data, starts[start : end + 1], indices, data)


def item_blocks(costs: np.ndarray, cost_per_block: int) -> list[tuple[int, int]]:
    """Cut a row of items into blocks ``(start, end)`` of about equal cost, at least one item each."""
    block = (np.cumsum(costs) - costs) // cost_per_block
    bounds = np.concatenate(([0], np.flatnonzero(np.diff(block)) + 1, [costs.size]))
    return list(pairwise(bounds.tolist()))


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
            scale = np.float32(1.0 / np.sqrt(square))
            for k in range(np.uint64(starts[label]), place):
                data[k] *= scale


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
