"""Reading of Mulan's datasets: ARFF, dense or sparse, with an XML file that names the label attributes."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from xmlc.data.formats.errors import MalformedLines
from xmlc.data.formats.stream import open_bytes, text_lines
from xmlc.errors import XmlcError

ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.+)""", re.IGNORECASE)


class _Attribute(NamedTuple):
    """Name of an attribute, and the values of a nominal one with the numbers that stand for them."""

    name: str
    codes: dict[str, float] | None


def read_arff(path: Path, labels: Path) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read an ARFF file and the XML file that names its labels; see `load`.

    Labels are numbered in the order of the attributes, features likewise. A nominal feature counts as its number if
    its values are numbers, else as their position; ``?`` is an error, because nothing says what to put there.
    """
    names = _label_names(labels)
    attributes, lines = _header(path)
    missing = sorted(names - {attribute.name for attribute in attributes})
    if missing:
        raise XmlcError(f"{labels}: label {missing[0]!r} is no attribute of {path} (of {len(missing)} such)")
    is_label = np.array([attribute.name in names for attribute in attributes])
    malformed = MalformedLines(path)
    ids: list[int] = []
    values: list[float] = []
    indptr = [0]
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        try:
            row = _sparse_row(text, attributes) if text.startswith("{") else _dense_row(text, attributes)
        except ValueError as error:
            malformed.add(number, text, str(error))
            continue
        ids += row.keys()
        values += row.values()
        indptr.append(len(ids))
    malformed.raise_any()
    table = sparse.csr_array(
        (np.array(values, dtype=np.float32), np.array(ids, dtype=np.int32), indptr),
        shape=(len(indptr) - 1, len(attributes)),
    )
    table.sum_duplicates()
    table.eliminate_zeros()
    columns = sparse.csc_array(table)
    return sparse.csr_array(columns[:, ~is_label]), sparse.csr_array(columns[:, is_label] != 0)


def _label_names(path: Path) -> set[str]:
    with open_bytes(path) as file:
        content = file.read()
    if b"<!ENTITY" in content.upper():
        raise XmlcError(f"{path}: found entity declarations, expected a plain list of labels")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise XmlcError(f"{path}: not XML ({error}); expected <labels><label name=.../>...</labels>") from error
    names = {
        element.attrib["name"] for element in root.iter() if element.tag.endswith("label") and "name" in element.attrib
    }
    if not names:
        raise XmlcError(f"{path}: names no labels; expected <labels><label name=.../>...</labels>")
    return names


def _header(path: Path) -> tuple[list[_Attribute], object]:
    """Read the attributes; return them and the lines that follow ``@data``."""
    attributes = []
    lines = text_lines(path)
    for number, line in lines:
        text = line.strip()
        if text.lower().startswith("@data"):
            return attributes, lines
        if text.lower().startswith("@attribute"):
            match = ATTRIBUTE.match(text)
            if not match:
                raise XmlcError(f"{path}:{number}: found {text[:60]!r}, expected @attribute name type")
            attributes.append(_Attribute(_unquoted(match[1]), _codes(match[2].strip())))
    raise XmlcError(f"{path}: has no @data line; is the file cut off?")


def _codes(kind: str) -> dict[str, float] | None:
    """Return the numbers of a nominal attribute's values; None for a numeric attribute."""
    if not kind.startswith("{"):
        return None
    values = [_unquoted(value.strip()) for value in kind.strip("{}").split(",")]
    try:
        return {value: float(value) for value in values}
    except ValueError:
        return {value: float(position) for position, value in enumerate(values)}


def _dense_row(text: str, attributes: list[_Attribute]) -> dict[int, float]:
    cells = next(csv.reader([text], quotechar="'", skipinitialspace=True))
    if len(cells) != len(attributes):
        raise ValueError(f"{len(attributes)} values (there are {len(cells)}); is the line cut off?")
    return {i: _value(cell.strip(), attributes[i]) for i, cell in enumerate(cells)}


def _sparse_row(text: str, attributes: list[_Attribute]) -> dict[int, float]:
    if not text.endswith("}"):
        raise ValueError("{attribute value, ...}; is the line cut off?")
    row: dict[int, float] = {}
    for pair in text[1:-1].split(","):
        if not pair.strip():
            continue
        number, _, cell = pair.strip().partition(" ")
        if not number.isdigit() or int(number) >= len(attributes) or int(number) in row:
            raise ValueError(f"attributes 0 .. {len(attributes) - 1}, each once (not {number!r})")
        row[int(number)] = _value(cell.strip(), attributes[int(number)])
    return row


def _value(cell: str, attribute: _Attribute) -> float:
    cell = _unquoted(cell)
    if attribute.codes is not None:
        if cell not in attribute.codes:
            raise ValueError(f"one of {', '.join(attribute.codes)} for {attribute.name} (not {cell!r})")
        return attribute.codes[cell]
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"a finite number for {attribute.name} (not {cell!r})")
    return value


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
