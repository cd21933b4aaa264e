"""A table on the page: each cell with the expected number, its verdict, and the provenance of its records."""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict

from xmlc.suite.papers.declared import Table
from xmlc.suite.papers.panels import PAPER, Panel, PanelColumn, headings_of, named
from xmlc.suite.papers.printing import fingerprint_of, title_of
from xmlc.suite.report.compare import Cell as ComparedCell
from xmlc.suite.report.compare import Comparison
from xmlc.suite.report.contributed import origin_of
from xmlc.suite.report.verdict import Kind, Verdict, number
from xmlc.suite.results.columns import DEVIATION, MISSING, Column, column
from xmlc.suite.results.fingerprint import Fingerprint
from xmlc.suite.results.frame import SEEDS, Key, Number, Row, Source, TextRows, is_missing
from xmlc.suite.results.passports import passport_columns
from xmlc.suite.results.records.base import RecordFile
from xmlc.suite.results.titles import method_title, model_title


@dataclass(frozen=True)
class PageCell:
    """One cell as it is shown; every text is plain and not yet escaped.

    Attributes
    ----------
    text : str
        The measured value as printed, or a dash.
    order : float or str
        What the table is sorted by, the measured value with all its digits; an empty text comes last.
    by : str
        The method that the value is of, where no heading names it.
    expected : str
        What the paper prints.
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
        Who contributed some of them.
    best, tied : bool
        Whether it is the best of its contest; whether it differs from the best by no more than seeds do.
    """

    text: str
    order: float | str = ""
    by: str = ""
    expected: str = ""
    difference: str = ""
    interval: str = ""
    because: str = ""
    calibrated: str = ""
    verdict: Verdict | None = None
    reason: str = ""
    passports: list[int] = field(default_factory=list)
    contributed: str = ""
    best: bool = False
    tied: bool = False


@dataclass(frozen=True)
class PagePanel:
    """Rows under one heading: texts that name a row, then cells."""

    title: str
    names: list[str]
    headings: list[str]
    rows: Sequence[tuple[Sequence[str], list[PageCell]]]
    detail: bool = False


@dataclass(frozen=True)
class PageTable:
    """A table: panels shown at once, further columns and printed rows that unfold, fingerprint and notes."""

    identifier: str
    title: str
    caption: str
    fingerprint: Fingerprint
    panels: list[PagePanel]
    further: PagePanel | None
    not_run: PagePanel | None
    notes: list[str]
    verdicts: list[tuple[Verdict, str]]


