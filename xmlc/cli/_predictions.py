"""Files of predictions for `xmlc predict` and `xmlc evaluate`.

Each instance has a ranking and a label set, or with the option ``-k`` only a ranking of k labels. A
line of JSON has both, such as ``{"set": ["a"], "labels": [["a", 0.9], ["b", 0.2]]}``. A row of CSV
has one label and a flag ``in_set`` for the labels of the set, and an instance without labels has a
row with an empty label, score and flag.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Literal

from xmlc.core.errors import XmlcError
from xmlc.data.formats.texts import lines_of, table_rows

# Columns in a CSV file of predictions
NUMBER = "instance"
RANKED = ("label", "score", "in_set")
USED_NAMES = {"jsonl": ("set", "labels"), "csv": (NUMBER, *RANKED)}
ROW = '{"set": ["name", ...], "labels": [["name", 0.5], ...]}'
EXPECTED = f"{ROW} with descending scores, or CSV of `xmlc predict`"

# The ranking of an instance as pairs of label and score, and its label set, or None for all of them
Prediction = tuple[list[tuple[Any, float]], list[Any] | None]


def write_predictions(
    to: str,
    keep: tuple[str, ...],
    found: Iterable[tuple[Prediction, Iterable[Any]]],
) -> None:
    """Print predictions as JSON lines or CSV, with the columns that ``--keep`` selects.

    A column with the name of a column or key of the output raises an `XmlcError`.
    """
    for name in keep:
        if name in USED_NAMES[to]:
            found_name = "a name that the predictions use, expected another. Rename the column."
            raise XmlcError(f"--keep {name}: found {found_name}")
    if to == "jsonl":
        for (labels, chosen), kept in found:
            row = dict(zip(keep, kept))
            if chosen is not None:
                row["set"] = chosen
            row["labels"] = labels
            print(json.dumps(row, ensure_ascii=False))
        return
    header = [NUMBER, *keep, *RANKED]
    number = -1
    for number, ((labels, chosen), kept) in enumerate(found):
        if number == 0:  # nothing is printed before the first batch was read and predicted
            write_csv_row(header)
        start: list[Any] = [number]
        for value in kept:
            if not isinstance(value, str):
                value = json.dumps(value, ensure_ascii=False)
            start.append(value)
        for name, score in labels:
            write_csv_row([*start, name, score, int(chosen is None or name in chosen)])
        if not labels:
            write_csv_row([*start, "", "", ""])
    if number == -1:
        write_csv_row(header)


def write_csv_row(cells: Sequence[Any]) -> None:
    """Print a row of CSV, without zero bytes, which programs that read CSV refuse."""
    text = "".join(cell for cell in cells if isinstance(cell, str))
    if "\0" in text:
        expected = "text. Use --to jsonl."
        raise XmlcError(f"row {cells[0]}: found a zero byte in a cell, expected {expected}")
    quoting: Literal[0, 2] = csv.QUOTE_MINIMAL
    # Python 3.11 and 3.12 do not quote a carriage return, which readers take for the row's end
    if "\r" in text:
        quoting = csv.QUOTE_NONNUMERIC
    csv.writer(sys.stdout, lineterminator="\n", quoting=quoting).writerow(cells)


def read_predictions(file: Path) -> list[Prediction]:
    """Return the predictions in a file, with strings as labels.

    Raises
    ------
    XmlcError
        If a line is no prediction, the scores of a ranking do not descend, or a label is ranked
        twice.
    """
    lines: Iterator[str] = lines_of(file)
    first = next(lines, "")
    header = {name.strip('"') for name in first.rstrip().split(",")}
    is_csv = header.issuperset((NUMBER, *RANKED))
    if first:
        lines = chain([first], lines)
    parts: Iterator[tuple[int, Any]] = enumerate(lines, start=1)
    if is_csv:
        parts = _instances(lines, file)
    predictions: list[Prediction] = []
    for number, part in parts:
        try:
            if is_csv:
                row = _of_cells(part)
            else:
                row = json.loads(part)
            names = [name for name, _ in row["labels"]]
            scores = [float(score) for _, score in row["labels"]]
            chosen = row.get("set", names)
            _check_prediction(names, scores, chosen)
        except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError):
            text = str(part).strip()[:60]
            raise XmlcError(f"{file}:{number}: found {text!r}, expected {EXPECTED}") from None
        if len(set(names)) < len(names):
            expected = "each label once. Run xmlc predict again."
            raise XmlcError(f"{file}:{number}: found a label twice, expected {expected}")
        ranking = list(zip(map(str, names), scores))
        predictions.append((ranking, list(map(str, chosen))))
    return predictions


def _check_prediction(names: list[Any], scores: list[float], chosen: Any) -> None:
    """Raise `ValueError` if names are no strings or numbers, or scores do not descend."""
    if not isinstance(chosen, list):
        raise ValueError
    for name in names + chosen:
        if not isinstance(name, str | int):
            raise ValueError
    last = math.inf
    for score in scores:
        if not score <= last:  # also for NaN
            raise ValueError
        last = score


def _instances(lines: Iterator[str], file: Path) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Yield the line number of each instance's first row, and its rows."""
    rows = table_rows(lines, file, ",")
    _, header = next(rows)
    cells = ((line, dict(zip(header, row))) for line, row in rows)
    instances = groupby(cells, key=lambda each: each[1].get(NUMBER))
    for expected, (number, group) in enumerate(instances):
        places, parts = zip(*group)
        if number != str(expected):
            remedy = "Keep all rows of an instance together, or run xmlc predict again."
            found = f"found {NUMBER} {number}, expected {NUMBER} {expected}"
            raise XmlcError(f"{file}:{places[0]}: {found}. {remedy}")
        yield places[0], list(parts)


def _of_cells(cells: list[dict[str, str]]) -> dict[str, list[Any]]:
    ranked = [cell for cell in cells if cell["label"] or cell["score"]]
    labels = [(cell["label"], cell["score"]) for cell in ranked]
    return {"labels": labels, "set": [cell["label"] for cell in ranked if int(cell["in_set"])]}
