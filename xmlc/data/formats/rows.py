"""Reading of the sparse row formats: the repository's, its two-file variant, SVMLight.

A row is ``label,label feature:value feature:value ...``. The parser goes over the bytes once and writes 8 bytes per
non-zero and 4 per label, the tidying pass reads and writes them once more; nothing is allocated for rows in order.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.data.formats.lines import (
    LARGEST,
    LARGEST_FLOAT32,
    LISTED,
    ONES,
    TOPS,
    LineError,
    MalformedLines,
    decimal,
    eight_bytes,
    first_marked,
    line_blocks,
    most_columns,
    most_counts,
    parse_decimal,
    parse_integer,
    parse_short_decimal,
    parse_short_integer,
    quoted,
)
from xmlc.data.matrices import resize
from xmlc.kernels.arrays import copy_into, sort, stable_order

NEWLINE, RETURN, SPACE, TAB, COMMA, COLON, HASH = 10, 13, 32, 9, 44, 58, 35

# Error codes; `_expectation` has the messages.
BLANK, BAD_LABEL, LABEL_RANGE, BAD_FEATURE, FEATURE_RANGE, NO_VALUE, BAD_VALUE, NOT_FINITE = 1, 2, 3, 4, 5, 6, 7, 8
DUPLICATE = 9
BLANKS = b" \t\r\n"
FROM_ONE = (
    "\nIds start from 0; where those of the labels start from 1, say `zero_based: false` in config/datasets.yaml "
    "(`zero_based=False` in Python)"
)
# From this size on the C library gives freed memory back to the system; pages that are not touched cost nothing.
CHUNK_BYTES = 1 << 25


class RowFormat(NamedTuple):
    """Differences between row formats; see `parse_rows`."""

    with_labels: bool = True
    blank_is_row: bool = False
    comments: bool = False
    base: int = 0
    label_base: int = 0
    n_features: int = LARGEST
    n_labels: int = LARGEST


class _BlockBuffers(NamedTuple):
    """Arrays large enough for any block; kept from block to block."""

    ids: np.ndarray
    values: np.ndarray
    row_ends: np.ndarray
    labels: np.ndarray
    label_ends: np.ndarray
    row_lines: np.ndarray
    hard: np.ndarray

    @classmethod
    def of(cls, size: int) -> _BlockBuffers:
        """Reserve for ``size`` bytes of text; memory is only touched as far as it is used."""
        pairs, labels, lines = size // 4 + 2, size // 2 + 2, size + 1  # "1:2 " and "1," are the shortest
        return cls(
            np.empty(pairs, dtype=np.uint32),
            np.empty(pairs, dtype=np.float32),
            np.empty(lines, dtype=np.int64),
            np.empty(labels, dtype=np.uint32),
            np.empty(lines, dtype=np.int64),
            np.empty(lines, dtype=np.int64),
            np.empty((pairs, 3), dtype=np.int64),
        )


class GrowingArray:
    """Collects values in chunks and joins them once.

    Parameters
    ----------
    dtype : type
    chunk_bytes : int
        Memory reserved at a time.
    """

    def __init__(self, dtype: type, chunk_bytes: int = CHUNK_BYTES):
        self._dtype = np.dtype(dtype)
        self._chunk_size = chunk_bytes // self._dtype.itemsize
        self._chunks: list[np.ndarray] = []
        self._used = self._chunk_size  # of the last chunk

    @property
    def size(self) -> int:
        """Number of values so far."""
        return (len(self._chunks) - 1) * self._chunk_size + self._used

    def extend(self, values: np.ndarray) -> None:
        """Add values, shape (k,); they are copied."""
        done = 0
        while done < values.size:
            if self._used == self._chunk_size:
                self._chunks.append(np.empty(self._chunk_size, dtype=self._dtype))
                self._used = 0
            step = min(values.size - done, self._chunk_size - self._used)
            self._chunks[-1][self._used : self._used + step] = values[done : done + step]
            self._used += step
            done += step

    def take(self) -> np.ndarray:
        """Return everything as one array and give the chunks up one by one; the collection is empty afterwards."""
        whole = np.empty(self.size, dtype=self._dtype)
        end = whole.size
        while self._chunks:
            chunk = self._chunks.pop()
            whole[end - self._used : end] = chunk[: self._used]
            end -= self._used
            self._used = self._chunk_size
        return whole


class _RowReader:
    """Parses blocks of text one after the other; keeps the rows, the line number and the errors.

    Parameters
    ----------
    path : Path
    layout : RowFormat
    first_line : int
        Number of the first line that is parsed.
    column : str
        What the ids before colons stand for, in messages.
    """

    def __init__(self, path: Path, layout: RowFormat, first_line: int, column: str = "feature"):
        self.layout, self.line, self.malformed, self.column = layout, first_line, MalformedLines(path), column
        self.n_rows = 0
        self._blank_line = -1
        self._buffers = _BlockBuffers.of(0)
        self._ids, self._values, self._lengths = (GrowingArray(dtype) for dtype in (np.uint32, np.float32, np.int32))
        self._labels, self._label_counts = GrowingArray(np.uint32), GrowingArray(np.int32)

    def parse(self, text: bytes) -> None:
        """Parse one block of whole lines."""
        buffer = np.frombuffer(text, dtype=np.uint8)
        if self._buffers.row_ends.size <= buffer.size:
            self._buffers = _BlockBuffers.of(buffer.size)
        buffers, errors = self._buffers, np.empty((LISTED, 3), dtype=np.int64)
        n_rows, self.line, self._blank_line, n_hard, n_errors = parse_rows(
            buffer, self.line, self._blank_line, *self.layout, *buffers, errors
        )
        row_ends, label_ends = buffers.row_ends[:n_rows], buffers.label_ends[:n_rows]
        hard = self._read_hard(text, buffers.hard[:n_hard], row_ends)
        duplicates = np.empty(n_rows, dtype=np.int64)
        tidy_rows(buffers.ids, buffers.values, row_ends, buffers.labels, label_ends, duplicates)
        self._note(text, errors[:n_errors], n_errors, hard, duplicates)
        self.n_rows += n_rows
        if self.malformed.count == 0:  # otherwise nothing will be read, and the errors are all that is wanted
            n_ids, n_labels = (int(ends[-1]) if n_rows else 0 for ends in (row_ends, label_ends))
            self._ids.extend(buffers.ids[:n_ids])
            self._values.extend(buffers.values[:n_ids])
            self._lengths.extend(np.diff(row_ends, prepend=0))
            self._labels.extend(buffers.labels[:n_labels])
            self._label_counts.extend(np.diff(label_ends, prepend=0))

    def matrices(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Join the parsed blocks into (X, Y); it can be done once."""
        X = _matrix(self._ids.take(), self._values.take(), self._lengths.take(), self.layout.n_features)
        ones = np.ones(self._labels.size, dtype=bool)
        return X, _matrix(self._labels.take(), ones, self._label_counts.take(), self.layout.n_labels)

    def _read_hard(self, text: bytes, hard: np.ndarray, row_ends: np.ndarray) -> dict[int, str]:
        """Read the numbers that the kernel left; return rows whose value is infinite in single precision."""
        infinite: dict[int, str] = {}
        for place, start, end in hard.tolist():
            number = text[start:end].decode()
            try:
                self._buffers.values[place] = decimal(number)
            except LineError:
                infinite.setdefault(int(np.searchsorted(row_ends, place, side="right")), quoted(number))
        return infinite

    def _note(
        self, text: bytes, errors: np.ndarray, n_errors: int, infinite: dict[int, str], duplicates: np.ndarray
    ) -> None:
        """Collect a block's malformed lines in their order, each once."""
        found = {line: (code, quoted(_token(text, position))) for line, code, position in errors.tolist()}
        lines = self._buffers.row_lines
        found |= {int(lines[row]): (NOT_FINITE, number) for row, number in infinite.items()}
        for row in np.flatnonzero(duplicates >= 0).tolist():
            feature = duplicates[row] + self.layout.base
            found.setdefault(int(lines[row]), (DUPLICATE, f"{self.column} {feature} twice"))
        *_, base, label_base, n_features, n_labels = self.layout
        for line, (code, token) in sorted(found.items()):
            self.malformed.add(line, token, _expectation(code, base, label_base, n_features, n_labels, self.column))
            if code == LABEL_RANGE and not label_base and token.strip("'").partition(",")[0] == str(n_labels):
                self.malformed.hint = FROM_ONE
        self.malformed.count += n_errors - len(errors)


