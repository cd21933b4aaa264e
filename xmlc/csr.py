"""CSR arrays: the form that kernels take, and the form on disk.

On disk a matrix ``X`` is a handful of plain ``.npy`` files in a folder, so that it can be memory-mapped and
read by anything that knows numpy: ``X.indptr.npy`` (int64), ``X.indices.npy`` (int32), ``X.data.npy``
(absent for a boolean matrix, whose stored entries are all true) and ``X.json`` (format version, shape, dtype).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.files import read_json, write_json

FORMAT_VERSION = 1


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

    Unsigned 32-bit indices let the compiler drop the wrap-around test of negative indices, which costs a
    kernel a factor of 1.4 to 3.4.
    """
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    indices = np.ascontiguousarray(matrix.indices, dtype=np.int32).view(np.uint32)
    return KernelCSR(
        np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        indices,
        np.ascontiguousarray(matrix.data, dtype=np.float32),
    )


def unit_rows(X: sparse.csr_array) -> sparse.csr_array:
    """Scale each instance to Euclidean length 1; an instance without features stays as it is."""
    values = X.data.astype(np.float64)
    squared = sparse.csr_array((values * values, X.indices, X.indptr), shape=X.shape)
    squares: np.ndarray = np.asarray(squared.sum(axis=1)).ravel()
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    scaled = (values / np.repeat(lengths, np.diff(X.indptr))).astype(np.float32)
    result = sparse.csr_array((scaled, X.indices, X.indptr), shape=X.shape)
    result.has_sorted_indices = X.has_sorted_indices
    return result


def as_features(X: object) -> sparse.csr_array:
    """Return instances as a canonical float32 CSR array, shape (n, d).

    Raises
    ------
    XmlcError
        An entry is NaN or infinite, or ``X`` is not two-dimensional.
    """
    X = _as_csr(X, np.float32, "X")
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], side="right")) - 1
        raise XmlcError(f"X holds a value that is not finite, first in row {row}; remove or impute it")
    return X


def as_labels(Y: object) -> sparse.csr_array:
    """Return label sets as a canonical boolean CSR array, shape (n, m): stored entries are the positives."""
    return without_zeros(_as_csr(Y, bool, "Y"))


def without_zeros(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix without explicit zeros: a copy if it has some, because the caller's may be read-only."""
    if matrix.data.all():
        return matrix
    matrix = matrix.copy()
    matrix.eliminate_zeros()
    return matrix


def save_csr(folder: str | Path, name: str, matrix: sparse.csr_array) -> None:
    """Write a CSR matrix into an existing folder as ``name.*`` (see the module's docstring)."""
    folder = Path(folder)
    np.save(folder / f"{name}.indptr.npy", matrix.indptr.astype(np.int64, copy=False))
    np.save(folder / f"{name}.indices.npy", matrix.indices.astype(np.int32, copy=False))
    if matrix.dtype != bool:
        np.save(folder / f"{name}.data.npy", matrix.data)
    meta = {"version": FORMAT_VERSION, "shape": list(matrix.shape), "dtype": matrix.dtype.name}
    write_json(folder / f"{name}.json", meta)


def load_csr(folder: str | Path, name: str, mmap: bool = True) -> sparse.csr_array:
    """Read a CSR matrix written by `save_csr`, memory-mapped by default.

    Maps are copy-on-write: a change stays in this process. Read-only arrays would be safe too, but are another type to
    numba, and every kernel would be compiled twice.
    """
    folder = Path(folder)
    if not (folder / f"{name}.json").exists():
        raise XmlcError(f"{folder} holds no matrix {name!r}: {name}.json is missing; prepare it anew")
    meta = read_json(folder / f"{name}.json")
    if meta["version"] != FORMAT_VERSION:
        raise XmlcError(
            f"{folder / name}: format version {meta['version']}, expected {FORMAT_VERSION}; prepare it anew"
        )
    mode: Literal["c"] | None = "c" if mmap else None
    indptr = np.load(folder / f"{name}.indptr.npy", allow_pickle=False)
    if indptr[-1] <= np.iinfo(np.int32).max:
        # scipy wants both index arrays of one type, and would copy the mapped indices to match a wider indptr.
        indptr = indptr.astype(np.int32)
    indices = np.load(folder / f"{name}.indices.npy", mmap_mode=mode, allow_pickle=False)
    if meta["dtype"] == "bool":
        data = np.ones(indices.size, dtype=bool)
    else:
        data = np.load(folder / f"{name}.data.npy", mmap_mode=mode, allow_pickle=False)
    matrix = sparse.csr_array((data, indices, indptr), shape=tuple(meta["shape"]))
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def resize(matrix: sparse.csr_array, n_rows: int, n_columns: int) -> None:
    """Cut off or add rows and columns in place; no stored entry may lie in a column that is cut off."""
    matrix.resize(n_rows, n_columns)  # type: ignore[arg-type, call-arg]  # the stubs forbid any use


def _as_csr(matrix: Any, dtype: type, name: str) -> sparse.csr_array:
    if np.ndim(matrix) != 2:
        raise XmlcError(f"{name} has {np.ndim(matrix)} dimensions, expected 2")
    result = sparse.csr_array(matrix, dtype=dtype)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return result
