"""exp, log, log1p, log2, power, cos, softplus and sigmoid in float64, bit-identical everywhere.

For ``math.exp`` and the like, numba calls the C library, which selects a version with or without
fused multiply-add for the processor. NumPy's functions have several versions, too. Those here use
only additions, subtractions, multiplications, divisions, comparisons and operations on exponent
bits, which IEEE 754 defines to the last bit. LLVM may neither reorder nor fuse them without a
fast-math flag, so each function has ``fastmath=False``: otherwise numba compiles it for all callers
with the flags of the first. None has ``inline="always"``, which gives code the flags of its caller.

The constants are derived as follows:

* exp: x = n ln 2 + r with whole n and abs(r) <= ln(2) / 2, and exp(r) is a Taylor series up to
  r**13 / 13!, with a relative remainder below 5e-18. ln 2 is split into a number of 42 bits, whose
  product with n is exact, and a rest.
* log: x = 2**k m with m in sqrt(1/2) .. sqrt(2), f = m - 1, s = f / (2 + f), z = s s <= 0.0295.
  Then log m = 2 atanh(s) = 2 s + s z T = f - s (f - z T), T = 2/3 + 2/5 z + ... + 2/25 z**11, with
  a remainder below 1e-21.

Errors are in units in the last place (ulp) of the result, of which 0.5 is the least possible. Tests
compare the results with decimals of 60 digits.
"""

import numpy as np

from xmlc.core.kernel_cache import njit

# The lowest bits of x + TO_WHOLE are x, rounded to an integer (|x| < 2**51)
TO_WHOLE = 1.5 * 2.0**52
TO_WHOLE_BITS = np.int64(0x4338000000000000)
LOG2_E = 1.4426950408889634
# 42 bits of ln 2, and the rest
LN2_HIGH = 0.6931471805598903
LN2_LOW = 5.497923018708371e-14
TWO_THIRDS = 0.6666666666666666
ROOT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)  # bits of sqrt(1/2)
EXPONENT_BITS = np.int64(52)
MANTISSA = np.int64((1 << 52) - 1)
SMALLEST_NORMAL = 2.0**-1022
# exp is infinite above OVERFLOW, and 0 below UNDERFLOW
OVERFLOW = 710.0
UNDERFLOW = -746.0
# 33 bits of pi / 2, and the rest
TWO_BY_PI = 0.6366197723675814
HALF_PI = (1.5707963267341256, 6.077100506506192e-11)


@njit(error_model="numpy", fastmath=False)
def _power_of_two(n):
    """Return 2**n for a whole number -1022 <= n <= 1023."""
    return np.int64((n + np.int64(1023)) << EXPONENT_BITS).view(np.float64)


@njit(error_model="numpy", fastmath=False)
def exp_of_sum(x, rest):
    """Return exp(x + rest) for -746 <= x <= 710 and a ``rest`` below 1e-13, or NaN if x is NaN."""
    shifted = x * LOG2_E + TO_WHOLE
    n = shifted - TO_WHOLE
    high = x - n * LN2_HIGH
    low = rest - n * LN2_LOW
    r = high + low
    low = (high - r) + low
    tail = 1.0 / 39916800.0 + r * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0))
    tail = 1.0 / 40320.0 + r * (1.0 / 362880.0 + r * (1.0 / 3628800.0 + r * tail))
    tail = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0 + r * tail))
    tail = 0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * tail))
    y = 1.0 + (r + (low + r * r * tail))
    whole = np.float64(shifted).view(np.int64) - TO_WHOLE_BITS
    half = whole >> np.int64(1)  # 2**whole may overflow although exp(x) does not
    return y * _power_of_two(half) * _power_of_two(whole - half)


@njit(error_model="numpy", fastmath=False)
def exp(x):
    """Return exp(x), with an error below 1 ulp: 0 below -746 and infinite above 709.79."""
    x = np.float64(x)
    if x > OVERFLOW:
        x = OVERFLOW
    if x < UNDERFLOW:
        x = UNDERFLOW
    return exp_of_sum(x, 0.0)


