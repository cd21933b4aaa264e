"""Sparse row formats: the repository format, its variant with two files, and SVMLight.

A row is ``label,label feature:value feature:value ...``. The parser reads each byte of the file
once, and writes 8 bytes for each non-zero and 4 bytes for each label. Rows whose ids do not ascend
are sorted by scipy afterwards. Kernels read ``text`` (uint8) from ``position`` up to ``end``, the
end of the line.
"""

from __future__ import annotations

import re
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
    LineError,
    MalformedLines,
    decimal,
    line_blocks,
    parse_decimal,
    parse_integer,
    quoted,
)
from xmlc.data.matrices import resize
from xmlc.kernels.csr import CSR

TOKEN = re.compile(rb"[^ \t\r\n]*")
NEWLINE = 10
RETURN = 13
SPACE = 32
TAB = 9
COMMA = 44
COLON = 58
HASH = 35

# Error codes of malformed lines, with messages in `_expectation`
BLANK = 1
BAD_LABEL = 2
LABEL_RANGE = 3
BAD_FEATURE = 4
FEATURE_RANGE = 5
NO_VALUE = 6
BAD_VALUE = 7
NOT_FINITE = 8


class RowFormat(NamedTuple):
    """The properties in which row formats differ."""

    #: Whether rows may begin with labels. If not, an empty line is a row without entries.
    with_labels: bool = True
    #: Whether ``#`` begins a comment. Lines with only a comment are not rows.
    comments: bool = False
    #: The smallest feature id and label id (0 or 1), and the numbers of features and labels, which
    #: bound the ids.
    base: int = 0
    label_base: int = 0
    n_features: int = LARGEST
    n_labels: int = LARGEST


class Buffers(NamedTuple):
    """The parser's results for one block, overwritten by those of the next block."""

    #: The features of all rows (uint32), their values (float32), and the end of each row in both
    #: (int64).
    ids: np.ndarray
    values: np.ndarray
    row_ends: np.ndarray
    #: The labels of all rows (uint32), and the end of each row among them (int64).
    labels: np.ndarray
    label_ends: np.ndarray
    #: The line number of each row in the file, int64.
    row_lines: np.ndarray
    #: Values that the kernel cannot compute exactly, int64 (h, 3): index in ``values``, start and
    #: end in the text.
    hard: np.ndarray
    #: Malformed lines with their first error, int64 (e, 3): line number, error code, and position
    #: in the text (-1 for a blank line, which is malformed only if a row follows).
    errors: np.ndarray

    @classmethod
    def of(cls, size: int) -> Buffers:
        """Allocate buffers for ``size`` bytes of text, of which unused parts take no memory."""
        # The shortest pair is "1:2 ", and the shortest label is "1,"
        n_pairs = size // 4 + 2
        n_labels = size // 2 + 2
        n_lines = size + 1
        return cls(
            ids=np.empty(n_pairs, dtype=np.uint32),
            values=np.empty(n_pairs, dtype=np.float32),
            row_ends=np.empty(n_lines, dtype=np.int64),
            labels=np.empty(n_labels, dtype=np.uint32),
            label_ends=np.empty(n_lines, dtype=np.int64),
            row_lines=np.empty(n_lines, dtype=np.int64),
            hard=np.empty((n_pairs, 3), dtype=np.int64),
            errors=np.empty((LISTED, 3), dtype=np.int64),
        )


