"""Represent each label by the sum of its instances' feature vectors, scaled to unit length."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from scipy import sparse

from xmlc.core.appendable import Appendable
from xmlc.core.parallel import cost_blocks, run_tasks
from xmlc.kernels.checks import check_same_instances
from xmlc.kernels.csr import Matrix, as_features, as_labels, validated, with_values
from xmlc.kernels.unit_length import unit_rows

# One task adds up about 2**20 non-zeros. The non-zeros of an instance count once for each label of
# the instance.
NONZEROS_PER_TASK = 1 << 20
# The vectors of all labels have at most this number of values, which take 8 GB.
MOST_VALUES = 1_000_000_000
# A row whose squared length is below this number is not scaled, because its values may be too small
# for float32.
LEAST_SQUARE = 1e-70


def label_representations(
    X: Matrix,
    Y: Matrix,
    n_jobs: int | None = None,
    most_features: int | None = None,
    weights: np.ndarray | None = None,
) -> sparse.csr_array:
    """Return a vector for each label: the sum of its instances' unit-length features, scaled to
    unit length.

    Parabel represents labels in the same way (Prabhu et al., "Partitioned label trees for extreme
    classification with application to dynamic search advertising", WWW 2018). The sums are the
    matrix product Y^T X, which is computed in sparse blocks of rows. The sums are computed in
    float64 and rounded once to float32.

    The function needs memory for the result and for the values of X in float64. In addition, each
    thread needs memory for the sums of a block and its result, and 12 bytes per feature.

    Parameters
    ----------
    X : sparse or dense array, shape (n, d)
        Features.
    Y : sparse or dense boolean array, shape (n, m)
        Labels.
    n_jobs : int or None
        Number of threads, see `xmlc.core.threads.resolve_threads`. The result is bit-identical for
        any number of threads.
    most_features : int or None
        The largest number of features in the vector of a label. The vector keeps the features with
        the largest absolute sums. If absolute sums are equal, the feature with the smaller number
        is kept. None keeps all features, or as many as fit into ``MOST_VALUES`` values. The vector
        of a label with many instances contains most features of the vocabulary. For a dataset of
        the size of Amazon-3M or Delicious-200K, vectors with all features would take 20 GB or more.
    weights : ndarray of float32, shape (n,), optional
        Weight of each instance in the sums.

    Returns
    -------
    csr_array of float32, shape (m, d)
        Rows of unit length, with sorted int32 indices and int64 row starts. A label without
        instances has an empty row.

    Raises
    ------
    XmlcError
        X and Y differ in their number of instances, or X has a value that is not finite.
    """
    X = as_features(X)
    Y = as_labels(Y)
    check_same_instances(X.shape[0], Y.shape[0])
    by_label = sparse.csr_array(Y.T).astype(np.float64)
    x = with_values(X, unit_rows(X).data.astype(np.float64))
    if most_features is None:
        most_features = features_that_fit(by_label, x)
    if weights is not None:
        by_label.data *= weights[by_label.indices]
    appendable = Appendable()
    tasks = [(by_label, x, most_features, *block) for block in label_blocks(by_label, x)]
    run_tasks(_represent, tasks, n_jobs, then=lambda part: appendable.append(**part))
    arrays = appendable.finished()
    none = np.zeros(Y.shape[1] + 1, dtype=np.int32)
    result = sparse.csr_array((arrays["data"][:0], none[:0], none), shape=(Y.shape[1], X.shape[1]))
    # scipy's constructor would convert the index arrays to a common type, so the arrays are set
    # afterwards.
    result.indptr = np.concatenate(([0], np.cumsum(arrays["counts"])))
    result.indices = arrays["indices"]
    result.data = arrays["data"]
    result.has_sorted_indices = True
    return validated(result)


def features_that_fit(by_label: sparse.csr_array, x: sparse.csr_array) -> int | None:
    """Return the largest number of features per label such that all vectors together have at most
    `MOST_VALUES` values.

    The result is None if the vectors can have all features. The number of features of a label is
    bounded by the number of non-zeros of its instances, and by the number of features in the data.
    """
    nonzeros = np.append(0, np.cumsum(np.diff(x.indptr)[by_label.indices], dtype=np.int64))
    lengths = np.minimum(np.diff(nonzeros[by_label.indptr]), x.shape[1])
    longest = int(lengths.max(initial=0))
    allowed = bisect_right(
        range(1, longest + 1), MOST_VALUES, key=lambda most: int(np.minimum(lengths, most).sum())
    )
    if allowed == longest:
        return None
    return max(allowed, 1)


def _represent(
    by_label: sparse.csr_array, x: sparse.csr_array, most_features: int | None, start: int, end: int
) -> dict[str, np.ndarray]:
    """Return the rows of labels ``start .. end - 1``: row sizes (int64), features (int32) and
    values (float32).
    """
    sums = label_sums(by_label, x, start, end)
    n = end - start
    rows = np.repeat(np.arange(n), np.diff(sums.indptr))
    indices = sums.indices
    data = _unit_length(rows, sums.data, n)
    if most_features is not None:
        # Absolute float32 values have the same order as their bits, read as integers. Among equal
        # values, the stable sort puts the smaller feature first.
        heaviest_first = np.argsort((rows << 32) - np.abs(data).view(np.int32), kind="stable")
        ranks = np.empty(rows.size, dtype=np.int64)
        ranks[heaviest_first] = np.arange(rows.size) - sums.indptr[rows]
        shorter = np.diff(sums.indptr) > most_features
        kept = ranks < most_features
        rows = rows[kept]
        indices = indices[kept]
        data = data[kept]
        data = np.where(shorter[rows], _unit_length(rows, data, n), data)
    if not data.all():
        rows = rows[data != 0]
        indices = indices[data != 0]
        data = data[data != 0]
    counts = np.bincount(rows, minlength=n)
    return {"counts": counts, "indices": indices.astype(np.int32, copy=False), "data": data}


def label_blocks(by_label: sparse.csr_array, x: sparse.csr_array) -> list[tuple[int, int]]:
    """Split labels into blocks ``(start, end)`` whose instances have about `NONZEROS_PER_TASK`
    non-zeros.
    """
    # The cost of an instance is 1 plus the mean number of non-zeros, rounded down.
    nonzeros = 1 + x.nnz // max(x.shape[0], 1)
    return cost_blocks(np.diff(by_label.indptr) * nonzeros, NONZEROS_PER_TASK)


def label_sums(
    by_label: sparse.csr_array, x: sparse.csr_array, start: int, end: int
) -> sparse.csr_array:
    """Return the sum of the instances of each label from ``start`` to ``end - 1``, added in the row
    order of x (n, d).

    The arguments and the result have float64 values. The features in each row of the result are
    sorted.
    """
    # Products of two values are exact in float64, because the factors fit into float32. Conversion
    # to CSC and back to CSR sorts the features of each row.
    return (by_label[start:end] @ x).tocsc().tocsr()


def _unit_length(rows: np.ndarray, values: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the values of rows, scaled so that each row has unit length, float32.

    Rows of nearly zero length are not scaled. ``rows`` contains the row number of each value.
    """
    exact = values.astype(np.float64)
    # `bincount` adds in a fixed order
    squares = np.bincount(rows, weights=exact * exact, minlength=n_rows)
    scales = 1.0 / np.sqrt(np.where(squares > LEAST_SQUARE, squares, 1.0))
    return values.astype(np.float32) * scales.astype(np.float32)[rows]
