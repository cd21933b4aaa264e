"""A table on the page: each cell with its difference, its verdict, and the provenance of its records."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypedDict

import pandas as pd

from xmlc.metrics.measures import MEASURE_METHODS
from xmlc.papers import table_of
from xmlc.papers.building import OfTables
from xmlc.papers.tables.columns import DEVIATION, MISSING, Column, column
from xmlc.papers.tables.fingerprint import Fingerprint
from xmlc.papers.tables.table import PAPER as PAPERS_HEADING
from xmlc.papers.tables.table import Panel, Published, Table, fingerprint_of, side_by_side
from xmlc.papers.tables.titles import method_title, model_title, without_passes
from xmlc.report.contribute import origin_of
from xmlc.report.facts import Source, passport_columns
from xmlc.report.page.expected import PAPER, Expectation, Expected, tags
from xmlc.report.verdict import Kind, Verdict

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
    contributed : str
        Who contributed some of them; nothing of a claim, which is about several datasets.
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
    contributed: str = ""
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
    """A table: panels shown at once, panels that unfold, fingerprint and notes."""

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
    """Makes the panels of one table and remembers the expectation of each cell."""

    def __init__(self, table: Table, expected: Expected, passports: Passports):
        self.table, self.expected, self.passports = table, expected, passports
        self.kind = table_of(table.name, table.paper).needs[0].kind
        self.expectations: dict[tuple[tuple[str, ...], str], Expectation] = {}

    def panel(self, panel: Panel) -> PagePanel | None:
        """Return a panel as it is printed; None if nothing in it is ours: it is listed among the numbers not run."""
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
                cells.append(replace(cell, best=bold[i][names + j]))
            rows.append((_named(panel.keys, row), cells))
        return PagePanel(panel.title, _titles(panel.keys), [part.heading for part in panel.columns], rows, panel.detail)

    def counted(self) -> list[Expectation]:
        """Return the expectation of each cell; a statistic that stands in several rows of a dataset once."""
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
        passports = self.passports.record_numbers(self.table.paper, self.kind, about, definition.name)
        origins = {self.passports.shown[number]["origin"] for number in passports if {"dataset", "model"} & {*keys}}
        cell = PageCell(
            text=f"[{text}]" if marked else text,
            order=value if isinstance(value, str) else float(value),
            exact="" if isinstance(value, str) else repr(float(value)),
            passports=passports,
            contributed=", ".join(sorted(origins - {""})),
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
        """Return the paper's numbers with nothing of ours beside them."""
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
    """Add the expectation to a cell."""
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
    return replace(
        cell,
        expected=expectation.text,
        source=expectation.source,
        difference=difference,
        interval=interval,
        because=because,
        calibrated="" if judgement is None else judgement.calibrated,
        verdict=None if judgement is None else judgement.verdict,
        reason=expectation.reason,
    )


def _signed(definition: Column, difference: float) -> str:
    """Write a difference with its sign, in the decimals of its column; a rounded 0 has none."""
    text = definition.printed(abs(difference)) if definition.decimals is not None else f"{abs(difference):.3g}"
    return _sign(difference) + text if float(text) else "±0"


def _sign(difference: float) -> str:
    return "+" if difference > 0 else "−"


def _ratio(value: float, expected: str) -> str:
    """Say how many times the paper's cost ours is: it was measured on another machine."""
    printed = float(expected)
    return f"×{value / printed:.2g}" if printed > 0 and value > 0 else ""


def _titles(keys: Sequence[str]) -> list[str]:
    return [column(key).title for key in keys]


def _named(keys: Sequence[str], row: Sequence[object]) -> list[str]:
    return [TITLES.get(key, str)(str(value)) for key, value in zip(keys, row)]


# Columns of a table that hold a threshold method's macro-F under the method's name.
METHOD_COLUMNS = {"fta": "fta", "sto": "sto", "ofo": "ofo"}
# Costs of a record that a passport shows, with unit and factor.
SHOWN_COSTS = {
    "train_seconds": ("training", "s", 1),
    "tune_seconds": ("tuning thresholds", "s", 1),
    "inference_seconds": ("inferring", "s", 1),
    "train_peak_bytes": ("peak, training", "MB", 1e-6),
    "predict_peak_bytes": ("peak, prediction", "MB", 1e-6),
}


