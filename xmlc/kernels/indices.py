"""Check the index arrays of sparse matrices before kernels use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xmlc.core.errors import InvalidDataError
from xmlc.core.parallel import row_blocks

VALUES_PER_TASK = 1 << 22  # `check_within` reads VALUES_PER_TASK values at once.
MOST_COLUMNS = np.iinfo(np.int32).max
COMPRESSED = ("csr", "csc", "bsr")


class Malformed(InvalidDataError):
    """Report an array that does not have the form that a kernel expects.

    Attributes
    ----------
    field : str
        Name of the array.
    fault : str
        The form that was found and the form that was expected.
    """

    def __init__(self, field: str, fault: str):
        super().__init__(f"{field}: {fault}")
        self.field = field
        self.fault = fault


def check_array(array: Any, field: str, dtype: Any, shape: Sequence[int | None]) -> np.ndarray:
    """Return an array in the form that kernels accept.

    Raise an error if the type or shape of the array is wrong.

    Parameters
    ----------
    array : ndarray
        The array may be memory-mapped.
    field : str
        The name of the array in messages.
    dtype : dtype
    shape : sequence of int or None
        The required length of each dimension, or None for any length.

    Returns
    -------
    ndarray
        A plain ndarray that shares the memory of ``array``.

    Raises
    ------
    Malformed
        If the type or the shape is wrong, or the rows are not contiguous.
    """
    array = np.asarray(array)
    dtype = np.dtype(dtype)
    fits = len(shape) == array.ndim and all(
        want in (None, size) for want, size in zip(shape, array.shape)
    )
    if array.dtype != dtype or not fits:
        wanted = ", ".join(map(str, shape)).replace("None", "any")
        raise Malformed(
            field,
            f"found {array.dtype} of shape {array.shape}, expected {dtype} of shape ({wanted})",
        )
    if not array.flags.c_contiguous:
        raise Malformed(field, "found gaps between rows, expected contiguous rows")
    return array


def check_starts(starts: np.ndarray, field: str, end: int, of: str) -> None:
    """Check that the start positions of an array's parts run from 0 to the array's size without
    decreasing.

    Parameters
    ----------
    starts : ndarray of an integer type, shape (parts + 1,)
    field : str
        The name of ``starts`` in messages.
    end : int
        The size of the array.
    of : str
        The name of the array in messages.

    Raises
    ------
    Malformed
        If the first start position is not 0, the last start position is not the size, or start
        positions decrease.
    """
    if starts.size == 0 or starts[0] != 0:
        raise Malformed(field, f"found {starts[:1].tolist()} at the start, expected [0]")
    if (starts[1:] < starts[:-1]).any():
        first = int(np.argmax(starts[1:] < starts[:-1])) + 1
        raise Malformed(
            field, f"found {starts[first]} in entry {first}, expected at least {starts[first - 1]}"
        )
    if starts[-1] != end:
        raise Malformed(
            field, f"found {starts[-1]} in the last entry, expected {end}, the size of {of}"
        )


def check_within(
    values: np.ndarray,
    field: str,
    least: float,
    most: float,
    after: Callable[..., None] | None = None,
) -> None:
    """Check block by block that all numbers of an array lie between two finite bounds.

    If ``after`` is given, the function calls ``after`` with each checked block.

    Raises
    ------
    Malformed
        If a number is NaN or infinite, or lies outside of ``least .. most``.
    """
    flat = values.reshape(-1)
    for start, end in row_blocks(flat.size, VALUES_PER_TASK):
        block = flat[start:end]
        # A comparison with NaN is false. Numbers of Python are compared without rounding the bounds
        # to float32.
        if not (block.min().item() >= least and block.max().item() <= most):
            first = start + [least <= value <= most for value in block.tolist()].index(False)
            raise Malformed(
                field, f"found {flat[first]} in entry {first}, expected {least} to {most}"
            )
        if after is not None:
            after(block)


def check_ascending(
    values: np.ndarray,
    field: str,
    starts: np.ndarray,
    strictly: bool = True,
    after: Callable[..., None] | None = None,
) -> None:
    """Check that numbers ascend within each part of an array.

    Parameters
    ----------
    values : ndarray of an integer type
    field : str
        The name of ``values`` in messages.
    starts : ndarray of int64
        The first position of each part, ascending, as checked by `check_starts`.
    strictly : bool
        Whether equal neighbours raise an error, too.
    after : callable, optional
        Function that is called with each checked block of values.

    Raises
    ------
    Malformed
        If a number is below the number before it in the same part, or equals it and ``strictly`` is
        true.
    """
    for start, end in row_blocks(max(values.size - 1, 0), VALUES_PER_TASK):
        before = values[start:end]
        here = values[start + 1 : end + 1]
        falls = here < before
        if strictly:
            falls = here <= before
        # A part may begin with a smaller number than the part before it ends with.
        own = starts[
            np.searchsorted(starts, start + 1) : np.searchsorted(starts, end, side="right")
        ]
        falls[own - start - 1] = False
        if falls.any():
            first = start + 1 + int(np.argmax(falls))
            least = int(values[first - 1]) + strictly
            raise Malformed(
                field, f"found {values[first]} in entry {first}, expected at least {least}"
            )
        if after is not None:
            after(before)


def check_descents(codes: np.ndarray, field: str, n_inner: int, n_leaves: int) -> None:
    """Check the roots and children of binary or multi-way trees, so that every descent ends in a
    leaf.

    No inner node may have two parents, or be a root and a child. Then no path returns to a node,
    because the first node that a path meets again would have two parents.

    Parameters
    ----------
    codes : ndarray of int
        All roots and all children. The code of an inner node is its number t, and the code of a
        leaf is ~t.
    field : str
        The name of the children in messages.
    n_inner, n_leaves : int
        Number of inner nodes and number of leaves.

    Raises
    ------
    Malformed
        If a code has no inner node or leaf, or an inner node has two parents.
    """
    check_within(codes, field, -n_leaves, n_inner - 1)
    parents = np.bincount(codes[codes >= 0], minlength=1)
    if parents.max() > 1:
        node = int(parents.argmax())
        raise Malformed(field, f"found {parents[node]} parents of inner node {node}, expected one")


def ascend(indices: np.ndarray, starts: np.ndarray) -> bool:
    """Return whether indices ascend strictly within each part.

    `check_starts` has checked ``starts``.
    """
    falls = indices[1:] <= indices[:-1]
    falls[starts[(starts > 0) & (starts < indices.size)] - 1] = False
    return not falls.any()


def prove_sparse(matrix: Any, name: str) -> bool:
    """Check in one pass that the index arrays of a sparse matrix are complete, and that no index is
    too large.

    The function does not check formats without index arrays (``lil``, ``dok``, ``dia``). Callers
    convert a matrix without index arrays to CSR with scipy, and check the CSR matrix.

    Parameters
    ----------
    matrix : scipy sparse matrix or array
    name : str
        The name of the matrix in messages.

    Returns
    -------
    bool
        Whether indices ascend strictly within each row, or within each column for CSC. The result
        is always False for formats other than CSR, CSC and BSR.

    Raises
    ------
    Malformed
        If an index array is incomplete, or an index lies outside of the matrix.
    """
    if max(matrix.shape) > MOST_COLUMNS:
        raise Malformed(
            name, f"found shape {matrix.shape}, expected at most {MOST_COLUMNS} rows and columns"
        )
    if matrix.format in COMPRESSED:
        return _prove_compressed(matrix, name)
    if matrix.format == "coo":
        for axis, field in enumerate(("row", "col")):
            indices = _as_indices(getattr(matrix, field), f"{name}.{field}")
            if indices.size != matrix.data.shape[0]:
                fault = (
                    f"found {indices.size} entries, expected {matrix.data.shape[0]}, one per value"
                )
                raise Malformed(f"{name}.{field}", fault)
            check_within(indices, f"{name}.{field}", 0, matrix.shape[axis] - 1)
    return False


def _prove_compressed(matrix: Any, name: str) -> bool:
    n_parts, width = matrix.shape
    if matrix.format == "csc":
        width, n_parts = matrix.shape
    elif matrix.format == "bsr":
        n_parts //= matrix.blocksize[0]
        width //= matrix.blocksize[1]
    starts = _as_indices(matrix.indptr, f"{name}.indptr")
    indices = _as_indices(matrix.indices, f"{name}.indices")
    if starts.size != n_parts + 1:
        raise Malformed(f"{name}.indptr", f"found {starts.size} entries, expected {n_parts + 1}")
    nnz = int(starts[-1])
    stored = min(indices.size, matrix.data.shape[0])
    if nnz > stored:
        fault = f"found {nnz} in the last entry, expected at most {stored}, the number of values"
        raise Malformed(f"{name}.indptr", fault)
    check_starts(starts, f"{name}.indptr", nnz, f"{name}.indices")
    check_within(indices[:nnz], f"{name}.indices", 0, width - 1)
    return ascend(indices[:nnz], starts)


def _as_indices(indices: Any, field: str) -> np.ndarray:
    array = np.asarray(indices)
    if array.ndim != 1 or array.dtype not in (np.int32, np.int64):
        raise Malformed(
            field,
            f"found {array.dtype} of shape {array.shape}, expected one dimension of int32 or int64",
        )
    return np.ascontiguousarray(array)
