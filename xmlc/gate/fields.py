"""Checks of single arrays: type and shape, places where parts start, numbers below a limit.

A check costs one pass over the array, and raises `Malformed` with the name of the array and its first wrong entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xmlc.errors import InvalidDataError

INFINITE = 0x7F800000  # the bits of a float32 that is infinite; those of NaN are larger


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


def check_indices(
    indices: np.ndarray, field: str, width: int, starts: np.ndarray | None = None, strict: bool = True
) -> bool:
    """Prove that indices are at least 0 and below a width; ask whether they ascend within each part.

    Parameters
    ----------
    indices : ndarray of int32, int64, uint32 or uint64, shape (nnz,)
    field : str
    width : int
    starts : ndarray of int, shape (parts + 1,), optional
        Where parts start, checked already; without it the indices are one part.
    strict : bool
        Whether it is an error if they do not ascend.

    Returns
    -------
    bool
        They ascend strictly within each part.

    Raises
    ------
    Malformed
    """
    # Kernels: what reads no arrays does not load numba.
    from xmlc.gate._order import largest_and_falls, largest_and_falls_within

    unsigned = indices.view(np.uint32 if indices.itemsize == 4 else np.uint64)
    largest, falls = largest_and_falls(unsigned) if starts is None else largest_and_falls_within(unsigned, starts)
    if indices.size and int(largest) >= width:
        first = int(np.argmax((indices < 0) | (indices >= width)))
        raise Malformed(field, f"entry {first} is {indices[first]}, expected 0 .. {width - 1}")
    if falls and strict:
        raise Malformed(field, f"indices of one part do not ascend, {falls} times")
    return not falls


def is_finite(values: np.ndarray) -> bool:
    """Tell whether no float32 of an array is NaN or infinite, in one pass."""
    from xmlc.gate._order import largest_magnitude

    return bool(largest_magnitude(values.view(np.uint32)) < INFINITE)
