"""Expected numbers of a table's cells: the paper's, or else the accepted ones."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any

import pandas as pd

from xmlc.papers import table_of
from xmlc.papers.common.claims import CLAIMS
from xmlc.papers.tables.columns import DEVIATION, Column, column
from xmlc.papers.tables.made_of import MadeOf, same_data
from xmlc.papers.tables.table import Published, Table, to_csv
from xmlc.report.compare import Cell, compare_frames
from xmlc.report.failures import Failure
from xmlc.report.judge import Judge, OurNumber
from xmlc.report.runs import Place
from xmlc.report.verdict import Judgement, Kind, Verdict, kind_of, number

PAPER, REFERENCE = "paper", "reference"
Key = tuple[str, ...]
# Where these differ, an accepted number is of other runs: one seed beside five, a claim on fewer datasets.
SAME_RUNS = ("seeds", "units")


@dataclass(frozen=True)
class Expectation:
    """The expected value of one cell.

    Attributes
    ----------
    text : str
        As the paper prints it, or as the column prints the accepted number.
    source : {"paper", "reference"}
    judgement : Judgement or None
        None where nothing is judged: costs, and what is no number.
    reason : str
        Why there is no measured value, where that is known.
    kind : Kind
        Of a cell of the paper.
    """

    text: str
    source: str
    judgement: Judgement | None
    reason: str = ""
    kind: Kind = Kind.MEASURED


@dataclass
class Expected:
    """The expectations of one table, each judged once; `shown` remembers the keys shown on the page.

    Parameters
    ----------
    table : Table
    printed : Published
        What the paper prints of it.
    reference : DataFrame or None
        Accepted numbers, as text.
    judge : Judge
        Of published numbers; accepted ones are to be met exactly.
    failed : list of Failure
    """

    table: Table
    printed: Published
    reference: pd.DataFrame | None
    judge: Judge
    failed: list[Failure]
    shown: set[tuple[Key, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        keys = list(self.table.keys)
        frame = self.table.frame
        self._rows = {
            tuple(map(str, key)): row for key, row in zip(frame[keys].itertuples(False, None), frame.to_dict("records"))
        }
        self._accepted = {(cell.key, cell.column): cell for cell in self._against_reference()}

    def _against_reference(self) -> list[Cell]:
        if self.reference is None or any(key not in self.reference for key in self.table.keys):
            return []
        ours = text_of(self.table)
        alike = [*self.table.keys, *(name for name in SAME_RUNS if name in ours and name in self.reference)]
        made = ours[alike].apply(tuple, axis=1)
        accepted = self.reference[self.reference[alike].apply(tuple, axis=1).isin(made)]
        return compare_frames(self.table.name, accepted, ours, self.table.keys).cells

    def row(self, keys: Key, place: Key) -> dict[str, Any] | None:
        """Return the (first) row of ours there, or None; ``keys`` may be fewer than the table's."""
        return next(iter(self._matching(keys, place)), None)

    def of(self, keys: Key, place: Key, name: str) -> Expectation | None:
        """Return the expectation of one cell, or None."""
        rows = self._matching(keys, place)
        published = self._published(keys, place, name)
        if published is not None:
            self.shown.add(published[0])
            return self._beside_paper(keys, tuple(map(str, place)), name, published[1], rows[0] if rows else None)
        full = next((key for key in self._rows if rows and self._rows[key] is rows[0]), None)
        cell = self._accepted.get((full, name)) if full else None
        if cell is None or not cell.left or column(name).cost or cell.verdict in (Verdict.MISSING, Verdict.NEW):
            return None
        return Expectation(_printed(column(name), cell.left), REFERENCE, cell.judgement if cell.judged else None)

    def rest(self, own: Published) -> list[tuple[Key, dict[str, Expectation]]]:
        """Return the paper's numbers in this very table that no panel shows, row by row."""
        rows = []
        for row in own.frame().to_dict("records"):
            place = tuple(str(row[key]) for key in self.table.keys)
            names = [
                n for n in row if n not in self.table.keys and (place, n) not in self.shown and n in self.table.frame
            ]
            cells = {name: self.of(self.table.keys, place, name) for name in names if number(row[name]) is not None}
            if found := {name: cell for name, cell in cells.items() if cell is not None}:
                rows.append((place, found))
        return rows

    def _matching(self, keys: Key, place: Key) -> list[dict[str, Any]]:
        wanted = dict(zip(keys, map(str, place)))
        if tuple(keys) == tuple(self.table.keys):
            row = self._rows.get(tuple(wanted.values()))
            return [] if row is None else [row]
        return [row for row in self._rows.values() if all(str(row[key]) == value for key, value in wanted.items())]

    def _source(self, keys: Key) -> Published:
        """Return the paper's numbers by these keys, which may be the first of the table's keys alone."""
        return self.printed if tuple(keys) == tuple(self.table.keys) else self.printed.keyed_by(keys[0])

    def _published(self, keys: Key, place: Key, name: str) -> tuple[tuple[Key, str], str] | None:
        """Return where the paper prints a number, and the number as it stands there."""
        place = tuple(map(str, place))
        text = self._source(keys).value(place, name)
        return None if text is None or number(text) is None else ((place, name), text)

    def _beside_paper(self, keys: Key, place: Key, name: str, text: str, row: dict[str, Any] | None) -> Expectation:
        about, ours = dict(zip(keys, place)), row or {}
        value, deviation = _as_number(ours.get(name)), _as_number(ours.get(name + DEVIATION))
        reason = self._why_missing(about, row) if value is None else ""
        found = OurNumber(value, int(ours.get("seeds") or 1), deviation, failed=bool(reason))
        definition = table_of(self.table.name, self.table.paper)
        where = Place(self.table.paper, self.table.name, place, name)
        judgement = self.judge.judge(definition, where, self._source(keys), found)
        return Expectation(text, PAPER, judgement, reason, kind_of(name, definition, about.get("model")))

    def _why_missing(self, about: dict[str, str], row: dict[str, Any] | None) -> str:
        note = (row or {}).get("note")
        if isinstance(note, str) and note:
            return note
        concerning = [f for f in self.failed if f.concerns(about.get("dataset"), about.get("model"))]
        return concerning[0].reason if concerning else ""


