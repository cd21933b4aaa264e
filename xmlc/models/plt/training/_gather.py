"""The features of the instances that reach a block, and those instances side by side: kernels."""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.kernels.arrays import borrowed, copy_into
from xmlc.kernels.bits import bits_set, lowest_bit

BITS_PER_WORD = np.uint64(64)


@njit(cache=True, nogil=True)
def mark_features(indptr, indices, order, positions, marks):
    """Set the bit of each feature that some of the instances have; return the number of their non-zeros.

    ``marks`` is uint64 with one bit per feature, few enough words to stay in the first-level cache.
    """
    nonzeros = 0
    for position in positions:
        row = order[position]
        ids = borrowed(indices, indptr[row], indptr[row + 1])
        nonzeros += ids.size
        for feature in ids:
            wide = np.uint64(feature)
            marks[wide // BITS_PER_WORD] |= np.uint64(1) << (wide % BITS_PER_WORD)
    return nonzeros


@njit(cache=True, nogil=True)
def count_features(indptr, indices, order, starts, positions, blocks, n_features):
    """Count the distinct features, and the non-zeros, of the instances that reach each block.

    Parameters
    ----------
    indptr : int64 (n + 1,), indices : uint32
        Instances in CSR form.
    order : int64 (n,)
        Rows in the order of the pass.
    starts : int64, positions : uint32
        Instances that reach each block, as positions in ``order``.
    blocks : int64
        Blocks to look at.

    Returns
    -------
    distinct, nonzeros : int64 (blocks.size,)
    """
    distinct = np.zeros(blocks.size, dtype=np.int64)
    nonzeros = np.zeros(blocks.size, dtype=np.int64)
    marks = np.zeros(n_features // 64 + 1, dtype=np.uint64)
    for b in range(blocks.size):
        reaching = positions[starts[blocks[b]] : starts[blocks[b] + 1]]
        nonzeros[b] = mark_features(indptr, indices, order, reaching, marks)
        for w in range(marks.size):
            distinct[b] += np.int64(bits_set(marks[w]))
            marks[w] = 0
    return distinct, nonzeros


@njit(cache=True, nogil=True)
def fill_features(indptr, indices, order, starts, positions, blocks, n_features, feature_starts, features, offset):
    """List the distinct features of each block, ascending, in its part of ``features``.

    Parameters as for `count_features`; ``feature_starts`` (int64, one more than there are blocks) says where
    each block's part of ``features`` (uint32) begins, from block ``offset`` on.
    """
    marks = np.zeros(n_features // 64 + 1, dtype=np.uint64)
    for block in blocks:
        mine = features[feature_starts[block - offset] : feature_starts[block - offset + 1]]
        mark_features(indptr, indices, order, positions[starts[block] : starts[block + 1]], marks)
        count = 0
        for w in range(marks.size):
            word = marks[w]
            marks[w] = 0
            while word != np.uint64(0):
                mine[count] = np.uint64(w) * BITS_PER_WORD + lowest_bit(word)
                word &= word - np.uint64(1)
                count += 1


@njit(cache=True, nogil=True)
def gather_rows(indptr, indices, data, rows, local):
    """Copy some instances side by side, their features renumbered by ``local``.

    Returns
    -------
    ends : int64 (rows.size + 1,), ids : uint32, values : float32
    """
    ends = np.zeros(rows.size + 1, dtype=np.int64)
    for i in range(rows.size):
        ends[i + 1] = ends[i] + indptr[rows[i] + 1] - indptr[rows[i]]
    ids = np.empty(ends[-1], dtype=np.uint32)
    values = np.empty(ends[-1], dtype=np.float32)
    for i in range(rows.size):
        start, end = indptr[rows[i]], indptr[rows[i] + 1]
        copy_into(borrowed(values, ends[i], ends[i + 1]), borrowed(data, start, end))
        row, numbered = borrowed(indices, start, end), borrowed(ids, ends[i], ends[i + 1])
        for k in range(np.uint64(row.size)):
            numbered[k] = local[row[k]]
    return ends, ids, values


@njit(cache=True, nogil=True)
def sibling_targets(starts, positions, parent_positions, first, targets, places):
    """Set ``targets[i, c]`` to 1 where instance i of the parent has z = 1 for the sibling ``first + c``.

    ``starts`` and ``positions`` list the instances of each node; ``targets`` is uint8 (instances, siblings),
    all zero; ``places`` is scratch, uint32, as long as positions need.
    """
    for i in range(parent_positions.size):
        places[parent_positions[i]] = i
    for c in range(targets.shape[1]):
        for position in positions[starts[first + c] : starts[first + c + 1]]:
            targets[places[position], c] = 1
