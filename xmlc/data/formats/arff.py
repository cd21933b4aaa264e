"""Datasets of Mulan and MEKA: dense or sparse ARFF files, with labels named by XML or a header."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.data.formats.lines import (
    BLANKS,
    WHOLE,
    LineError,
    MalformedLines,
    decimal,
    each_read,
    quoted,
    read_bytes,
    text_lines,
    truth,
    words,
)
from xmlc.kernels.csr import CSR, stack_estimates

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(\S.*)", re.ASCII | re.IGNORECASE)
CELL = re.compile(rf"((?:{QUOTED}|[^,'\"])*)(?:,|$)")
MEKA = re.compile(r"(?i:@relation)\b.*[\s:'\"]-C\s+(-?\d+)", re.ASCII)
NUMERIC = ("numeric", "real", "integer")


class Attribute(NamedTuple):
    """An attribute with its line number and, if it is nominal, the numeric codes of its values."""

    name: str
    line: int
    codes: dict[str, float]
    is_label: bool = False


def read_arff(path: Path, labels: Path | None = None) -> tuple[CSR, CSR]:
    """Read an ARFF file, with labels and nominal values as in `load`.

    Labels and features are numbered in the order of the attributes. An attribute that a sparse row
    lacks has the first value in its declaration, as the format defines. A missing value (``?``) is
    an error, because ARFF does not define what replaces it. Blank lines, which ARFF allows, are
    skipped.
    """
    attributes, lines = _header(path, labels)
    is_label = np.array([attribute.is_label for attribute in attributes], dtype=bool)
    ids = array("i")
    values = array("f")
    counts = array("q")
    omitted = {}
    for i, attribute in enumerate(attributes):
        first = next(iter(attribute.codes.values()), 0.0)
        if first:
            omitted[i] = first

    def read(text: str) -> dict[int, float]:
        if text[0] == "{":
            return omitted | _sparse_row(text, attributes)
        cells = _cells(text)
        if len(cells) != len(attributes):
            raise LineError(
                f"{len(cells)} values", f"{len(attributes)}. The line may be incomplete."
            )
        return {i: _value(cell, attributes[i]) for i, cell in enumerate(cells)}

    rows = ((number, line) for number, line in lines if line.strip(BLANKS)[:1] not in ("", "%"))
    for row in each_read(MalformedLines(path), rows, read):
        ids.extend(row.keys())
        values.extend(row.values())
        counts.append(len(row))
    table = stack_estimates(np.array(counts), np.array(ids), np.array(values), len(attributes))
    table.eliminate_zeros()
    columns = sparse.csc_array(table)
    return sparse.csr_array(columns[:, ~is_label]), sparse.csr_array(
        columns[:, is_label].astype(bool)
    )


def check_alike(first: Path, second: Path, labels: Path | None) -> None:
    """Raise an `XmlcError` that names the first attribute in which two files differ.

    They may differ in the attributes, their order, the labels or the numeric codes.
    """
    attributes, _ = _header(first, labels)
    others, _ = _header(second, labels)
    for attribute, other in zip_longest(attributes, others):
        if attribute is None or other is None:
            raise XmlcError(
                f"{second}: found more or fewer attributes than in {first}, expected the same"
            )
        same_codes = all(
            attribute.codes.get(value, code) == code for value, code in other.codes.items()
        )
        if attribute.name != other.name or attribute.is_label != other.is_label or not same_codes:
            found = f"{second}:{other.line}: found attribute {other.name!r}"
            expected = f"{attribute.name!r} with the same values and labels"
            raise XmlcError(f"{found}, expected {expected}, as in {first}:{attribute.line}")


def _label_names(path: Path) -> set[str]:
    content = read_bytes(path)
    try:
        root = ElementTree.fromstring(content)
    # An unknown encoding raises LookupError or ValueError
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise XmlcError(
            f"{path}: found no XML ({error}), expected <labels><label name=.../>...</labels>"
        ) from error
    labels = [element for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = {label.attrib["name"] for label in labels if "name" in label.attrib}
    if not names:
        raise XmlcError(
            f"{path}: found no label names, expected <labels><label name=.../>...</labels>"
        )
    return names


def _header(path: Path, labels: Path | None) -> tuple[list[Attribute], Iterator[tuple[int, str]]]:
    """Return the attributes of an ARFF file, and an iterator over the lines after ``@data``."""
    attributes: dict[str, Attribute] = {}
    declared: int | None = None
    lines = text_lines(path)
    for number, line in lines:
        text = line.strip(BLANKS)
        keyword = "".join(words(text)[:1]).lower()
        if keyword == "@data":
            return _with_labels(path, list(attributes.values()), labels, declared), lines
        meka = MEKA.match(text)
        if meka:
            declared = int(meka[1])
        if keyword != "@attribute":
            continue
        match = ATTRIBUTE.match(text)
        kind = ""
        if match:
            kind = match[2].strip(BLANKS)
        is_list = kind.startswith("{") and kind.endswith("}")
        if match is None or not (is_list or words(kind)[0].lower() in NUMERIC):
            raise XmlcError(
                f"{path}:{number}: found {quoted(text)}, expected @attribute name numeric or "
                "{a,b,...}"
            )
        name = _unquoted(match[1])
        if name in attributes:
            raise XmlcError(
                f"{path}:{number}: found attribute {name!r} twice, expected each name once"
            )
        codes = {}
        if is_list:
            try:
                codes = _codes(kind[1:-1])
            except LineError as error:
                raise XmlcError(f"{path}:{number}: {error}") from error
        attributes[name] = Attribute(name, number, codes)
    raise XmlcError(f"{path}: found no @data line, expected one. The file may be incomplete.")


def _with_labels(
    path: Path, attributes: list[Attribute], labels: Path | None, declared: int | None
) -> list[Attribute]:
    """Mark the labels, which an XML file names, or which are the first or last attributes."""
    if labels is not None:
        names = _label_names(labels)
        missing = names - {attribute.name for attribute in attributes}
        if missing:
            expected = f"an attribute of {path} ({len(missing)} are not)"
            raise XmlcError(f"{labels}: found label {min(missing)!r}, expected {expected}")
    elif declared is None:
        remedy = "Set labels= (`labels:` in YAML) to the XML file."
        expected = f"@relation 'name: -C 6' (MEKA) or an XML file (Mulan). {remedy}"
        raise XmlcError(f"{path}: found no labels, expected {expected}")
    elif not 1 <= abs(declared) <= len(attributes):
        raise XmlcError(
            f"{path}: found -C {declared} in @relation, expected 1 to {len(attributes)} labels"
        )
    elif declared > 0:
        names = {attribute.name for attribute in attributes[:declared]}
    else:
        names = {attribute.name for attribute in attributes[declared:]}
    malformed = MalformedLines(path)
    marked = []
    for attribute in attributes:
        if attribute.name in names:
            try:
                codes = {value: float(truth(value)) for value in attribute.codes}
                attribute = attribute._replace(codes=codes, is_label=True)
            except LineError as error:
                malformed.add(attribute.line, error.found, f"{error.expected} for {attribute.name}")
        marked.append(attribute)
    malformed.raise_any()
    return marked


def _codes(listed: str) -> dict[str, float]:
    values = [_unquoted(value) for value in _cells(listed)]
    for read in (decimal, truth):
        with suppress(LineError):
            return {value: float(read(value)) for value in values}
    return {value: float(position) for position, value in enumerate(values)}


def _cells(text: str) -> list[str]:
    if "'" not in text and '"' not in text:
        return [cell.strip(BLANKS) for cell in text.split(",")]
    cells = []
    position = 0
    while position <= len(text):
        match = CELL.match(text, position)
        if not match:
            raise LineError(quoted(text[position:]), "closing quotes")
        cells.append(match[1].strip(BLANKS))
        position = match.end() + (not match[0].endswith(","))
    return cells


def _sparse_row(text: str, attributes: list[Attribute]) -> dict[int, float]:
    if not text.endswith("}"):
        raise LineError(quoted(text[-20:]), "} at the end of the row. The line may be incomplete.")
    pairs = _cells(text[1:-1])
    row: dict[int, float] = {}
    if pairs == [""]:
        return row
    for pair in pairs:
        cells = [*words(pair, 1), "", ""]  # the last two stand for what is missing
        number = cells[0]
        cell = cells[1]
        attribute = len(attributes)
        if WHOLE.fullmatch(number):
            attribute = int(number)
        if attribute >= len(attributes) or attribute in row:
            raise LineError(quoted(pair), f"attributes from 0 to {len(attributes) - 1}, each once")
        row[attribute] = _value(cell, attributes[attribute])
    return row


def _value(cell: str, attribute: Attribute) -> float:
    value = _unquoted(cell)
    if attribute.is_label or not attribute.codes:
        try:
            if attribute.is_label:
                return truth(value)
            return decimal(cell)
        except LineError as error:
            raise LineError(error.found, f"{error.expected} for {attribute.name}") from None
    if value not in attribute.codes:
        raise LineError(quoted(value), f"one of {', '.join(attribute.codes)} for {attribute.name}")
    return attribute.codes[value]


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
