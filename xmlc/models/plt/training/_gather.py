"""The features of the instances that reach a block, and those instances side by side: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed, copy_into
from xmlc.kernels.bits import lowest_bit
from xmlc.runtime.kernel_cache import njit

BITS_PER_WORD = np.uint64(64)


@njit(cache=True, nogil=True)
def nonzeros_of(indptr, order, positions):
    """Count the non-zeros of some instances."""
    nonzeros = 0
    for position in positions:
        nonzeros += indptr[order[position] + 1] - indptr[order[position]]
    return nonzeros


@njit(cache=True, nogil=True)
def count_nonzeros(indptr, order, starts, positions, blocks):
    """Count the non-zeros of the instances that reach each block: int64 (blocks.size,); see `list_features`."""
    nonzeros = np.zeros(blocks.size, dtype=np.int64)
    for b in range(blocks.size):
        reaching = borrowed(positions, starts[blocks[b]], starts[blocks[b] + 1])
        nonzeros[b] = nonzeros_of(indptr, order, reaching)
    return nonzeros


@njit(cache=True, nogil=True)
def write_features(indptr, indices, order, positions, marks, features):
    """Write the distinct features of some instances, ascending, to the beginning of ``features``; return how many.

    ``marks`` is uint64 with one bit per feature, few enough words to stay in the first-level cache; zero on entry and
    on return. ``features`` is uint32, as long as the instances have non-zeros or there are features.
    """
    for position in positions:
        row = order[position]
        for feature in borrowed(indices, indptr[row], indptr[row + 1]):
            wide = np.uint64(feature)
            marks[wide // BITS_PER_WORD] |= np.uint64(1) << (wide % BITS_PER_WORD)
    count = 0
    for w in range(marks.size):
        word = marks[w]
        marks[w] = 0
        while word != np.uint64(0):
            features[count] = np.uint64(w) * BITS_PER_WORD + lowest_bit(word)
            word &= word - np.uint64(1)
            count += 1
    return count


@njit(cache=True, nogil=True)
def list_features(indptr, indices, order, starts, positions, blocks, n_features):
    """List the distinct features, and count the non-zeros, of the instances that reach each block.

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
    n_features : int

    Returns
    -------
    distinct, nonzeros : int64 (blocks.size,)
    features : uint32
        Those of each block, ascending, block after block.
    """
    distinct = np.zeros(blocks.size, dtype=np.int64)
    nonzeros = count_nonzeros(indptr, order, starts, positions, blocks)
    marks = np.zeros(n_features // 64 + 1, dtype=np.uint64)
    features = np.empty(np.minimum(nonzeros, n_features).sum(), dtype=np.uint32)
    total = 0
    for b in range(blocks.size):
        reaching = positions[starts[blocks[b]] : starts[blocks[b] + 1]]
        distinct[b] = write_features(indptr, indices, order, reaching, marks, features[total:])
        total += distinct[b]
    return distinct, nonzeros, features[:total].copy()


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