class _RowReader:
    """A parser of successive blocks of text, which counts lines and collects rows and errors.

    For error messages, ``column`` names the ids before the colons ("feature" or "label").
    """

    def __init__(self, path: Path, layout: RowFormat, first_line: int, column: str = "feature"):
        self.layout = layout
        self.line = first_line
        self.malformed = MalformedLines(path)
        self.column = column
        self.n_rows = 0
        self._blank_line = -1
        self._buffers = Buffers.of(0)
        # One array per block in each list: ids, values, labels, and line number, number of ids and
        # number of labels of each row
        types = (np.uint32, np.float32, np.uint32, np.int64, np.int64, np.int64)
        self._parts = [[np.empty(0, dtype)] for dtype in types]

    def parse(self, text: bytes) -> None:
        """Parse one block of whole lines."""
        buffer = np.frombuffer(text, dtype=np.uint8)
        if self._buffers.row_ends.size <= buffer.size:
            self._buffers = Buffers.of(buffer.size)
        buffers = self._buffers
        parsed = parse_rows(buffer, self.line, self._blank_line, self.layout, buffers)
        n_rows, self.line, self._blank_line, n_hard, n_errors = parsed
        row_ends = buffers.row_ends[:n_rows]
        malformed: dict[int, tuple[int, str]] = {}
        for place, start, end in buffers.hard[:n_hard].tolist():
            number = text[start:end].decode()
            try:
                buffers.values[place] = decimal(number)
            except LineError:
                row = np.searchsorted(row_ends, place, side="right")
                malformed.setdefault(int(buffers.row_lines[row]), (NOT_FINITE, number))
        for line, code, position in buffers.errors[:n_errors].tolist():
            token = b""
            if position >= 0:
                token = next(TOKEN.finditer(text, position))[0]
                # At a blank, the token is the line up to the blank
                token = token or text[text.rfind(b"\n", 0, position) + 1 : position]
            malformed[line] = (code, token.decode("utf-8", errors="replace"))
        for line, (code, found) in sorted(malformed.items()):
            self.malformed.add(line, quoted(found), _expectation(code, self.layout, self.column))
        self.malformed.count += max(n_errors - LISTED, 0)
        self.n_rows += n_rows
        # After the first malformed line, parsing goes on only to find more of them
        if self.malformed.count == 0:
            lengths = np.diff(row_ends, prepend=0)
            label_counts = np.diff(buffers.label_ends[:n_rows], prepend=0)
            n_ids = lengths.sum()
            arrays = (
                buffers.ids[:n_ids],
                buffers.values[:n_ids],
                buffers.labels[: label_counts.sum()],
                buffers.row_lines[:n_rows],
                lengths,
                label_counts,
            )
            for parts, part in zip(self._parts, arrays):
                parts.append(part.copy())

    def matrices(self) -> tuple[CSR, CSR]:
        """Return (X, Y) in canonical form and without zeros, and release the parsed blocks.

        Raises
        ------
        XmlcError
            If some lines are malformed, or a row has a feature twice.
        """
        self.malformed.raise_any()
        ids, values, labels, lines, lengths, label_counts = map(_joined, self._parts)
        X = _matrix(ids, values, lengths, self.layout.n_features)
        if not X.has_canonical_format:
            X.sort_indices()
            self._refuse_repeated(X, lines)
            X.has_canonical_format = True
        X.eliminate_zeros()
        Y = _matrix(labels, np.ones(labels.size, dtype=bool), label_counts, self.layout.n_labels)
        Y.sum_duplicates()
        return X, Y

    def _refuse_repeated(self, X: CSR, lines: np.ndarray) -> None:
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        repeated = np.flatnonzero((np.diff(X.indices) == 0) & (np.diff(rows) == 0))
        found, firsts = np.unique(rows[repeated], return_index=True)
        for row, feature in zip(found, X.indices[repeated[firsts]] + self.layout.base):
            self.malformed.add(
                lines[row], f"{self.column} {feature} twice", f"each {self.column} once"
            )
        self.malformed.raise_any()


def read_repository(path: Path, label_base: int = 0) -> tuple[CSR, CSR]:
    """Read a file in the repository format, which begins with a header ``n d m`` (`load`)."""
    return _read_with_header(
        path, ("instances", "features", "labels"), RowFormat(label_base=label_base)
    )


def read_rows(path: Path, base: int, label_base: int, n_labels: int | None) -> tuple[CSR, CSR]:
    """Read rows without a header, as in SVMLight and LIBSVM (`load`).

    Feature ids start from ``base``, label ids from ``label_base``.
    """
    layout = RowFormat(comments=True, base=base, label_base=label_base)
    if n_labels is not None:
        layout = layout._replace(n_labels=n_labels)
    reader = _RowReader(path, layout, first_line=1)
    for text in line_blocks(path):
        reader.parse(text)
    X, Y = reader.matrices()
    resize(X, X.shape[0], int(X.indices.max(initial=-1)) + 1)
    if n_labels is None:
        resize(Y, Y.shape[0], int(Y.indices.max(initial=-1)) + 1)
    return X, Y


