"""Fingerprints of tables and arrays: short words that are equal if all numbers are equal.

People can compare two results by the words of their fingerprints. Version 1 of the fingerprint is
defined as follows. Each digest is a SHA-256 in 64 hexadecimal digits. The word of a fingerprint
consists of the version and the first 12 digits of a digest, as in ``1-3f2a-91c0-77de``.

Table (a CSV file)
    The digested text is ``xmlc fingerprint 1, table``, a line feed, and one line for each row. The
    lines are sorted by code points, and each line ends with a line feed. A line contains one field
    for each column except costs (``xmlc.suite.results.columns``: times, memory and numbers of
    threads are costs). The fields of a line are sorted by column name (code points) and joined by
    tabs. A field consists of the column's name as a JSON string in ASCII, a colon, and the cell. If
    a cell is a number, its nearest float64 is written in Python's ``float.hex``
    (``0x1.4000000000000p+5`` for 40), with 0 for -0. If a cell is blank or NaN, an empty text is
    written. If a cell is a text that is not a number, it is written as a JSON string. The digest of
    a table does not depend on the order of rows and columns, on trailing zeros (1.0 and 1.00), on
    quotes, or on line ends.

Array (a file ``.npy``, or a member of an ``.npz``)
    The digested bytes are the text ``xmlc fingerprint 1, array``, a line feed, the data type, a
    blank, the shape (``(3, 4)``), a line feed, and all elements in C order. The data type has the
    format of NumPy's files (``'<f4'``). All elements are converted to little-endian bytes. If two
    arrays differ only in the bits of a NaN, their digests differ.

Folder (or an ``.npz``, whose members are its entries)
    The digested text is ``xmlc fingerprint 1, folder``, a line feed, and one line for each entry.
    An entry is a table, an array, or a folder that contains tables or arrays. The line of an entry
    consists of its name as a JSON string in ASCII, a colon, its digest, and a line feed. The lines
    are sorted by the names of the entries (code points). The digest of a folder does not depend on
    other files, on hidden files, or on the name and location of the folder.
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
    """The digest of a file or folder, and the fingerprints of the entries of the folder.

    Attributes
    ----------
    digest : str
        The SHA-256 in 64 hexadecimal digits.
    parts : dict of str to Fingerprint
        Maps the name of each entry of a folder to its fingerprint. For a table or an array, the
        dict is empty.
    """

    digest: str
    parts: Mapping[str, Fingerprint]

    @property
    def word(self) -> str:
        """Return the word of the fingerprint: the version and the first 12 digits, such as
        ``1-3f2a-91c0-77de``.
        """
        return f"{VERSION}-{self.digest[:4]}-{self.digest[4:8]}-{self.digest[8:12]}"

    def lines(self, prefix: str = "") -> Iterator[tuple[str, str]]:
        """Yield the path and the fingerprint's word of every entry of the folder and its
        subfolders.

        A subfolder comes after its entries.
        """
        for name, part in self.parts.items():
            yield from part.lines(f"{prefix}{name}/")
            yield f"{prefix}{name}", part.word


def fingerprint(path: Path) -> Fingerprint:
    """Return the fingerprint of a file with a table or arrays, or of a folder with such files.

    Raises
    ------
    XmlcError
        The file does not exist, cannot be read, or contains neither a table nor arrays. For a
        folder without tables and arrays, the error is also raised.
    """
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
    """Return the fingerprint of a table.

    The cells of the table are numbers, or texts that `read_table` returned.
    """
    judged = sorted(name for name in cells if not column(name).cost)
    names = [json.dumps(name) for name in judged]
    lines = []
    for row in cells[judged].itertuples(index=False, name=None):
        fields = [f"{name}:{canonical(cell)}" for name, cell in zip(names, row, strict=True)]
        lines.append("\t".join(fields) + "\n")
    return Fingerprint(_digest("table", "".join(sorted(lines)).encode("ascii")), {})


def of_array(array: np.ndarray) -> Fingerprint:
    """Return the fingerprint of an array of any shape. The array may be memory-mapped."""
    dtype = array.dtype.newbyteorder("<")
    described = f"{np.lib.format.dtype_to_descr(dtype)!r} {array.shape}\n"
    flat = np.ascontiguousarray(array, dtype).reshape(-1)
    return Fingerprint(_digest("array", described.encode("ascii"), flat.view(np.uint8).data), {})


def of_parts(parts: Mapping[str, Fingerprint]) -> Fingerprint:
    """Return the fingerprint of a folder from the fingerprints of its entries."""
    ordered = {name: parts[name] for name in sorted(parts)}
    lines = (f"{json.dumps(name)}:{part.digest}\n" for name, part in ordered.items())
    return Fingerprint(_digest("folder", "".join(lines).encode("ascii")), ordered)


def read_table(source: Path) -> pd.DataFrame:
    """Read a CSV table. All cells are returned as texts, exactly as in the file.

    Raises
    ------
    XmlcError
        The file is not a readable table, or has two columns of one name.
    """
    try:
        # With `header=None`, a row with more cells than the first row is an error. Otherwise,
        # pandas takes the first column as the names of rows, and renames repeated columns.
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
    """Return the tables, arrays and folders of them in a folder, without hidden ones."""
    visible = [path for path in folder.iterdir() if not path.name.startswith(".")]
    files = [path for path in visible if path.suffix in (TABLE, ARRAY, ARRAYS) and path.is_file()]
    return files + [path for path in visible if path.is_dir() and _entries(path)]


def canonical(cell: Any) -> str:
    """Return the text that stands for a cell of a table in its fingerprint."""
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
