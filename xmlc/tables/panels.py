"""The printed part of a table: panels of cells, with the published value beside the measured one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.tables.columns import DEVIATION, MISSING, Column, column
from xmlc.tables.titles import LIMITS, model_title

PAPER = "(paper)"


@dataclass(frozen=True)
class PanelColumn:
    """One printed column: what it is, its values row by row, and what competes for bold."""

    heading: str
    column: Column
    #: Numbers, choices as text, or NaN.
    values: list[Any]
    #: Standard deviations over seeds, where there are several.
    deviations: list[float] | None
    #: As the paper prints them; None if it prints none of them.
    published: list[str | None] | None
    #: Columns with the same name of contest compete for the best value of a dataset; none for an empty name.
    contest: str
    #: Rows whose value is printed in brackets; none if empty.
    marked: Sequence[bool] = ()
    #: Rows whose value is bold whatever the others have; none if empty.
    bold: Sequence[bool] = ()
    #: Columns of the table's frame that name a cell.
    keys: tuple[str, ...] = ()
    #: Row by row, the values of ``keys``; none if empty: then nothing of this column was measured.
    places: Sequence[tuple[Any, ...]] = ()


@dataclass(frozen=True)
class Panel:
    """Rows of a table that belong together, one for each printed row; they have at least the columns ``keys``."""

    title: str
    rows: pd.DataFrame
    keys: tuple[str, ...]
    columns: list[PanelColumn]
    #: Whether it explains another panel, so that a page folds it away.
    detail: bool = False

    def headings(self) -> list[str]:
        """Return the headings: keys, measured columns, then the paper's."""
        measured = [part.heading for part in self.columns]
        paper = [f"{part.heading.removesuffix(' (%)')} {PAPER}" for part in self.columns if part.published]
        return [column(key).title for key in self.keys] + measured + paper

    def cells(self) -> list[list[tuple[str, bool]]]:
        """Return every printed cell with whether it is bold."""
        bold = self._best()
        printed = []
        for i, row in enumerate(self.rows[list(self.keys)].itertuples(index=False)):
            line = [
                (model_title(value) if key == "model" else str(value), False)
                for key, value in zip(self.keys, row, strict=True)
            ]
            line += [
                (_cell(part, i), (i, j) in bold or bool(part.bold and part.bold[i]))
                for j, part in enumerate(self.columns)
            ]
            line += [(part.published[i] or MISSING, False) for part in self.columns if part.published]
            printed.append(line)
        return printed

    def _best(self) -> set[tuple[int, int]]:
        """Return the places of the best printed values of each contest and dataset; ties share the prize."""
        best: set[tuple[int, int]] = set()
        contests = dict.fromkeys(part.contest for part in self.columns if part.contest and part.column.better)
        if not contests:
            return best
        models = self.rows["model"].tolist() if "model" in self.keys else [None] * len(self.rows)
        datasets = self.rows["dataset"].tolist()
        for contest in contests:
            entries: dict[str, dict[tuple[int, int], float]] = {}
            for j, part in enumerate(self.columns):
                for i in range(len(self.rows)):
                    number = _printed_number(part, i) if part.contest == contest and models[i] not in LIMITS else None
                    if number is not None:
                        entries.setdefault(datasets[i], {})[i, j] = number
            choose = max if any(p.column.better == "higher" for p in self.columns if p.contest == contest) else min
            for field in entries.values():
                top = choose(field.values())
                if any(number != top for number in field.values()):
                    best |= {place for place, number in field.items() if number == top}
        return best


def _cell(part: PanelColumn, i: int) -> str:
    text = part.column.printed(part.values[i])
    deviation = part.deviations[i] if part.deviations else None
    if deviation is not None and not pd.isna(deviation):
        text = f"{text} ± {part.column.printed(deviation, part.values[i])}"
    return f"[{text}]" if part.marked and part.marked[i] else text


def _printed_number(part: PanelColumn, i: int) -> float | None:
    text = part.column.printed(part.values[i])
    try:
        return float(text)
    except ValueError:
        return None


class Published:
    """A table as a paper prints it: text, so that a value is shown with the paper's own digits."""

    def __init__(self, cells: dict[tuple[str, ...], dict[str, str]], keys: tuple[str, ...]) -> None:
        self._cells, self.keys = cells, keys

    @classmethod
    def read(cls, file: Path | None, keys: tuple[str, ...]) -> Published:
        """Read a transcribed table; no file means nothing is published.

        Raises
        ------
        XmlcError
            A key column is missing or two rows have the same key.
        """
        if file is None or not file.exists():
            return cls({}, keys)
        frame = pd.read_csv(file, dtype=str, keep_default_na=False)
        if absent := [key for key in keys if key not in frame]:
            raise XmlcError(f"{file}: no column {absent[0]!r}; expected the keys {', '.join(keys)} first")
        cells: dict[tuple[str, ...], dict[str, str]] = {}
        for row in frame.to_dict("records"):
            key = tuple(row[name] for name in keys)
            if key in cells:
                raise XmlcError(f"{file}: two rows for {', '.join(key)}; expected one")
            cells[key] = row
        return cls(cells, keys)

    def over(self, earlier: Published) -> Published:
        """Return both, these values where both have a row; it must hold all of its columns."""
        return Published(earlier._cells | self._cells, self.keys)

    def about(self, key: str) -> Published:
        """Return what is published about one key alone, from the first row that has it."""
        place = self.keys.index(key)
        cells: dict[tuple[str, ...], dict[str, str]] = {}
        for name, row in self._cells.items():
            cells.setdefault((name[place],), row)
        return Published(cells, (key,))

    def rows(self) -> list[tuple[str, ...]]:
        """Return the keys of all rows, in their order."""
        return list(self._cells)

    def columns(self) -> list[str]:
        """Return the names of all columns but the keys."""
        names = dict.fromkeys(name for row in self._cells.values() for name in row)
        return [name for name in names if name not in self.keys]

    def frame(self) -> pd.DataFrame:
        """Return all rows as they are printed, in their order; no rows and columns where nothing is published."""
        return pd.DataFrame(list(self._cells.values()), dtype=object)

    def value(self, key: tuple[str, ...], name: str) -> str | None:
        """Return one printed value, or None."""
        return self._cells.get(key, {}).get(name) or None


def side_by_side(
    frame: pd.DataFrame,
    published: Published,
    name: str,
    heading: str | None = None,
    contest: str | None = None,
) -> PanelColumn:
    """Return a printed column of one column of a frame, with the published values of the same rows."""
    places = list(frame[list(published.keys)].itertuples(index=False, name=None))
    values = [published.value(key, name) for key in places]
    return PanelColumn(
        heading=heading or column(name).heading,
        column=column(name),
        values=[None if pd.isna(value) else value for value in frame[name]],
        deviations=frame[name + DEVIATION].tolist() if name + DEVIATION in frame else None,
        published=values if any(value is not None for value in values) else None,
        contest=name if contest is None else contest,
        keys=published.keys,
        places=places,
    )