def read_two_files(features: Path, labels: Path, base: int = 0) -> tuple[CSR, CSR]:
    """Read a dataset in two files, each with a header of two numbers and rows of ``id:value``.

    Label ids start from ``base``, feature ids from 0.
    """
    layout = RowFormat(with_labels=False, n_labels=0)
    X, _ = _read_with_header(features, ("instances", "features"), layout)
    Y, _ = _read_with_header(labels, ("instances", "labels"), layout._replace(base=base))
    malformed = MalformedLines(labels)
    wrong = np.flatnonzero(Y.data != 1)
    lines, firsts = np.unique(np.searchsorted(Y.indptr, wrong, side="right") + 1, return_index=True)
    for line, entry in zip(lines.tolist(), wrong[firsts].tolist()):
        malformed.add(
            line, f"'{Y.indices[entry] + base}:{Y.data[entry]:g}'", "0 or 1 as the value of a label"
        )
    malformed.raise_any()
    return X, Y.astype(bool)


def _read_with_header(path: Path, names: tuple[str, ...], layout: RowFormat) -> tuple[CSR, CSR]:
    blocks = line_blocks(path)
    head, _, block = next(blocks, b"").partition(b"\n")
    n_rows, *columns = _header(path, head, names)
    layout = layout._replace(n_features=columns[0])
    if len(columns) == 2:
        layout = layout._replace(n_labels=columns[1])
    reader = _RowReader(path, layout, first_line=2, column=names[1].removesuffix("s"))
    for text in chain([block], blocks):
        reader.parse(text)
        if reader.n_rows > n_rows:
            reader.malformed.add(
                n_rows + 2, f"instance {n_rows + 1}", f"{n_rows} instances as in line 1"
            )
            break
    if reader.n_rows < n_rows:
        expected = f"{n_rows} instances as in line 1. The file may be incomplete."
        reader.malformed.add(
            reader.line, f"the end of the file after {reader.n_rows} instances", expected
        )
    return reader.matrices()


def _header(path: Path, line: bytes, names: tuple[str, ...]) -> tuple[int, ...]:
    parts = line.split()
    numbers = [int(part) for part in parts if part.isdigit() and len(part) <= 18]
    if not len(numbers) == len(parts) == len(names) or max(numbers) > LARGEST:
        shown = quoted(line[:99].decode("utf-8", errors="replace").rstrip("\r"))
        remedy = "For another format, set it, such as `format: svmlight`."
        expected = f"a header: the numbers of {', '.join(names)}. {remedy}"
        raise XmlcError(f"{path}:1: found {shown}, expected {expected}")
    return tuple(numbers)


def _matrix(ids: np.ndarray, data: np.ndarray, lengths: np.ndarray, n_columns: int) -> CSR:
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    if ids.size <= LARGEST:
        # If ``indptr`` and ``ids`` had different types, scipy would copy ``ids``
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((data, ids.view(np.int32), indptr), shape=(lengths.size, n_columns))


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def _expectation(code: int, layout: RowFormat, column: str) -> str:
    first = layout.label_base
    hint = ""
    if first == 0:
        hint = ". If labels start from 1, set `zero_based: false`."
    return {
        BLANK: "an instance. Start the line of an instance without labels with a space.",
        BAD_LABEL: "labels as whole numbers with commas but no blanks between them",
        LABEL_RANGE: f"a label from {first} to {first + layout.n_labels - 1}{hint}",
        BAD_FEATURE: f"{column}:value with a whole number of at least {layout.base} as {column}",
        FEATURE_RANGE: f"a {column} from {layout.base} to {layout.base + layout.n_features - 1}",
        NO_VALUE: f"{column}:value. The line may be incomplete.",
        BAD_VALUE: "a finite decimal number as value",
        NOT_FINITE: "a value in the range of float32",
    }[code]


@njit(inline="always")
def is_gap(byte):
    """Return whether a byte (uint8) separates tokens."""
    return byte == SPACE or byte == TAB or byte == RETURN


@njit
def parse_labels(text, position, end, layout, labels, count):
    """Read a list of labels with commas between them.

    They are added to ``labels`` (uint32), which has ``count`` labels already.

    Returns
    -------
    count, next position, error code (0 for valid labels) : int64
    """
    while True:
        label, after = parse_integer(text, position, end)
        if after == position or (after < end and text[after] != COMMA and not is_gap(text[after])):
            return count, position, BAD_LABEL
        if label < layout.label_base or label - layout.label_base >= layout.n_labels:
            return count, position, LABEL_RANGE
        labels[count] = label - layout.label_base
        count += 1
        position = after
        if position == end or text[position] != COMMA:
            return count, position, 0
        position += 1


@njit
def starts_with_labels(text, position, end):
    """Return whether the first token of a row has no colon and is therefore a list of labels."""
    while position < end and not is_gap(text[position]):
        if text[position] == COLON:
            return False
        position += 1
    return True


