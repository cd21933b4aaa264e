"""Reading of the sparse row formats: the repository's, its two-file variant, SVMLight."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from xmlc.data.formats import _rows
from xmlc.data.formats.errors import LISTED, MalformedLines
from xmlc.data.formats.stream import line_blocks
from xmlc.errors import XmlcError

UNLIMITED = np.iinfo(np.int32).max


class _Block(NamedTuple):
    """Rows of one block: features, values, row lengths, labels, label counts."""

    ids: np.ndarray
    values: np.ndarray
    row_lengths: np.ndarray
    labels: np.ndarray
    label_counts: np.ndarray


class _RowReader:
    """Parses blocks of text one after the other; keeps the line number and collects errors.

    Parameters
    ----------
    path : Path
    with_labels, blank_is_row, base, n_features, n_labels
        See `_rows.parse_rows`.
    first_line : int
        Number of the first line that is parsed.
    """

    def __init__(
        self,
        path: Path,
        *,
        with_labels: bool,
        blank_is_row: bool,
        base: int,
        n_features: int,
        n_labels: int,
        first_line: int,
    ):
        self.limits = (base, n_features, n_labels)
        self.malformed = MalformedLines(path)
        self._options = (with_labels, blank_is_row, *self.limits)
        self._line, self._blank_line = first_line, -1
        self._room: tuple[np.ndarray, ...] = ()

    def parse(self, text: bytes) -> _Block:
        """Parse one block of whole lines."""
        buffer = np.frombuffer(text, dtype=np.uint8)
        ids, values, row_ends, labels, label_ends, row_lines, hard = self._scratch(buffer.size)
        errors = np.empty((LISTED, 3), dtype=np.int64)
        n_rows, self._line, self._blank_line, n_hard, n_errors = _rows.parse_rows(
            buffer, self._line, self._blank_line, *self._options,
            ids, values, row_ends, labels, label_ends, row_lines, hard, errors,
        )  # fmt: skip
        for line, code, position in errors[:n_errors].tolist():
            self._note(line, code, _token(text, position))
        self.malformed.add_unlisted(max(n_errors - LISTED, 0))
        row_ends, label_ends = row_ends[:n_rows], label_ends[:n_rows]
        for place, start, end in hard[:n_hard].tolist():
            values[place] = np.float32(_clamped(float(text[start:end])))
            if not np.isfinite(values[place]):
                row = np.searchsorted(row_ends, place, side="right")
                self._note(int(row_lines[row]), _rows.NOT_FINITE, text[start:end].decode())
        row, feature = _rows.tidy_rows(ids, values, row_ends, labels, label_ends)
        if row >= 0 and n_errors == 0:
            self._note(int(row_lines[row]), _rows.DUPLICATE, f"feature {feature + self.limits[0]} twice")
        n_ids, n_labels = (int(ends[-1]) if n_rows else 0 for ends in (row_ends, label_ends))
        return _Block(
            ids[:n_ids].copy(),
            values[:n_ids].copy(),
            np.diff(row_ends, prepend=0),
            labels[:n_labels].copy(),
            np.diff(label_ends, prepend=0),
        )

    def _scratch(self, size: int) -> tuple[np.ndarray, ...]:
        """Return arrays with room for whatever ``size`` bytes may hold; kept from block to block."""
        if not self._room or self._room[2].size <= size:
            pairs, labels, lines = size // 4 + 2, size // 2 + 2, size + 1  # "1:2 " and "1," are the shortest
            self._room = (
                np.empty(pairs, dtype=np.uint32),
                np.empty(pairs, dtype=np.float32),
                np.empty(lines, dtype=np.int64),
                np.empty(labels, dtype=np.uint32),
                np.empty(lines, dtype=np.int64),
                np.empty(lines, dtype=np.int64),
                np.empty((pairs, 3), dtype=np.int64),
            )
        return self._room

    def _note(self, line: int, code: int, token: str) -> None:
        self.malformed.add_code(line, code, token, *self.limits)


def _token(text: bytes, position: int) -> str:
    """Return what stands at a position, up to the next gap."""
    if position < 0:
        return ""
    ends = [end for end in (text.find(gap, position) for gap in (b" ", b"\t", b"\r", b"\n")) if end >= 0]
    return text[position : min(ends)].decode("utf-8", errors="replace")


def _clamped(value: float) -> float:
    """Turn what single precision would round to infinity into infinity, without a warning."""
    return float("inf") if abs(value) >= _rows.LARGEST_FLOAT32 else value


def read_rows(
    path: Path, header: bool, base: int = 0, n_features: int | None = None, n_labels: int | None = None
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read the repository format (with a header ``n d m``) or SVMLight (without one); see `load`."""
    blocks = line_blocks(path)
    block = next(blocks, b"")
    n_rows, first_line = None, 1
    if header:
        head, _, block = block.partition(b"\n")
        n_rows, n_features, n_labels = _header(path, head, ("instances", "features", "labels"))
        first_line = 2
    reader = _RowReader(
        path,
        with_labels=True,
        blank_is_row=False,
        base=base,
        n_features=UNLIMITED if n_features is None else n_features,
        n_labels=UNLIMITED if n_labels is None else n_labels,
        first_line=first_line,
    )
    parsed = [reader.parse(block)] if block else []
    parsed += [reader.parse(text) for text in blocks]
    reader.malformed.raise_any()
    found = sum(part.row_lengths.size for part in parsed)
    if n_rows is not None and found != n_rows:
        raise XmlcError(f"{path}: found {found} instances, expected {n_rows} as the header says; fetch the file anew")
    X = _matrix([(p.ids, p.values, p.row_lengths) for p in parsed], n_features)
    Y = _matrix([(p.labels, None, p.label_counts) for p in parsed], n_labels)
    return X, Y