def read_repository(path: Path, label_base: int = 0) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read the repository's format, with a header ``n d m``; see `load`."""
    return _read_with_header(path, ("instances", "features", "labels"), RowFormat(label_base=label_base))


def read_rows(
    path: Path, base: int = 0, label_base: int = 0, n_features: int | None = None, n_labels: int | None = None
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read rows without a header, as SVMLight and LIBSVM have them; see `load`.

    The first feature has the id ``base``, the first label ``label_base``. Features may go beyond ``n_features``, labels
    may not go beyond ``n_labels``.
    """
    most = most_columns(path)
    layout = RowFormat(
        comments=True,
        base=base,
        label_base=label_base,
        n_features=max(most, n_features or 0),
        n_labels=most if n_labels is None else n_labels,
    )
    reader = _RowReader(path, layout, first_line=1)
    for text in line_blocks(path):
        reader.parse(text)
    reader.malformed.raise_any()
    X, Y = reader.matrices()
    return _narrowed(X, None), _narrowed(Y, n_labels)


def read_two_files(features: Path, labels: Path, base: int = 0) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read the repository's two-file variant: each file has a header of two numbers and rows ``id:value``.

    The first label has the id ``base``, the first feature 0.
    """
    layout = RowFormat(with_labels=False, blank_is_row=True, n_labels=0)
    X, _ = _read_with_header(features, ("instances", "features"), layout)
    Y, _ = _read_with_header(labels, ("instances", "labels"), layout._replace(base=base))
    malformed, wrong = MalformedLines(labels), np.flatnonzero(Y.data != 1)
    lines, firsts = np.unique(np.searchsorted(Y.indptr, wrong, side="right") + 1, return_index=True)
    for line, entry in zip(lines.tolist(), wrong[firsts].tolist()):
        malformed.add(line, f"'{Y.indices[entry] + base}:{Y.data[entry]:g}'", "0 or 1 as the value of a label")
    malformed.raise_any()
    return X, Y.astype(bool)


def _read_with_header(
    path: Path, names: tuple[str, ...], layout: RowFormat
) -> tuple[sparse.csr_array, sparse.csr_array]:
    blocks = line_blocks(path)
    head, _, block = next(blocks, b"").partition(b"\n")
    n_rows, *columns = _header(path, head, names)
    layout = layout._replace(n_features=columns[0])
    if len(columns) == 2:
        layout = layout._replace(n_labels=columns[1])
    reader = _RowReader(path, layout, first_line=2, column=names[1].removesuffix("s"))
    for whole in chain([block], blocks):
        # Where blank lines are rows, those behind the last row may be no more than the end of the file.
        text, rest = _cut(whole, n_rows - reader.n_rows) if layout.blank_is_row else (whole, b"")
        reader.parse(text)
        if reader.n_rows > n_rows or rest.strip(BLANKS):
            reader.malformed.add(n_rows + 2, f"instance {n_rows + 1}", f"{n_rows}, as line 1 says")
            break
    if reader.n_rows < n_rows:
        expected = f"{n_rows}, as line 1 says; is the file cut off?"
        reader.malformed.add(reader.line, f"the end of the file after {reader.n_rows} instances", expected)
    reader.malformed.raise_any()
    return reader.matrices()


def _cut(text: bytes, lines: int) -> tuple[bytes, bytes]:
    """Split a block behind its first lines."""
    if text.count(b"\n") <= lines:
        return text, b""
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == NEWLINE)
    end = int(ends[lines - 1]) + 1 if lines else 0
    return text[:end], text[end:]


