"""Build the tables of the report from the panels of our tables, and add the published numbers and the verdicts."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from xmlc.suite.papers.declared import Table
from xmlc.suite.papers.panels import PAPER, Panel, PanelColumn, headings_of, named
from xmlc.suite.papers.printing import fingerprint_of, title_of, to_csv
from xmlc.suite.report.compare import place_of
from xmlc.suite.report.finished import origin_of
from xmlc.suite.report.verdicts import NumberKind, as_float, difference
from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.environments import environment_columns
from xmlc.suite.results.fingerprint import Fingerprint
from xmlc.suite.results.frame import Number, Rows, Source, is_missing
from xmlc.suite.results.records.base import RecordFile
from xmlc.suite.results.titles import method_title, model_title

# The fields of `Number` that a judge sets.
JUDGED = ("published", "kind", "verdict", "interval", "reason", "fitted_settings")
ABSENT = "absent"  # The mark of a cell in which the page shows a dash, because our number is missing.
SEED = re.compile(r"(?<=/seed)\d+(?=/)")
SPLITS = {"full": "the whole training set", "80": "80 % of the training set"}


@dataclass(frozen=True)
class PageTable:
    """Hold a table of a paper's page.

    The panel ``others`` has the published numbers that no panel in ``panels`` shows. ``file`` is the path of the CSV
    file relative to the page, and ``csv`` is its text. ``judged`` lists the verdicts on the numbers in ``panels``.
    """

    identifier: str
    title: str
    caption: str
    fingerprint: Fingerprint
    file: str
    csv: str
    panels: list[Panel]
    others: Panel | None
    notes: list[str]
    judged: list[Number]

    @property
    def in_papers(self) -> bool:
        """Return whether the table has a number, such as Table 2, like all tables that are in papers."""
        return self.identifier.removeprefix("table").isdecimal()


def page_table(table: Table, judged: Iterable[Number], own: Rows) -> PageTable:
    """Join the numbers of one of our tables with the published numbers and the verdicts.

    Parameters
    ----------
    table : Table
    judged : iterable of Number
        All published numbers of the table, with verdicts.
    own : dict
        Published numbers from the paper's table of the same name, and from no other table.
    """
    keys = table.keys
    verdicts = {place_of(keys, one.key, one.quantity): one for one in judged}

    def join(number: Number) -> Number:
        about = dict(zip(keys, number.key))
        found = verdicts.get(place_of(keys, number.key, number.quantity)) if number.key else None
        if number.key not in table.rows or is_missing(number.shown):
            number = replace(number, value=found.value if found else None, words=None, mark=ABSENT)
        judged = found or Number(quantity=number.quantity)
        verdict = {name: getattr(judged, name) for name in JUDGED}
        return replace(number, dataset=about.get("dataset", ""), model=about.get("model", ""), **verdict)

    def joined(panel: Panel) -> Panel:
        return replace(panel, columns=[replace(part, numbers=list(map(join, part.numbers))) for part in panel.columns])

    ours = [one for one in table.panels if any(n.key in table.rows for part in one.columns for n in part.numbers)]
    panels = [joined(panel).compact() for panel in ours]
    shown = {place_of(keys, n.key, n.quantity) for panel in panels for part in panel.columns for n in part.numbers}
    rest = {key: [name for name in row if place_of(keys, key, name) in verdicts.keys() - shown]
            for key, row in own.items()}  # fmt: skip
    names = list(dict.fromkeys(name for names in rest.values() for name in names))
    rows = [key for key, names in rest.items() if names]
    others = [
        PanelColumn(column(name).heading, name, [
            table.rows.get(key, {}).get(name) or Number(quantity=name, key=key if name in rest[key] else ())
            for key in rows
        ])
        for name in names
    ]  # fmt: skip
    return PageTable(
        identifier=table.name,
        title=title_of(table),
        caption=table.caption,
        fingerprint=fingerprint_of(table),
        file=f"{table.paper}/{table.name}.csv",
        csv=to_csv(table),
        panels=panels,
        others=joined(Panel("", headings_of(keys), [named(keys, key) for key in rows], others)) if others else None,
        notes=[note for note in table.notes if not note.startswith(PAPER)],
        judged=[verdicts[place] for place in verdicts if place in shown],
    )


def text_on_page(number: Number) -> str:
    """Return our number as text, or a dash if the cell has no number."""
    return MISSING if number.mark == ABSENT or is_missing(number.shown) else number.text


def order_on_page(number: Number) -> float | str:
    """Return the unrounded value, by which the page sorts the rows of a table.

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
    """Return the names of a number's contributors, joined by commas, or "" in a table of claims."""
    names = {origin_of(record)[0] for record in number.records} - {""}
    return ", ".join(sorted(names)) if number.dataset or number.model else ""


