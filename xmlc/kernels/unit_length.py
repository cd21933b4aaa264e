"""Rows scaled to Euclidean length 1, the sum of their squares in a fixed order: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit


@njit(cache=True, nogil=True)
def sum_of_squares(values):
    """Return the sum of the squares of numbers, float64, in eight lanes.

    Up to 128 terms: term k in lane k modulo 8, joined as ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), and those beyond
    the last whole eight after that. More terms are halved, and the sums of both halves added.
    """
    if values.size > 128:
        half = values.size // 2
        half -= half % 8
        return sum_of_squares(values[:half]) + sum_of_squares(values[half:])
    a = b = c = d = e = f = g = h = 0.0
    whole = values.size & ~7
    for k in range(0, whole, 8):
        a += np.float64(values[k]) * values[k]
        b += np.float64(values[k + 1]) * values[k + 1]
        c += np.float64(values[k + 2]) * values[k + 2]
        d += np.float64(values[k + 3]) * values[k + 3]
        e += np.float64(values[k + 4]) * values[k + 4]
        f += np.float64(values[k + 5]) * values[k + 5]
        g += np.float64(values[k + 6]) * values[k + 6]
        h += np.float64(values[k + 7]) * values[k + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for k in range(whole, values.size):
        total += np.float64(values[k]) * values[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def scale_rows(indptr, values, scaled, start, end):
    """Scale rows ``start .. end - 1`` to Euclidean length 1; a row of length 0 stays as it is.

    The square of the first value and `sum_of_squares` of the others are added, which is NumPy's ``add.reduceat``. 4
    bytes read and 4 written per non-zero.

    Parameters
    ----------
    indptr : int64 (n + 1,)
    values : float32 or float64
    scaled : float32
        Written.
    """
    for i in range(start, end):
        first, last = indptr[i], indptr[i + 1]
        if first < last:
            square = np.float64(values[first]) * np.float64(values[first]) + sum_of_squares(values[first + 1 : last])
            length = np.sqrt(square) if square > 0 else 1.0
            for p in range(first, last):
                scaled[p] = np.float32(np.float64(values[p]) / length)
