"""Texts with the names of their labels, from CSV, TSV, JSON and fastText's format."""

from __future__ import annotations

import csv
import json
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Generator, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import chain, repeat
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from xmlc.core.errors import XmlcError, shown
from xmlc.data.archives import SUFFIXES, plain
from xmlc.data.formats.lines import BLANKS, BYTE_ORDER_MARK, LineError, open_bytes, quoted, words
from xmlc.data.formats.names import MULTI_HOT, LabelNames, once

FASTTEXT = "__label__"
# Annif's names of the column (CSV) or key (JSON) of labels
ANNIF = ("subject_uris", "subjects")
STDIN = Path("-")
DELIMITERS = ",;\t|"  # Of CSV, one of which is found in the header by default
SOME = 30  # With fewer texts or labels, labels with only one text each need no warning
# Texts for missing values in pandas, Python and databases
MISSING = ("nan", "NaN", "None", "null", "NULL", "<NA>")
FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".txt": "fasttext",
}
WITH_CELLS = ("csv", "tsv", "jsonl", "json")
DECODER = json.JSONDecoder(object_pairs_hook=once)
# Common names of columns. The first line of a TSV file is a header if it has only such names.
HEADINGS = set(
    "id text texts title titles name headline abstract summary body content document sentence "
    "description question comment review message label labels heading headings subject subjects "
    "subject_uris uri uris tag tags topic topics category categories keyword keywords class "
    "classes genre genres theme themes target targets".split()
)


class Columns(NamedTuple):
    """The columns (CSV and TSV) or keys (JSON) of text, labels and other values to keep.

    Attributes
    ----------
    text, labels : str
        If no column has the default name of the labels, Annif's names are tried.
    separator : str or None
        Separator at which a cell of labels is split. With None, a cell contains JSON, or names with
        semicolons between them, and cells that seem to have another form are refused.
    delimiter : str or None
        Delimiter between columns. With None, it is a tab in TSV, and in CSV the one of ``,;|`` and
        the tab that the header shows.
    keep : tuple of str
        Columns or keys whose values are kept with each text.

    See Also
    --------
    documents

    Examples
    --------
    >>> from xmlc.data.formats.texts import Columns
    >>> Columns(labels="topics").text
    'text'
    """

    text: str = "text"
    labels: str = "labels"
    separator: str | None = None
    delimiter: str | None = None
    keep: tuple[str, ...] = ()


USUAL = Columns()


class Document(NamedTuple):
    """A text and its labels.

    Attributes
    ----------
    text : str
    labels : list of str
        Distinct names, without blanks at either end.
    kept : tuple
        Values of the columns to keep.

    See Also
    --------
    documents

    Examples
    --------
    >>> from xmlc.data.formats.texts import Document
    >>> Document("boil rice", ["cooking"]).labels
    ['cooking']
    """

    text: str
    labels: list[str]
    kept: tuple[Any, ...] = ()


Documents = Iterator[Document]


