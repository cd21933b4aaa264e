"""The repository's small sets: one data file, and files that say which rows train and which test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.data.formats import load
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
    return tuple(parts)


def _row_numbers(path: Path, column: int, n_rows: int) -> np.ndarray:
    rows = []
    for number, line in text_lines(path):
        cells = line.split()
        if not cells:
            continue
        if column >= len(cells) or not cells[column].isdigit() or not 1 <= int(cells[column]) <= n_rows:
            raise XmlcError(f"{path}:{number}: found {line[:60]!r}, expected row numbers of 1 .. {n_rows}")
        rows.append(int(cells[column]) - 1)
    if len(set(rows)) != len(rows):
        raise XmlcError(f"{path}: column {column} names a row twice")
    return np.array(rows, dtype=np.int64)
