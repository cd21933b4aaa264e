"""Build the tables of the page from the panels of our tables.

Each cell also gets the published number and the verdict.
"""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from xmlc.suite.papers.declared import Table
from xmlc.suite.papers.panels import PAPER, Panel, PanelColumn, headings_of, named
from xmlc.suite.papers.printing import fingerprint_of, title_of
from xmlc.suite.report.compare import place_of
from xmlc.suite.report.finished import origin_of
from xmlc.suite.report.verdicts import NumberKind, Verdict, as_float, difference
from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.environments import environment_columns
from xmlc.suite.results.fingerprint import Fingerprint
from xmlc.suite.results.frame import Key, Number, Rows, Source, is_missing
from xmlc.suite.results.records.base import RecordFile
from xmlc.suite.results.titles import method_title, model_title

JUDGED = ("published", "kind", "verdict", "interval", "reason", "fitted_settings")  # Fields of numbers, set by a judge.
ABSENT = "absent"  # The mark of a cell without our number. The page shows a dash in this cell.


@dataclass(frozen=True)
class PageTable:
    """Hold a table of the page.

    The page shows ``panels``. Two more panels are folded: ``further`` has our other columns, and ``not_run`` has
    published numbers that no other panel shows.
    """

    identifier: str
    title: str
    caption: str
    fingerprint: Fingerprint
    panels: list[Panel]
    further: Panel | None
    not_run: Panel | None
    notes: list[str]
    verdicts: list[tuple[Verdict, str]]


class TableOnPage:
    """Join the numbers in one of our tables with the published numbers and the verdicts.

    Parameters
    ----------
    table : Table
    judged : list of Number
        All published numbers of the table, with verdicts.
    """

    def __init__(self, table: Table, judged: Iterable[Number]):
        self.table = table
        self.judged = {place_of(table.keys, one.key, one.quantity): one for one in judged}
        self.shown: set[tuple[Key, str]] = set()

    def page_table(self, own: Rows) -> PageTable:
        """Return the table as the page shows it, with the published numbers of the cells.

        Parameters
        ----------
        own : dict
            The paper's numbers in exactly this table. The panel `not_run` contains the paper's numbers that no other
            panel shows.
        """
        table, rows = self.table, self.table.rows
        ours = [one for one in table.panels if any(n.key in rows for part in one.columns for n in part.numbers)]
        panels = [replace(panel, columns=[self._joined(part) for part in panel.columns]) for panel in ours]
        in_panels = {"note", *(part.quantity for panel in table.panels for part in panel.columns)}
        filled = {name for row in rows.values() for name in row if not row[name].is_missing}
        hidden = [name for name in table.columns if name in filled and name not in in_panels]
        further = self._panel(list(rows), hidden, rows)
        there = {name for row in rows.values() for name in row}
        rest = {
            key: names
            for key, row in own.items()
            if (names := [n for n in row if n in there and (key, n) not in self.shown and self._of_paper(key, n)])
        }
        names = list(dict.fromkeys(name for names in rest.values() for name in names))
        not_run = self._panel(list(rest), names, {}, {(key, name) for key in rest for name in rest[key]})
        places = {place_of(table.keys, *place) for place in self.shown}
        counts = Counter(self.judged[place].verdict for place in places)
        return PageTable(
            identifier=f"{table.paper}-{table.name}",
            title=title_of(table),
            caption=table.caption,
            fingerprint=fingerprint_of(table),
            panels=panels,
            further=further,
            not_run=not_run,
            notes=[note for note in table.notes if not note.startswith(PAPER)],
            verdicts=[(one, f"{counts[one]} {one}") for one in Verdict if counts[one] and one is not Verdict.NOT_RUN],
        )

    def _of_paper(self, key: Key, quantity: str) -> Number | None:
        return self.judged.get(place_of(self.table.keys, key, quantity))

    def _panel(
        self, keys: Sequence[Key], names: Iterable[str], rows: Rows, only: set[tuple[Key, str]] | None = None
    ) -> Panel | None:
        """Return a panel with the columns ``names``, or None if there are no columns.

        If ``only`` is given, only the cells in ``only`` get published numbers and verdicts.
        """
        columns = []
        for name in names:
            numbers = [rows.get(key, {}).get(name) or Number(quantity=name, key=key, mark=ABSENT) for key in keys]
            joined = [self._join(one) if only is None or (one.key, name) in only else one for one in numbers]
            columns.append(PanelColumn(column(name).heading, name, joined))
        about = self.table.keys
        return Panel("", headings_of(about), [named(about, key) for key in keys], columns) if columns else None

    def _joined(self, part: PanelColumn) -> PanelColumn:
        return replace(part, numbers=list(map(self._join, part.numbers)))

    def _join(self, number: Number) -> Number:
        """Return our number in a cell with the published number and the verdict.

        The method also records that the page shows the published number.
        """
        about = dict(zip(self.table.keys, number.key))
        found = self._of_paper(number.key, number.quantity) if number.key else None
        if found:
            self.shown.add((number.key, number.quantity))
        if number.key not in self.table.rows or is_missing(number.shown):
            value = found.value if found else None
            number = Number(quantity=number.quantity, key=number.key, value=value, mark=ABSENT)
        judged = found or Number(quantity=number.quantity)
        verdict = {name: getattr(judged, name) for name in JUDGED}
        return replace(number, dataset=about.get("dataset", ""), model=about.get("model", ""), **verdict)


