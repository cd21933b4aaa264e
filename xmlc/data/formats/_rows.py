"""Parsing of sparse text rows: kernels.

A row is ``label,label feature:value feature:value ...``. The parser goes over the bytes once and writes 8 bytes per
non-zero and 4 per label, the tidying pass reads and writes them once more; nothing is allocated for rows in order.
"""

from __future__ import annotations

import numpy as np

from xmlc.data.formats._numbers import (
    LARGEST_FLOAT32,
    ONES,
    TOPS,
    eight_bytes,
    first_marked,
    parse_decimal,
    parse_integer,
    parse_short_decimal,
    parse_short_integer,
)
from xmlc.kernels.arrays import copy_into
from xmlc.runtime.kernel_cache import njit

NEWLINE, RETURN, SPACE, TAB, COMMA, COLON, HASH = 10, 13, 32, 9, 44, 58, 35

# Error codes; messages stand in xmlc.data.formats.errors.
BLANK, BAD_LABEL, LABEL_RANGE, BAD_FEATURE, FEATURE_RANGE, NO_VALUE, BAD_VALUE, NOT_FINITE = 1, 2, 3, 4, 5, 6, 7, 8
DUPLICATE = 9


@njit(cache=True, nogil=True, inline="always")
def is_gap(byte):
    """Tell whether a byte separates tokens."""
    return byte == SPACE or byte == TAB or byte == RETURN


@njit(cache=True, nogil=True)
def parse_labels(text, position, end, base, n_labels, labels, count):
    """Read comma-separated labels; return (count, next position, error code)."""
    while True:
        label, after = parse_short_integer(text, position)
        if after == position:
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
def parse_features(text, position, end, base, n_features, ids, values, count, hard, n_hard):
    """Read pairs ``feature:value`` up to the end of a line; return (count, n_hard, next position, error code)."""
    while True:
        while position < end and is_gap(text[position]):
            position += 1
        if position == end:
            return count, n_hard, position, 0
        feature, after = parse_short_integer(text, position)
        if after == position:
            feature, after = parse_integer(text, position, end)
        if after == position:
            return count, n_hard, position, BAD_FEATURE
        if after == end or text[after] != COLON:
            return count, n_hard, position, NO_VALUE if after == end or is_gap(text[after]) else BAD_FEATURE
        if feature < base or feature - base >= n_features:
            return count, n_hard, position, FEATURE_RANGE
        start = after + 1
        value, behind = parse_short_decimal(text, start)
        exact = True
        if behind == start:
            value, behind, exact = parse_decimal(text, start, end)
        if behind == start:
            return count, n_hard, position, NO_VALUE if behind == end or is_gap(text[behind]) else BAD_VALUE
        if behind < end and not is_gap(text[behind]):
            return count, n_hard, position, BAD_VALUE
        if exact and abs(value) >= LARGEST_FLOAT32:
            return count, n_hard, position, NOT_FINITE
        if not exact:
            hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = count, start, behind
            n_hard += 1
            value = 1.0
        ids[count], values[count] = feature - base, np.float32(value)
        count += 1
        position = behind


@njit(cache=True, nogil=True)
def find_line(text, start, comments):
    """Return where a line ends: (position of its newline, end of its content)."""
    end = start
    newlines = ONES * np.uint64(NEWLINE)
    while end + 8 <= text.size:
        others = eight_bytes(text, end) ^ newlines
        place = first_marked((others - ONES) & ~others & TOPS)
        end += place
        if place < 8:
            break
    while text[end] != NEWLINE:
        end += 1
    stop = end - 1 if end > start and text[end - 1] == RETURN else end
    if comments:
        for position in range(start, stop):
            if text[position] == HASH:
                return end, position
    return end, stop


