"""Texts with the names of their labels in files: CSV, TSV, JSON lines, and fastText's lines."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.data.archives import SUFFIXES
from xmlc.data.formats.lines import open_bytes

FASTTEXT = "__label__"
ANNIF = ("subject_uris", "subjects")  # its labels in CSV and in JSON
URIS = re.compile(r"\s*((<[^<>\s]+>|\w+://\S+)\s*)+")  # as Annif writes the labels of a text
STDIN = Path("-")


class Columns(NamedTuple):
    """Where a line of a file has its text and its labels."""

    #: Column of CSV and TSV, or key of JSON. Where there are no labels under this name, Annif's are taken.
    text: str = "text"
    labels: str = "labels"
    #: Between two labels of a cell.
    separator: str = ";"


USUAL = Columns()


class Document(NamedTuple):
    """A text and the names of its labels."""

    text: str
    labels: list[str]


def documents(path: Path, format: str | None = None, columns: Columns = USUAL) -> Iterator[Document]:
    """Give the documents of a file, one after the other.

    Parameters
    ----------
    path : Path
        The file, plain or compressed (.gz, .xz, .bz2, by content); ``-`` for standard input.
    format : {"csv", "tsv", "jsonl", "fasttext"}, optional
        By default that of the name's suffix, ``.txt`` being fastText's:

        - ``csv``: a header names the columns; a cell of labels has a separator between them, or URIs with blanks
          between them, as Annif's ``subject_uris`` has;
        - ``tsv``: the same with tabs; without a header a line is a text, a tab and its labels, as Annif's, and a quote
          is a letter;
        - ``jsonl``: an object a line; its labels are a list of strings or numbers, or of objects with a ``label`` or
          ``uri``, as Annif's ``subjects`` are;
        - ``fasttext``: words that begin with ``__label__`` are labels, all others are the text.
    columns : Columns

    Raises
    ------
    XmlcError
        The format is unknown, the file is no text of this format, or a line lacks its text.
    """
    format = format or format_of(path)
    if format not in READERS:
        raise XmlcError(f"{path}: found format {format!r}, expected one of {', '.join(READERS)} (--format)")
    with _lines(path) as lines:
        yield from READERS[format](lines, path, columns)


def format_of(path: Path) -> str:
    """Tell the format of texts by the suffix of a name; an empty text if it is none of them."""
    suffix = next((each.lower() for each in reversed(path.suffixes) if each not in SUFFIXES), "")
    return {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".txt": "fasttext"}.get(suffix, "")


@contextmanager
def _lines(path: Path) -> Iterator[io.TextIOBase]:
    """Open a text file, and have errors of its bytes name it."""
    raw = sys.stdin.buffer if path == STDIN else open_bytes(path)
    try:
        yield io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
    except UnicodeDecodeError as error:
        raise XmlcError(f"{path}: expected text in UTF-8 ({error}); save it as such") from error
    except csv.Error as error:
        raise XmlcError(f"{path}: {error}; expected each quote to be closed, and one within a cell twice") from None
    finally:
        if path != STDIN:
            raw.close()


def _csv(lines: io.TextIOBase, path: Path, columns: Columns) -> Iterator[Document]:
    """Read rows below a header."""
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(lines, strict=True)
    yield from _rows(rows, path, columns, next(rows, []))


def _tsv(lines: io.TextIOBase, path: Path, columns: Columns) -> Iterator[Document]:
    """Read rows with tabs; below a header they are quoted as in CSV, without one a quote is a letter."""
    csv.field_size_limit(sys.maxsize)
    first = lines.readline()
    if columns.text in [name.strip('"') for name in first.rstrip("\r\n").split("\t")]:
        rows = csv.reader(chain([first], lines), delimiter="\t", strict=True)
        yield from _rows(rows, path, columns, next(rows))
        return
    rows = csv.reader(chain([first], lines), delimiter="\t", quoting=csv.QUOTE_NONE)
    for row in rows:
        if len(row) > 2 and not URIS.fullmatch(" ".join(row[1:])):
            expected = "a text, a tab and its labels, or a header in line 1"
            raise XmlcError(f"{path}:{rows.line_num}: found {len(row)} columns, expected {expected}")
        elif row:
            yield Document(row[0], _split(" ".join(row[1:]), columns.separator))


def _rows(rows: Any, path: Path, columns: Columns, header: list[str]) -> Iterator[Document]:
    if header.count(columns.text) != 1:
        raise XmlcError(f"{path}:1: found columns {', '.join(header)}, expected one named {columns.text} (--text)")
    text, named = header.index(columns.text), [name for name in (columns.labels, *ANNIF) if name in header]
    for row in filter(None, rows):  # a blank line is none
        if len(row) != len(header):
            raise XmlcError(
                f"{path}:{rows.line_num}: found {len(row)} columns, expected {len(header)} as in the header"
            )
        yield Document(row[text], _split(row[header.index(named[0])], columns.separator) if named else [])


def _split(cell: str, separator: str) -> list[str]:
    """Return the labels of a cell."""
    if URIS.fullmatch(cell):
        return [uri.removeprefix("<").removesuffix(">") for uri in cell.split()]
    return [name for part in cell.split(separator) if (name := part.strip())]


def _jsonl(lines: io.TextIOBase, path: Path, columns: Columns) -> Iterator[Document]:
    """Read an object a line."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            text, named = row[columns.text], [name for name in (columns.labels, *ANNIF) if name in row]
            found = row[named[0]] if named else []
            labels = [str(each) if isinstance(each, str | int) else each.get("label") or each["uri"] for each in found]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            expected = f'{{"{columns.text}": "a text", "{columns.labels}": ["a name", ...]}}'
            raise XmlcError(f"{path}:{number}: found {line.strip()[:60]!r}, expected {expected} ({error})") from None
        if not isinstance(text, str) or isinstance(found, str):
            raise XmlcError(f"{path}:{number}: expected a string as {columns.text} and a list as {columns.labels}")
        yield Document(text, labels)


def _fasttext(lines: io.TextIOBase, path: Path, columns: Columns) -> Iterator[Document]:
    """Read words, of which some are labels."""
    for line in lines:
        words = line.split()
        labels = [word.removeprefix(FASTTEXT) for word in words if word.startswith(FASTTEXT) and word != FASTTEXT]
        yield Document(" ".join(word for word in words if not word.startswith(FASTTEXT)), labels)


READERS: dict[str, Callable[[io.TextIOBase, Path, Columns], Iterator[Document]]] = {
    "csv": _csv,
    "tsv": _tsv,
    "jsonl": _jsonl,
    "fasttext": _fasttext,
}
