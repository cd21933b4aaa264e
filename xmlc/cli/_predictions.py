"""Files of predictions: `xmlc predict` writes them, `xmlc evaluate` reads them.

Each instance has a ranking and, unless only k labels were asked for, a label set. A line of JSON has both:
``{"set": ["a"], "labels": [["a", 0.9], ["b", 0.2]]}``. In CSV each label is a row with a flag ``in_set``. An instance
without a label has one row, whose label, score and flag are empty.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Iterator
from itertools import chain, count, groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.data.formats.texts import lines_of, table_rows

NUMBER, RANKED = "instance", ("label", "score", "in_set")  # columns of CSV


class Prediction(NamedTuple):
    """The ranking of one instance, pairs of label and score, and its label set; all ranked labels if that is None."""

    labels: list[tuple[Any, float]]
    chosen: list[Any] | None = None


def writer(to: str, keep: tuple[str, ...]) -> Callable[[Prediction, tuple[Any, ...]], None]:
    """Return a function that prints a prediction, given the values of the columns that are kept.

    Raises
    ------
    XmlcError
        A column to keep has the name of a column or key of the output.
    """
    taken = (NUMBER, *RANKED) if to == "csv" else ("set", "labels")
    if wrong := next((name for name in keep if name in taken), ""):
        raise XmlcError(f"--keep {wrong}: found a name that predictions have, expected another; rename the column")
    if to == "jsonl":
        return lambda prediction, kept: print(_json(prediction, dict(zip(keep, kept, strict=True))))
    rows, numbers = csv.writer(sys.stdout, lineterminator="\n"), count()
    rows.writerow([NUMBER, *keep, *RANKED])

    def write(prediction: Prediction, kept: tuple[Any, ...]) -> None:
        chosen = None if prediction.chosen is None else {*prediction.chosen}
        texts = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in kept]
        cells: list[Any] = [[name, score, int(chosen is None or name in chosen)] for name, score in prediction.labels]
        number = next(numbers)
        rows.writerows([number, *texts, *each] for each in cells or [["", "", ""]])

    return write


def _json(prediction: Prediction, kept: dict[str, Any]) -> str:
    marks = {} if prediction.chosen is None else {"set": prediction.chosen}
    return json.dumps(kept | marks | {"labels": prediction.labels}, ensure_ascii=False)


def read_predictions(file: Path) -> list[Prediction]:
    """Read a file of predictions, with labels as texts.

    Raises
    ------
    XmlcError
        A line is no prediction, a ranking does not descend, or a label is ranked twice.
    """
    lines = lines_of(file)
    first = next(lines, "")
    header = {name.strip('"') for name in first.rstrip().split(",")}
    given = chain([first] if first else [], lines)
    found = []
    for place, line, prediction in (_of_csv if {NUMBER, *RANKED} <= header else _of_json)(given, file):
        names, scores = [name for name, _ in prediction.labels], [score for _, score in prediction.labels]
        if not all(one >= other for one, other in pairwise([math.inf, *scores])):  # or NaN
            raise _malformed(place, line)
        if len({*names}) < len(names):
            raise XmlcError(f"{place}: found a label twice, expected different ones; predict again")
        found.append(prediction)
    return found


def _of_json(lines: Iterator[str], file: Path) -> Iterator[tuple[str, str, Prediction]]:
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            labels = [(_label(name), float(score)) for name, score in map(_list, _list(row["labels"]))]
            chosen = [*map(_label, _list(row["set"]))] if "set" in row else None
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise _malformed(f"{file}:{number}", line) from None
        yield f"{file}:{number}", line, Prediction(labels, chosen)


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):  # a string of two letters is not a pair
        raise TypeError
    return value


def _label(value: object) -> str:
    if not isinstance(value, str | int):
        raise TypeError
    return str(value)


def _of_csv(lines: Iterator[str], file: Path) -> Iterator[tuple[str, str, Prediction]]:
    rows = table_rows(lines, file, ",")
    _, header = next(rows)
    columns = [header.index(name) for name in (NUMBER, *RANKED)]
    cells = ((line, [row[j] for j in columns if j < len(row)]) for line, row in rows)
    for expected, (number, group) in enumerate(groupby(cells, key=lambda each: each[1][:1])):
        labels, chosen = list[tuple[str, float]](), list[str]()
        for line, row in group:
            place = f"{file}:{line}"
            if number != [str(expected)]:
                said = f"{NUMBER} {expected}, with the rows of an instance together; predict again"
                raise XmlcError(f"{place}: found {NUMBER} {', '.join(number)}, expected {said}")
            try:
                _, name, score, flag = row
                if name or score:
                    labels.append((name, float(score)))
                    chosen += [name] if int(flag) else []
            except ValueError:
                raise _malformed(place, ",".join(row)) from None
        yield place, ",".join(row), Prediction(labels, chosen)


def _malformed(place: str, line: str) -> XmlcError:
    expected = '{"set": ["name", ...], "labels": [["name", 0.5], ...]}, best first, or the same as CSV'
    return XmlcError(f"{place}: found {line.strip()[:60]!r}, expected {expected}, as `xmlc predict` writes it")