def documents(
    path: Path,
    format: str | None = None,
    columns: Columns = USUAL,
    labelled: bool = True,
) -> Documents:
    r"""Yield the documents of a file one by one.

    Lines end with ``\n`` or ``\r\n``, and only ASCII blanks count as spaces. In a file with a
    single column, a blank line is an empty text, except at the end of the file.

    Parameters
    ----------
    path : Path
        The file, plain or compressed (.gz, .xz, .bz2, recognized by content), or ``-`` for standard
        input.
    format : {"csv", "tsv", "jsonl", "json", "fasttext"}, optional
        By default, the suffix of the file determines the format, and ``.txt`` means fastText's.

        - ``csv`` has a header that names the columns, possibly after Excel's line ``sep=;``. A cell
          contains labels with a separator between them, or JSON.
        - ``tsv`` has such rows with tabs between the cells. Without a header, each line has a text,
          a tab and a cell of labels, and quotes are ordinary characters.
        - ``jsonl`` and ``json`` have one object on each line, or one array of objects. The labels
          are a list of names, of whole numbers, or of objects with a ``label`` or ``uri``, as in
          Annif's ``subjects``. They may also be an object with 0 or 1 for each name (spaCy's
          ``cats``) or with a list of ``choices`` (Label Studio), or a text as in a cell of CSV.
        - ``fasttext`` has a text on each line, in which words with the prefix ``__label__`` are
          labels instead.
    columns : Columns
    labelled : bool
        Whether to read the labels.

    Yields
    ------
    Document

    Raises
    ------
    XmlcError
        If the format is unknown, the file is not text in this format, a line has no text, or a cell
        of labels has another form. The message names the option to set.

    Warns
    -----
    UserWarning
        If at least half of the texts have no label, no label has two texts, the only labels are 0
        and 1, a label seems to be a missing value, the labels seem to have another separator, or
        the first line of a TSV looks like a header.

    See Also
    --------
    xmlc.TextClassifier

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from xmlc.data.formats.texts import documents
    >>> file = Path(tempfile.mkdtemp()) / "train.csv"
    >>> _ = file.write_text("text,labels\nboil rice,cooking;food\n")
    >>> next(documents(file)).labels
    ['cooking', 'food']
    """
    format = format or format_of(path)
    _check_options(path, format, columns)
    names = None
    if labelled:
        names = LabelNames(columns.separator)
    n = 0
    without = 0
    seen = Counter[str]()
    with closing(lines_of(path)) as lines:
        for document in READERS[format](lines, path, columns, names):
            n += 1
            without += not document.labels
            seen.update(document.labels)
            yield document
    if names is None:
        return
    if 2 * without >= n > 0:
        found = f"found no label in {without} of {n} texts"
        warnings.warn(f"{path}: {found}. {_advice(format, columns, names)}", stacklevel=2)
    for hint in (names.hint(), _doubt(seen, n, format, columns)):
        if hint:
            warnings.warn(f"{path}: {hint}", stacklevel=2)


def format_of(path: Path) -> str:
    """Return the format that a file's suffix implies, or an empty text."""
    for suffix in reversed(path.suffixes):
        if suffix.lower() not in SUFFIXES:
            return FORMAT_OF_SUFFIX.get(suffix.lower(), "")
    return ""


def _check_options(path: Path, format: str, columns: Columns) -> None:
    if format not in READERS:
        found = f"format {format!r}"
        if not format:
            found = "no suffix of a known format"
        expected = f"one of {', '.join(READERS)}. Set --format."
        raise XmlcError(f"{path}: found {found}, expected {expected}")
    delimiter = columns.delimiter
    for option, usual in USUAL._asdict().items():
        formats: tuple[str, ...] = WITH_CELLS
        if option == "delimiter":
            formats = ("csv", "tsv")
        if getattr(columns, option) != usual and format not in formats:
            expected = f"one of {', '.join(formats)}. Leave out --{option}."
            found = f"--{option} with the format {format}"
            raise XmlcError(f"{path}: found {found}, expected {expected}")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        expected = "one character. Set --delimiter, such as ';'."
        raise XmlcError(f"{path}: found delimiter {delimiter!r}, expected {expected}")


def _advice(format: str, columns: Columns, names: LabelNames) -> str:
    if format == "fasttext":
        return f"Labels are words that begin with {FASTTEXT}."
    source = repr(columns.labels)
    if format == "tsv":
        source = f"after a tab or from {source}"
    if names.keys and columns.labels not in names.keys:
        source += f", found {', '.join(map(quoted, names.keys))}"
    return f"Labels are read from {source}. Set --labels to another name."


def _doubt(seen: Counter[str], n: int, format: str, columns: Columns) -> str:
    """Return a warning if the texts seem to have no real labels, else an empty text."""
    if n >= SOME and len(seen) >= SOME and len(seen) == seen.total():
        counts = f"{n} texts, {len(seen)} labels"
        return f"found no label with two texts ({counts}). Texts and labels may be swapped."
    if format == "fasttext":
        ended = sum(name.endswith(",") for name in seen)
        if seen and 2 * ended >= len(seen):
            expected = "expected only blanks between labels"
            return f"found {ended} of {len(seen)} labels with a comma at the end, {expected}"
        return ""
    if len(seen) == 2 and MULTI_HOT.issuperset(map(str.lower, seen)):
        found = f"found only the labels {', '.join(sorted(seen))}, which are read as names"
        remedy = "its values must be the label's name or empty"
        return f"{found}. If {columns.labels!r} marks the texts of one label, {remedy}."
    for name in MISSING:
        if name in seen:
            found = f"found the label {name!r} in {seen[name]} of {n} texts"
            return f"{found}. Leave the cell empty if it means no label."
    return ""


