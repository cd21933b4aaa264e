"""Read texts with the names of their labels from files in CSV, TSV, JSON, JSON lines, and fastText's format."""

from __future__ import annotations

import csv
import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from xmlc.core.errors import XmlcError, shown
from xmlc.data.archives import SUFFIXES, plain
from xmlc.data.formats.lines import BLANKS, BYTE_ORDER_MARK, LineError, open_bytes, quoted, words
from xmlc.data.formats.names import MULTI_HOT, LabelNames, is_uri, once

FASTTEXT = "__label__"
# Annif's names of the column (CSV) or key (JSON) of labels.
ANNIF = ("subject_uris", "subjects")
STDIN = Path("-")
DELIMITERS = ",;\t|"  # Possible delimiters of CSV. By default the delimiter is found in the header of the file.
SOME = 30  # Minimum number of texts in a file for which xmlc warns if every label has only one text.
MISSING = ("nan", "NaN", "None", "null", "NULL", "<NA>")  # Texts for missing values in pandas, Python and databases.
SPACE = re.compile(r"[ \t\r\n]*")  # JSON allows only space, tab and line ends as white space.
# HEADINGS contains common names of columns. If the first line of a TSV file contains only names in HEADINGS, the line
# is a header.
HEADINGS = set(
    "id text texts title titles name headline abstract summary body content document sentence description "
    "question comment review message label labels heading headings subject subjects subject_uris uri "
    "uris tag tags topic topics category categories keyword keywords class classes genre genres theme themes target "
    "targets".split()
)


class Columns(NamedTuple):
    """Hold the names of the columns that contain the text, the labels and other values to keep."""

    #: In CSV and TSV, each name is the name of a column, and in JSON the name of a key. If no column has the default
    #: name ``labels``, Annif's names are tried.
    text: str = "text"
    labels: str = "labels"
    #: Separator between labels in a cell. With None, a cell may contain names with semicolons between them, URIs with
    #: blanks between them, or a list written as text.
    separator: str | None = None
    #: Delimiter between columns. With None, the delimiter of TSV is a tab. With None, the delimiter of CSV is found in
    #: the header, and is one of ``,;|`` or a tab.
    delimiter: str | None = None
    #: Names of the columns or keys whose values are kept with each text.
    keep: tuple[str, ...] = ()


USUAL = Columns()


class Document(NamedTuple):
    """Hold a text and the names of its labels. The names of labels are distinct, and have no blanks at either end."""

    text: str
    labels: list[str]
    kept: tuple[Any, ...] = ()


Documents = Iterator[Document]


