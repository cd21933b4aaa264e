"""Our runs with several seeds, which intervals are taken from: config/runs.csv, a line for each printed cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from xmlc.errors import XmlcError, let_through
from xmlc.files import atomic_file
from xmlc.judging.intervals import Spread
from xmlc.papers import table_of

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
        for number, row in enumerate(frame.itertuples(index=False, name=None), start=2):
            place, cell = _parsed(row, f"{file}:{number}")
            if place in cells:
                raise XmlcError(f"{file}:{number}: a second line for {BETWEEN.join(row[:4])}; expected one")
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