def lines_of(path: Path) -> Generator[str, None, None]:
    """Yield the lines of a text file with their line ends."""
    number = 0
    opened: AbstractContextManager[BinaryIO]
    if path == STDIN:
        opened = nullcontext(_standard_input())
    else:
        opened = open_bytes(path)
    try:
        with opened as file:
            for line in file:
                number += 1
                if number == 1:
                    line = line.removeprefix(BYTE_ORDER_MARK)
                if b"\0" in line:
                    expected = "text. Unpack the file, or save it as UTF-8."
                    raise XmlcError(f"{path}:{number}: found a zero byte, expected {expected}")
                yield line.decode()
    except UnicodeDecodeError as error:
        found = f"byte {error.object[error.start]:#x}, expected UTF-8. Save it as UTF-8."
        raise XmlcError(f"{path}:{number}: found {found}") from error


def _standard_input() -> BinaryIO:
    file = sys.stdin.buffer
    if hasattr(file, "peek"):  # A file in memory that replaces standard input lacks it
        return plain(file, str(STDIN))
    return file


def _csv(lines: Iterator[str], path: Path, columns: Columns, names: LabelNames | None) -> Documents:
    first = next(lines, "")
    delimiter = ","
    if first.rstrip("\r\n")[:-1].lower() == "sep=":  # Excel takes this line as the delimiter
        delimiter = first[4]
        first = "\n"  # Blank lines are skipped, and the numbers of the other lines stay
    else:
        for each in DELIMITERS:
            if columns.text in _headings(first, each):
                delimiter = each
                break
    yield from _rows(chain([first], lines), path, columns, names, columns.delimiter or delimiter)


def _tsv(lines: Iterator[str], path: Path, columns: Columns, names: LabelNames | None) -> Documents:
    """Yield the documents of a TSV file, in which quotes are plain text unless it has a header."""
    first = next(lines, "")
    delimiter = columns.delimiter or "\t"
    headings = _headings(first, delimiter)
    lines = chain([first], lines)
    are_set = (columns.text, columns.labels) != (USUAL.text, USUAL.labels)
    if columns.text in headings or columns.keep or are_set:
        yield from _rows(lines, path, columns, names, delimiter)
        return
    if len(headings) > 1 and HEADINGS.issuperset(name.lower() for name in headings):
        hint = _hint(columns.text, headings)
        expected = f"one named {columns.text}.{hint} Set the names with --text and --labels."
        raise XmlcError(f"{path}:1: found columns {', '.join(headings)}, expected {expected}")
    top: Document | None = None
    again = False  # Whether a label of the first line has another text
    one_word = 0
    number = 0
    blank = 0
    has_cells = False
    for number, line in enumerate(lines, start=1):
        text, *cells = line.removesuffix("\n").removesuffix("\r").split(delimiter)
        if len(cells) > 1 and columns.separator != delimiter:
            expected = (
                f"a text, {delimiter!r} and its labels. If line 1 is a header, set --text and "
                f"--labels to its columns. If {delimiter!r} separates labels, set --separator "
                f"{delimiter!r}."
            )
            raise XmlcError(f"{path}:{number}: found {len(cells) + 1} columns, expected {expected}")
        if not text and not cells:
            blank += 1
            continue
        has_cells = has_cells or bool(cells)
        if not has_cells:  # In a single column, a blank line between others is an empty text
            yield from repeat(Document("", []), blank)
        blank = 0
        place = f"{path}:{number}"
        document = _document(place, "column 2", text, names, delimiter.join(cells))
        if top is None:
            top = document
        elif not again:
            again = not set(top.labels).isdisjoint(document.labels)
        one_word += len(words(text)) < 2
        yield document
    if names and top and not has_cells:
        expected = "one before the labels. Set --format or --delimiter."
        raise XmlcError(f"{path}: found no {delimiter!r} in any line, expected {expected}")
    if names is None or top is None or not top.labels or again or number < 3:
        return
    last_words = [name.lower().strip(BLANKS).rpartition(" ")[2] for name in headings]
    is_short = one_word == 1 and len(words(top.text)) == 1
    if is_short or (len(headings) > 1 and HEADINGS.issuperset(last_words)):
        found = f"{quoted(top.text)} with label {quoted(top.labels[0])}, which may be a header"
        remedy = "If it is one, set --text and --labels to its columns."
        warnings.warn(f"{path}:1: found {found}. {remedy}", stacklevel=3)


