"""Our runs with several seeds (config/runs.csv), measured from tables, and the intervals that are taken from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import pandas as pd

from xmlc.core.errors import XmlcError, let_through
from xmlc.core.files import atomic_file
from xmlc.suite.papers import table_of
from xmlc.suite.papers.building import Known
from xmlc.suite.papers.declared import Table
from xmlc.suite.report.verdict import Kind, kind_of, number
from xmlc.suite.results.columns import column
from xmlc.suite.results.frame import is_missing
from xmlc.suite.results.intervals import student_quantile
from xmlc.suite.results.records.base import RecordFile
from xmlc.suite.results.records.ranking import RankingRecord


@dataclass(frozen=True)
class Spread:
    """How much one number of ours varies from run to run.

    Attributes
    ----------
    runs : int
        Runs, with seeds and splits of their own, that the deviation was taken from; at least two.
    deviation : float
        Standard deviation of one run (divisor: runs - 1), in the unit of the column.
    split_error : float or None
        Standard deviation of the number over splits of the same instances into training and test set, in the unit of
        the column; None if nobody measured it.
    """

    runs: int
    deviation: float
    split_error: float | None = None

    @classmethod
    def of(cls, values: Sequence[float], split_error: float | None = None) -> Spread:
        """Return the spread of the values of some runs."""
        mean = math.fsum(values) / len(values)
        variance = math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1)
        return cls(len(values), math.sqrt(variance), split_error)


class HalfWidth(NamedTuple):
    """Half the width of an interval, in the unit of its column."""

    value: float
    #: Runs and splits vary by no more than rounding does, as those of a model that draws nothing.
    fixed: bool


def half_width(spread: Spread, unit: float, ours: int = 1, theirs: int = 1, other_split: bool = False) -> HalfWidth:
    """Return h: of 100 faithful reproductions 95 differ from the printed number by at most h.

    The difference of a mean of ``ours`` runs and a printed mean of ``theirs`` runs has the variance
    s^2 (1 / ours + 1 / theirs), s being the deviation of one run; rounding to a printed digit adds u^2 / 12, u being
    the unit of that digit; two splits drawn apart add twice the square of the split error. Only s is estimated,
    from few runs, hence Student's t; its degrees of freedom are those of Welch and Satterthwaite, runs - 1 over the
    squared share of the variance that s has.

    Parameters
    ----------
    spread : Spread
    unit : float
        Of the last printed digit, in the unit of the column.
    ours, theirs : int
        Runs that the two means are over.
    other_split : bool
        The paper's split is not known to be ours.

    Raises
    ------
    ValueError
        Splits differ and nobody measured what that matters.
    """
    if other_split and spread.split_error is None:
        raise ValueError("no error of another split was measured")
    of_runs = spread.deviation * spread.deviation * (1 / ours + 1 / theirs)
    error = (spread.split_error or 0.0) if other_split else 0.0
    of_splits, of_rounding = 2 * error * error, unit * unit / 12
    fixed = of_runs + of_splits <= of_rounding
    variance = of_runs + of_splits + of_rounding
    share = of_runs / variance if variance else 0.0
    freedom = (spread.runs - 1) / (share * share) if share else math.inf
    return HalfWidth(student_quantile(freedom) * math.sqrt(variance), fixed)


COLUMNS = ("paper", "table", "row", "column", "seeds", "values", "split_error")
BETWEEN = " / "  # the keys of a row


@dataclass(frozen=True, order=True)
class Place:
    """Where a number stands."""

    paper: str
    table: str
    #: Values of the table's keys.
    row: tuple[str, ...]
    column: str

    @property
    def dataset(self) -> str:
        """The dataset of its row; empty where the table has no such key."""
        return dict(zip(table_of(self.table, self.paper).keys, self.row)).get("dataset", "")


@dataclass(frozen=True)
class CellRuns:
    """One number of ours, run by run.

    Attributes
    ----------
    values : dict of int to float
        By seed, in the unit of the column.
    split_error : float or None
        Its standard deviation over splits of the same instances, the mean over runs; None if nobody measured it.
    """

    values: Mapping[int, float]
    split_error: float | None = None


@dataclass(frozen=True)
class Runs:
    """All of them, by where the number stands."""

    cells: Mapping[Place, CellRuns] = field(default_factory=dict)

    def spread(self, place: Place) -> Spread | None:
        """Return how much a number of ours varies; None where it was not run with several seeds."""
        found = self.cells.get(place)
        return Spread.of([*found.values.values()], found.split_error) if found else None

    def over(self, earlier: Runs) -> Runs:
        """Return both; of a dataset of a paper's table that both have, these."""
        mine = {(place.paper, place.table, place.dataset) for place in self.cells}
        kept = {p: cell for p, cell in earlier.cells.items() if (p.paper, p.table, p.dataset) not in mine}
        return Runs(kept | dict(self.cells))

    def write(self, file: Path) -> None:
        """Write the CSV, whole or not at all, in order."""
        rows = [
            (
                place.paper,
                place.table,
                BETWEEN.join(place.row),
                place.column,
                " ".join(map(str, cell.values)),
                " ".join(f"{value:.6g}" for value in cell.values.values()),
                "" if cell.split_error is None else f"{cell.split_error:.3g}",
            )
            for place, cell in sorted(self.cells.items())
        ]
        with atomic_file(file) as temporary:
            pd.DataFrame(rows, columns=list(COLUMNS)).to_csv(temporary, index=False, lineterminator="\n")

    @classmethod
    def read(cls, file: Path) -> Runs:
        """Read the CSV.

        Raises
        ------
        XmlcError
            It cannot be read, or a line of it does not say what it should.
        """
        try:
            frame = pd.read_csv(file, dtype=str, keep_default_na=False)
        except (OSError, ValueError) as error:
            let_through(error)
            raise XmlcError(f"{file}: the runs cannot be read: {error}") from error
        if tuple(frame) != COLUMNS:
            raise XmlcError(f"{file}: columns {', '.join(frame)}; expected {', '.join(COLUMNS)}")
        cells = {}
        for line, row in enumerate(frame.itertuples(index=False, name=None), start=2):
            place, cell = _parsed(row, f"{file}:{line}")
            if place in cells:
                raise XmlcError(f"{file}:{line}: a second line for {BETWEEN.join(row[:4])}; expected one")
            cells[place] = cell
        return cls(cells)


