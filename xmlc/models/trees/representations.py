"""Labels as vectors: the sum of the features of their instances, scaled to unit length."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from scipy import sparse

from xmlc.core.appendable import Appendable
from xmlc.core.parallel import cost_blocks, run_tasks
from xmlc.kernels.checks import check_same_instances
from xmlc.kernels.csr import Matrix, as_features, as_labels, validated, with_values
from xmlc.kernels.unit_length import unit_rows

# roughly, with those of an instance once for each label
NONZEROS_PER_TASK = 1 << 20
MOST_VALUES = 1_000_000_000  # in the vectors of all labels (8 GB)
# a shorter row is not scaled, because its values may be too small for float32
LEAST_SQUARE = 1e-70


def label_representations(
    X: Matrix,
    Y: Matrix,
    n_jobs: int | None = None,
    most_features: int | None = None,
    weights: np.ndarray | None = None,
) -> sparse.csr_array:
    """Return a vector for each label: the sum of its unit-length instances, scaled to unit length.

    Parabel represents labels in this way (Prabhu et al., "Partitioned label trees for extreme
    classification with application to dynamic search advertising", WWW 2018). The sums are the
    matrix product Y^T X, computed by blocks of labels in float64, and rounded once to float32.
    Besides the result and a float64 copy of the values of X, each thread needs memory for the sums
    of a block and 12 bytes per feature.

    Parameters
    ----------
    X : sparse or dense array, shape (n, d)
    Y : sparse or dense boolean array, shape (n, m)
    n_jobs : int or None
        Number of threads, on which the result does not depend.
    most_features : int or None
        Largest number of features in a vector, which keeps those with the largest absolute sums
        and, among equal ones, the smallest numbers. None keeps all, or as many as fit into
        ``MOST_VALUES`` values, because the vector of a frequent label contains most of the
        vocabulary: Amazon-3M or Delicious-200K would take 20 GB or more.
    weights : ndarray of float32, shape (n,), optional
        Weight of each instance in the sums.

    Returns
    -------
    csr_array of float32, shape (m, d)
        Rows of unit length with sorted int32 indices and int64 row starts, empty for labels without
        instances.

    Raises
    ------
    XmlcError
        X and Y differ in their number of instances, or X has a value that is not finite.

    See Also
    --------
    xmlc.models.trees.kmeans.kmeans_tree

    Examples
    --------
    >>> from xmlc.models.trees.representations import label_representations
    >>> label_representations([[3.0, 0.0], [0.0, 2.0]], [[1, 1], [0, 1]]).toarray().round(2)
    array([[1.  , 0.  ],
           [0.71, 0.71]], dtype=float32)
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
    # set afterwards, because scipy's constructor would convert them to a common type
    result.indptr = np.concatenate(([0], np.cumsum(arrays["counts"])))
    result.indices = arrays["indices"]
    result.data = arrays["data"]
    result.has_sorted_indices = True
    return validated(result)


def features_that_fit(by_label: sparse.csr_array, x: sparse.csr_array) -> int | None:
    """Return the largest number of features per label with which all vectors fit into `MOST_VALUES`
    values, or None if they fit with all features.

    A vector has at most as many features as the data, and as its instances have non-zeros.
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
    sums = label_sums(by_label, x, start, end)
    n = end - start
    rows = np.repeat(np.arange(n), np.diff(sums.indptr))
    indices = sums.indices
    data = _unit_length(rows, sums.data, n)
    if most_features is not None:
        # absolute float32 values are ordered like their bits, and a stable sort puts the smaller
        # feature first
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
    """Split labels into blocks ``(start, end)`` of about `NONZEROS_PER_TASK` non-zeros."""
    # an instance costs 1 plus the mean number of non-zeros, rounded down
    nonzeros = 1 + x.nnz // max(x.shape[0], 1)
    return cost_blocks(np.diff(by_label.indptr) * nonzeros, NONZEROS_PER_TASK)


def label_sums(
    by_label: sparse.csr_array, x: sparse.csr_array, start: int, end: int
) -> sparse.csr_array:
    """Return the sum of each label's instances, added in row order, with sorted features."""
    # Products are exact in float64, because their factors fit into float32. The way to CSC and back
    # sorts the features of each row.
    return (by_label[start:end] @ x).tocsc().tocsr()


def _unit_length(rows: np.ndarray, values: np.ndarray, n_rows: int) -> np.ndarray:
    """Scale rows to unit length, unless they are nearly zero, given the row of each value."""
    exact = values.astype(np.float64)
    # `bincount` adds in a fixed order
    squares = np.bincount(rows, weights=exact * exact, minlength=n_rows)
    scales = 1.0 / np.sqrt(np.where(squares > LEAST_SQUARE, squares, 1.0))
    return values.astype(np.float32) * scales.astype(np.float32)[rows]