def documents(path: Path, format: str | None = None, columns: Columns = USUAL, labelled: bool = True) -> Documents:
    r"""Yield the documents of a file one by one.

    Lines end with ``\n`` or ``\r\n``. Unicode spaces that are not ASCII are ordinary characters.

    Parameters
    ----------
    path : Path
        The file, plain or compressed (.gz, .xz, .bz2, recognized by content), or ``-`` for standard input.
    format : {"csv", "tsv", "jsonl", "json", "fasttext"}, optional
        The format. By default the suffix of the file's name determines the format. The suffix ``.txt`` means fastText's
        format.

        - ``csv`` has a header that names the columns. A cell contains labels with a separator between them, or URIs
          with blanks between them, as in Annif's ``subject_uris``.
        - ``tsv`` has rows as in ``csv``, but with tabs between the cells. Without a header, each line of TSV has a
          text, a tab and labels, as in Annif's files. In TSV without a header, quotes are ordinary characters.
        - ``jsonl`` and ``json`` have one object on each line, or one array of objects. The labels are a list of names,
          of whole numbers, or of objects with a ``label`` or ``uri``, as in Annif's ``subjects``. The labels may also
          be an object with 0 or 1 for each name, as in spaCy's ``cats``, or a text as in a cell of CSV. If a label has
          two URIs in the file, the URIs replace the label's name.
        - ``fasttext`` has a text on each line, in which words that begin with ``__label__`` are labels. All other words
          of the line are the text.
    columns : Columns
    labelled : bool
        Whether to read the labels.

    Raises
    ------
    XmlcError
        The format is unknown, the file is not text in this format, or a line has no text.

    Warns
    -----
    UserWarning
        At least half of the texts have no label, no label has two texts, the only labels are 0 and 1, a label seems to
        be a missing value, the labels seem to have another separator, or the first line of a TSV looks like a header.
    """
    format = format or format_of(path)
    if format not in READERS:
        found = f"format {format!r}" if format else "no suffix of a known format"
        raise XmlcError(f"{path}: found {found}, expected one of {', '.join(READERS)}. Set --format.")
    if columns.delimiter and format not in ("csv", "tsv"):
        raise XmlcError(f"{path}: found a delimiter for {format}, expected none. Use --delimiter only for csv and tsv.")
    if columns.delimiter is not None and (len(columns.delimiter) != 1 or columns.delimiter in '"\r\n'):
        expected = "one character. Set --delimiter, such as ';'."
        raise XmlcError(f"{path}: found delimiter {columns.delimiter!r}, expected {expected}")
    if columns.separator and format == "fasttext":
        raise XmlcError(f"{path}: found a separator for fasttext, expected none. Leave out --separator.")
    if columns.keep and format == "fasttext":
        said = f"found --keep {quoted(columns.keep[0])} for fasttext, expected csv, tsv or jsonl. Leave out --keep."
        raise XmlcError(f"{path}: {said}")
    names, n, without, seen = LabelNames(columns.separator), 0, 0, Counter[str]()
    with closing(lines_of(path)) as lines:
        for document in READERS[format](lines, path, columns, names if labelled else None):
            n, without = n + 1, without + (not document.labels)
            seen.update(document.labels)
            yield document
    if labelled and 2 * without >= n > 0:
        found = f"found no label in {without} of {n} texts"
        warnings.warn(f"{path}: {found}. {_advice(format, columns, names)}", stacklevel=2)
    for hint in filter(None, (names.hint(), _doubt(seen, n, format, columns))):
        warnings.warn(f"{path}: {hint}", stacklevel=2)


def format_of(path: Path) -> str:
    """Return the format that the suffix of a file's name implies, or an empty text for an unknown suffix."""
    suffix = next((each.lower() for each in reversed(path.suffixes) if each.lower() not in SUFFIXES), "")
    known = {".ndjson": "jsonl", ".txt": "fasttext"} | {f".{name}": name for name in ("csv", "tsv", "jsonl", "json")}
    return known.get(suffix, "")


def _advice(format: str, columns: Columns, names: LabelNames) -> str:
    """Return a sentence for error messages: how to write labels in a format."""
    if format == "fasttext":
        return f"Labels are words that begin with {FASTTEXT}."
    tab = "after a tab or " if format == "tsv" else ""
    among = f", found {', '.join(map(quoted, names.keys))}" if columns.labels not in names.keys and names.keys else ""
    return f"Labels are read {tab}from {columns.labels!r}{among}. Set --labels to another name."


def _doubt(seen: Counter[str], n: int, format: str, columns: Columns) -> str:
    """Return a warning if the texts seem to have no real labels, and otherwise an empty text."""
    if format != "fasttext" and len(seen) == 2 and MULTI_HOT.issuperset(map(str.lower, seen)):
        said = f"If {columns.labels!r} marks the texts of one label, its values must be the label's name or empty."
        return f"found only the labels {', '.join(sorted(seen))}, which are read as names. {said}"
    if n >= SOME <= len(seen) == seen.total():
        return f"found no label with two texts ({n} texts, {len(seen)} labels). Texts and labels may be swapped."
    ended = len([name for name in seen if name.endswith(",")]) if format == "fasttext" else 0
    if 2 * ended >= len(seen) > 0:
        return f"found {ended} of {len(seen)} labels with a comma at the end, expected only blanks between labels"
    if format != "fasttext" and (missing := next((name for name in MISSING if seen[name]), "")):
        found = f"found the label {missing!r} in {seen[missing]} of {n} texts"
        return f"{found}. Leave the cell empty if it means no label."
    return ""