def _headings(line: str, delimiter: str) -> list[str]:
    return [name.strip(BLANKS).strip('"') for name in line.split(delimiter)]


def _rows(
    lines: Iterator[str],
    path: Path,
    columns: Columns,
    names: LabelNames | None,
    delimiter: str,
) -> Documents:
    rows = table_rows(lines, path, delimiter)
    line, header = next(rows, (1, []))
    if not header:
        return
    header = [name.strip(BLANKS) for name in header]
    labels = _label_key(columns, header)
    needed = [columns.text, *columns.keep]
    if labels in header:
        needed.append(labels)
    for name in needed:
        if header.count(name) != 1:
            options = "--text, --labels, --keep and --delimiter"
            hint = _hint(name, header)
            expected = f"one named {name}.{hint} Set names and delimiter with {options}."
            found = f"columns {', '.join(header)}"
            raise XmlcError(f"{path}:{line}: found {found}, expected {expected}")
    if names:
        names.keys = header
    for line, row in rows:
        if len(row) != len(header):
            expected = f"{len(header)} as in the header"
            if len(row) > len(header):
                expected += f". Quote cells that contain {delimiter!r}."
            raise XmlcError(f"{path}:{line}: found {len(row)} columns, expected {expected}")
        cells = dict(zip(header, row))
        text = cells[columns.text]
        kept = tuple(cells[name] for name in columns.keep)
        place = f"{path}:{line}"
        yield _document(place, f"column {labels!r}", text, names, cells.get(labels), kept)


def _hint(name: str, names: Collection[str]) -> str:
    for each in names:
        if each != name and each.lower() == name.lower():
            return f" Did you mean {each}?"
    return ""


def _label_key(columns: Columns, keys: Collection[str]) -> str:
    """Return the column or key of the labels, by default possibly one of Annif's names."""
    if columns.labels == USUAL.labels and columns.labels not in keys:
        for key in ANNIF:
            if key in keys:
                return key
    return columns.labels