def text_on_page(number: Number) -> str:
    """Return our number as text, or a dash if the cell has no number."""
    return MISSING if number.mark == ABSENT or is_missing(number.shown) else number.text


def order_on_page(number: Number) -> float | str:
    """Return the value with all digits by which the page sorts a column.

    A missing value is "", which is sorted last.
    """
    if number.mark == ABSENT or is_missing(number.shown):
        return ""
    return number.shown if isinstance(number.shown, str) else float(number.shown)


def difference_on_page(number: Number) -> str:
    """Return the signed difference of our number from the published number as text, with the decimals of the column.

    For a cost, return the ratio of our cost to the published cost.
    """
    about, by = column(number.quantity), difference(number)
    if math.isnan(by) or not number.verdict:
        before, value = as_float(number.published), as_float(number.value)
        return f"×{value / before:.2g}" if about.cost and before and value else ""
    text = about.printed(abs(by)) if about.decimals is not None else f"{abs(by):.3g}"
    return ("+" if by > 0 else "−") + text if float(text) else "±0"


def interval_on_page(number: Number) -> str:
    """Return the half width of a number's interval as text, or "" if the number is not judged by an interval."""
    constant = number.kind in (NumberKind.DATASET, NumberKind.CONFIGURATION)
    return "" if constant or math.isnan(number.interval) else f"± {number.interval:.2g}"


def contributors(number: Number) -> str:
    """Return the names of the contributors of a number's records, joined by commas. The text is empty for claims."""
    names = {origin_of(record)[0] for record in number.records} - {""}
    return ", ".join(sorted(names)) if number.dataset or number.model else ""


class ShownEnvironment(TypedDict):
    """Hold the environment metadata of a record as the page shows it.

    The fields are a title, pairs of name and text, the command that rebuilds the record, and the record's contributor.
    """

    title: str
    lines: list[tuple[str, str]]
    command: str
    origin: str


class Environments:
    """Give reference numbers to the records of a page, in order of first use, and return their environment metadata."""

    def __init__(self, sources: Iterable[Source]):
        self._records = {source.path: source.record for source in sources}
        self._numbers: dict[Path, int] = {}

    @property
    def shown(self) -> list[ShownEnvironment]:
        """Return the environment metadata of all records with reference numbers, in the order of these numbers."""
        return [shown_environment(path, self._records[path]) for path in self._numbers]

    def numbers(self, records: Iterable[Path]) -> list[int]:
        """Return the reference number of each record. A record without a reference number gets the next number."""
        return [self._numbers.setdefault(path, len(self._numbers)) for path in records]

    def enter(self, table: PageTable) -> None:
        """Give reference numbers to the records of a table, row by row."""
        for panel in (*table.panels, *filter(None, [table.further])):
            for row in zip(*(part.numbers for part in panel.columns)):
                for number in row:
                    self.numbers(number.records)


def shown_environment(path: Path, record: RecordFile) -> ShownEnvironment:
    """Return the environment metadata of a record as the page shows it."""
    about = environment_columns(record)
    origin, record_path = origin_of(path)
    title = [model_title(record.model_name)] if record.model_name else []
    title += [method_title(record.method_name)] if record.method_name else []
    seed, spent, peak = getattr(record, "seed", None), about.seconds, about.peak_mb
    settings = json.loads(about.hyperparameters or "{}")
    lines = [
        ("dataset", f"{record.dataset_name} (digest {about.digest[:12]})" if about.digest else ""),
        ("seed", "" if seed is None else str(seed)),
        ("trained on", {"full": "the whole training set", "80": "80 % of the training set"}.get(about.split, "")),
        ("hyperparameters", ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)),
        ("threads", "" if about.threads is None else str(about.threads)),
        ("whole step", "" if spent is None else f"{spent:.4g} s"),
        ("peak memory", "" if peak is None else f"{peak:.4g} MB"),
        ("machine", about.cpu),
        ("versions", about.versions),
        ("made", about.time),
        ("record", record_path.as_posix()),
        ("contributed by", origin),
    ]
    return ShownEnvironment(
        title=", ".join(title) or record.dataset_name,
        lines=[line for line in lines if line[1]],
        command=f"snakemake --cores {about.threads or 1} --force {shlex.quote(record_path.as_posix())}",
        origin=origin,
    )
