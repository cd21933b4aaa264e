"""Labels represented by their instances: sums of sparse rows, of unit length."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from xmlc.core.growing import Growing
from xmlc.core.parallel import row_blocks, run_pieces
from xmlc.kernels.checks import check_same_instances
from xmlc.kernels.csr import Matrix, as_features, as_labels, proven, unit_rows, with_values

NONZEROS_PER_PIECE = 1 << 20  # of instances, counted once for each of their labels
PIECES_AT_ONCE = 32  # that are finished before they are appended: at most 256 MB, more where a label has more non-zeros
LEAST_SQUARE = 1e-70  # of a row that is scaled: what is left where instances cancel out may be far too short


def label_representations(
    X: Matrix,
    Y: Matrix,
    n_jobs: int | None = None,
    most_features: int | None = None,
    weights: np.ndarray | None = None,
) -> sparse.csr_array:
    """Represent each label by its instances: the sum of their unit-length features, scaled to unit length.

    As in Parabel (Prabhu et al., "Parabel: Partitioned label trees for extreme classification with application
    to dynamic search advertising", WWW 2018), where the features of the label's positive instances are averaged.
    Sparse throughout: blocks of rows of the product of Y's transpose and X, whose sums are float64 and rounded once.
    Needs the result once, and beside it the values of X in float64, some finished blocks and, for each thread, a
    block's sums and 12 bytes per feature.

    Parameters
    ----------
    X : sparse or dense array, shape (n, d)
    Y : sparse or dense boolean array, shape (n, m)
    n_jobs : int or None
        Threads, see `xmlc.core.threads.resolve_threads`; the bits do not depend on it.
    most_features : int or None
        A label keeps at most so many features, those with the largest sums in magnitude, of equal ones the smaller
        numbers. A label of many instances has most features of the vocabulary: on the shape of Amazon-3M all of them
        would be 20 GB. None keeps all.
    weights : ndarray of float32, shape (n,), optional
        How often each instance counts in the sums.

    Returns
    -------
    csr_array of float32, shape (m, d)
        Rows of unit length, sorted indices of int32, starts of int64; the row of a label without instances is empty.

    Raises
    ------
    XmlcError
        X and Y differ in their number of instances, or X holds a value that is not finite.
    """
    X, Y = as_features(X), as_labels(Y)
    check_same_instances(X.shape[0], Y.shape[0])
    by_label, x = sparse.csr_array(Y.T).astype(np.float64), with_values(X, unit_rows(X).data.astype(np.float64))
    if weights is not None:
        by_label.data *= weights[by_label.indices]
    nonzeros = 1 + x.nnz // max(X.shape[0], 1)  # of an instance
    blocks = item_blocks(np.diff(by_label.indptr) * nonzeros, NONZEROS_PER_PIECE)
    growing = Growing()
    for first, last in row_blocks(len(blocks), PIECES_AT_ONCE):
        pieces = [(by_label, x, most_features, *block) for block in blocks[first:last]]
        for counts, indices, data in run_pieces(_represent, pieces, n_jobs):
            growing.append(counts=counts, indices=indices, data=data)
    arrays, none = growing.finished(), np.zeros(Y.shape[1] + 1, dtype=np.int32)
    result = sparse.csr_array((arrays["data"][:0], none[:0], none), shape=(Y.shape[1], X.shape[1]))
    # Given to scipy's constructor, these arrays would be copied to one type.
    result.indptr = np.concatenate(([0], np.cumsum(arrays["counts"])))
    result.indices, result.data, result.has_sorted_indices = arrays["indices"], arrays["data"], True
    return proven(result)


def _represent(
    by_label: sparse.csr_array, x: sparse.csr_array, most_features: int | None, start: int, end: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Represent the labels ``start .. end - 1``: sizes (int64), features (int32), values (float32)."""
    sums = label_sums(by_label, x, start, end)
    n, rows = end - start, np.repeat(np.arange(end - start), np.diff(sums.indptr))
    indices, data = sums.indices, _unit_length(rows, sums.data, n)
    if most_features is not None:
        # Bits of numbers without a sign are in their order. The sort is stable: of equal ones the smaller feature.
        heaviest_first = np.argsort((rows << 32) - np.abs(data).view(np.int32), kind="stable")
        ranks = np.empty(rows.size, dtype=np.int64)
        ranks[heaviest_first] = np.arange(rows.size) - sums.indptr[rows]
        shorter, kept = np.diff(sums.indptr) > most_features, ranks < most_features
        rows, indices, data = rows[kept], indices[kept], data[kept]
        data = np.where(shorter[rows], _unit_length(rows, data, n), data)
    if not data.all():
        rows, indices, data = rows[data != 0], indices[data != 0], data[data != 0]
    return np.bincount(rows, minlength=n), indices.astype(np.int32, copy=False), data


def label_sums(by_label: sparse.csr_array, x: sparse.csr_array, start: int, end: int) -> sparse.csr_array:
    """Add up the instances x (n, d) of each of the labels ``start .. end - 1`` in their order; all float64, sorted."""
    # The products are exact, because they are of float32 numbers. The conversions sort the features.
    return (by_label[start:end] @ x).tocsc().tocsr()


def _unit_length(rows: np.ndarray, values: np.ndarray, n_rows: int) -> np.ndarray:
    """Scale rows, given by the row of each value, to unit length, float32; a row of (nearly) zeros stays as it is."""
    exact = values.astype(np.float64)
    squares = np.bincount(rows, weights=exact * exact, minlength=n_rows)  # adds the values of a row in their order
    scales = 1.0 / np.sqrt(np.where(squares > LEAST_SQUARE, squares, 1.0))
    return values.astype(np.float32) * scales.astype(np.float32)[rows]


def item_blocks(costs: np.ndarray, cost_per_block: int) -> list[tuple[int, int]]:
    """Cut a row of items into blocks ``(start, end)`` of about equal cost, at least one item each."""
    block = (np.cumsum(costs) - costs) // cost_per_block
    bounds = np.concatenate(([0], np.flatnonzero(np.diff(block)) + 1, [costs.size]))
    return list(pairwise(bounds.tolist()))
