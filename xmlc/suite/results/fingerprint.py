"""Fingerprints of tables and arrays: short words that are equal if all numbers are equal.

A word such as ``1-3f2a-91c0-77de`` consists of the version and the first 12 of the 64 hexadecimal
digits of a digest (SHA-256). Version 1 is defined as follows.

Table (a CSV file)
    The digested text is ``xmlc fingerprint 1, table``, a line feed, and one line for each row,
    sorted by code points and ending with a line feed. A line has one field for each column that is
    no cost (``xmlc.suite.results.columns``: times, memory and numbers of threads are costs), sorted
    by column name (code points) and joined by tabs. A field consists of the column's name as a JSON
    string in ASCII, a colon, and the cell. A number is written as its nearest float64 in Python's
    ``float.hex`` (``0x1.4000000000000p+5`` for 40), with 0 for -0. A blank or NaN is an empty text,
    and any other text is a JSON string. So the order of rows and columns, trailing zeros (1.0 and
    1.00), quotes and line ends do not count.

Array (a file ``.npy``, or a member of an ``.npz``)
    The digested bytes are the text ``xmlc fingerprint 1, array``, a line feed, the data type in the
    format of NumPy's files (``'<f4'``), a blank, the shape (``(3, 4)``), a line feed, and all
    elements in C order, as little-endian bytes. Arrays that differ only in the bits of a NaN have
    different digests.

Folder (or an ``.npz``, whose members are its entries)
    The digested text is ``xmlc fingerprint 1, folder``, a line feed, and one line for each entry,
    sorted by its name (code points). An entry is a table, an array, or a folder of these, and its
    line consists of the name as a JSON string in ASCII, a colon, the digest, and a line feed. Other
    files, hidden files, and the name and location of the folder do not count.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from xmlc.core.errors import XmlcError, let_through
from xmlc.suite.files import similar_path
from xmlc.suite.results.columns import column

VERSION = 1
TABLE = ".csv"
ARRAY = ".npy"
ARRAYS = ".npz"


@dataclass(frozen=True)
class Fingerprint:
    """The digest of a file or folder, with the fingerprints of a folder's entries by name."""

    digest: str
    parts: Mapping[str, Fingerprint]

    @property
    def word(self) -> str:
        """Return the version and the first 12 digits, such as ``1-3f2a-91c0-77de``."""
        return f"{VERSION}-{self.digest[:4]}-{self.digest[4:8]}-{self.digest[8:12]}"

    def lines(self, prefix: str = "") -> Iterator[tuple[str, str]]:
        """Yield path and word of every entry below the folder, each after its own entries."""
        for name, part in self.parts.items():
            yield from part.lines(f"{prefix}{name}/")
            yield f"{prefix}{name}", part.word


def fingerprint(path: Path) -> Fingerprint:
    """Return the fingerprint of a table, of arrays, or of a folder with such files."""
    if path.is_dir():
        parts = {entry.name: fingerprint(entry) for entry in _entries(path)}
        if not parts:
            raise XmlcError(f"{path}: found no table (*{TABLE}) or array (*{ARRAY}, *{ARRAYS})")
        return of_parts(parts)
    if not path.is_file():
        raise XmlcError(f"{path}: found no such file or folder{similar_path(path)}")
    if path.suffix == TABLE:
        return of_table(read_table(path))
    if path.suffix not in (ARRAY, ARRAYS):
        raise XmlcError(
            f"{path}: expected a table (*{TABLE}), arrays (*{ARRAY}, *{ARRAYS}) or a folder of them"
        )
    try:
        content = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(content, np.ndarray):
            return of_array(content)
        with content:
            return of_parts({name: of_array(content[name]) for name in content.files})
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        let_through(error)
        raise XmlcError(f"{path}: found no readable arrays ({error}). Rebuild the file") from error


def of_table(cells: pd.DataFrame) -> Fingerprint:
    """Return the fingerprint of a table of numbers or of `read_table`."""
    judged = sorted(name for name in cells if not column(name).cost)
    names = [json.dumps(name) for name in judged]
    lines = []
    for row in cells[judged].itertuples(index=False, name=None):
        fields = [f"{name}:{canonical(cell)}" for name, cell in zip(names, row, strict=True)]
        lines.append("\t".join(fields) + "\n")
    return Fingerprint(_digest("table", "".join(sorted(lines)).encode("ascii")), {})


def of_array(array: np.ndarray) -> Fingerprint:
    """Return the fingerprint of an array, which may be memory-mapped."""
    dtype = array.dtype.newbyteorder("<")
    described = f"{np.lib.format.dtype_to_descr(dtype)!r} {array.shape}\n"
    flat = np.ascontiguousarray(array, dtype).reshape(-1)
    return Fingerprint(_digest("array", described.encode("ascii"), flat.view(np.uint8).data), {})


def of_parts(parts: Mapping[str, Fingerprint]) -> Fingerprint:
    """Return the fingerprint of a folder from its entries'."""
    ordered = {name: parts[name] for name in sorted(parts)}
    lines = (f"{json.dumps(name)}:{part.digest}\n" for name, part in ordered.items())
    return Fingerprint(_digest("folder", "".join(lines).encode("ascii")), ordered)


def read_table(source: Path) -> pd.DataFrame:
    """Read a CSV table, with all cells as texts exactly as in the file.

    Raises
    ------
    XmlcError
        The file is not a readable table, or has two columns of one name.
    """
    try:
        # Otherwise, pandas would take extra cells of a row as names and rename repeated columns.
        rows = pd.read_csv(source, header=None, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        let_through(error)
        raise XmlcError(f"{source}: found no readable CSV table ({error})") from error
    names = rows.iloc[0]
    if names.duplicated().any():
        repeated = names[names.duplicated()].iloc[0]
        raise XmlcError(f"{source}: found two columns {repeated!r}, expected different names")
    return rows[1:].set_axis(list(names), axis="columns").reset_index(drop=True)


def _entries(folder: Path) -> list[Path]:
    visible = [path for path in folder.iterdir() if not path.name.startswith(".")]
    files = [path for path in visible if path.suffix in (TABLE, ARRAY, ARRAYS) and path.is_file()]
    return files + [path for path in visible if path.is_dir() and _entries(path)]


def canonical(cell: Any) -> str:
    """Return the text of a cell in the fingerprint of its table."""
    if pd.isna(cell) or cell == "":
        return ""
    try:
        value = float(cell)
    except ValueError:
        return json.dumps(cell)
    if math.isnan(value):
        return ""
    return (value + 0.0).hex()


def _digest(kind: str, *parts: bytes | memoryview) -> str:
    digest = hashlib.sha256(f"xmlc fingerprint {VERSION}, {kind}\n".encode("ascii"))
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
