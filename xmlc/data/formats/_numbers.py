"""Parsing of numbers in text: kernels.

A decimal number whose digits and power of ten are both exact in double precision is rounded once, by one operation
(Clinger, "How to read floating point numbers accurately", PLDI 1990, the fast path). Harder numbers are left to the
caller.
"""

from __future__ import annotations

import numpy as np
from numba import njit

PLUS, MINUS, POINT, ZERO, NINE, UPPER_E, LOWER_E = 43, 45, 46, 48, 57, 69, 101
EXACT_POWERS = np.array([float(10**k) for k in range(23)])  # exact in double precision
EXACT_MANTISSA = np.uint64(1 << 53)
LARGEST_FLOAT32 = 3.4028235677973366e38  # values from here on round to infinity


@njit(cache=True, nogil=True)
def parse_integer(text, position, end):
    """Read an unsigned integer; return (value, next position), the position unchanged if there is no digit."""
    value = np.int64(0)
    while position < end and ZERO <= text[position] <= NINE:
        if value < 1 << 53:  # enough to be out of any range; never overflows
            value = value * 10 + (text[position] - ZERO)
        position += 1
    return value, position


@njit(cache=True, nogil=True)
def parse_decimal(text, position, end):
    """Read a decimal number.

    Returns
    -------
    value : float64
        Correctly rounded if ``exact``.
    next : int
        Position behind the number; unchanged if there is none.
    exact : bool
        Mantissa and power of ten are both exact in double precision, so that one operation rounds once.
    """
    start = position
    negative = position < end and text[position] == MINUS
    if position < end and (text[position] == MINUS or text[position] == PLUS):
        position += 1
    mantissa, digits, exponent = np.uint64(0), 0, 0
    seen = False
    while position < end and ZERO <= text[position] <= NINE:
        if digits < 19:
            mantissa = mantissa * np.uint64(10) + np.uint64(text[position] - ZERO)
            digits += mantissa > 0
        else:
            digits, exponent = 20, exponent + 1
        seen = True
        position += 1
    if position < end and text[position] == POINT:
        position += 1
        while position < end and ZERO <= text[position] <= NINE:
            if digits < 19:
                mantissa = mantissa * np.uint64(10) + np.uint64(text[position] - ZERO)
                digits += mantissa > 0
                exponent -= 1
            else:
                digits = 20
            seen = True
            position += 1
    if not seen:
        return 0.0, start, True
    if position < end and (text[position] == UPPER_E or text[position] == LOWER_E):
        sign, mark = 1, position
        position += 1
        if position < end and (text[position] == MINUS or text[position] == PLUS):
            sign = -1 if text[position] == MINUS else 1
            position += 1
        power, after = parse_integer(text, position, end)
        if after == position:
            return 0.0, mark, True
        position = after
        exponent += sign * min(power, 100000)
    exact = mantissa <= EXACT_MANTISSA and digits < 20 and -22 <= exponent <= 22
    value = np.float64(mantissa)
    if exact and exponent >= 0:
        value *= EXACT_POWERS[exponent]
    elif exact:
        value /= EXACT_POWERS[-exponent]
    return -value if negative else value, position, exact
