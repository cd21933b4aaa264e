"""Checks of single arrays: type and shape, places where parts start, numbers below a limit.

A check costs one pass over the array, and raises `Malformed` with the name of the array and its first wrong entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xmlc.core.errors import InvalidDataError


class Malformed(InvalidDataError):
    """An array is not what a kernel would take it for.

    Attributes
    ----------
    field : str
        Name of the array.
    fault : str
        What was found, and what was expected.
    """

    def __init__(self, field: str, fault: str):
        super().__init__(f"{field}: {fault}")
        self.field, self.fault = field, fault


def check_array(array: Any, field: str, dtype: Any, shape: Sequence[int | None]) -> np.ndarray:
    """Return an array as kernels take it, if it has this type and shape.

    Parameters
    ----------
    array : ndarray
        Memory-mapped or not.
    field : str
    dtype : dtype
    shape : sequence of int or None
        None: any length.

    Returns
    -------
    ndarray
        The same memory, numpy's own class.

    Raises
    ------
    Malformed
        The type or the shape is another, or the array does not lie row by row.
    """
    array, dtype = np.asarray(array), np.dtype(dtype)
    fits = len(shape) == array.ndim and all(want in (None, size) for want, size in zip(shape, array.shape))
    if array.dtype != dtype or not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise Malformed(field, f"found {array.dtype} of shape {array.shape}, expected {dtype} of shape ({wanted})")
    if not array.flags.c_contiguous:
        raise Malformed(field, "its rows do not lie one after the other")
    return array


def check_starts(starts: np.ndarray, field: str, end: int, of: str) -> None:
    """Prove that the places where parts of an array start run from 0 to its size and never fall.

    Parameters
    ----------
    starts : ndarray of an integer type, shape (parts + 1,)
    field : str
    end : int
        Size of the array.
    of : str
        Its name.

    Raises
    ------
    Malformed
    """
    if starts.size == 0 or starts[0] != 0:
        raise Malformed(field, f"begins with {starts[:1].tolist()}, expected 0")
    if (starts[1:] < starts[:-1]).any():
        first = int(np.argmax(starts[1:] < starts[:-1])) + 1
        raise Malformed(field, f"entry {first} is {starts[first]}, less than the one before it, {starts[first - 1]}")
    if starts[-1] != end:
        raise Malformed(field, f"ends with {starts[-1]}, expected {end}, the size of {of}")


def check_below(values: np.ndarray, field: str, limit: int, least: int = 0) -> None:
    """Prove that integers lie in ``least .. limit - 1``.

    Raises
    ------
    Malformed
    """
    if values.size and not (values.min() >= least and values.max() < limit):
        flat = values.reshape(-1)
        first = int(np.argmax((flat < least) | (flat >= limit)))
        raise Malformed(field, f"entry {first} is {flat[first]}, expected {least} .. {limit - 1}")


def ascend(indices: np.ndarray, starts: np.ndarray) -> bool:
    """Tell whether indices ascend strictly within each part; ``starts`` says where parts start, checked already."""
    falls = indices[1:] <= indices[:-1]
    falls[starts[(starts > 0) & (starts < indices.size)] - 1] = False
    return not falls.any()


# The gate for matrices: what proves that index arrays of scipy's sparse formats stay within their matrix.
#
# scipy's constructors look at the ends of the index arrays only, and its own conversions read where the indices say, as
# kernels do. So arrays are proven before anything else is done with them.


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
            check_below(indices, f"{name}.{field}", matrix.shape[axis])
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
    check_below(indices[:nnz], f"{name}.indices", width)
    return ascend(indices[:nnz], starts)


def _as_indices(indices: Any, field: str) -> np.ndarray:
    array = np.asarray(indices)
    if array.ndim != 1 or array.dtype not in (np.int32, np.int64):
        raise Malformed(field, f"found {array.dtype} of shape {array.shape}, expected one row of int32 or int64")
    return np.ascontiguousarray(array)