def reference_of(table: Table, folder: Path) -> pd.DataFrame | None:
    """Read the accepted numbers of a table, ``folder/<paper>/<table>.csv``, as text; None where there are none.

    Claims, whose rows name no dataset, need the same data; where these are others or not known, a note says so.
    """
    file = folder / table.paper / f"{table.name}.csv"
    if not file.is_file():
        return None
    if table.name == CLAIMS and not same_data(MadeOf.beside(file), table.digests):
        table.notes.append("Not compared with the accepted claims: they are of other or unknown data.")
        return None
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def text_of(table: Table) -> pd.DataFrame:
    """Return a table as its CSV has it, as text."""
    return pd.read_csv(io.StringIO(to_csv(table)), dtype=str, keep_default_na=False)


def tags(expectations: Sequence[Expectation]) -> list[tuple[Verdict, str]]:
    """Count the printed cells that were run by verdict, and others that differ from the accepted ones."""
    printed, accepted = count(expectations, PAPER), count(expectations, REFERENCE)
    said: list[tuple[Verdict, str]] = [
        (one, f"{printed[one]} {one}") for one in Verdict if printed[one] and one is not Verdict.NOT_RUN
    ]
    changed = accepted.total() - accepted[Verdict.EQUAL]
    return said + [(Verdict.DIFFERENT, f"{changed} not as accepted before")] * bool(changed)


def count(expectations: Sequence[Expectation], source: str) -> Counter[Verdict]:
    """Count the judged cells of one source by verdict."""
    return Counter(one.judgement.verdict for one in expectations if one.source == source and one.judgement)


def _as_number(value: object) -> float | None:
    """Return a row's value as a number; None for a text, a missing value and NaN."""
    if not isinstance(value, Real) or pd.isna(value):
        return None
    return float(value)


def _printed(definition: Column, text: str) -> str:
    value = number(text)
    return text if value is None else definition.printed(value)