def read_two_files(features: Path, labels: Path) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read the repository's two-file variant: each file has a header of two numbers and rows ``id:value``."""
    X, Y = _read_matrix(features, "features"), _read_matrix(labels, "labels")
    if X.shape[0] != Y.shape[0]:
        raise XmlcError(f"{features} has {X.shape[0]} instances, {labels} has {Y.shape[0]}; they must belong together")
    return X, sparse.csr_array((np.ones(Y.nnz, dtype=bool), Y.indices, Y.indptr), shape=Y.shape)


def _read_matrix(path: Path, columns: str) -> sparse.csr_array:
    blocks = line_blocks(path)
    head, _, block = next(blocks, b"").partition(b"\n")
    n_rows, n_columns = _header(path, head, ("instances", columns))
    reader = _RowReader(
        path, with_labels=False, blank_is_row=True, base=0, n_features=n_columns, n_labels=0, first_line=2
    )
    parsed = [reader.parse(block)] if block else []
    parsed += [reader.parse(text) for text in blocks]
    reader.malformed.raise_any()
    matrix = _matrix([(p.ids, p.values, p.row_lengths) for p in parsed], n_columns)
    # Blank lines are rows here, so those behind the last row may be no more than the end of the file.
    if matrix.shape[0] < n_rows or matrix[n_rows:].nnz:
        raise XmlcError(f"{path}: found {matrix.shape[0]} rows, expected {n_rows} as the header says; fetch it anew")
    return matrix[:n_rows]


def _header(path: Path, line: bytes, names: tuple[str, ...]) -> tuple[int, ...]:
    parts = line.split()
    if len(parts) != len(names) or not all(part.isdigit() for part in parts):
        shown = line[:60].decode("utf-8", errors="replace")
        raise XmlcError(f"{path}:1: found {shown!r}, expected a header: the numbers of {', '.join(names)}")
    return tuple(int(part) for part in parts)


def _matrix(parts: list[tuple[np.ndarray, np.ndarray | None, np.ndarray]], n_columns: int | None) -> sparse.csr_array:
    """Join the parts of a matrix; without ``n_columns`` the largest id decides."""
    lengths = np.concatenate([lengths for _, _, lengths in parts] or [np.zeros(0, dtype=np.int64)])
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    indices = np.concatenate([ids for ids, _, _ in parts] or [np.zeros(0, dtype=np.uint32)]).view(np.int32)
    if n_columns is None:
        n_columns = int(indices.max()) + 1 if indices.size else 0
    if parts and parts[0][1] is not None:
        data = np.concatenate([values for _, values, _ in parts])
    else:
        data = np.ones(indices.size, dtype=bool)
    matrix = sparse.csr_array((data, indices, indptr), shape=(lengths.size, n_columns))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
