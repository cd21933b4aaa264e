"""Compute functions of vectors for one number at a time."""

import numpy as np
from numba import njit

from xmlc.kernels.float32 import fma


@njit
def inverse_sqrt(x):
    """Return 1 / sqrt(x) by the three Newton steps of
    `xmlc.kernels.vectors.Vectors.inverse_sqrt`.
    """
    y = np.int32(np.int32(0x5F3759DF) - (np.float32(x).view(np.int32) >> np.int32(1))).view(
        np.float32
    )
    half = np.float32(0.5) * x
    for _ in range(3):
        y = y * fma(-(half * y), y, np.float32(1.5))
    return y