@njit(error_model="numpy", fastmath=False)
def sigmoid(x):
    """Return 1 / (1 + exp(-x)), with an error below 2.5 ulp also near 0 and 1, or NaN for NaN."""
    x = np.float64(x)
    e = exp(-abs(x))
    if x >= 0.0:
        return 1.0 / (1.0 + e)
    return e / (1.0 + e)


@njit(error_model="numpy", fastmath=False)
def split(x):
    """Return float64 k and m in sqrt(1/2) .. sqrt(2) with x = 2**k m, for 0 < x < infinity."""
    below = np.int64(0)
    if x < SMALLEST_NORMAL:
        x *= 2.0**54
        below = np.int64(54)
    bits = np.float64(x).view(np.int64) + (np.int64(0x3FF0000000000000) - ROOT_HALF_BITS)
    k = (bits >> EXPONENT_BITS) - np.int64(1023)
    m = np.int64((bits & MANTISSA) + ROOT_HALF_BITS).view(np.float64)
    return np.float64(k - below), m


@njit(error_model="numpy", fastmath=False)
def log_series(z):
    """Return P(z) = 2/5 + 2/7 z + ... + 2/25 z**10."""
    tail = 2.0 / 21.0 + z * (2.0 / 23.0 + z * (2.0 / 25.0))
    tail = 2.0 / 13.0 + z * (2.0 / 15.0 + z * (2.0 / 17.0 + z * (2.0 / 19.0 + z * tail)))
    return 2.0 / 5.0 + z * (2.0 / 7.0 + z * (2.0 / 9.0 + z * (2.0 / 11.0 + z * tail)))


@njit(error_model="numpy", fastmath=False)
def _log_of_parts(k, f, rest):
    """Return k ln 2 + log(1 + f) + rest, for a ``rest`` much smaller than the sum."""
    s = f / (2.0 + f)
    z = s * s
    minus = s * (f - z * (TWO_THIRDS + z * log_series(z)))
    return k * LN2_HIGH + (f - (minus - (k * LN2_LOW + rest)))


@njit(error_model="numpy", fastmath=False)
def log(x):
    """Return log(x), within 1 ulp: -infinity for 0, NaN for NaN and negative numbers."""
    x = np.float64(x)
    if not 0.0 < x < np.inf:
        return log_of_no_positive(x)
    k, m = split(x)
    return _log_of_parts(k, m - 1.0, 0.0)


@njit(error_model="numpy", fastmath=False)
def log_of_no_positive(x):
    """Return the logarithm of 0, infinity, a negative number or NaN."""
    if x == 0.0:
        return -np.inf
    if x > 0.0:
        return x
    return np.nan


@njit(error_model="numpy", fastmath=False)
def log1p(x):
    """Return log(1 + x), with an error below 1.5 ulp.

    The result is -infinity for -1, and NaN for NaN and x < -1.
    """
    x = np.float64(x)
    if not -1.0 < x < np.inf:
        return log_of_no_positive(x + 1.0)
    if abs(x) < 2.0**-53:
        return x
    y = 1.0 + x
    lost = 1.0 - (y - x)  # rounding error of 1 + x
    if x < 1.0:
        lost = x - (y - 1.0)
    k, m = split(y)
    return _log_of_parts(k, m - 1.0, lost / y)


@njit(error_model="numpy", fastmath=False)
def softplus(x):
    """Return log(1 + exp(x)), the logistic loss of the margin -x, with an error below 2 ulp."""
    return max(x, 0.0) + log1p(exp(-abs(x)))


