"""A table on the page: each cell with the expected number, its verdict, and the provenance of its records."""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

from xmlc.core.errors import XmlcError
from xmlc.numbers.columns import DEVIATION, MISSING, Column, column
from xmlc.numbers.fingerprint import Fingerprint
from xmlc.numbers.long import SEEDS, Key, Row, Source, TextRows, is_missing, read_rows, text_rows
from xmlc.numbers.made_of import MadeOf, same_data
from xmlc.numbers.passports import passport_columns
from xmlc.numbers.titles import method_title, model_title
from xmlc.papers.claims import CLAIMS
from xmlc.papers.printing import fingerprint_of, text_of, title_of
from xmlc.papers.table import NOTHING, Cell, Panel, PanelColumn, Table, headings_of, named, printed_of
from xmlc.papers.table import PAPER as PAPERS_HEADING
from xmlc.records.base import RecordFile
from xmlc.report.compare import Cell as ComparedCell
from xmlc.report.compare import compare_rows
from xmlc.report.contribute import origin_of
from xmlc.report.failures import Failure
from xmlc.report.judge import Judge, OurNumber
from xmlc.report.runs import Place
from xmlc.report.verdict import Judgement, Kind, Verdict, kind_of, number

PAPER, REFERENCE = "paper", "reference"
# Where these differ, an accepted number is of other runs: one seed beside five, a claim on fewer datasets.
SAME_RUNS = (SEEDS, "units")


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
        Who contributed some of them.
    best, tied : bool
        Whether it is the best of its contest; whether it differs from the best by no more than seeds do.
    """

    text: str
    order: float | str = ""
    by: str = ""
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


@dataclass
class TableOnPage:
    """Joins the numbers of a table with what is expected of them, and with their records.

    Parameters
    ----------
    table : Table
    accepted : dict
        Comparison with the accepted number, by key and quantity.
    judge : Judge
        Of published numbers; accepted ones are to be met exactly.
    failed : list of Failure
    passports : Passports
    """

    table: Table
    accepted: Mapping[tuple[Key, str], ComparedCell]
    judge: Judge
    failed: Sequence[Failure]
    passports: Passports
    expectations: dict[tuple[Key, str], Expectation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.definition = self.table.definition
        self.rows: dict[Key, Row] = {tuple(map(str, key)): row for key, row in self.table.rows.items()}

    def page_table(self, own: TextRows) -> PageTable:
        """Return the table with all that is expected of its cells.

        Parameters
        ----------
        own : dict
            What the paper prints in this very table: what no panel shows of it is listed and counted too.
        """
        table = self.table
        panels = [self.panel(panel) for panel in table.panels if self._is_ours(panel)]
        shown = {part.quantity for panel in table.panels for part in panel.columns}
        hidden = [
            name
            for name in table.frame
            if name not in (*table.keys, *shown, SEEDS, "note")
            and not name.endswith(DEVIATION)
            and table.frame[name].notna().any()
        ]
        return PageTable(
            identifier=f"{table.paper}-{table.name}",
            title=title_of(table),
            caption=table.caption,
            fingerprint=fingerprint_of(table),
            panels=panels,
            costs=self._further([name for name in hidden if column(name).cost]),
            others=self._further([name for name in hidden if not column(name).cost]),
            not_run=self._not_run(own),
            notes=[note for note in table.notes if not note.startswith(PAPERS_HEADING)],
            verdicts=tags(self.counted()),
        )

    def _is_ours(self, panel: Panel) -> bool:
        """Say whether anything in a panel is ours: else it is listed among the numbers not run."""
        return any(tuple(map(str, cell.key)) in self.rows for part in panel.columns for cell in part.cells)

    def panel(self, panel: Panel) -> PagePanel:
        """Return a panel as it is printed."""
        rows = []
        for i, names in enumerate(panel.rows):
            cells = [self._cell(part.cells[i]) for part in panel.columns]
            rows.append((names, [replace(cell, best=(i, j) in panel.best) for j, cell in enumerate(cells)]))
        return PagePanel(panel.title, panel.names, [part.heading for part in panel.columns], rows, panel.detail)

    def _further(self, names: Sequence[str]) -> PagePanel | None:
        if not names:
            return None
        parts = []
        for name in names:
            cells = [Cell(key, name, row.get(name, NOTHING)) for key, row in self.rows.items()]
            parts.append(PanelColumn(column(name).heading, name, cells))
        keys = self.table.keys
        return self.panel(Panel("", headings_of(keys), [named(keys, key) for key in self.rows], parts, keys))

    def _not_run(self, own: TextRows) -> PagePanel | None:
        """Return the paper's numbers with nothing of ours beside them."""
        rest: dict[Key, dict[str, Expectation]] = {}
        for key, row in own.items():
            for name in row:
                if (key, name) not in self.expectations and name in self.table.frame:
                    expectation = self.expected(key, name)
                    if expectation is not None:
                        rest.setdefault(key, {})[name] = expectation
        if not rest:
            return None
        names = list(dict.fromkeys(name for cells in rest.values() for name in cells))
        rows = []
        for key, cells in rest.items():
            line = [_beside(PageCell(MISSING), cells.get(name), column(name), None) for name in names]
            rows.append((named(self.table.keys, key), line))
        return PagePanel("", headings_of(self.table.keys), [column(name).heading for name in names], rows)

    def counted(self) -> list[Expectation]:
        """Return the expectation of each cell; a statistic that stands in several rows of a dataset once."""
        found: dict[tuple[str, ...], Expectation] = {}
        for (key, name), one in self.expectations.items():
            if one.source == PAPER and one.kind is Kind.DATASET and "dataset" in self.table.keys:
                key = (key[self.table.keys.index("dataset")],)
            found[(*key, name)] = one
        return list(found.values())

    def expected(self, key: Key, quantity: str) -> Expectation | None:
        """Return the expectation of one cell, the paper's or else the accepted one, and remember it; or None."""
        found = self._printed(key, quantity) or self._accepted(key, quantity)
        if found:
            self.expectations[key, quantity] = found
        return found

    def _printed(self, key: Key, quantity: str) -> Expectation | None:
        text = printed_of(self.table.printed, self.table.keys, key, quantity)
        if text is None or number(text) is None:
            return None
        about, row = dict(zip(self.table.keys, key)), self.rows.get(key, {})
        mean = row.get(quantity, NOTHING)
        value = float(mean.value) if isinstance(mean.value, int | float) and not is_missing(mean.value) else None
        reason = self._why_missing(about, row) if value is None else ""
        seeds = int(row[SEEDS].value) if SEEDS in row else 1
        found = OurNumber(value, seeds, None if math.isnan(mean.deviation) else mean.deviation, failed=bool(reason))
        place = Place(self.table.paper, self.table.name, key, quantity)
        judgement = self.judge.judge(self.definition, place, self.table.printed, found)
        return Expectation(text, PAPER, judgement, reason, kind_of(quantity, self.definition, about.get("model")))

    def _accepted(self, key: Key, quantity: str) -> Expectation | None:
        cell = self.accepted.get((key, quantity))
        if cell is None or not cell.left or column(quantity).cost or cell.verdict in (Verdict.MISSING, Verdict.NEW):
            return None
        value = number(cell.left)
        text = cell.left if value is None else column(quantity).printed(value)
        return Expectation(text, REFERENCE, cell.judgement if cell.judged else None)

    def _why_missing(self, about: dict[str, str], row: Row) -> str:
        note = row["note"].value if "note" in row else None
        if isinstance(note, str) and note:
            return note
        concerning = [f for f in self.failed if f.concerns(about.get("dataset"), about.get("model"))]
        return concerning[0].reason if concerning else ""

    def _cell(self, cell: Cell) -> PageCell:
        key, definition = tuple(map(str, cell.key)), column(cell.quantity)
        value = cell.mean.value
        expectation = self.expected(key, cell.quantity) if key else None
        if key not in self.rows:
            return _beside(PageCell(MISSING), expectation, definition, None)
        about_all = not {"dataset", "model"} & {*self.table.keys}  # a claim is about several datasets
        shown = page_cell(cell, self.passports)
        shown = replace(shown, contributed="") if about_all else shown
        given = None if isinstance(value, str) or is_missing(value) else float(value)
        return _beside(shown, expectation, definition, given)


