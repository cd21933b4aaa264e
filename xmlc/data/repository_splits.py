"""The repository's small sets: one data file, and files that say which rows train and which test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.data.formats import load
from xmlc.data.formats.decimals import whole
from xmlc.data.formats.errors import Malformed, MalformedLines, quoted
from xmlc.data.formats.stream import text_lines
from xmlc.errors import XmlcError

Part = tuple[sparse.csr_array, sparse.csr_array]


def read_split(source: Path, data: str, split_files: dict[str, Any]) -> tuple[Part, Part]:
    """Read a data file and cut it by one column of its split files.

    Parameters
    ----------
    source : Path
        Folder of the files.
    data : str
        File in the repository format.
    split_files : dict
        ``train`` and ``test``: files of row numbers from 1, one column for each of several splits; ``column``: which
        of them, from 0.
    """
    X, Y = load(source / data, "repository")
    parts = []
    for part in ("train", "test"):
        rows = _row_numbers(source / split_files[part], split_files.get("column", 0), X.shape[0])
        parts.append((X[rows], Y[rows]))
    train, test = parts
    return train, test


def _row_numbers(path: Path, column: int, n_rows: int) -> np.ndarray:
    rows: dict[int, None] = {}
    malformed = MalformedLines(path)
    for number, line in text_lines(path):
        cells = line.split()
        if not cells:
            continue
        if column >= len(cells):
            malformed.add(
                number, f"{len(cells)} columns", f"at least {column + 1}: column {column}, from 0, is asked for"
            )
            continue
        try:
            row = whole(cells[column]) - 1
        except Malformed:
            row = -1
        if not 0 <= row < n_rows or row in rows:
            malformed.add(number, quoted(cells[column]), f"row numbers of 1 .. {n_rows}, each once")
        rows[row] = None
    malformed.raise_any()
    if not rows:
        raise XmlcError(f"{path}: names no rows; is the file cut off?")
    return np.array(list(rows), dtype=np.int64)