@njit(error_model="numpy", fastmath=False)
def cos(x):
    """Return cos(x) in radians, within 4e-16 for abs(x) <= 1e5, by Taylor around quarter turns."""
    n = np.rint(x * TWO_BY_PI)
    r = (x - n * HALF_PI[0]) - n * HALF_PI[1]
    z = r * r
    quarter = np.int64(n) & 3
    if quarter & 1:
        tail = -1.0 / 39916800.0 + z * (1.0 / 6227020800.0 + z * (-1.0 / 1307674368000.0))
        tail = -1.0 / 6.0 + z * (
            1.0 / 120.0 + z * (-1.0 / 5040.0 + z * (1.0 / 362880.0 + z * tail))
        )
        value = r + r * z * tail
    else:
        tail = 1.0 / 479001600.0 + z * (-1.0 / 87178291200.0 + z * (1.0 / 20922789888000.0))
        tail = 1.0 / 24.0 + z * (
            -1.0 / 720.0 + z * (1.0 / 40320.0 + z * (-1.0 / 3628800.0 + z * tail))
        )
        value = 1.0 + z * (z * tail - 0.5)
    if quarter in (1, 2):
        return -value
    return value


# `power` and `log2` need more bits of the logarithm than `log` computes, so they represent 2 s + s
# z (2/3 + z P) by a pair of numbers whose sum has about 64 bits. The rounding error of a product
# follows from splitting the factors into halves (Dekker, A Floating-Point Technique for Extending
# the Available Precision, Numerische Mathematik 18, 1971), and that of a sum from subtracting its
# terms.


LOG2_E_REST = 2.0355273740931033e-17
TWO_THIRDS_REST = 3.700743415417188e-17


@njit(error_model="numpy", fastmath=False)
def _product(a, b):
    """Return the product of two numbers below 2**995 and its rounding error (Dekker)."""
    product = a * b
    over = 134217729.0 * a  # 2**27 + 1 separates the upper half of the bits
    a_high = over - (over - a)
    over = 134217729.0 * b
    b_high = over - (over - b)
    a_low = a - a_high
    b_low = b - b_high
    lost = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, lost


@njit(error_model="numpy", fastmath=False)
def _sum(larger, smaller):
    """Return the sum and its rounding error, for a ``larger`` of 0 or larger absolute value."""
    total = larger + smaller
    return total, smaller - (total - larger)


@njit(error_model="numpy", fastmath=False)
def _log_pair(m):
    """Return log(m), m in sqrt(1/2) .. sqrt(2), as a pair with a relative error below 2**-63."""
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


@njit(error_model="numpy", fastmath=False)
def log2(x):
    """Return the logarithm of x to base 2, with an error below 0.6 ulp, exact for powers of 2.

    For 0, negative numbers, infinity and NaN, the result is the same as for `log`.
    """
    x = np.float64(x)
    if not 0.0 < x < np.inf:
        return log_of_no_positive(x)
    k, m = split(x)
    high, low = _log_pair(m)
    product, lost = _product(high, LOG2_E)
    lost += high * LOG2_E_REST + low * LOG2_E
    whole, rest = _sum(k, product)
    return whole + (rest + lost)


@njit(error_model="numpy", fastmath=False)
def power(x, y):
    """Return x**y for x >= 0, with an error below 1 ulp, and NaN for negative x unless y is 0.

    Special cases follow IEEE 754: x**0 and 1**y are 1, even if x or y is NaN, and 0**y is infinite
    for negative y.
    """
    x = np.float64(x)
    y = np.float64(y)
    if x == 1.0 or y == 0.0:
        return 1.0
    if not x >= 0.0 or y != y:
        return np.nan
    # abs(log(x)) is at least 2**-53, so a large y overflows or underflows
    if x == 0.0 or x == np.inf or abs(y) > 2.0**70:
        if (x > 1.0) == (y > 0.0):
            return np.inf
        return 0.0
    if y == 1.0:  # for 1, 2 and 0.5, the power is rounded only once
        return x
    if y == 2.0:
        return x * x
    if y == 0.5:
        return np.sqrt(x)
    if abs(y) < 2.0**-70:  # abs(log(x)) is below 746, so x**y rounds to 1
        return 1.0
    k, m = split(x)
    high, low = _log_pair(m)
    high, rest = _sum(k * LN2_HIGH, high)
    high, low = _sum(high, rest + (low + k * LN2_LOW))
    product, lost = _product(high, y)
    lost += low * y
    if product > OVERFLOW:
        return np.inf
    if product > UNDERFLOW:
        return exp_of_sum(product, lost)
    return 0.0
