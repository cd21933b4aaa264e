"""The repository's small sets: one data file, and files that say which rows train and which test."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from scipy import sparse

from xmlc.data.formats import load
from xmlc.data.formats.decimals import whole
from xmlc.data.formats.errors import Malformed, MalformedLines, quoted
from xmlc.data.formats.stream import text_lines
from xmlc.data.source import SplitFiles
from xmlc.errors import XmlcError

PARTS: tuple[Literal["train", "test"], ...] = ("train", "test")
Part = tuple[sparse.csr_array, sparse.csr_array]


def read_split(source: Path, data: str, split_files: SplitFiles) -> tuple[Part, Part]:
    """Read a data file and cut it by one column of its split files.

    Parameters
    ----------
    source : Path
        Folder of the files.
    data : str
        File in the repository format.
    split_files : SplitFiles
        A file of row numbers has one column for each of several splits.
    """
    X, Y = load(source / data, "repository")
    column = split_files.get("column", 0)
    train, test = (_row_numbers(source / split_files[part], column, X.shape[0]) for part in PARTS)
    return (X[train], Y[train]), (X[test], Y[test])


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