def page_cell(cell: Cell, passports: Passports) -> PageCell:
    """Return our number with the passports of its records; a dash where there is none."""
    value = cell.mean.value
    if is_missing(value):
        return PageCell(MISSING)
    return PageCell(
        text=cell.text,
        order=value if isinstance(value, str) else float(value),
        passports=passports.numbers(cell.mean.records),
        contributed=", ".join(sorted({origin_of(record)[0] for record in cell.mean.records} - {""})),
    )


def accepted_cells(table: Table, folder: Path) -> dict[tuple[Key, str], ComparedCell]:
    """Compare a table with the accepted one, ``folder/<paper>/<table>.csv``, where it is of the same runs.

    Claims, whose rows name no dataset, need the same data; where these are others or not known, a note says so.
    """
    file = folder / table.paper / f"{table.name}.csv"
    if not file.is_file():
        return {}
    if table.name == CLAIMS and not same_data(MadeOf.beside(file), table.digests):
        table.notes.append("Not compared with the accepted claims: they are of other or unknown data.")
        return {}
    try:
        accepted = read_rows(file, table.keys)
    except XmlcError:  # of an earlier version
        return {}
    ours = text_rows(text_of(table), table.keys, table.name)
    same = {
        key: row
        for key, row in accepted.items()
        if key in ours and all(row[name] == ours[key][name] for name in SAME_RUNS if name in row and name in ours[key])
    }
    return {(cell.key, cell.column): cell for cell in compare_rows(table.name, table.keys, same, ours).cells}