@njit
def parse_features(text, position, end, layout, ids, values, count, hard, n_hard):
    """Read pairs ``feature:value`` up to the end of a line.

    They are added to ``ids`` (uint32) and ``values`` (float32), which have ``count`` pairs already,
    and values that the caller has to parse to ``hard`` (int64, (h, 3)), which has ``n_hard``.

    Returns
    -------
    count, n_hard, next position, error code (0 for a valid line) : int64
    """
    while True:
        while position < end and is_gap(text[position]):
            position += 1
        if position == end:
            return count, n_hard, position, 0
        feature, after = parse_integer(text, position, end)
        if after == position:
            return count, n_hard, position, BAD_FEATURE
        if after == end or is_gap(text[after]):
            return count, n_hard, position, NO_VALUE
        if text[after] != COLON:
            return count, n_hard, position, BAD_FEATURE
        if feature < layout.base or feature - layout.base >= layout.n_features:
            return count, n_hard, position, FEATURE_RANGE
        start = after + 1
        value, behind, exact = parse_decimal(text, start, end)
        if behind < end and not is_gap(text[behind]):
            return count, n_hard, position, BAD_VALUE
        if behind == start:
            return count, n_hard, position, NO_VALUE
        if exact and abs(value) >= LARGEST_FLOAT32:
            return count, n_hard, position, NOT_FINITE
        if not exact:
            hard[n_hard, 0] = count
            hard[n_hard, 1] = start
            hard[n_hard, 2] = behind
            n_hard += 1
            value = 1.0
        ids[count] = feature - layout.base
        values[count] = np.float32(value)
        count += 1
        position = behind


@njit
def find_line(text, start, comments):
    """Return the position of a line's newline, and the end of its content without a comment."""
    end = start
    while text[end] != NEWLINE:
        end += 1
    stop = end
    if end > start and text[end - 1] == RETURN:
        stop = end - 1
    if comments:
        for position in range(start, stop):
            if text[position] == HASH:
                return end, position
    return end, stop


@njit
def note(errors, n_errors, line, code, position):
    """Store a malformed line if ``errors`` has space, and return the new number of such lines."""
    if n_errors < errors.shape[0]:
        errors[n_errors, 0] = line
        errors[n_errors, 1] = code
        errors[n_errors, 2] = position
    return n_errors + 1


@njit
def parse_rows(text, first_line, blank_line, layout, buffers):
    """Parse the complete lines of a block.

    Parameters
    ----------
    text : uint8
        The block, which ends with a newline.
    first_line : int
        Its number in the file.
    blank_line : int
        Number of the first blank line after the last row so far, or -1.
    layout : RowFormat
    buffers : Buffers
        Output, in which a malformed line is an empty row.

    Returns
    -------
    n_rows, next_line, blank_line, n_hard, n_errors : int
        ``n_errors`` may exceed the length of ``errors``, whereas ``hard`` is always long enough.
    """
    ids = buffers.ids
    values = buffers.values
    labels = buffers.labels
    hard = buffers.hard
    n_rows = n_hard = n_errors = position = count = label_count = np.int64(0)
    next_line = first_line
    while position < text.size:
        line_start = position
        line = next_line
        end, stop = find_line(text, line_start, layout.comments)
        position = end + 1
        next_line += 1
        if stop == line_start and text[stop] == HASH:
            continue
        if stop == line_start and layout.with_labels:
            if blank_line < 0:
                blank_line = line
            continue
        if blank_line >= 0:
            n_errors = note(buffers.errors, n_errors, blank_line, BLANK, -1)
            blank_line = -1
        at = line_start
        code = 0
        row_start = count
        label_start = label_count
        hard_start = n_hard
        if layout.with_labels and stop > at and not is_gap(text[at]):
            label_count, at, code = parse_labels(text, at, stop, layout, labels, label_count)
            if code != 0 and not starts_with_labels(text, line_start, stop):
                label_count = label_start
                at = line_start
                code = 0
        if code == 0:
            count, n_hard, at, code = parse_features(
                text, at, stop, layout, ids, values, count, hard, n_hard
            )
        if code != 0:
            n_errors = note(buffers.errors, n_errors, line, code, at)
            count = row_start
            label_count = label_start
            n_hard = hard_start
        buffers.row_ends[n_rows] = count
        buffers.label_ends[n_rows] = label_count
        buffers.row_lines[n_rows] = line
        n_rows += 1
    return n_rows, next_line, blank_line, n_hard, n_errors
