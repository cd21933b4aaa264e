"""CSR arrays: the form that kernels take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError
from xmlc.core.parallel import row_blocks, run_pieces
from xmlc.kernels.checks import INDEXED, prove_sparse

NONZEROS_PER_PIECE = 1 << 17  # that are scaled
OF_LISTS = "sklearn.preprocessing.MultiLabelBinarizer(sparse_output=True) makes a matrix of label lists"


class KernelCSR(NamedTuple):
    """A CSR matrix in the one form that kernels are compiled for.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n_rows + 1,)
    indices : ndarray of uint32, shape (nnz,), sorted within each row
    data : ndarray of float32, shape (nnz,)
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


def kernel_csr(matrix: sparse.csr_array) -> KernelCSR:
    """Bring a CSR matrix to the canonical kernel form, without copying what already has it.

    The last gate before kernels: a matrix that `as_csr` or `load_csr` did not prove is proven here.

    Unsigned 32-bit indices let the compiler drop the wrap-around test of negative indices, which costs a
    kernel a factor of 1.4 to 3.4.

    Raises
    ------
    Malformed
        Index arrays lead out of the matrix.
    """
    if not is_proven(matrix):
        matrix = trimmed(matrix, prove_sparse(matrix, "matrix"))
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    indices = np.ascontiguousarray(matrix.indices, dtype=np.int32).view(np.uint32)
    return KernelCSR(
        np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        indices,
        np.ascontiguousarray(matrix.data, dtype=np.float32),
    )


def is_proven(matrix: object) -> bool:
    """Tell whether a matrix is one that this process proved or made, with the arrays and the shape of that time.

    The mark is on the object that `as_csr` or `load_csr` returned, not on what its caller gave, and so it is not on a
    matrix that anybody else may have changed in place since.
    """
    mark = getattr(matrix, "_proven", None)
    if mark is None or not isinstance(matrix, sparse.csr_array):
        return False
    shape, arrays = mark
    return bool(shape == matrix.shape and arrays[0] is matrix.indptr and arrays[1] is matrix.indices)


def proven(matrix: sparse.csr_array) -> sparse.csr_array:
    """Mark a matrix whose index arrays were proven, or made here of proven ones."""
    # An attribute of the object, not a table of known ones: the mark goes when the matrix goes.
    matrix._proven = (matrix.shape, (matrix.indptr, matrix.indices))  # type: ignore[attr-defined]
    return matrix


def trimmed(matrix: sparse.csr_array, ascending: bool) -> sparse.csr_array:
    """Return a proven matrix without room behind its last entry, and with the flags that the proof gave."""
    nnz = int(matrix.indptr[-1])
    result = sparse.csr_array((matrix.data[:nnz], matrix.indices[:nnz], matrix.indptr), shape=matrix.shape)
    result.has_sorted_indices = result.has_canonical_format = ascending
    return result


def unit_rows(X: sparse.csr_array, n_jobs: int | None = 1) -> sparse.csr_array:
    """Scale each instance to Euclidean length 1, on some threads; an instance without features stays as it is."""
    from xmlc.kernels.unit_length import scale_rows

    indptr, values, n = np.asarray(X.indptr), np.asarray(X.data), X.shape[0]
    scaled = np.empty(values.size, dtype=np.float32)
    blocks = row_blocks(n, max(1, n * NONZEROS_PER_PIECE // max(values.size, 1)))
    run_pieces(scale_rows, [(indptr, values, scaled, *block) for block in blocks], n_jobs)
    return with_values(X, scaled)


def with_values(X: sparse.csr_array, values: np.ndarray) -> sparse.csr_array:
    """Return a matrix with other values at the same places, proven if ``X`` is."""
    result = sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
    result.has_sorted_indices = X.has_sorted_indices
    return proven(result) if is_proven(X) else result


def as_features(X: object) -> sparse.csr_array:
    """Return instances as a canonical float32 CSR array, shape (n, d).

    Raises
    ------
    InvalidDataError
        An entry is NaN, infinite or no number, ``X`` is not two-dimensional or a masked array, or its index arrays lead
        out of it.
    """
    X = as_csr(X, np.float32, "X")
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], side="right")) - 1
        raise InvalidDataError(f"X holds NaN or inf, first in row {row}; expected finite numbers")
    return X


