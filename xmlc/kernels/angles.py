"""sin and cos in float64 whose bits are the same on any processor, as those of `xmlc.kernels.float64`.

x = n pi / 2 + r, pi / 2 in three parts of which the first two have 33 bits; Taylor series of both functions in r.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.float64 import TO_WHOLE, TO_WHOLE_BITS

TWO_BY_PI = 0.6366197723675814
HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)  # 33 bits, 33 bits, the rest
LARGEST_ANGLE = 1e6


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def _quarter_turns(x):
    """Return n, r and the rounding error of r, with x = n pi / 2 + r and abs(r) <= pi / 4, for abs(x) <= 1e6."""
    shifted = x * TWO_BY_PI + TO_WHOLE
    n = shifted - TO_WHOLE
    high = x - n * HALF_PI[0]
    low = n * HALF_PI[1]
    first = high - low
    rest = (high - first) - low - n * HALF_PI[2]
    r = first + rest
    return np.float64(shifted).view(np.int64) - TO_WHOLE_BITS, r, rest - (r - first)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def _sin_near_zero(r, rest):
    """Return sin(r + rest), abs(r) <= pi / 4: the Taylor series up to r**17 / 17!."""
    z = r * r
    tail = -1.0 / 39916800.0 + z * (1.0 / 6227020800.0 + z * (-1.0 / 1307674368000.0 + z * (1.0 / 355687428096000.0)))
    tail = -1.0 / 6.0 + z * (1.0 / 120.0 + z * (-1.0 / 5040.0 + z * (1.0 / 362880.0 + z * tail)))
    return r + (r * z * tail + rest * (1.0 - 0.5 * z))


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def _cos_near_zero(r, rest):
    """Return cos(r + rest), abs(r) <= pi / 4: the Taylor series up to r**18 / 18!."""
    z = r * r
    tail = 1.0 / 479001600.0 + z * (
        -1.0 / 87178291200.0 + z * (1.0 / 20922789888000.0 + z * (-1.0 / 6402373705728000.0))
    )
    tail = 1.0 / 24.0 + z * (-1.0 / 720.0 + z * (1.0 / 40320.0 + z * (-1.0 / 3628800.0 + z * tail)))
    half = 0.5 * z
    first = 1.0 - half
    return first + (((1.0 - first) - half) + (z * z * tail - r * rest))


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def _sin_ahead(x, quarters):
    """Return sin(x + quarters * pi / 2), NaN where abs(x) is above `LARGEST_ANGLE`; ``quarters`` is a whole number."""
    x = np.float64(x)
    if not abs(x) <= LARGEST_ANGLE:
        return np.nan
    n, r, rest = _quarter_turns(x)
    n += quarters
    value = _cos_near_zero(r, rest) if n & 1 else _sin_near_zero(r, rest)
    return -value if n & 2 else value


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def sin(x):
    """Return sin(x) of an angle in radians, error below 1 ulp; NaN where abs(x) is above 1e6."""
    return _sin_ahead(x, 0)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def cos(x):
    """Return cos(x) of an angle in radians, error below 1 ulp; NaN where abs(x) is above 1e6."""
    return _sin_ahead(x, 1)
