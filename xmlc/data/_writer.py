"""Text of sparse rows: kernels."""

from __future__ import annotations

import numpy as np
from numba import njit

SPACE, COMMA, COLON, POINT, NEWLINE, ZERO = 32, 44, 58, 46, 10, 48


@njit(cache=True, nogil=True)
def put_integer(text, position, value):
    """Write an unsigned integer; return the next position."""
    start = position
    while True:
        text[position] = ZERO + value % 10
        position += 1
        value //= 10
        if value == 0:
            break
    text[start:position] = text[start:position][::-1].copy()
    return position


@njit(cache=True, nogil=True)
def put_steps(text, position, steps):
    """Write ``steps / 10000`` without trailing zeros; return the next position."""
    position = put_integer(text, position, steps // 10000)
    rest, unit = steps % 10000, 1000
    if rest:
        text[position] = POINT
        position += 1
    while rest:
        text[position] = ZERO + rest // unit
        position += 1
        rest %= unit
        unit //= 10
    return position


@njit(cache=True, nogil=True)
def put_rows(x_indptr, x_indices, steps, y_indptr, y_indices, start, end, text):
    """Write rows ``start .. end - 1`` in the repository format; return the number of bytes.

    Parameters
    ----------
    x_indptr : int64, x_indices : uint32, steps : int64
        Instances; a value is ``steps / 10000``, not negative.
    y_indptr : int64, y_indices : uint32
        Label sets.
    text : uint8
        Room for 32 bytes per stored entry and 2 per row.
    """
    position = 0
    for row in range(start, end):
        for k in range(y_indptr[row], y_indptr[row + 1]):
            if k > y_indptr[row]:
                text[position] = COMMA
                position += 1
            position = put_integer(text, position, np.int64(y_indices[k]))
        if x_indptr[row] == x_indptr[row + 1] and y_indptr[row] == y_indptr[row + 1]:
            text[position] = SPACE
            position += 1
        for k in range(x_indptr[row], x_indptr[row + 1]):
            text[position] = SPACE
            position = put_integer(text, position + 1, np.int64(x_indices[k]))
            text[position] = COLON
            position = put_steps(text, position + 1, steps[k])
        text[position] = NEWLINE
        position += 1
    return position
