"""Powers and log2 in float64 whose bits are the same on any processor, as those of `xmlc.kernels.float64`.

They need more bits of the logarithm than `xmlc.kernels.float64.log` has: 2 s + s z (2/3 + z P) is worked out in pairs
of numbers, whose sum has about 64 bits. The error of a product is found by splitting the factors into halves (T. J.
Dekker, A Floating-Point Technique for Extending the Available Precision, Numerische Mathematik 18, 1971), of a sum by
subtracting it again.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.float64 import (
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    OVERFLOW,
    TWO_THIRDS,
    UNDERFLOW,
    exp_of_sum,
    log_of_no_positive,
    log_series,
    split,
)

LOG2_E_REST, TWO_THIRDS_REST = 2.0355273740931033e-17, 3.700743415417188e-17


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def _product(a, b):
    """Return the product of two numbers below 2**995 and its rounding error (Dekker)."""
    product = a * b
    over = 134217729.0 * a  # 2**27 + 1: leaves the upper half of the bits
    a_high = over - (over - a)
    over = 134217729.0 * b
    b_high = over - (over - b)
    a_low, b_low = a - a_high, b - b_high
    lost = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, lost


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def _sum(larger, smaller):
    """Return the sum of two numbers and its rounding error; the first is 0 or larger than the second."""
    total = larger + smaller
    return total, smaller - (total - larger)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def _log_pair(m):
    """Return log(m) for m in sqrt(1/2) .. sqrt(2) as a pair, relative error of its sum below 2**-63."""
    f = m - 1.0
    g, g_rest = _sum(2.0, f)
    s = f / g
    product, lost = _product(s, g)
    s_rest = (((f - product) - lost) - s * g_rest) / g
    z, z_rest = _product(s, s)
    z_rest += 2.0 * s * s_rest
    factor, factor_rest = _sum(TWO_THIRDS, z * log_series(z))
    factor_rest += TWO_THIRDS_REST
    share, share_rest = _product(z, factor)
    share_rest += z * factor_rest + z_rest * factor
    cubic, cubic_rest = _product(s, share)
    cubic_rest += s * share_rest + s_rest * share
    high, low = _sum(2.0 * s, cubic)
    return _sum(high, low + (2.0 * s_rest + cubic_rest))


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def log2(x):
    """Return the logarithm to base 2, error below 0.6 ulp, exact of powers of 2; edges: `xmlc.kernels.float64.log`."""
    x = np.float64(x)
    if not 0.0 < x < np.inf:
        return log_of_no_positive(x)
    k, m = split(x)
    high, low = _log_pair(m)
    product, lost = _product(high, LOG2_E)
    lost += high * LOG2_E_REST + low * LOG2_E
    whole, rest = _sum(k, product)
    return whole + (rest + lost)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=False)
def power(x, y):
    """Return x**y for x >= 0, error below 1 ulp; NaN where x is negative, unless y is 0.

    The rest is as IEEE 754 has it: x**0 and 1**y are 1, also with NaN; 0**y is infinite for negative y.
    """
    x, y = np.float64(x), np.float64(y)
    if x == 1.0 or y == 0.0:
        return 1.0
    if not x >= 0.0 or y != y:
        return np.nan
    if x == 0.0 or x == np.inf:
        return np.inf if (x > 1.0) == (y > 0.0) else 0.0
    if y == 1.0 or y == 2.0 or y == 0.5:  # the usual ones, rounded once
        return x if y == 1.0 else (x * x if y == 2.0 else np.sqrt(x))
    if abs(y) > 2.0**70:  # the logarithm of x is at least 2**-53: the power is beyond what a float64 holds
        return np.inf if (x > 1.0) == (y > 0.0) else 0.0
    if abs(y) < 2.0**-70:  # the logarithm is below 746
        return 1.0
    k, m = split(x)
    high, low = _log_pair(m)
    high, rest = _sum(k * LN2_HIGH, high)
    high, low = _sum(high, rest + (low + k * LN2_LOW))
    product, lost = _product(high, y)
    lost += low * y
    if product > OVERFLOW:
        return np.inf
    return exp_of_sum(product, lost) if product > UNDERFLOW else 0.0