def _parsed(row: Iterable[str], where: str) -> tuple[Place, CellRuns]:
    paper, table, key, column, seeds, values, error = row
    try:
        by_seed = dict(zip(map(int, seeds.split()), map(float, values.split()), strict=True))
        cell = CellRuns(by_seed, float(error) if error else None)
    except ValueError as problem:
        raise XmlcError(f"{where}: seeds {seeds!r}, values {values!r}, split error {error!r}: {problem}") from problem
    if len(by_seed) < 2:
        raise XmlcError(f"{where}: {len(by_seed)} runs; expected values of at least two seeds")
    return Place(paper, table, tuple(key.split(BETWEEN)), column), cell


JUDGED = (Kind.MEASURED, Kind.QUOTED)


def runs_of(tables: Iterable[Table], known: Known) -> Runs:
    """Keep, run by run, the cells of tables that their papers print; ``known`` has the records behind them.

    Raises
    ------
    XmlcError
        No table was made with several seeds.
    """
    cells: dict[Place, CellRuns] = {}
    for table in tables:
        for key, row in table.rows.items():
            place = tuple(map(str, key))
            model = dict(zip(table.keys, place)).get("model")
            for name in [name for name, text in table.printed.get(place, {}).items() if number(text.value) is not None]:
                values = {
                    seed: float(value)
                    for seed, value in (row[name].runs if name in row else {}).items()
                    if seed is not None and isinstance(value, int | float) and not is_missing(value)
                }
                if len(values) > 1 and kind_of(name, table.definition, model) in JUDGED:
                    records = [known[path].record for path in row[name].records]
                    cells[Place(table.paper, table.name, place, name)] = CellRuns(values, split_error(records, name))
    if not cells:
        raise XmlcError("no printed cell was run with several seeds; make tables with --config seeds='[0, 1, 2, 3, 4]'")
    return Runs(cells)


def split_error(records: Iterable[RecordFile], name: str) -> float | None:
    """Return by how much a measure of rankings varies with the split, in the unit of its column; None if unknown.

    The test set is a random sample without replacement of n_train + n_test instances that are given, so that the
    standard error of a mean of independent draws is multiplied by sqrt(1 - n_test / (n_train + n_test)). The mean over
    the records is returned.
    """
    found = []
    for record in records:
        if isinstance(record, RankingRecord) and name in record.standard_errors:
            n_train, n_test = record.dataset.n_train, record.dataset.n_test
            scale = 100 if column(name).unit == "%" else 1
            found.append(scale * (record.standard_errors[name] * math.sqrt(n_train / (n_train + n_test))))
    return fmean(found) if found else None
