"""Text of sparse rows: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit

SPACE, COMMA, COLON, POINT, NEWLINE = np.frombuffer(b" ,:.\n", dtype=np.uint8)
ZERO, TEN, STEPS = np.uint64(48), np.uint64(10), np.uint64(10000)
MOST = 1024.0  # below it k / 10000 and its neighbours differ in single precision, so no shorter decimal equals it
ENTRY_BYTES = 24  # " 2147483647:1023.9999" and some


@njit(cache=True, nogil=True)
def put_integer(text, position, value):
    """Write an integer, uint64; return the next position."""
    end, rest = position + 1, value // TEN
    while rest > 0:
        end += 1
        rest //= TEN
    place = end
    while place > position:
        place -= 1
        text[place] = ZERO + value % TEN
        value //= TEN
    return end


@njit(cache=True, nogil=True)
def put_steps(text, position, steps):
    """Write ``steps / 10000``, steps uint64, without trailing zeros; return the next position."""
    position = put_integer(text, position, steps // STEPS)
    rest = steps % STEPS
    if rest == 0:
        return position
    text[position] = POINT
    for place in range(position + 4, position, -1):
        text[place] = ZERO + rest % TEN
        rest //= TEN
    position += 5
    while text[position - 1] == ZERO:
        position -= 1
    return position


@njit(cache=True, nogil=True)
def put_rows(x_indptr, x_indices, x_data, y_indptr, y_indices, start, end, text):
    """Write rows ``start .. end - 1`` in the repository format; return the number of bytes.

    Returns -1 at the first value that is not the single-precision number nearest to a multiple of 1e-4 in [0, 1024):
    such rows need the general way. Reads 8 bytes per non-zero of X and writes 4 to 21.

    Parameters
    ----------
    x_indptr : int64 (n + 1,), x_indices : uint32 (nnz,), x_data : float32 (nnz,)
        Instances.
    y_indptr : int64 (n + 1,), y_indices : uint32
        Label sets.
    text : uint8
        Room for `ENTRY_BYTES` per stored entry and 2 per row.
    """
    position = 0
    for row in range(start, end):
        labels = y_indices[y_indptr[row] : y_indptr[row + 1]]
        ids, values = x_indices[x_indptr[row] : x_indptr[row + 1]], x_data[x_indptr[row] : x_indptr[row + 1]]
        for k in range(labels.size):
            if k > 0:
                text[position] = COMMA
                position += 1
            position = put_integer(text, position, np.uint64(labels[k]))
        if labels.size == 0 and ids.size == 0:
            text[position] = SPACE
            position += 1
        for k in range(ids.size):
            if not 0 <= values[k] < MOST:
                return -1
            steps = np.uint64(np.float64(values[k]) * 10000.0 + 0.5)
            if np.float32(np.float64(steps) / 10000.0) != values[k]:
                return -1
            text[position] = SPACE
            position = put_integer(text, position + 1, np.uint64(ids[k]))
            text[position] = COLON
            position = put_steps(text, position + 1, steps)
        text[position] = NEWLINE
        position += 1
    return position
