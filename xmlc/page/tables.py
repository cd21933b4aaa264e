"""A table on the page: each cell with what was measured, what is expected, the difference and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from xmlc.judging.kinds import Kind
from xmlc.judging.verdict import Verdict
from xmlc.page.expected import PAPER, Expectation, Expected, tags
from xmlc.page.passports import Passports
from xmlc.papers import table_of
from xmlc.tables.columns import DEVIATION, MISSING, Column, column
from xmlc.tables.fingerprint import Fingerprint
from xmlc.tables.panels import PAPER as PAPERS_HEADING
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.render import fingerprint_of
from xmlc.tables.table import Table
from xmlc.tables.titles import method_title, model_title

TITLES = {"model": model_title, "method": method_title}


@dataclass(frozen=True)
class PageCell:
    """One cell as it is shown; every text is plain and not yet escaped.

    Attributes
    ----------
    text : str
        The measured value as printed, or a dash.
    order : float or str
        What the table is sorted by; an empty text comes last.
    exact : str
        The measured value with all its digits.
    expected, source : str
        What it is held against, and whether that is of the paper or accepted before.
    difference, interval, because : str
        By how much it differs, by how much a faithful reproduction may, and what that interval is made of.
    calibrated : str
        Which settings were chosen on the printed test results.
    verdict : Verdict or None
    reason : str
        Why there is no measured value.
    passports : list of int
        The records behind it.
    best : bool
        Whether it is the best of its contest.
    """

    text: str
    order: float | str = ""
    exact: str = ""
    expected: str = ""
    source: str = ""
    difference: str = ""
    interval: str = ""
    because: str = ""
    calibrated: str = ""
    verdict: Verdict | None = None
    reason: str = ""
    passports: list[int] = field(default_factory=list)
    best: bool = False


@dataclass(frozen=True)
class PagePanel:
    """Rows under one heading: texts that name a row, then cells."""

    title: str
    names: list[str]
    headings: list[str]
    rows: list[tuple[list[str], list[PageCell]]]
    detail: bool = False


@dataclass(frozen=True)
class PageTable:
    """A table: panels that are seen at once, those that unfold, its fingerprint and its notes."""

    identifier: str
    title: str
    caption: str
    fingerprint: Fingerprint
    panels: list[PagePanel]
    costs: PagePanel | None
    others: PagePanel | None
    not_run: PagePanel | None
    notes: list[str]
    verdicts: list[tuple[Verdict, str]]


def table_on_page(
    table: Table, expected: Expected, passports: Passports, title: str, own: Published | None
) -> tuple[PageTable, list[Expectation]]:
    """Return one table with all that is expected of its cells.

    Parameters
    ----------
    table : Table
    expected : Expected
    passports : Passports
    title : str
    own : Published or None
        What the paper prints in this very table: what no panel shows of it is listed and counted too.

    Returns
    -------
    PageTable
    list of Expectation
        One for each cell that is shown, each counted once.
    """
    maker = _Maker(table, expected, passports)
    panels = [panel for panel in map(maker.panel, table.panels) if panel is not None]
    costs, others = maker.further_columns()
    not_run = None if own is None else maker.not_run(own)
    found = maker.counted()
    notes = [note for note in table.notes if not note.startswith(PAPERS_HEADING)]
    page = PageTable(
        identifier=f"{table.paper}-{table.name}",
        title=title,
        caption=table.caption,
        fingerprint=fingerprint_of(table),
        panels=panels,
        costs=costs,
        others=others,
        not_run=not_run,
        notes=notes,
        verdicts=tags(found),
    )
    return page, found


class _Maker:
    """Makes the panels of one table and remembers what is expected of each cell."""

    def __init__(self, table: Table, expected: Expected, passports: Passports):
        self.table, self.expected, self.passports = table, expected, passports
        self.kind = table_of(table.name, table.paper).needs[0].kind
        self.expectations: dict[tuple[tuple[str, ...], str], Expectation] = {}

    def panel(self, panel: Panel) -> PagePanel | None:
        """Return a panel as it is printed; None if nothing in it is ours: that is listed with what was not run."""
        if not any(self._has_own(part.keys, place) for part in panel.columns for place in part.places):
            return None
        bold = [[best for _, best in line] for line in panel.cells()]
        names = len(panel.keys)
        rows = []
        for i, row in enumerate(panel.rows[list(panel.keys)].itertuples(index=False, name=None)):
            cells = []
            for j, part in enumerate(panel.columns):
                deviation = part.deviations[i] if part.deviations else None
                mark = bool(part.marked) and bool(part.marked[i])
                place = part.places[i] if part.places else ()
                cell = self._cell(part.column, part.values[i], deviation, part.keys, place, mark)
                cells.append(cell if not bold[i][names + j] else _bold(cell))
            rows.append((_named(panel.keys, row), cells))
        return PagePanel(panel.title, _titles(panel.keys), [part.heading for part in panel.columns], rows, panel.detail)

    def counted(self) -> list[Expectation]:
        """Return what is expected of each cell; a statistic that stands in several rows of a dataset once."""
        found: dict[tuple[str, ...], Expectation] = {}
        for (place, name), one in self.expectations.items():
            if one.source == PAPER and one.kind is Kind.DATASET and "dataset" in self.table.keys:
                place = place if len(place) == 1 else (place[self.table.keys.index("dataset")],)
            found[*place, name] = one
        return list(found.values())

    def _has_own(self, keys: tuple[str, ...], place: tuple[Any, ...]) -> bool:
        return bool(keys) and self.expected.row(keys, place) is not None

    def _cell(
        self,
        definition: Column,
        value: Any,
        deviation: float | None,
        keys: tuple[str, ...],
        place: tuple[Any, ...],
        marked: bool = False,
    ) -> PageCell:
        own = self._has_own(keys, place)
        expectation = self.expected.of(keys, place, definition.name) if keys else None
        if expectation is not None:
            self.expectations[tuple(map(str, place)), definition.name] = expectation
        if not own or value is None or (not isinstance(value, str) and pd.isna(value)):
            return _of_expectation(PageCell(MISSING), expectation, definition, None)
        text = definition.printed(value)
        if deviation is not None and not pd.isna(deviation):
            text = f"{text} ± {definition.printed(deviation, value)}"
        about = dict(zip(keys, map(str, place)))
        row = self.expected.row(keys, place) or {}
        if not pd.isna(row.get("passes")):  # of several models the one that is best stands in the table
            about["passes"] = str(row["passes"])
        cell = PageCell(
            text=f"[{text}]" if marked else text,
            order=value if isinstance(value, str) else float(value),
            exact="" if isinstance(value, str) else repr(float(value)),
            passports=self.passports.behind(self.table.paper, self.kind, about, definition.name),
        )
        return _of_expectation(cell, expectation, definition, None if isinstance(value, str) else float(value))

    def further_columns(self) -> tuple[PagePanel | None, PagePanel | None]:
        """Return the costs, and all other columns of the CSV, that no panel shows."""
        shown = {part.column.name for panel in self.table.panels for part in panel.columns}
        # A threshold method's panel is one column of the CSV for every method.
        hidden = [
            name
            for name in self.table.frame
            if name not in (*self.table.keys, *shown, "seeds", "note") and not name.endswith(DEVIATION)
        ]
        filled = [name for name in hidden if self.table.frame[name].notna().any()]
        costs = [name for name in filled if column(name).cost]
        return self._of_frame(costs), self._of_frame([name for name in filled if name not in costs])

    def _of_frame(self, names: Sequence[str]) -> PagePanel | None:
        if not names:
            return None
        frame, nothing = self.table.frame, Published({}, self.table.keys)
        parts = [side_by_side(frame, nothing, name, contest="") for name in names]
        return self.panel(Panel("", frame, self.table.keys, parts))

    def not_run(self, own: Published) -> PagePanel | None:
        """Return what the paper prints and nothing of ours stands beside."""
        rest = self.expected.rest(own)
        if not rest:
            return None
        names = list(dict.fromkeys(name for _, cells in rest for name in cells))
        rows = []
        for place, cells in rest:
            self.expectations |= {(place, name): expectation for name, expectation in cells.items()}
            line = [_of_expectation(PageCell(MISSING), cells.get(name), column(name), None) for name in names]
            rows.append((_named(self.table.keys, place), line))
        return PagePanel("", _titles(self.table.keys), [column(name).heading for name in names], rows)


def _of_expectation(
    cell: PageCell, expectation: Expectation | None, definition: Column, value: float | None
) -> PageCell:
    """Add what is expected to a cell."""
    if expectation is None:
        return cell
    judgement = expectation.judgement
    difference = interval = because = ""
    if judgement is not None and not pd.isna(judgement.difference):
        if expectation.source == PAPER:
            constant = expectation.kind in (Kind.DATASET, Kind.CONFIGURATION)
            interval = "" if constant or pd.isna(judgement.interval) else f"± {judgement.interval:.2g}"
            because = judgement.reason
            difference = _signed(definition, judgement.difference)
        elif judgement.verdict is not Verdict.EQUAL:  # beside ours the last bit counts, which no print shows
            difference = _sign(judgement.difference) + f"{abs(judgement.difference):.2g}"
    elif value is not None and definition.cost and expectation.source == PAPER:
        difference = _ratio(value, expectation.text)
    return PageCell(
        text=cell.text,
        order=cell.order,
        exact=cell.exact,
        expected=expectation.text,
        source=expectation.source,
        difference=difference,
        interval=interval,
        because=because,
        calibrated="" if judgement is None else judgement.calibrated,
        verdict=None if judgement is None else judgement.verdict,
        reason=expectation.reason,
        passports=cell.passports,
    )


def _signed(definition: Column, difference: float) -> str:
    """Write a difference with its sign, in the decimals of its column; what rounds to nothing has none."""
    text = definition.printed(abs(difference)) if definition.decimals is not None else f"{abs(difference):.3g}"
    return _sign(difference) + text if float(text) else "±0"


def _sign(difference: float) -> str:
    return "+" if difference > 0 else "−"


def _ratio(value: float, expected: str) -> str:
    """Say how many times the paper's cost ours is: it was measured on another machine."""
    printed = float(expected)
    return f"×{value / printed:.2g}" if printed > 0 and value > 0 else ""


def _bold(cell: PageCell) -> PageCell:
    return PageCell(**{**cell.__dict__, "best": True})


def _titles(keys: Sequence[str]) -> list[str]:
    return [column(key).title for key in keys]


def _named(keys: Sequence[str], row: Sequence[object]) -> list[str]:
    return [TITLES.get(key, str)(str(value)) for key, value in zip(keys, row)]
