"""Write and read files of predictions for `xmlc predict` and `xmlc evaluate`.

Each instance has a ranking and a label set. With the option ``-k``, an instance has only a ranking of k labels and no
label set. In JSON, each line contains the ranking and the label set, such as
``{"set": ["a"], "labels": [["a", 0.9], ["b", 0.2]]}``. In CSV, each row has one label and a flag ``in_set``, which
marks the labels of the label set. An instance without labels has one row with an empty label, score and flag.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any

from xmlc.core.errors import XmlcError
from xmlc.data.formats.texts import lines_of, table_rows

NUMBER, RANKED = "instance", ("label", "score", "in_set")  # Names of columns in a CSV file of predictions.
EXPECTED = '{"set": ["name", ...], "labels": [["name", 0.5], ...]} with descending scores, or CSV of `xmlc predict`'


# A prediction for one instance: its ranking as pairs of label and score, and its label set. The value None stands for
# the set of all ranked labels.
Prediction = tuple[list[tuple[Any, float]], list[Any] | None]


def write_predictions(to: str, keep: tuple[str, ...], found: Iterable[tuple[Prediction, Iterable[Any]]]) -> None:
    """Print predictions as JSON lines or CSV, together with the columns that ``--keep`` selects.

    Raises
    ------
    XmlcError
        A column that ``--keep`` selects has the same name as a column or key of the output.
    """
    if wrong := next((name for name in keep if name in {"jsonl": ("set", "labels"), "csv": (NUMBER, *RANKED)}[to]), ""):
        raise XmlcError(f"--keep {wrong}: found a name that the predictions use, expected another. Rename the column.")
    header = [NUMBER, *keep, *RANKED] if to == "csv" else None
    for number, ((labels, chosen), kept) in enumerate(found):
        if to == "jsonl":
            marks = {} if chosen is None else {"set": chosen}
            print(json.dumps({**dict(zip(keep, kept)), **marks, "labels": labels}, ensure_ascii=False))
            continue
        if header:  # Nothing is printed before the first batch was read and predicted.
            write_csv_row(header)
            header = None
        own = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in kept]
        cells: list[Any] = [[name, score, int(chosen is None or name in chosen)] for name, score in labels]
        for each in cells or [["", "", ""]]:
            write_csv_row([number, *own, *each])
    if header:
        write_csv_row(header)


def write_csv_row(cells: Sequence[Any]) -> None:
    """Print a row of CSV.

    Raises
    ------
    XmlcError
        A cell contains a zero byte, which programs that read CSV refuse.
    """
    texts = [cell for cell in cells if isinstance(cell, str)]
    if any("\0" in text for text in texts):
        raise XmlcError(f"row {cells[0]}: found a zero byte in a cell, expected text. Use --to jsonl.")
    # Python 3.11 and 3.12 do not quote a carriage return by themselves, and readers take it for the end of the row.
    if any("\r" in text for text in texts):
        csv.writer(sys.stdout, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerow(cells)
    else:
        csv.writer(sys.stdout, lineterminator="\n").writerow(cells)


def read_predictions(file: Path) -> list[Prediction]:
    """Return the predictions in a file. All labels are strings.

    Raises
    ------
    XmlcError
        A line is not a prediction, the scores of a ranking do not descend, or a label is ranked twice.
    """
    lines, found = lines_of(file), list[Prediction]()
    first = next(lines, "")
    is_csv = {NUMBER, *RANKED} <= {name.strip('"') for name in first.rstrip().split(",")}
    given = chain([first] if first else [], lines)
    parts: Iterator[tuple[int, Any]] = _instances(given, file) if is_csv else enumerate(given, start=1)
    for number, part in parts:
        try:
            row: Any = _of_cells(part) if is_csv else json.loads(part)
            names, scores = [name for name, _ in row["labels"]], [float(score) for _, score in row["labels"]]
            chosen = row.get("set", names)
            are_names = isinstance(chosen, list) and all(isinstance(name, str | int) for name in names + chosen)
            # Comparisons with NaN are false, so scores that are NaN raise the error, too.
            if not are_names or not all(one >= other for one, other in pairwise([math.inf, *scores])):
                raise ValueError
        except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError):
            raise XmlcError(f"{file}:{number}: found {str(part).strip()[:60]!r}, expected {EXPECTED}") from None
        if len({*names}) < len(names):
            raise XmlcError(f"{file}:{number}: found a label twice, expected each label once. Run xmlc predict again.")
        found.append(([*zip(map(str, names), scores)], [*map(str, chosen)]))
    return found


def _instances(lines: Iterator[str], file: Path) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """For each instance, yield the instance's rows and the line number of the first row."""
    rows = table_rows(lines, file, ",")
    _, header = next(rows)
    cells = ((line, dict(zip(header, row))) for line, row in rows)
    for expected, (number, group) in enumerate(groupby(cells, key=lambda each: each[1].get(NUMBER))):
        places, parts = zip(*group)
        if number != str(expected):
            said = f"{NUMBER} {expected}. Keep all rows of an instance together, or run xmlc predict again."
            raise XmlcError(f"{file}:{places[0]}: found {NUMBER} {number}, expected {said}")
        yield places[0], [*parts]


def _of_cells(cells: list[dict[str, str]]) -> dict[str, list[Any]]:
    ranked = [cell for cell in cells if cell["label"] or cell["score"]]
    labels = [(cell["label"], cell["score"]) for cell in ranked]
    return {"labels": labels, "set": [cell["label"] for cell in ranked if int(cell["in_set"])]}
