"""Our runs with several seeds (config/runs.csv), measured from tables, and the intervals that are taken from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import pandas as pd

from xmlc.core.errors import XmlcError, let_through
from xmlc.core.files import atomic_file
from xmlc.papers import table_of
from xmlc.papers.building import build_table, read_published, read_record
from xmlc.papers.tables.columns import DEVIATION, column
from xmlc.papers.tables.intervals import student_quantile
from xmlc.papers.tables.made_of import MadeOf
from xmlc.records.base import parsed
from xmlc.records.ranking import RankingRecord
from xmlc.report.verdict import Kind, kind_of, number


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


def half_width(spread: Spread, unit: float, ours: int = 1, theirs: int = 1, other_split: bool = False) -> float:
    """Return h: of 100 faithful reproductions 95 differ from the printed number by at most h; NaN where none is known.

    The difference of a mean of ``ours`` runs and a printed mean of ``theirs`` runs has the variance
    s^2 (1 / ours + 1 / theirs), s being the deviation of one run; rounding to a printed digit adds u^2 / 12, u being
    the unit of that digit; two splits drawn apart add twice the square of the split error. Only s is estimated,
    from few runs, hence Student's t; its degrees of freedom are those of Welch and Satterthwaite, runs - 1 over the
    squared share of the variance that s has. Where runs and splits vary by no more than rounding does, as those of a
    model that draws nothing, there is no h: another solver or other folds may move such a number, and nobody measured
    by how much.

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
    if of_runs + of_splits <= of_rounding:
        return math.nan
    variance = of_runs + of_splits + of_rounding
    share = of_runs / variance
    freedom = (spread.runs - 1) / (share * share) if share else math.inf
    return student_quantile(freedom) * math.sqrt(variance)


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

    @property
    def spread(self) -> Spread:
        """The deviation over runs."""
        return Spread.of(list(self.values.values()), self.split_error)


@dataclass(frozen=True)
class Runs:
    """All of them, by where the number stands."""

    cells: Mapping[Place, CellRuns] = field(default_factory=dict)

    def spread(self, place: Place) -> Spread | None:
        """Return how much a number of ours varies; None where it was not run with several seeds."""
        found = self.cells.get(place)
        return found.spread if found else None

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


def runs_of(tables: Iterable[MadeOf]) -> Runs:
    """Build each table once for each seed of its records, and keep the cells that its paper prints.

    Raises
    ------
    XmlcError
        No table was made with several seeds.
    """
    cells: dict[Place, CellRuns] = {}
    for made in tables:
        printed = read_published(made.table, made.paper, made.published)
        wanted = {key: [name for name in printed.columns() if number(printed.value(key, name) or "") is not None]
                  for key in printed.rows()}  # fmt: skip
        by_seed = _by_seed(made.records) if wanted else {}  # others may be made of files that are no JSON
        if len(by_seed) < 2:
            continue
        frames = {
            seed: build_table(made.table, made.paper, records, made.published, made.suite).frame
            for seed, records in by_seed.items()
        }
        errors = _split_errors(made.records)
        cells |= _cells_of(made, frames, wanted, errors)
    if not cells:
        raise XmlcError("no printed cell was run with several seeds; make tables with --config seeds='[0, 1, 2, 3, 4]'")
    return Runs(cells)


def _by_seed(records: Sequence[Path]) -> dict[int, list[Path]]:
    """Group records by seed; those without one, as a dataset's statistics, belong to every seed."""
    found: dict[int, list[Path]] = {}
    common: list[Path] = []
    for path in records:
        content = parsed(path, "record")
        seed = content.get("seed") if isinstance(content, dict) else None
        (found.setdefault(seed, []) if isinstance(seed, int) else common).append(path)
    return {seed: [*common, *paths] for seed, paths in sorted(found.items())}


def _cells_of(
    made: MadeOf,
    frames: dict[int, pd.DataFrame],
    wanted: dict[tuple[str, ...], list[str]],
    errors: dict[tuple[str, str, str], float],
) -> dict[Place, CellRuns]:
    definition = table_of(made.table, made.paper)
    values: dict[Place, dict[int, float]] = {}
    for seed, frame in frames.items():
        for row in frame.to_dict("records"):
            key = tuple(str(row[name]) for name in definition.keys)
            model = dict(zip(definition.keys, key)).get("model")
            for name in wanted.get(key, []):
                measured = kind_of(name, definition, model) in JUDGED and not name.endswith(DEVIATION)
                if measured and isinstance(row.get(name), float) and not pd.isna(row[name]):
                    values.setdefault(Place(made.paper, made.table, key, name), {})[seed] = row[name]
    cells = {}
    for place, by_seed in values.items():
        named = dict(zip(definition.keys, place.row))
        error = errors.get((named.get("dataset", ""), named.get("model", ""), place.column))
        if len(by_seed) > 1:
            cells[place] = CellRuns(by_seed, error)
    return cells


def _split_errors(records: Sequence[Path]) -> dict[tuple[str, str, str], float]:
    """Return the split errors of rankings by dataset, model and column, in its unit: the mean over seeds."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for path in records:
        content = parsed(path, "record")
        if not isinstance(content, dict) or content.get("kind") != RankingRecord.KIND:
            continue
        record = read_record(path)
        if isinstance(record, RankingRecord) and record.portion == "full":
            for name, value in record.standard_errors.items():
                scale = 100 if column(name).unit == "%" else 1
                error = scale * split_error(value, record.dataset.n_train, record.dataset.n_test)
                found.setdefault((record.dataset.name, record.model, name), []).append(error)
    return {key: fmean(values) for key, values in found.items()}


def split_error(standard_error: float, n_train: float, n_test: float) -> float:
    """Return by how much a mean over a test set varies with the split of n_train + n_test instances.

    The test set is a random sample without replacement of instances that are given, so that the standard error of a
    mean of independent draws is multiplied by sqrt(1 - n_test / (n_train + n_test)).
    """
    return standard_error * math.sqrt(n_train / (n_train + n_test))