def table_rows(lines: Iterator[str], path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, each with the number of its first line.

    Blank lines are skipped, but between the rows of a single column they are empty cells.
    """
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    start = 1
    width = 0
    blank: list[int] = []
    try:
        for row in rows:
            if row:
                for line in blank:
                    yield line, [""]
                yield start, row
                blank = []
                width = width or len(row)
            elif width == 1:
                blank.append(start)
            start = rows.line_num + 1
    except csv.Error as error:
        found = f"an unreadable row ({error})"
        expected = "closing quotes, doubled quotes in a cell, and \\r only in quotes or before \\n"
        raise XmlcError(f"{path}:{start}: found {found}, expected {expected}") from None


def _document(
    place: str,
    field: str,
    text: str,
    names: LabelNames | None,
    value: Any,
    kept: tuple[Any, ...] = (),
) -> Document:
    """Create a document from a text and a cell or JSON value, unread if ``names`` is None.

    For messages, ``field`` is the place of the labels.
    """
    labels: list[str] = []
    try:
        if names:
            labels = names.of_value(value)
        (text + "".join(labels) + json.dumps(kept, ensure_ascii=False, allow_nan=False)).encode()
    except UnicodeEncodeError as error:  # JSON allows lone surrogates, which UTF-8 cannot encode
        expected = f"whole characters ({error})"
        raise XmlcError(f"{place}: found half of a character, expected {expected}") from None
    except LineError as error:
        raise XmlcError(f"{place}: {field}: {error}") from None
    except ValueError:  # Python reads 1e400 as infinity, which JSON cannot represent
        expected = "finite numbers. Quote them."
        raise XmlcError(f"{place}: found {shown(kept)} to keep, expected {expected}") from None
    return Document(text, labels, kept)


def _json(
    lines: Iterator[str],
    path: Path,
    columns: Columns,
    names: LabelNames | None,
) -> Documents:
    for place, row in _objects(lines, path):
        for key in (columns.text, *columns.keep):
            if key not in row:
                found = f"keys {quoted(', '.join(row))}"
                hint = _hint(key, row)
                expected = f"{key}.{hint} Set --text and --keep to keys that all objects have."
                raise XmlcError(f"{place}: found {found}, expected {expected}")
        text = row[columns.text]
        if not isinstance(text, str):
            expected = f"a string as {columns.text}. Set --text to the key."
            raise XmlcError(f"{place}: found {shown(text)}, expected {expected}")
        if names:
            names.keys = list(row)
            # The annotation tool Prodigy marks objects whose labels are not valid
            if row.get("answer") in ("reject", "ignore"):
                expected = "only accepted labels. Remove the other objects."
                raise XmlcError(f"{place}: found answer {row['answer']!r}, expected {expected}")
        labels = _label_key(columns, row)
        kept = tuple(row[key] for key in columns.keep)
        yield _document(place, f"key {labels!r}", text, names, row.get(labels), kept)


def _objects(lines: Iterator[str], path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and content of the JSON objects in a file, one per line or in one array."""
    for number, line in enumerate(lines, start=1):
        start = line.strip(BLANKS)
        if start.startswith("["):
            yield from _array("".join(chain([line], lines)), path, number)
            return
        if start:
            place = f"{path}:{number}"
            value, end = _decoded(start, 0, place)
            if end < len(start):
                raise _no_object(place, start, "it continues after the object")
            yield place, value


def _array(text: str, path: Path, line: int) -> Iterator[tuple[str, dict[str, Any]]]:
    position = _behind_space(text, text.index("[") + 1)
    counted = 0
    has_next = not text.startswith("]", position)
    while has_next:
        line += text.count("\n", counted, position)
        counted = position
        place = f"{path}:{line}"
        value, end = _decoded(text, position, place)
        yield place, value
        position = _behind_space(text, end)
        has_next = text.startswith(",", position)
        if has_next:
            position = _behind_space(text, position + 1)
    is_closed = text.startswith("]", position)
    expected = "a comma or the end of the array"
    if is_closed:
        position = _behind_space(text, position + 1)
        expected = "the end of the file after the array"
    if not is_closed or position < len(text):
        line += text.count("\n", counted, position)
        found = quoted(text[position : position + 60])
        raise XmlcError(f"{path}:{line}: found {found}, expected {expected}")


def _behind_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _decoded(text: str, start: int, place: str) -> tuple[dict[str, Any], int]:
    problem: object = "no object"
    try:
        value, end = DECODER.raw_decode(text, start)
        if isinstance(value, dict):
            return value, end
    except (ValueError, RecursionError) as error:
        problem = error
    raise _no_object(place, text[start : start + 99], problem)


def _no_object(place: str, line: str, problem: object) -> XmlcError:
    found = quoted(line.strip(BLANKS))
    expected = '{"text": "a text", "labels": ["a name", ...]} on each line, or one array of objects'
    return XmlcError(f"{place}: found {found}, expected {expected} ({problem})")


def _fasttext(
    lines: Iterator[str],
    path: Path,
    columns: Columns,
    names: LabelNames | None,
) -> Documents:
    """Yield the documents of a file, with words that begin with `FASTTEXT` as labels."""
    for number, line in enumerate(lines, start=1):
        text = []
        labels = []
        for word in words(line):
            if FASTTEXT in word.removeprefix(FASTTEXT):
                expected = "blanks between labels"
                raise XmlcError(f"{path}:{number}: found {quoted(word)}, expected {expected}")
            if not word.startswith(FASTTEXT):
                text.append(word)
            elif names and word != FASTTEXT:
                labels.append(word.removeprefix(FASTTEXT))
        yield Document(" ".join(text), list(dict.fromkeys(labels)))


READERS = {"csv": _csv, "tsv": _tsv, "jsonl": _json, "json": _json, "fasttext": _fasttext}