class ShownEnvironment(TypedDict):
    """Hold the environment metadata of a run with some seeds, as the page shows it.

    The fields are a title, pairs of name and text, the command that rebuilds the records, and the records' contributor.
    """

    title: str
    lines: list[tuple[str, str]]
    command: str
    origin: str


class Environments:
    """Give reference numbers to the runs of a page, in order of first use, and return their environment metadata.

    A run is a group of records that differ only in the seed.
    """

    def __init__(self, sources: Iterable[Source]):
        self._records = {source.path: source.record for source in sources}
        self._numbers: dict[tuple[Path, ...], int] = {}

    @property
    def shown(self) -> list[ShownEnvironment]:
        """Return the environment metadata of all runs with reference numbers, in the order of these numbers."""
        return [shown_environment({path: self._records[path] for path in run}) for run in self._numbers]

    def numbers(self, records: Iterable[Path]) -> list[int]:
        """Return the reference numbers of the records' runs.

        A run that has no reference number yet gets the next number.
        """
        runs: dict[str, list[Path]] = {}
        for path in records:
            runs.setdefault(SEED.sub("", path.as_posix()), []).append(path)
        return [self._numbers.setdefault(tuple(run), len(self._numbers)) for run in runs.values()]


def shown_environment(records: dict[Path, RecordFile]) -> ShownEnvironment:
    """Return the environment metadata of a run as the page shows it. The records of the run differ only in the seed."""
    record, abouts = next(iter(records.values())), list(map(environment_columns, records.values()))
    origin, path = origin_of(next(iter(records)))
    title = [model_title(record.model_name)] if record.model_name else []
    title += [method_title(record.method_name)] if record.method_name else []
    seeds = [str(seed) for one in records.values() if (seed := getattr(one, "seed", None)) is not None]
    step, seconds = getattr(record, "step", None), [about.seconds for about in abouts]
    settings = [json.loads(about.hyperparameters or "{}") for about in abouts]
    file = shlex.quote(path.as_posix())
    # A shell expands the braces to the paths of all records.
    file = SEED.sub(f"{{{','.join(seeds)}}}", file) if len(seeds) > 1 else file
    lines = {
        "dataset": [f"{record.dataset_name} (digest {about.digest[:12]})" for about in abouts if about.digest],
        "seed": [", ".join(seeds)],
        "trained on": [SPLITS.get(about.split, "") for about in abouts],
        "hyperparameters": [", ".join(f"{k} {v}" for k, v in one.items() if v is not None) for one in settings],
        "threads": [str(about.threads or "") for about in abouts],
        f"time of step {step['name']}" if step else "": ["" if s is None else f"{s:.4g} s" for s in seconds],
        "peak memory": ["" if about.peak_mb is None else f"{about.peak_mb:.4g} MB" for about in abouts],
        "machine": [about.cpu for about in abouts],
        "versions": [about.versions for about in abouts],
        "made": [about.time[:10] for about in abouts],
        "record": [file],
        "contributed by": [origin],
    }
    texts = [(name, "; ".join(dict.fromkeys(filter(None, some)))) for name, some in lines.items()]
    return ShownEnvironment(
        title=", ".join(title) or record.dataset_name,
        lines=[line for line in texts if line[1]],
        command=f"snakemake --cores {abouts[0].threads or 1} --force {file}",
        origin=origin,
    )
