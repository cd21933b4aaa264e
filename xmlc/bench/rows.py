"""Tidy rows: the one type of record that every benchmark yields, and the files that ``--out`` writes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from xmlc.estimator import Hyperparameters
from xmlc.files import atomic_file, write_json
from xmlc.passport import Passport

PERCENT, YES_OR_NO, RATIO, TIMES, POINTS = "%", "yes or no", "ratio", "times", "points"


@dataclass(frozen=True)
class Row:
    """One figure of a benchmark."""

    benchmark: str
    dataset: str
    #: What was measured; for a derived figure the two that are compared, ``"ours / baseline"``.
    contender: str
    #: What it did, such as "training".
    task: str
    #: Such as "time" in "ms per instance". A truth value has the unit "yes or no" and is 1 or 0.
    measure: str
    unit: str
    #: Of a cost the minimum over the rounds, of a quality the mean; NaN where a ratio has no denominator.
    value: float
    #: Every measurement that ``value`` summarises; empty for a derived figure.
    rounds: tuple[float, ...] = ()
    threads: int = 1
    note: str = ""


@dataclass(frozen=True)
class Contender:
    """What takes part in a benchmark.

    Attributes
    ----------
    name : str
        As in `Row.contender`.
    what : str
        One phrase: the program, and what of it.
    hyperparameters : dict
    threads : tuple of int
        The numbers of threads that it runs on.
    """

    name: str
    what: str
    hyperparameters: Hyperparameters = field(default_factory=dict)
    threads: tuple[int, ...] = (1,)


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that one benchmark measured on one dataset.

    Attributes
    ----------
    benchmark, dataset : str
    about : str
        Size of the data and how it was measured, in a sentence.
    passport : Passport
    contenders : list of Contender
    rows : list of Row
    remarks : list of str
        Paragraphs that stand below the tables.
    unprinted : frozenset of str
        Tasks whose rows are written to files only.
    """

    benchmark: str
    dataset: str
    about: str
    passport: Passport
    contenders: list[Contender]
    rows: list[Row]
    remarks: list[str] = field(default_factory=list)
    unprinted: frozenset[str] = frozenset()


def write_report(report: Report, path: Path) -> None:
    """Write the rows, as CSV if the file is called so, else as JSON beside contenders and passport; NaN is null."""
    if path.suffix == ".csv":
        with atomic_file(path) as temporary:
            temporary.write_text(rows_csv(report.rows), encoding="utf-8")
        return
    contenders = [asdict(contender) for contender in report.contenders]
    rows = [{name: _or_null(value) for name, value in asdict(row).items()} for row in report.rows]
    head = {"benchmark": report.benchmark, "dataset": report.dataset, "about": report.about}
    write_json(path, head | {"passport": report.passport, "contenders": contenders, "rows": rows})


def rows_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV: rounds are separated by spaces, NaN is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [one.name for one in fields(Row)]
    writer.writerow(names)
    for row in rows:
        cells = {name: _or_null(getattr(row, name)) for name in names}
        writer.writerow((cells | {"rounds": " ".join(map(repr, row.rounds))}).values())
    return text.getvalue()


def _or_null(value: object) -> object:
    return None if isinstance(value, float) and value != value else value