def tags(expectations: Sequence[Expectation]) -> list[tuple[Verdict, str]]:
    """Count the printed cells that were run by verdict, and others that differ from the accepted ones."""
    printed, accepted = count(expectations, PAPER), count(expectations, REFERENCE)
    said: list[tuple[Verdict, str]] = [
        (one, f"{printed[one]} {one}") for one in Verdict if printed[one] and one is not Verdict.NOT_RUN
    ]
    changed = accepted.total() - accepted[Verdict.EQUAL]
    return said + [(Verdict.DIFFERENT, f"{changed} not as accepted before")] * bool(changed)


def count(expectations: Iterable[Expectation], source: str) -> Counter[Verdict]:
    """Count the judged cells of one source by verdict."""
    return Counter(one.judgement.verdict for one in expectations if one.source == source and one.judgement)


def _beside(cell: PageCell, expectation: Expectation | None, definition: Column, value: float | None) -> PageCell:
    """Add the expectation to a cell."""
    if expectation is None:
        return cell
    judgement = expectation.judgement
    difference = interval = because = ""
    if judgement is not None and not math.isnan(judgement.difference):
        if expectation.source == PAPER:
            constant = expectation.kind in (Kind.DATASET, Kind.CONFIGURATION)
            interval = "" if constant or math.isnan(judgement.interval) else f"± {judgement.interval:.2g}"
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
        *_costs(record),
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


def _costs(record: RecordFile) -> list[tuple[str, str]]:
    """Return lines of `SHOWN_COSTS`, of those costs that a record has."""
    costs: Any = getattr(record, "costs", None) or {}
    found = costs if isinstance(costs, dict) else asdict(costs)
    return [
        (name, f"{found[key] * factor:.4g} {unit}")
        for key, (name, unit, factor) in SHOWN_COSTS.items()
        if found.get(key) is not None
    ]


def _settings(text: str) -> str:
    settings = json.loads(text) if text else {}
    return ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
