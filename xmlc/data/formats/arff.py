"""Reading of Mulan's datasets: ARFF, dense or sparse, with an XML file that names the label attributes."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.data.formats.lines import LineError, MalformedLines, decimal, quoted, read_bytes, text_lines, whole

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(\S.*)", re.IGNORECASE)
CELL = re.compile(rf"((?:{QUOTED}|[^,'\"])*)(?:,|$)")
NUMERIC = ("numeric", "real", "integer")


class Attribute(NamedTuple):
    """Name of an attribute, and the values of a nominal one with the numbers that stand for them."""

    name: str
    codes: dict[str, float] | None


def read_arff(path: Path, labels: Path) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read an ARFF file and the XML file that names its labels; see `load`.

    Labels are numbered in the order of the attributes, features likewise. A nominal attribute counts as its number if
    its values are numbers, else as their position; where a sparse row leaves it out it has its first value, as the
    format defines. ``?`` is an error, because nothing says what to put there. The format allows blank lines.
    """
    names = _label_names(labels)
    attributes, lines = _header(path)
    is_label = np.array([attribute.name in names for attribute in attributes], dtype=bool)
    missing = names - {attribute.name for attribute in attributes}
    if missing:
        raise XmlcError(f"{labels}: label {min(missing)!r} is no attribute of {path} (one of {len(missing)} such)")
    malformed = MalformedLines(path)
    ids, values, indptr = array("i"), array("f"), array("q", [0])
    omitted = {i: next(iter(a.codes.values())) for i, a in enumerate(attributes) if a.codes}
    omitted = {i: value for i, value in omitted.items() if value}
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        try:
            row = omitted | _sparse_row(text, attributes) if text[0] == "{" else _dense_row(text, attributes)
        except LineError as error:
            malformed.add(number, error.found, error.expected)
            continue
        ids.extend(row.keys())
        values.extend(row.values())
        indptr.append(len(ids))
    malformed.raise_any()
    table = sparse.csr_array(
        (np.array(values, dtype=np.float32), np.array(ids, dtype=np.int32), np.array(indptr, dtype=np.int64)),
        shape=(len(indptr) - 1, len(attributes)),
    )
    table.sort_indices()
    table.eliminate_zeros()
    columns = sparse.csc_array(table)
    return sparse.csr_array(columns[:, ~is_label]), sparse.csr_array(columns[:, is_label].astype(bool))


def _label_names(path: Path) -> set[str]:
    content = read_bytes(path)
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the last two of an encoding that Python lacks
        raise XmlcError(f"{path}: not XML ({error}); expected <labels><label name=.../>...</labels>") from error
    labels = [element for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = {label.attrib["name"] for label in labels if "name" in label.attrib}
    if not names:
        raise XmlcError(f"{path}: names no labels; expected <labels><label name=.../>...</labels>")
    return names


def _header(path: Path) -> tuple[list[Attribute], Iterator[tuple[int, str]]]:
    """Read the attributes; return them and the lines that follow ``@data``."""
    attributes: dict[str, Attribute] = {}
    lines = text_lines(path)
    for number, line in lines:
        text = line.strip()
        keyword = text.split(maxsplit=1)[0].lower() if text else ""
        if keyword == "@data":
            return list(attributes.values()), lines
        if keyword != "@attribute":
            continue
        match = ATTRIBUTE.match(text)
        kind = match[2].strip() if match else ""
        is_list = kind.startswith("{") and kind.endswith("}")
        if match is None or not (is_list or kind.split(" ")[0].lower() in NUMERIC):
            raise XmlcError(f"{path}:{number}: found {quoted(text)}, expected @attribute name numeric or {{a,b,...}}")
        name = _unquoted(match[1])
        if name in attributes:
            raise XmlcError(f"{path}:{number}: found attribute {name!r} a second time, expected each name once")
        try:
            attributes[name] = Attribute(name, _codes(kind[1:-1]) if kind.startswith("{") else None)
        except LineError as error:
            raise XmlcError(f"{path}:{number}: {error}") from error
    raise XmlcError(f"{path}: has no @data line; is the file cut off?")


def _codes(listed: str) -> dict[str, float]:
    """Return the numbers that stand for the values of a nominal attribute."""
    values = [_unquoted(value) for value in _cells(listed)]
    try:
        return {value: decimal(value) for value in values}
    except LineError:
        return {value: float(position) for position, value in enumerate(values)}


def _cells(text: str) -> list[str]:
    """Cut a row at its commas, except those within quotes."""
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    cells, position = [], 0
    while position <= len(text):
        match = CELL.match(text, position)
        if not match:
            raise LineError(quoted(text[position:]), "quotes that are closed")
        cells.append(match[1].strip())
        position = match.end() + (not match[0].endswith(","))
    return cells


def _dense_row(text: str, attributes: list[Attribute]) -> dict[int, float]:
    cells = _cells(text)
    if len(cells) != len(attributes):
        raise LineError(f"{len(cells)} values", f"{len(attributes)}; is the line cut off?")
    return {i: _value(cell, attributes[i]) for i, cell in enumerate(cells)}


def _sparse_row(text: str, attributes: list[Attribute]) -> dict[int, float]:
    if not text.endswith("}"):
        raise LineError(quoted(text[-20:]), "} at the end of the row; is the line cut off?")
    row: dict[int, float] = {}
    for pair in _cells(text[1:-1]) if text[1:-1].strip() else []:
        number, cell = (*pair.split(maxsplit=1), "", "")[:2]
        try:
            attribute = whole(number)
        except LineError:
            attribute = len(attributes)
        if attribute >= len(attributes) or attribute in row:
            raise LineError(quoted(pair), f"attributes 0 .. {len(attributes) - 1}, each once")
        row[attribute] = _value(cell, attributes[attribute])
    return row


def _value(cell: str, attribute: Attribute) -> float:
    if attribute.codes is None:
        try:
            return decimal(cell)
        except LineError as error:
            raise LineError(error.found, f"{error.expected} for {attribute.name}") from None
    value = _unquoted(cell)
    if value not in attribute.codes:
        raise LineError(quoted(value), f"one of {', '.join(attribute.codes)} for {attribute.name}")
    return attribute.codes[value]


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