@dataclass
class TableOnPage:
    """Joins the numbers of a table with what the paper prints, and with their records.

    Parameters
    ----------
    table : Table
    beside : Comparison
        With the paper's numbers.
    failed : callable
        Says of a row, named by its keys, why it may have no number of ours.
    passports : Passports
    """

    table: Table
    beside: Comparison
    failed: Callable[[Mapping[str, str]], str]
    passports: Passports
    shown: dict[tuple[Key, str], ComparedCell] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows: dict[Key, Row] = {tuple(map(str, key)): row for key, row in self.table.rows.items()}
        self.in_print = {self._place(cell.key, cell.column): cell for cell in self.beside.cells}

    def _place(self, key: Key, quantity: str) -> tuple[Key, str]:
        """Return where a number stands; a statistic of a dataset stands in all its rows."""
        if "dataset" in self.table.keys and column(quantity).kind == "constant":
            key = key[self.table.keys.index("dataset") :][:1]
        return key, quantity

    def page_table(self, own: TextRows) -> PageTable:
        """Return the table with what the paper prints of its cells.

        Parameters
        ----------
        own : dict
            What the paper prints in this very table: what no panel shows of it is listed and counted too.
        """
        table, frame = self.table, self.table.frame
        panels = [self.panel(panel) for panel in table.panels if self._is_ours(panel)]
        shown = {part.quantity for panel in table.panels for part in panel.columns}
        hidden = [
            name
            for name in frame
            if name not in (*table.keys, *shown, SEEDS, "note")
            and not name.endswith(DEVIATION)
            and frame[name].notna().any()
        ]
        return PageTable(
            identifier=f"{table.paper}-{table.name}",
            title=title_of(table),
            caption=table.caption,
            fingerprint=fingerprint_of(table),
            panels=panels,
            further=self._further(hidden),
            not_run=self._not_run(own),
            notes=[note for note in table.notes if not note.startswith(PAPER)],
            verdicts=self.tags(),
        )

    def _is_ours(self, panel: Panel) -> bool:
        """Say whether anything in a panel is ours: else it is listed among the numbers not run."""
        return any(tuple(map(str, cell.key)) in self.rows for part in panel.columns for cell in part.numbers)

    def panel(self, panel: Panel) -> PagePanel:
        """Return a panel as it is printed."""
        rows = []
        for i, names in enumerate(panel.rows):
            cells = [self._cell(part.numbers[i]) for part in panel.columns]
            rows.append((names, [replace(cell, best=(i, j) in panel.best) for j, cell in enumerate(cells)]))
        return PagePanel(panel.title, panel.names, [part.heading for part in panel.columns], rows, panel.detail)

    def _further(self, names: Sequence[str]) -> PagePanel | None:
        if not names:
            return None
        parts = []
        for name in names:
            cells = [row.get(name, Number(quantity=name, key=key)) for key, row in self.rows.items()]
            parts.append(PanelColumn(column(name).heading, name, cells))
        keys = self.table.keys
        return self.panel(Panel("", headings_of(keys), [named(keys, key) for key in self.rows], parts))

    def _not_run(self, own: TextRows) -> PagePanel | None:
        """Return the paper's numbers with nothing of ours beside them."""
        there = {name for row in self.rows.values() for name in row}
        rest: dict[Key, dict[str, ComparedCell]] = {}
        for key, row in own.items():
            for name in (name for name in row if name in there and (key, name) not in self.shown):
                if cell := self.expected(key, name):
                    rest.setdefault(key, {})[name] = cell
        if not rest:
            return None
        names = list(dict.fromkeys(name for cells in rest.values() for name in cells))
        rows = [(named(self.table.keys, key), [self._beside(PageCell(MISSING), cells.get(name)) for name in names])
                for key, cells in rest.items()]  # fmt: skip
        return PagePanel("", headings_of(self.table.keys), [column(name).heading for name in names], rows)

    def tags(self) -> list[tuple[Verdict, str]]:
        """Count the printed cells that were run by verdict."""
        cells = {self._place(*place): cell for place, cell in self.shown.items()}
        counts = Counter(cell.verdict for cell in cells.values() if cell.judged)
        return [(one, f"{counts[one]} {one}") for one in Verdict if counts[one] and one is not Verdict.NOT_RUN]

    def expected(self, key: Key, quantity: str) -> ComparedCell | None:
        """Return the comparison of one cell with the paper's number, and remember that it is shown."""
        found = self.in_print.get(self._place(key, quantity))
        if found:
            self.shown[key, quantity] = found
        return found

    def _cell(self, cell: Number) -> PageCell:
        key = tuple(map(str, cell.key))
        expected = self.expected(key, cell.quantity) if key else None
        if key not in self.rows:
            return self._beside(PageCell(MISSING), expected)
        about_all = not {"dataset", "model"} & {*self.table.keys}  # a claim is about several datasets
        shown = page_cell(cell, self.passports)
        shown = replace(shown, contributed="") if about_all else shown
        return self._beside(shown, expected)

    def _beside(self, cell: PageCell, expected: ComparedCell | None) -> PageCell:
        """Add to a cell what the paper prints."""
        if expected is None:
            return cell
        about, judgement = column(expected.column), expected.judgement
        before, value = number(expected.left), number(expected.right)
        difference = interval = reason = ""
        if value is None:
            row = self.rows.get(expected.key, {})
            note = row["note"].value if "note" in row else None
            reason = note or self.failed(dict(zip(self.table.keys, expected.key)))
        if not math.isnan(judgement.difference):
            constant = expected.kind in (Kind.DATASET, Kind.CONFIGURATION)
            interval = "" if constant or math.isnan(judgement.interval) else f"± {judgement.interval:.2g}"
            difference = _signed(about, judgement.difference)
        elif value and before and about.cost:  # of another machine
            difference = f"×{value / before:.2g}"
        return replace(
            cell,
            expected=expected.left,
            difference=difference,
            interval=interval,
            because=judgement.reason,
            calibrated=judgement.calibrated,
            verdict=expected.verdict if expected.judged else None,
            reason=reason,
        )


def page_cell(cell: Number, passports: Passports) -> PageCell:
    """Return our number with the passports of its records; a dash where there is none."""
    value = cell.shown
    if is_missing(value):
        return PageCell(MISSING)
    return PageCell(
        text=cell.text,
        order=value if isinstance(value, str) else float(value),
        passports=passports.numbers(cell.records),
        contributed=", ".join(sorted({origin_of(record)[0] for record in cell.records} - {""})),
    )


def _signed(definition: Column, difference: float) -> str:
    """Write a difference with its sign, in the decimals of its column; a rounded 0 has none."""
    text = definition.printed(abs(difference)) if definition.decimals is not None else f"{abs(difference):.3g}"
    return ("+" if difference > 0 else "−") + text if float(text) else "±0"


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

    def __init__(self, sources: Iterable[Source]):
        self._records = {source.path: source.record for source in sources}
        self._numbers: dict[Path, int] = {}
        self.shown: list[ShownPassport] = []

    def numbers(self, records: Iterable[Path]) -> list[int]:
        """Return the numbers of the passports of some records."""
        for path in (path for path in records if path not in self._numbers):
            self._numbers[path] = len(self.shown)
            self.shown.append(shown_passport(path, self._records[path]))
        return [self._numbers[path] for path in records]


def shown_passport(path: Path, record: RecordFile) -> ShownPassport:
    """Return a passport as the page shows it."""
    about = passport_columns(record)
    origin, record_path = origin_of(path)
    title = [model_title(record.model_name)] if record.model_name else []
    title += [method_title(record.method_name)] if record.method_name else []
    seed, spent, peak = getattr(record, "seed", None), about.seconds, about.peak_mb
    lines = [
        ("dataset", f"{record.dataset_name} (digest {about.digest[:12]})" if about.digest else ""),
        ("seed", "" if seed is None else str(seed)),
        ("trained on", {"full": "the whole training set", "80": "80 % of it"}.get(about.portion, "")),
        ("hyperparameters", _settings(about.hyperparameters)),
        ("threads", "" if about.threads is None else str(about.threads)),
        ("whole step", "" if spent is None else f"{spent:.4g} s"),
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


def _settings(text: str) -> str:
    settings = json.loads(text) if text else {}
    return ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