@njit(cache=True, nogil=True)
def parse_rows(
    text, first_line, blank_line, with_labels, blank_is_row, comments, base, label_base, n_features, n_labels,
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
    comments : bool
        Whether ``#`` begins a comment; a line that is all comment is no row.
    base, label_base : int
        First id of features and of labels: 0 or 1.
    n_features, n_labels : int
        Ids must be below their base plus these.
    ids, values, row_ends, labels, label_ends, row_lines : uint32, float32, int64, uint32, int64, int64
        Filled; row_lines holds each row's line number. A malformed line leaves an empty row.
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
    n_rows = n_hard = n_errors = position = np.int64(0)
    next_line = first_line
    count = label_count = np.int64(0)
    while position < text.size:
        line_start, line = position, next_line
        end, stop = find_line(text, line_start, comments)
        position = end + 1
        next_line += 1
        if stop == line_start and text[stop] == HASH:
            continue
        if stop == line_start and not blank_is_row:
            blank_line = line if blank_line < 0 else blank_line
            continue
        if blank_line >= 0:
            if n_errors < errors.shape[0]:
                errors[n_errors, 0], errors[n_errors, 1], errors[n_errors, 2] = blank_line, BLANK, -1
            n_errors += 1
            blank_line = -1
        at, code = line_start, 0
        row_start, label_start, hard_start = count, label_count, n_hard
        if with_labels and stop > at and not is_gap(text[at]):
            label_count, at, code = parse_labels(text, at, stop, label_base, n_labels, labels, label_count)
            if code != 0 and not starts_with_labels(text, line_start, stop):
                label_count, at, code = label_start, line_start, 0
        if code == 0:
            count, n_hard, at, code = parse_features(text, at, stop, base, n_features, ids, values, count, hard, n_hard)
        if code != 0:
            if n_errors < errors.shape[0]:
                errors[n_errors, 0], errors[n_errors, 1], errors[n_errors, 2] = line, code, at
            n_errors += 1
            count, label_count, n_hard = row_start, label_start, hard_start
        row_ends[n_rows], label_ends[n_rows], row_lines[n_rows] = count, label_count, line
        n_rows += 1
    return n_rows, next_line, blank_line, n_hard, n_errors


@njit(cache=True, nogil=True)
def increases(ids, start, end):
    """Tell whether each id is above the one before it."""
    n_wrong = 0
    for k in range(start + 1, end):
        n_wrong += ids[k - 1] >= ids[k]
    return n_wrong == 0


@njit(cache=True, nogil=True)
def sort_row(ids, values):
    """Sort a row by its ids, in place; return the first id that it has twice, -1 if it has none."""
    order = np.argsort(ids, kind="mergesort")
    copy_into(ids, ids[order])  # a fancy index makes a copy
    copy_into(values, values[order])
    for k in range(1, ids.size):
        if ids[k - 1] == ids[k]:
            return np.int64(ids[k])
    return np.int64(-1)


@njit(cache=True, nogil=True)
def move_nonzeros(ids, values, start, end, write):
    """Move the entries of a row that are not zero down to a place; return the place behind them."""
    n_zeros = 0
    for k in range(start, end):
        n_zeros += values[k] == 0
    if n_zeros == 0 and write == start:
        return end
    for k in range(start, end):
        ids[write], values[write] = ids[k], values[k]
        write += values[k] != 0
    return write


@njit(cache=True, nogil=True)
def move_different(labels, start, end, write):
    """Move the labels of a sorted row down to a place, each once; return the place behind them."""
    if write == start and increases(labels, start, end):
        return end
    for k in range(start, end):
        if k == start or labels[k] != labels[write - 1]:
            labels[write] = labels[k]
            write += 1
    return write


@njit(cache=True, nogil=True)
def tidy_rows(ids, values, row_ends, labels, label_ends, duplicates):
    """Sort each row, drop explicit zeros, merge repeated labels, and find repeated features; in place.

    Parameters
    ----------
    ids, values, row_ends, labels, label_ends : uint32, float32, int64, uint32, int64
        As `parse_rows` fills them.
    duplicates : int64, shape (n_rows,)
        Filled with the first feature that a row has twice; -1 if it has none.
    """
    write = label_write = start = label_start = np.int64(0)
    for row in range(row_ends.size):
        end, label_end = row_ends[row], label_ends[row]
        duplicates[row] = -1
        if not increases(ids, start, end):
            duplicates[row] = sort_row(ids[start:end], values[start:end])
        write = move_nonzeros(ids, values, start, end, write)
        if not increases(labels, label_start, label_end):
            labels[label_start:label_end].sort()
        label_write = move_different(labels, label_start, label_end, label_write)
        row_ends[row], label_ends[row] = write, label_write
        start, label_start = end, label_end
