"""Checks of the index arrays of sparse matrices, before kernels use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xmlc.core.errors import InvalidDataError
from xmlc.core.parallel import row_blocks

VALUES_PER_TASK = 1 << 22  # that `check_within` reads at once
MOST_COLUMNS = np.iinfo(np.int32).max
COMPRESSED = ("csr", "csc", "bsr")


class Malformed(InvalidDataError):
    """An array, named ``field``, without the form that a kernel expects, as ``fault`` describes."""

    def __init__(self, field: str, fault: str):
        super().__init__(f"{field}: {fault}")
        self.field = field
        self.fault = fault


def check_array(array: Any, field: str, dtype: Any, shape: Sequence[int | None]) -> np.ndarray:
    """Return an array as a plain ndarray that shares its memory.

    Another dtype or shape (None fits any length), or gaps between rows, raise `Malformed`.
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
    """Raise `Malformed` unless start positions rise from 0 to ``end``, the size of ``of``."""
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
    """Raise `Malformed` unless all numbers are from ``least`` to ``most``, which are finite.

    ``after`` is called with each checked block.
    """
    flat = values.reshape(-1)
    for start, end in row_blocks(flat.size, VALUES_PER_TASK):
        block = flat[start:end]
        # Comparisons with NaN are false. Python's numbers do not round the bounds to float32.
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
    """Raise `Malformed` unless numbers ascend within each part, strictly or not.

    ``starts`` has the first position of each part, as checked by `check_starts`, and ``after`` is
    called with each checked block.
    """
    for start, end in row_blocks(max(values.size - 1, 0), VALUES_PER_TASK):
        before = values[start:end]
        here = values[start + 1 : end + 1]
        falls = here < before
        if strictly:
            falls = here <= before
        # A part may begin below the end of the part before it
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
    """Raise `Malformed` unless every descent in binary or multi-way trees ends in a leaf.

    The codes are all roots and children: the number t of an inner node, and ~t for leaf t. No inner
    node may have two parents, or be a root and a child. Then no path returns to a node, because the
    first node that it meets again would have two parents.
    """
    check_within(codes, field, -n_leaves, n_inner - 1)
    parents = np.bincount(codes[codes >= 0], minlength=1)
    if parents.max() > 1:
        node = int(parents.argmax())
        raise Malformed(field, f"found {parents[node]} parents of inner node {node}, expected one")


def ascend(indices: np.ndarray, starts: np.ndarray) -> bool:
    """Return whether indices ascend strictly within each part of ``starts``."""
    falls = indices[1:] <= indices[:-1]
    falls[starts[(starts > 0) & (starts < indices.size)] - 1] = False
    return not falls.any()


def prove_sparse(matrix: Any, name: str) -> bool:
    """Raise `Malformed` unless the index arrays of a sparse matrix are complete and in its shape.

    Formats without index arrays (``lil``, ``dok``, ``dia``) pass unchecked, and callers check them
    after conversion to CSR. Returns whether indices ascend strictly within each row, or column of
    CSC, and False for formats other than CSR, CSC and BSR.
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
