"""Cells of the tables on a page: our number next to the published number, its verdict and its record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from xmlc.suite.papers.tables import Cell, Panel, PanelColumn
from xmlc.suite.report.verdicts import NumberKind
from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.numbers import Key, as_float, is_missing

Place = tuple[Key, str]


class PageCell(NamedTuple):
    """A cell as the page shows it."""

    #: Our number as printed, or a dash.
    text: str
    #: The unrounded number, by which the page sorts rows, or "" if it is missing.
    order: Any
    records: tuple[Path, ...] = ()
    published: str = ""
    verdict: str = ""
    #: Our number minus the published one, or for a cost our cost divided by the published one.
    difference: str = ""
    interval: str = ""
    #: How the interval was computed, or why our number is missing.
    reason: str = ""
    #: How the settings were fitted to published results, or "".
    fitted: str = ""
    #: Name of the method, in a comparison of models.
    by: str = ""


@dataclass(frozen=True)
class PagePanel:
    """A panel on a page: its cells in rows, and the places of the best numbers."""

    panel: Panel
    cells: list[list[PageCell]]
    best: list[set[int]]


class Judged(NamedTuple):
    """The verdict on a published number: a row of `xmlc.suite.report.verdicts`."""

    value: Any
    published: str
    kind: str
    verdict: str
    interval: float
    reason: str
    fitted: str


def judged_cells(judged: pd.DataFrame, keys: tuple[str, ...]) -> dict[Place, Judged]:
    """Return the verdicts by place. A statistic of a dataset has a place for the dataset only."""
    cells = {}
    for row in judged[[*keys, "quantity", *Judged._fields]].itertuples(index=False, name=None):
        place = place_of(keys, row[: len(keys)], row[len(keys)])
        cells[place] = Judged(*row[len(keys) + 1 :])
    return cells


def place_of(keys: tuple[str, ...], key: Key, quantity: str) -> Place:
    """Return the key and the quantity that identify a cell. The key of a dataset's constant is the dataset.

    Blank cells have no key.
    """
    if key and "dataset" in keys and column(quantity).kind == "constant":
        key = (key[keys.index("dataset")],)
    return key, quantity


def page_panel(
    panel: Panel,
    verdicts: Mapping[Place, Judged],
    records: Mapping[Place, tuple[Path, ...]],
) -> PagePanel:
    """Return a panel with verdicts and records."""
    columns = [[_page_cell(cell, panel.keys, verdicts, records) for cell in part.cells] for part in panel.columns]
    return PagePanel(panel, [list(row) for row in zip(*columns, strict=True)], panel.best)


def _page_cell(
    cell: Cell,
    keys: tuple[str, ...],
    verdicts: Mapping[Place, Judged],
    records: Mapping[Place, tuple[Path, ...]],
) -> PageCell:
    about = column(cell.quantity)
    own = records.get((cell.key, cell.quantity), ())
    judged = verdicts.get(place_of(keys, cell.key, cell.quantity))
    is_absent = is_missing(cell.value) and cell.words is None
    order: Any = ""
    if not is_absent:
        if isinstance(cell.value, str) or cell.value is None:
            order = cell.value
        else:
            order = float(cell.value)
    shown = PageCell(
        text=MISSING if is_absent else cell.text,
        order="" if order is None else order,
        records=own,
    )
    if judged is None:
        return shown
    is_fixed = judged.kind in (NumberKind.DATASET, NumberKind.CONFIGURATION)
    has_interval = not is_fixed and not math.isnan(judged.interval)
    return shown._replace(
        published=judged.published,
        verdict=judged.verdict,
        difference=difference_text(cell.quantity, judged, about.cost),
        interval=f"± {judged.interval:.2g}" if has_interval else "",
        reason=judged.reason,
        fitted=judged.fitted,
    )


def difference_text(quantity: str, judged: Judged, is_cost: bool) -> str:
    """Return the signed difference from the published number, or for a cost the ratio, or ""."""
    before = as_float(judged.published)
    value = as_float(judged.value)
    if before is None or value is None or math.isnan(value):
        return ""
    if not judged.verdict:
        if is_cost and before and value:
            return f"×{value / before:.2g}"
        return ""
    by = value - before
    about = column(quantity)
    if about.decimals is not None:
        text = about.printed(abs(by))
    else:
        text = f"{abs(by):.3g}"
    if not float(text):
        return "±0"
    if by > 0:
        return f"+{text}"
    return f"−{text}"


def panel_of_rest(
    judged: pd.DataFrame, keys: tuple[str, ...], shown: Iterable[Place], cells: Mapping[Place, Cell]
) -> Panel | None:
    """Return a panel of the published numbers that no other panel shows, or None if there are none."""
    from xmlc.suite.papers.tables import TITLES

    known = {*shown}
    rest = {}
    for row in judged[[*keys, "quantity", "published"]].itertuples(index=False, name=None):
        key = row[: len(keys)]
        quantity = row[len(keys)]
        if place_of(keys, key, quantity) not in known:
            rest[key, quantity] = row[-1]
    if not rest:
        return None
    rows = list(dict.fromkeys(key for key, _ in rest))
    columns = []
    for quantity in dict.fromkeys(quantity for _, quantity in rest):
        of_column = []
        for key in rows:
            cell = cells.get((key, quantity), Cell(key, quantity))
            of_column.append(cell if (key, quantity) in rest else Cell((), quantity))
        columns.append(PanelColumn(column(quantity).heading, quantity, of_column))
    names = [tuple(TITLES.get(name, str)(part) for name, part in zip(keys, key, strict=True)) for key in rows]
    return Panel("", keys, [column(key).title for key in keys], names, columns)
