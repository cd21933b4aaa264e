"""Rows scaled to Euclidean length 1, the sum of their squares in a fixed order: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.sums import pairwise


@njit(cache=True, nogil=True, error_model="numpy")
def scale_rows(indptr, values, scaled, start, end):
    """Scale rows ``start .. end - 1`` to Euclidean length 1; a row of length 0 stays as it is.

    The square of the first value and the `pairwise` sum of the other squares are added, which is NumPy's
    ``add.reduceat``. 4 bytes read and 4 written per non-zero.

    Parameters
    ----------
    indptr : int64 (n + 1,)
    values : float32 or float64
    scaled : float32
        Written.
    """
    longest = 0
    for i in range(start, end):
        longest = max(longest, indptr[i + 1] - indptr[i])
    squares = np.empty(longest)
    for i in range(start, end):
        first, last = indptr[i], indptr[i + 1]
        if first < last:
            for p in range(first, last):
                squares[p - first] = np.float64(values[p]) * np.float64(values[p])
            square = squares[0] + pairwise(squares[1 : last - first])
            length = np.sqrt(square) if square > 0 else 1.0
            for p in range(first, last):
                scaled[p] = np.float32(np.float64(values[p]) / length)


def unit_row(x: KernelCSR) -> KernelCSR:
    """Return a matrix of one row scaled to Euclidean length 1, as `unit_rows` does."""
    scaled = np.empty_like(x.data)
    scale_rows(x.indptr, x.data, scaled, 0, 1)
    return KernelCSR(x.indptr, x.indices, scaled)