class ShownPassport(TypedDict):
    """A passport as the page shows it.

    That is a title, lines of name and text, the command that makes the record again, and who contributed the record.
    """

    title: str
    lines: list[tuple[str, str]]
    command: str
    origin: str


class Passports:
    """The passports of all records behind a page, numbered in the order of their first use."""

    def __init__(self, sources: Sequence[Source]):
        self._sources: dict[str, list[Source]] = {}
        for source in sources:
            self._sources.setdefault(source.paper, []).append(source)
        self._numbers: dict[str, int] = {}
        self.shown: list[ShownPassport] = []

    def record_numbers(self, paper: str, kind: str, about: dict[str, str], name: str) -> list[int]:
        """Return the numbers of the records behind one cell, one for each seed.

        Parameters
        ----------
        paper : str
        kind : str
            Of the records that the table is made from.
        about : dict of str to str
            The keys that name the cell.
        name : str
            Its column.
        """
        found = [s for s in self._sources.get(paper, ()) if _concerns(s.record, about)]
        method = about.get("method") or METHOD_COLUMNS.get(name)
        if method is None and "tuned_for" in about:
            method = {measure: m for m, measure in MEASURE_METHODS.items()}.get(about["tuned_for"], about["tuned_for"])
        if method is not None:
            found = [s for s in found if s.record.method_name == method] or found
        else:
            found = [s for s in found if s.record.KIND == kind]
            if kind == "thresholds":  # one number for several methods is OFO's with a and b (plt2016, Table 4)
                found = [s for s in found if s.record.method_name == "ofo-ab"] or found
        unique: dict[tuple[int | None, bool], Source] = {}
        for source in found:
            unique.setdefault((_seed(source.record), source.record.KIND != kind and method is None), source)
        return [self._number(source) for source in unique.values()]

    def _number(self, source: Source) -> int:
        path = source.path.as_posix()
        if path not in self._numbers:
            self._numbers[path] = len(self.shown)
            self.shown.append(shown_passport(source))
        return self._numbers[path]


def _concerns(record: OfTables, about: dict[str, str]) -> bool:
    """Say whether a record is of this dataset and model, where these are named."""
    model = record.model_name
    if "passes" in about and model is not None:
        model, passes = without_passes(model)
        if str(passes) != about["passes"]:
            return False
    return about.get("dataset") in (None, record.dataset_name) and about.get("model") in (None, model)


def _seed(record: OfTables) -> int | None:
    return getattr(record, "seed", None)


def shown_passport(source: Source) -> ShownPassport:
    """Return a passport as the page shows it."""
    record, about = source.record, passport_columns(source)
    origin, record_path = origin_of(source.path)
    title = [model_title(record.model_name)] if record.model_name else []
    title += [method_title(record.method_name)] if record.method_name else []
    seed, spent, peak = _seed(record), about.seconds, about.peak_mb
    lines = [
        ("dataset", f"{record.dataset_name} (digest {about.digest[:12]})" if about.digest else ""),
        ("seed", "" if seed is None else str(seed)),
        ("trained on", {"full": "the whole training set", "80": "80 % of it"}.get(about.portion, "")),
        ("hyperparameters", _settings(about.hyperparameters)),
        *_costs(record),
        ("threads", "" if about.threads is None else str(about.threads)),
        ("this step", "" if spent is None else f"{spent:.4g} s, whole process"),
        ("its peak memory", "" if peak is None else f"{peak:.4g} MB"),
        ("machine", about.cpu),
        ("versions", about.versions),
        ("made", about.time),
        ("record", record_path.as_posix()),
        ("contributed by", origin),
    ]
    return ShownPassport(
        title=", ".join(title) or record.dataset_name,
        lines=[line for line in lines if line[1]],
        command=f"snakemake --cores {about.threads or 1} --force {shlex.quote(record_path.as_posix())}",
        origin=origin,
    )


def _costs(record: OfTables) -> list[tuple[str, str]]:
    """Return lines of `SHOWN_COSTS`, of those costs that a record has."""
    costs = getattr(record, "costs", None) or {}
    found = costs if isinstance(costs, dict) else asdict(costs)
    return [
        (name, f"{found[key] * factor:.4g} {unit}")
        for key, (name, unit, factor) in SHOWN_COSTS.items()
        if found.get(key) is not None
    ]


def _settings(text: str) -> str:
    settings = json.loads(text) if text else {}
    return ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