def _header(path: Path, line: bytes, names: tuple[str, ...]) -> tuple[int, ...]:
    parts = line.split()
    good = len(parts) == len(names) and all(part.isdigit() and len(part) <= 18 for part in parts)
    if not good or any(int(part) > LARGEST for part in parts):
        shown = quoted(line[:99].decode("utf-8", errors="replace").rstrip("\r"))
        raise XmlcError(f"{path}:1: found {shown}, expected a header: the numbers of {', '.join(names)}")
    counts = tuple(int(part) for part in parts)
    rows, columns = most_counts(path)
    for name, count, most in zip(names, counts, (rows, columns, columns)):
        if count > most:
            raise XmlcError(
                f"{path}:1: found {count} {name}, expected at most {most}, for what the file and this machine's memory "
                "hold; is the file cut off, or the header wrong?"
            )
    return counts


def _token(text: bytes, position: int) -> str:
    """Return the token at a position, up to the next gap; the line up to there where it is empty, behind a comma."""
    if position < 0:
        return ""
    ends = [end for end in (text.find(gap, position) for gap in (b" ", b"\t", b"\r", b"\n")) if end >= 0]
    begin = position if min(ends) > position else text.rfind(b"\n", 0, position) + 1
    return text[begin : min(ends)].decode("utf-8", errors="replace")


def _matrix(ids: np.ndarray, data: np.ndarray, lengths: np.ndarray, n_columns: int) -> sparse.csr_array:
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    if ids.size <= LARGEST:
        indptr = indptr.astype(np.int32)  # scipy copies the indices where the two types differ
    matrix = sparse.csr_array((data, ids.view(np.int32), indptr), shape=(lengths.size, n_columns))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _narrowed(matrix: sparse.csr_array, n_columns: int | None) -> sparse.csr_array:
    """Without a given number of columns the largest id decides."""
    if n_columns is None:
        n_columns = int(matrix.indices.max()) + 1 if matrix.nnz else 0
        resize(matrix, matrix.shape[0], n_columns)
    return matrix


def _expectation(code: int, base: int, label_base: int, n_features: int, n_labels: int, column: str = "feature") -> str:
    """Return the text that the row parser expected at an error; ``column`` names the ids before colons."""
    return {
        BLANK: "an instance; a blank line would shift the rows (one without labels starts with a space)",
        BAD_LABEL: "labels as whole numbers separated by commas without blanks",
        LABEL_RANGE: f"a label of {label_base} .. {label_base + n_labels - 1}",
        BAD_FEATURE: f"{column}:value with a whole number as {column}",
        FEATURE_RANGE: f"a {column} of {base} .. {base + n_features - 1}",
        NO_VALUE: f"{column}:value; is the line cut off?",
        BAD_VALUE: "a finite decimal number as value",
        NOT_FINITE: "a value that fits single precision",
        DUPLICATE: f"each {column} once",
    }[code]


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
    order = stable_order(ids)
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
            sort(labels[label_start:label_end])
        label_write = move_different(labels, label_start, label_end, label_write)
        row_ends[row], label_ends[row] = write, label_write
        start, label_start = end, label_end