def lines_of(path: Path) -> Generator[str, None, None]:
    """Yield the lines of a text file with their line ends."""
    number = 0
    try:
        with nullcontext(_standard_input()) if path == STDIN else open_bytes(path) as file:
            for line in file:
                number += 1
                line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
                if b"\0" in line:
                    expected = "text. Unpack the file, or save it as UTF-8."
                    raise XmlcError(f"{path}:{number}: found a zero byte, expected {expected}")
                yield line.decode()
    except UnicodeDecodeError as error:
        found = f"byte {error.object[error.start]:#x}"
        raise XmlcError(f"{path}:{number}: found {found}, expected UTF-8. Save it as UTF-8.") from error


def _standard_input() -> BinaryIO:
    file = sys.stdin.buffer
    # If standard input was replaced by a file in memory, it has no method ``peek``.
    return plain(file, str(STDIN)) if hasattr(file, "peek") else file


def _csv(lines: Iterator[str], path: Path, columns: Columns, names: LabelNames | None) -> Documents:
    """Yield the documents in the rows of a CSV file with a header."""
    first = next(lines, "")
    delimiter = next((each for each in DELIMITERS if columns.text in _headings(first, each)), ",")
    yield from _rows(chain([first], lines), path, columns, names, columns.delimiter or delimiter)


def _tsv(lines: Iterator[str], path: Path, columns: Columns, names: LabelNames | None) -> Documents:
    """Yield the documents of a TSV file.

    If the file has a header, cells may be quoted as in CSV. If a file has no header, quotes in the file are plain text.
    """
    first, delimiter = next(lines, ""), columns.delimiter or "\t"
    headings = _headings(first, delimiter)
    if columns.text in headings or columns.keep or (columns.text, columns.labels) != (USUAL.text, USUAL.labels):
        yield from _rows(chain([first], lines), path, columns, names, delimiter)
        return
    if len(headings) > 1 and HEADINGS.issuperset(name.lower() for name in headings):
        expected = f"one named {columns.text}. Set the names with --text and --labels."
        raise XmlcError(f"{path}:1: found columns {', '.join(headings)}, expected {expected}")
    last_words = [words(name)[-1].lower() for name in headings if words(name)]
    is_named = len(headings) > 1 and len(last_words) == len(headings) and HEADINGS.issuperset(last_words)
    again = one_word = 0
    top: Document | None = None
    for number, line in enumerate(chain([first], lines), start=1):
        text, *cells = line.removesuffix("\n").removesuffix("\r").split(delimiter)
        if len(cells) > 1 and columns.separator != delimiter and not all(map(is_uri, words(" ".join(cells)))):
            expected = "a text, a tab and its labels. If line 1 is a header, set --text and --labels to its columns."
            raise XmlcError(f"{path}:{number}: found {len(cells) + 1} columns, expected {expected}")
        if not text and not cells:
            continue
        document = _document(f"{path}:{number}", text, names, (columns.separator or " ").join(cells))
        again += top is not None and bool({*top.labels} & {*document.labels})
        one_word += len(words(text)) < 2
        top = top or document
        yield document
    is_short = top is not None and one_word == 1 and len(words(top.text)) == 1
    if names and top and number > 2 and (is_named or is_short) and top.labels and not again:
        found = f"{quoted(top.text)} with label {quoted(top.labels[0])}"
        said = "If it is one, set --text and --labels to its columns."
        warnings.warn(f"{path}:1: found {found}, which may be a header. {said}", stacklevel=3)


def _headings(line: str, delimiter: str) -> list[str]:
    """Return the column names in a header line."""
    return [name.strip(BLANKS).strip('"') for name in line.split(delimiter)]