def as_labels(Y: object) -> sparse.csr_array:
    """Return label sets as a canonical boolean CSR array, shape (n, m): stored entries are the positives.

    Raises
    ------
    InvalidDataError
        A value is neither 0 nor 1, ``Y`` is not two-dimensional or a masked array, or its index arrays lead out of it.
    """
    return without_zeros(as_csr(Y, bool, "Y"))


def as_csr(matrix: Any, dtype: type, name: str) -> sparse.csr_array:
    """Return any matrix as a canonical CSR array of a type, proven: the gate for what a user gives.

    Without a copy of what has that form already.

    Parameters
    ----------
    matrix : sparse or dense array, shape (n, columns)
    dtype : type
        With bool all values must be 0 or 1.
    name : str
        What messages call it.

    Raises
    ------
    InvalidDataError
        It has not two dimensions, is a masked array, holds what is no number (or no truth value), or its index arrays
        lead out of it.
    """
    if is_proven(matrix) and matrix.dtype == dtype and matrix.has_canonical_format:
        return matrix
    if np.ma.isMaskedArray(matrix):
        raise InvalidDataError(
            f"{name} is a masked array, whose mask would be lost; fill it, or drop the rows it hides"
        )
    hint = f"; {OF_LISTS}" if dtype is bool else ""
    try:
        matrix = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    except ValueError:
        raise InvalidDataError(f"{name} has rows of different lengths; expected a matrix{hint}") from None
    if matrix.ndim != 2:
        kind, columns = ("Unknown label type: ", "a column for each class") if dtype is bool else ("", "columns")
        wanted = f"2: rows and {columns}. Reshape your data"
        raise InvalidDataError(f"{kind}{name}: found {matrix.ndim} dimensions, expected {wanted}{hint}")
    if matrix.dtype.kind == "c":
        raise InvalidDataError(f"{name}: Complex data not supported")  # scikit-learn's words
    if matrix.dtype.kind not in "biuf":
        wanted = "0 and 1" if dtype is bool else "numbers"
        raise InvalidDataError(f"{name} holds values of type {matrix.dtype}; expected {wanted}{hint}")
    kind, ascending = "", False
    if sparse.issparse(matrix):  # the stubs know a format of each class, but not of their union
        ascending, kind = prove_sparse(matrix, name), matrix.format  # type: ignore[attr-defined]
        if kind not in INDEXED:
            matrix = sparse.csr_array(matrix)  # type: ignore[call-overload]
    if dtype is bool:
        _check_truth_values(matrix, name)
    if kind == "csr":
        result = trimmed(sparse.csr_array(matrix, dtype=dtype), ascending)
    else:
        result = sparse.csr_array(matrix.astype(dtype))
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return proven(result)


def without_zeros(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix without explicit zeros: a copy if it has some, because the caller's may be read-only."""
    if matrix.data.all():
        return matrix
    known, matrix = is_proven(matrix), matrix.copy()
    matrix.eliminate_zeros()
    return proven(matrix) if known else matrix


def _check_truth_values(matrix: Any, name: str) -> None:
    """Refuse stored values that are neither 0 nor 1."""
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if values.dtype == bool or ((values == 0) | (values == 1)).all():
        return
    entries = sparse.coo_array(matrix)
    wrong = np.flatnonzero((entries.data != 0) & (entries.data != 1))
    if wrong.size == 0:
        return  # only in room that scipy keeps behind the last entry
    first = wrong[np.argmin(entries.row[wrong])]
    raise InvalidDataError(
        f"Unknown label type: {name} holds {entries.data[first]} in row {entries.row[first]}, "
        f"column {entries.col[first]}; expected labels of 0 and 1, or boolean: Y > 0 makes them of others; {OF_LISTS}"
    )
