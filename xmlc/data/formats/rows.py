"""Reading of the sparse row formats: the repository's, its two-file variant, SVMLight."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from xmlc.csr import resize
from xmlc.data.formats import _rows
from xmlc.data.formats.counts import LARGEST, most_columns, most_counts
from xmlc.data.formats.decimals import decimal
from xmlc.data.formats.errors import LISTED, Malformed, MalformedLines, expectation, quoted
from xmlc.data.formats.growing import GrowingArray
from xmlc.data.formats.stream import line_blocks
from xmlc.errors import XmlcError

BLANKS = b" \t\r\n"
FROM_ONE = (
    "\nIds start from 0; where those of the labels start from 1, say `zero_based: false` in config/datasets.yaml "
    "(`zero_based=False` in Python)"
)


class Layout(NamedTuple):
    """What distinguishes one row format from another; see `_rows.parse_rows`."""

    with_labels: bool = True
    blank_is_row: bool = False
    comments: bool = False
    base: int = 0
    label_base: int = 0
    n_features: int = LARGEST
    n_labels: int = LARGEST


class _Room(NamedTuple):
    """Arrays with room for whatever a block may hold; kept from block to block."""

    ids: np.ndarray
    values: np.ndarray
    row_ends: np.ndarray
    labels: np.ndarray
    label_ends: np.ndarray
    row_lines: np.ndarray
    hard: np.ndarray

    @classmethod
    def of(cls, size: int) -> _Room:
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


class _RowReader:
    """Parses blocks of text one after the other; keeps the rows, the line number and the errors.

    Parameters
    ----------
    path : Path
    layout : Layout
    first_line : int
        Number of the first line that is parsed.
    column : str
        What the ids before colons stand for, in messages.
    """

    def __init__(self, path: Path, layout: Layout, first_line: int, column: str = "feature"):
        self.layout, self.line, self.malformed, self.column = layout, first_line, MalformedLines(path), column
        self.n_rows = 0
        self._blank_line = -1
        self._room = _Room.of(0)
        self._ids, self._values, self._lengths = (GrowingArray(dtype) for dtype in (np.uint32, np.float32, np.int32))
        self._labels, self._label_counts = GrowingArray(np.uint32), GrowingArray(np.int32)

    def parse(self, text: bytes) -> None:
        """Parse one block of whole lines."""
        buffer = np.frombuffer(text, dtype=np.uint8)
        if self._room.row_ends.size <= buffer.size:
            self._room = _Room.of(buffer.size)
        room, errors = self._room, np.empty((LISTED, 3), dtype=np.int64)
        n_rows, self.line, self._blank_line, n_hard, n_errors = _rows.parse_rows(
            buffer, self.line, self._blank_line, *self.layout, *room, errors
        )
        row_ends, label_ends = room.row_ends[:n_rows], room.label_ends[:n_rows]
        hard = self._read_hard(text, room.hard[:n_hard], row_ends)
        duplicates = np.empty(n_rows, dtype=np.int64)
        _rows.tidy_rows(room.ids, room.values, row_ends, room.labels, label_ends, duplicates)
        self._note(text, errors[:n_errors], n_errors, hard, duplicates)
        self.n_rows += n_rows
        if self.malformed.count == 0:  # otherwise nothing will be read, and the errors are all that is wanted
            n_ids, n_labels = (int(ends[-1]) if n_rows else 0 for ends in (row_ends, label_ends))
            self._ids.extend(room.ids[:n_ids])
            self._values.extend(room.values[:n_ids])
            self._lengths.extend(np.diff(row_ends, prepend=0))
            self._labels.extend(room.labels[:n_labels])
            self._label_counts.extend(np.diff(label_ends, prepend=0))

    def matrices(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Join what was parsed into (X, Y); it can be done once."""
        X = _matrix(self._ids.take(), self._values.take(), self._lengths.take(), self.layout.n_features)
        ones = np.ones(self._labels.size, dtype=bool)
        return X, _matrix(self._labels.take(), ones, self._label_counts.take(), self.layout.n_labels)

    def _read_hard(self, text: bytes, hard: np.ndarray, row_ends: np.ndarray) -> dict[int, str]:
        """Read the numbers that the kernel left; return rows whose value is infinite in single precision."""
        infinite: dict[int, str] = {}
        for place, start, end in hard.tolist():
            number = text[start:end].decode()
            try:
                self._room.values[place] = decimal(number)
            except Malformed:
                infinite.setdefault(int(np.searchsorted(row_ends, place, side="right")), quoted(number))
        return infinite

    def _note(
        self, text: bytes, errors: np.ndarray, n_errors: int, infinite: dict[int, str], duplicates: np.ndarray
    ) -> None:
        """Collect a block's malformed lines in their order, each once."""
        found = {line: (code, quoted(_token(text, position))) for line, code, position in errors.tolist()}
        lines = self._room.row_lines
        found |= {int(lines[row]): (_rows.NOT_FINITE, number) for row, number in infinite.items()}
        for row in np.flatnonzero(duplicates >= 0).tolist():
            feature = duplicates[row] + self.layout.base
            found.setdefault(int(lines[row]), (_rows.DUPLICATE, f"{self.column} {feature} twice"))
        *_, base, label_base, n_features, n_labels = self.layout
        for line, (code, token) in sorted(found.items()):
            self.malformed.add(line, token, expectation(code, base, label_base, n_features, n_labels, self.column))
            if code == _rows.LABEL_RANGE and not label_base and token.strip("'").partition(",")[0] == str(n_labels):
                self.malformed.hint = FROM_ONE
        self.malformed.add_unlisted(n_errors - len(errors))


def read_rows(
    path: Path, header: bool, base: int = 0, n_features: int | None = None, n_labels: int | None = None
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read the repository format (with a header ``n d m``) or SVMLight (without one); see `load`.

    The first label has the id ``base``, and in SVMLight the first feature.
    """
    if header:
        return _read_with_header(path, ("instances", "features", "labels"), Layout(label_base=base))
    most = most_columns(path)
    layout = Layout(
        comments=True,
        base=base,
        label_base=base,
        n_features=most if n_features is None else n_features,
        n_labels=most if n_labels is None else n_labels,
    )
    reader = _RowReader(path, layout, first_line=1)
    for text in line_blocks(path):
        reader.parse(text)
    reader.malformed.raise_any()
    X, Y = reader.matrices()
    return _narrowed(X, n_features), _narrowed(Y, n_labels)


def read_two_files(features: Path, labels: Path, base: int = 0) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read the repository's two-file variant: each file has a header of two numbers and rows ``id:value``.

    The first label has the id ``base``, the first feature 0.
    """
    layout = Layout(with_labels=False, blank_is_row=True, n_labels=0)
    X, _ = _read_with_header(features, ("instances", "features"), layout)
    Y, _ = _read_with_header(labels, ("instances", "labels"), layout._replace(base=base))
    if X.shape[0] != Y.shape[0]:
        raise XmlcError(f"{features} has {X.shape[0]} instances, {labels} has {Y.shape[0]}; they must belong together")
    return X, Y.astype(bool)


def _read_with_header(path: Path, names: tuple[str, ...], layout: Layout) -> tuple[sparse.csr_array, sparse.csr_array]:
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
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == _rows.NEWLINE)
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
    """Return what stands at a position, up to the next gap."""
    if position < 0:
        return ""
    ends = [end for end in (text.find(gap, position) for gap in (b" ", b"\t", b"\r", b"\n")) if end >= 0]
    return text[position : min(ends)].decode("utf-8", errors="replace")


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