def _rows(lines: Iterator[str], path: Path, columns: Columns, names: LabelNames | None, delimiter: str) -> Documents:
    """Yield the documents in a table with a header and quoted cells."""
    rows = table_rows(lines, path, delimiter)
    line, header = next(rows, (1, []))
    if not header:
        return
    header = [name.strip(BLANKS) for name in header]
    usual = columns.labels == USUAL.labels
    named = [name for name in (columns.labels, *(ANNIF if usual else ())) if name in header][:1]
    for name in [columns.text, *named, *columns.keep]:
        if header.count(name) != 1:
            expected = f"one named {name}. Set names and delimiter with --text, --labels, --keep and --delimiter."
            raise XmlcError(f"{path}:{line}: found columns {', '.join(header)}, expected {expected}")
    text, *labels = map(header.index, [columns.text, *named])
    kept = [*map(header.index, columns.keep)]
    if names:
        names.keys = header
    for line, row in rows:
        if len(row) != len(header):
            raise XmlcError(f"{path}:{line}: found {len(row)} columns, expected {len(header)} as in the header")
        cell = row[labels[0]] if labels else ""
        yield _document(f"{path}:{line}", row[text], names, cell, tuple(row[j] for j in kept))


def table_rows(lines: Iterator[str], path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, each with the number of its first line. Blank lines are skipped."""
    csv.field_size_limit(sys.maxsize)
    rows, start = csv.reader(lines, delimiter=delimiter, strict=True), 1
    try:
        for row in rows:
            if row:
                yield start, row
            start = rows.line_num + 1
    except csv.Error as error:
        expected = "closing quotes, doubled quotes in a cell, and carriage returns only in quotes or at the line's end"
        raise XmlcError(f"{path}:{start}: found an unreadable row ({error}), expected {expected}") from None


def _document(place: str, text: str, names: LabelNames | None, value: Any, kept: tuple[Any, ...] = ()) -> Document:
    """Create a document from a text and from ``value``, which contains the text's labels as a cell or JSON value.

    If the argument ``names`` is None, labels are not read.
    """
    try:
        labels = names.of_value(value) if names else []
        (text + "".join(labels) + json.dumps(kept, ensure_ascii=False)).encode()
        json.dumps(kept, allow_nan=False)
    except UnicodeEncodeError as error:  # JSON and Python allow lone surrogates, which UTF-8 cannot encode.
        raise XmlcError(f"{place}: found half of a character, expected whole characters ({error})") from None
    except LineError as error:
        raise XmlcError(f"{place}: {error}") from None
    except ValueError:  # Python reads 1e400 as infinity, which JSON cannot represent.
        raise XmlcError(f"{place}: found {shown(kept)} to keep, expected finite numbers. Quote them.") from None
    return Document(text, labels, kept)


def _json(lines: Iterator[str], path: Path, columns: Columns, names: LabelNames | None) -> Documents:
    """Yield the documents in a file of JSON objects."""
    for place, row in _objects(lines, path):
        text = row.get(columns.text)
        if not isinstance(text, str):
            found = repr(text)[:60] if columns.text in row else f"keys {quoted(', '.join(row))}"
            raise XmlcError(f"{place}: found {found}, expected a string as {columns.text}. Set --text to the key.")
        if missing := [key for key in columns.keep if key not in row]:
            found = quoted(", ".join(row))
            expected = f"{missing[0]}. Use --keep only for keys that all objects have."
            raise XmlcError(f"{place}: found keys {found}, expected {expected}")
        # The annotation tool Prodigy writes the key ``answer``. If the answer is "reject" or "ignore", the labels are
        # not valid.
        if names and (answer := row.get("answer")) in ("reject", "ignore"):
            expected = "only accepted labels. Remove the other objects."
            raise XmlcError(f"{place}: found answer {answer!r}, expected {expected}")
        value = _labels_of(row, columns)
        if names:
            names.keys = [*row]
        entries = value if isinstance(value, list) else [value]
        if names and not names.shared_is_known and any(isinstance(each, dict) and "uri" in each for each in entries):
            names.shared_is_known = True
            if path != STDIN:
                names.shared = _shared(path, columns)
        yield _document(place, text, names, value, tuple(row[key] for key in columns.keep))


def _labels_of(row: dict[str, Any], columns: Columns) -> Any:
    keys = (columns.labels, *(ANNIF if columns.labels == USUAL.labels else ()))
    return next((row[key] for key in keys if key in row), None)


def _shared(path: Path, columns: Columns) -> set[str]:
    """Return the labels that have more than one URI in a file."""
    names = LabelNames(columns.separator)
    with closing(lines_of(path)) as lines:
        for place, row in _objects(lines, path):
            _document(place, "", names, _labels_of(row, columns))
    if names.shared:
        some = ", ".join(map(quoted, sorted(names.shared)[:3]))
        more = f" and {len(names.shared) - 3} more" if len(names.shared) > 3 else ""
        said = f"found {len(names.shared)} labels with two or more URIs, which replace their names: {some}{more}"
        warnings.warn(f"{path}: {said}", stacklevel=4)
    return names.shared


def _objects(lines: Iterator[str], path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the location and content of each JSON object in a file: one object per line, or one array."""
    found: Any
    for number, line in enumerate(lines, start=1):
        if not line.strip(BLANKS):
            continue
        if line.lstrip(BLANKS).startswith("["):
            yield from _array("".join(chain([line], lines)), path, number)
            return
        try:
            found = json.loads(line, object_pairs_hook=once)
        except (ValueError, RecursionError) as error:
            raise _no_object(f"{path}:{number}", line, error) from None
        yield f"{path}:{number}", _object(f"{path}:{number}", found, line)


def _array(text: str, path: Path, line: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a JSON array that begins in the given line of the file."""
    read = json.JSONDecoder(object_pairs_hook=once).raw_decode
    counted, position, mark = 0, text.index("["), "["
    while mark != "]":
        start = _behind_space(text, position + 1)
        line, counted = line + text.count("\n", counted, start), start
        if mark == "[" and text.startswith("]", start):
            position = start
        else:
            shown = text[start : start + 99]
            try:
                found, end = read(text, start)
            except (ValueError, RecursionError) as error:
                raise _no_object(f"{path}:{line}", shown, error) from None
            yield f"{path}:{line}", _object(f"{path}:{line}", found, shown)
            position = _behind_space(text, end)
        mark = text[position : position + 1]
        if mark not in (",", "]"):
            break
    rest = position if mark != "]" else _behind_space(text, position + 1)
    if mark != "]" or rest < len(text):
        expected = "a comma or the end of the array" if mark != "]" else "the end of the file after the array"
        line += text.count("\n", counted, rest)
        raise XmlcError(f"{path}:{line}: found {quoted(text[rest : rest + 60])}, expected {expected}")


def _behind_space(text: str, position: int) -> int:
    match = SPACE.match(text, position)
    return match.end() if match else position


def _object(place: str, value: Any, line: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _no_object(place, line, "no object")
    return value


def _no_object(place: str, line: str, problem: object) -> XmlcError:
    expected = '{"text": "a text", "labels": ["a name", ...]} on each line, or one array of objects'
    return XmlcError(f"{place}: found {quoted(line.strip(BLANKS))}, expected {expected} ({problem})")


def _fasttext(lines: Iterator[str], path: Path, columns: Columns, names: LabelNames | None) -> Documents:
    """Yield the documents of a file in fastText's format, in which some words of a line are labels."""
    for number, line in enumerate(lines, start=1):
        text = [word for word in words(line) if not word.startswith(FASTTEXT)]
        labels = [word.removeprefix(FASTTEXT) for word in words(line) if word.startswith(FASTTEXT) and word != FASTTEXT]
        if joined := next((word for word in (*text, *labels) if FASTTEXT in word.removeprefix(FASTTEXT)), ""):
            raise XmlcError(f"{path}:{number}: found {quoted(joined)}, expected blanks between labels")
        yield Document(" ".join(text), list(dict.fromkeys(labels)) if names else [])


READERS = {"csv": _csv, "tsv": _tsv, "jsonl": _json, "json": _json, "fasttext": _fasttext}
