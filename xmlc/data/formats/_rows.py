"""Parsing of sparse text rows: kernels.

A row is ``label,label feature:value feature:value ...``. The parser goes over the bytes once and writes 8 bytes per
non-zero and 4 per label; nothing is allocated inside.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NEWLINE, RETURN, SPACE, TAB, COMMA, COLON, HASH = 10, 13, 32, 9, 44, 58, 35
PLUS, MINUS, POINT, ZERO, NINE, UPPER_E, LOWER_E = 43, 45, 46, 48, 57, 69, 101

# Error codes; messages stand in xmlc.data.formats.errors.
BLANK, BAD_LABEL, LABEL_RANGE, BAD_FEATURE, FEATURE_RANGE, NO_VALUE, BAD_VALUE, NOT_FINITE = 1, 2, 3, 4, 5, 6, 7, 8
DUPLICATE = 9

EXACT_POWERS = 10.0 ** np.arange(23)  # 10**0 .. 10**22 are exact in double precision
EXACT_MANTISSA = np.uint64(1 << 53)
LARGEST_FLOAT32 = 3.4028235677973366e38  # values from here on round to infinity


@njit(cache=True, nogil=True, inline="always")
def is_gap(byte):
    """Tell whether a byte separates tokens."""
    return byte == SPACE or byte == TAB or byte == RETURN


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


@njit(cache=True, nogil=True)
def parse_labels(text, position, end, base, n_labels, labels, count):
    """Read comma-separated labels; return (count, next position, error code)."""
    while True:
        label, after = parse_integer(text, position, end)
        if after == position or (after < end and text[after] != COMMA and not is_gap(text[after])):
            return count, position, BAD_LABEL
        if label < base or label - base >= n_labels:
            return count, position, LABEL_RANGE
        labels[count] = label - base
        count += 1
        position = after
        if position == end or text[position] != COMMA:
            return count, position, 0
        position += 1


@njit(cache=True, nogil=True)
def starts_with_labels(text, position, end):
    """Tell whether the first token of a row has no colon, and so is a list of labels."""
    while position < end and not is_gap(text[position]):
        if text[position] == COLON:
            return False
        position += 1
    return True


@njit(cache=True, nogil=True)
def parse_rows(
    text, first_line, blank_line, with_labels, blank_is_row, base, n_features, n_labels,
    ids, values, row_ends, labels, label_ends, row_lines, hard, errors,
):  # fmt: skip
    """Parse the complete lines of a block.

    Parameters
    ----------
    text : uint8
        The block; it ends with a newline.
    first_line : int
        Number of the block's first line in the file.
    blank_line : int
        Number of the first of the blank lines that end the file so far; -1 if there is none.
    with_labels : bool
        Whether rows may begin with labels.
    blank_is_row : bool
        Whether an empty line is a row without entries.
    base : int
        First id: 0 or 1.
    n_features, n_labels : int
        Ids must be below ``base`` plus these.
    ids, values, row_ends, labels, label_ends, row_lines : uint32, float32, int64, uint32, int64, int64
        Filled; row_lines holds each row's line number.
    hard : int64 (h, 3)
        Values that need more than one exact operation: place in ``values``, start and end in ``text``.
    errors : int64 (e, 3)
        Malformed lines: line number, error code, position in ``text`` (-1 for a blank line). A line is given up at
        its first error. Blank lines are malformed only if a row follows.

    Returns
    -------
    n_rows, next_line, blank_line, n_hard, n_errors : int
        n_errors may exceed the room in ``errors``; n_hard never exceeds its own.
    """
    n_rows = n_hard = n_errors = 0
    next_line = first_line
    count = label_count = np.int64(0)
    position, size = 0, text.size
    while position < size:
        end = position
        while text[end] != NEWLINE:
            end += 1
        line_start, line = position, next_line
        position = end + 1
        next_line += 1
        stop = end - 1 if end > line_start and text[end - 1] == RETURN else end
        if stop == line_start and not blank_is_row:
            blank_line = line if blank_line < 0 else blank_line
            continue
        if blank_line >= 0:
            if n_errors < errors.shape[0]:
                errors[n_errors, 0], errors[n_errors, 1], errors[n_errors, 2] = blank_line, BLANK, -1
            n_errors += 1
            blank_line = -1
        at, code = line_start, 0
        if with_labels and stop > at and not is_gap(text[at]) and starts_with_labels(text, at, stop):
            label_count, at, code = parse_labels(text, at, stop, base, n_labels, labels, label_count)
        while code == 0:
            while at < stop and is_gap(text[at]):
                at += 1
            if at == stop or text[at] == HASH:
                break
            feature, after = parse_integer(text, at, stop)
            if after == at:
                code = BAD_FEATURE
            elif after == stop or text[after] != COLON:
                code = NO_VALUE if after == stop or is_gap(text[after]) else BAD_FEATURE
            elif feature < base or feature - base >= n_features:
                code = FEATURE_RANGE
            else:
                value, behind, exact = parse_decimal(text, after + 1, stop)
                if behind == after + 1:
                    code = NO_VALUE if behind == stop or is_gap(text[behind]) else BAD_VALUE
                elif behind < stop and not is_gap(text[behind]):
                    code = BAD_VALUE
                elif exact and abs(value) >= LARGEST_FLOAT32:
                    code = NOT_FINITE
                else:
                    if not exact:
                        hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = count, after + 1, behind
                        n_hard += 1
                    ids[count], values[count] = feature - base, np.float32(value) if exact else np.float32(1.0)
                    count += 1
                    at = behind
        if code != 0:
            if n_errors < errors.shape[0]:
                errors[n_errors, 0], errors[n_errors, 1], errors[n_errors, 2] = line, code, at
            n_errors += 1
        row_ends[n_rows], label_ends[n_rows], row_lines[n_rows] = count, label_count, line
        n_rows += 1
    return n_rows, next_line, blank_line, n_hard, n_errors


@njit(cache=True, nogil=True)
def tidy_rows(ids, values, row_ends, labels, label_ends):
    """Sort each row, drop explicit zeros, merge repeated labels, and find repeated features; in place.

    Returns
    -------
    duplicate_row, duplicate_id : int
        The first row with a feature twice and that feature; -1 if there is none.
    """
    write = label_write = start = label_start = np.int64(0)
    duplicate_row, duplicate_id = -1, -1
    for row in range(row_ends.size):
        end, label_end = row_ends[row], label_ends[row]
        mine, mine_values = ids[start:end], values[start:end]
        in_order = True
        for k in range(1, mine.size):
            in_order &= mine[k - 1] < mine[k]
        if not in_order:
            order = np.argsort(mine, kind="mergesort")
            mine[:], mine_values[:] = mine[order], mine_values[order]
            for k in range(1, mine.size):
                if mine[k - 1] == mine[k] and duplicate_row < 0:
                    duplicate_row, duplicate_id = row, np.int64(mine[k])
        for k in range(mine.size):
            if mine_values[k] != 0:
                ids[write], values[write] = mine[k], mine_values[k]
                write += 1
        mine_labels = labels[label_start:label_end]
        mine_labels.sort()
        for k in range(mine_labels.size):
            if k == 0 or mine_labels[k] != mine_labels[k - 1]:
                labels[label_write] = mine_labels[k]
                label_write += 1
        row_ends[row], label_ends[row] = write, label_write
        start, label_start = end, label_end
    return duplicate_row, duplicate_id
