"""The gate for matrices: what proves that index arrays of scipy's sparse formats stay within their matrix.

scipy's constructors look at the ends of the index arrays only, and its own conversions read where the indices say, as
kernels do. So arrays are proven before anything else is done with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xmlc.gate.fields import Malformed, check_indices, check_starts

MOST_COLUMNS = np.iinfo(np.int32).max
COMPRESSED = ("csr", "csc", "bsr")
INDEXED = (*COMPRESSED, "coo")  # formats that are index arrays


def prove_sparse(matrix: Any, name: str) -> bool:
    """Prove that the index arrays of a sparse matrix are whole and stay within it.

    One pass over the indices. Formats that hold no index arrays (``lil``, ``dok``, ``dia``) are converted by scipy in
    terms of checked ones, and are proven as what they are converted to.

    Parameters
    ----------
    matrix : scipy sparse matrix or array
    name : str
        What messages call it.

    Returns
    -------
    bool
        Indices ascend strictly within each row (of CSC: column); True only for CSR, CSC and BSR.

    Raises
    ------
    Malformed
    """
    if max(matrix.shape) > MOST_COLUMNS:
        raise Malformed(name, f"has shape {matrix.shape}, expected at most {MOST_COLUMNS} rows and columns")
    if matrix.format in COMPRESSED:
        return _prove_compressed(matrix, name)
    if matrix.format == "coo":
        for axis, field in enumerate(("row", "col")):
            indices = _as_indices(getattr(matrix, field), f"{name}.{field}")
            if indices.size != matrix.data.shape[0]:
                raise Malformed(f"{name}.{field}", f"has {indices.size} entries for {matrix.data.shape[0]} values")
            check_indices(indices, f"{name}.{field}", matrix.shape[axis], strict=False)
    return False


def _prove_compressed(matrix: Any, name: str) -> bool:
    n_parts, width = matrix.shape if matrix.format != "csc" else matrix.shape[::-1]
    if matrix.format == "bsr":
        n_parts, width = (size // side for size, side in zip(matrix.shape, matrix.blocksize))
    starts, indices = (_as_indices(getattr(matrix, field), f"{name}.{field}") for field in ("indptr", "indices"))
    if starts.size != n_parts + 1:
        raise Malformed(f"{name}.indptr", f"has {starts.size} entries, expected {n_parts + 1}")
    nnz = int(starts[-1])
    stored = min(indices.size, matrix.data.shape[0])
    if nnz > stored:
        raise Malformed(f"{name}.indptr", f"ends with {nnz}, but only {stored} entries are stored")
    check_starts(starts, f"{name}.indptr", nnz, f"{name}.indices")
    return check_indices(indices[:nnz], f"{name}.indices", width, starts, strict=False)


def _as_indices(indices: Any, field: str) -> np.ndarray:
    array = np.asarray(indices)
    if array.ndim != 1 or array.dtype not in (np.int32, np.int64):
        raise Malformed(field, f"found {array.dtype} of shape {array.shape}, expected one row of int32 or int64")
    return np.ascontiguousarray(array)
