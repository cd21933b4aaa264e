"""Parsing of numbers in text: kernels.

Eight bytes are looked at together, in one 64-bit word, so that a number of any usual length costs the same few
operations and no branch depends on its length (Lamport, "Multiple byte processing with full-word instructions",
CACM 1975). A decimal number whose digits and power of ten are both exact in double precision is rounded once, by one
operation (Clinger, "How to read floating point numbers accurately", PLDI 1990, the fast path). Harder numbers are
left to the caller.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit

PLUS, MINUS, POINT, ZERO, NINE, UPPER_E, LOWER_E = 43, 45, 46, 48, 57, 69, 101
EXACT_POWERS = np.array([float(10**k) for k in range(23)])  # exact in double precision
EXACT_MANTISSA = np.uint64(1 << 53)
LARGEST_FLOAT32 = 3.4028235677973366e38  # values from here on round to infinity
ONES, TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
ZEROS, TO_TOP = ONES * np.uint64(ZERO), ONES * np.uint64(0x80 - 10)
PLACES = np.uint64(0x0001020304050607)  # from byte 7 down: the number of bytes below
POWERS = np.array([10**k for k in range(9)], dtype=np.uint64)


@njit(cache=True, nogil=True, inline="always")
def eight_bytes(text, position):
    """Return the eight bytes from a position on, the first one lowest; they must lie in the text."""
    at = np.uint64(position)
    return (
        np.uint64(text[at])
        | np.uint64(text[at + np.uint64(1)]) << np.uint64(8)
        | np.uint64(text[at + np.uint64(2)]) << np.uint64(16)
        | np.uint64(text[at + np.uint64(3)]) << np.uint64(24)
        | np.uint64(text[at + np.uint64(4)]) << np.uint64(32)
        | np.uint64(text[at + np.uint64(5)]) << np.uint64(40)
        | np.uint64(text[at + np.uint64(6)]) << np.uint64(48)
        | np.uint64(text[at + np.uint64(7)]) << np.uint64(56)
    )


@njit(cache=True, nogil=True, inline="always")
def first_marked(marks):
    """Return the place of the first byte whose top bit is set, where no other bits are; 8 if there is none."""
    if marks == 0:
        return np.int64(8)
    lowest = marks & (~marks + np.uint64(1))
    return np.int64(((lowest >> np.uint64(7)) * PLACES) >> np.uint64(56))


@njit(cache=True, nogil=True, inline="always")
def leading_digits(word):
    """Return (value, number) of the digits that eight bytes begin with."""
    digits = word ^ ZEROS
    # A byte above 9 is marked; its carry reaches later bytes only, which do not count any more.
    number = first_marked(((digits + TO_TOP) | digits) & TOPS)
    if number == 0:
        return np.uint64(0), number
    digits <<= np.uint64(64 - 8 * number)  # zeros in front
    digits = (digits * np.uint64(10) + (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    digits = (digits * np.uint64(100) + (digits >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    digits = (digits * np.uint64(10000) + (digits >> np.uint64(32))) & np.uint64(0x00000000FFFFFFFF)
    return digits, number


@njit(cache=True, nogil=True)
def parse_short_integer(text, position):
    """Read an unsigned integer of at most 7 digits; return (value, next position), unchanged if it is not one."""
    if position + 8 > text.size:
        return np.int64(0), position
    value, number = leading_digits(eight_bytes(text, position))
    return np.int64(value), position + number if number < 8 else position


@njit(cache=True, nogil=True)
def parse_short_decimal(text, position):
    """Read a decimal number of at most 7 digits and 7 decimals, without sign or exponent.

    Returns
    -------
    value : float64
        Correctly rounded.
    next : int
        Position behind the number; unchanged if it is not such a number.
    """
    whole, after = parse_short_integer(text, position)
    if after == position or text[after] != POINT or after + 9 > text.size:
        return 0.0, position
    decimals, number = leading_digits(eight_bytes(text, after + 1))
    if number == 8:
        return 0.0, position
    byte = text[after + 1 + number]
    if byte == LOWER_E or byte == UPPER_E:
        return 0.0, position
    mantissa = np.float64(whole * np.int64(POWERS[number]) + np.int64(decimals))  # below 10^14: exact
    return mantissa / EXACT_POWERS[number], after + 1 + number


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
