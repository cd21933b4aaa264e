"""HTML pages of all finished results next to the papers' numbers.

They have no scripts and load no other files.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from xmlc import __version__
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.suite import find_suite
from xmlc.suite.papers import figures_of, tables_of
from xmlc.suite.papers.building import Known, build_table
from xmlc.suite.papers.claims import CLAIMS, FITTED, counted
from xmlc.suite.papers.printing import fingerprint_of, title_of, to_csv
from xmlc.suite.papers.tables import Cell, Table
from xmlc.suite.report.compare import HEADLINES, count_outcomes, published_lines
from xmlc.suite.report.finished import environment_columns
from xmlc.suite.report.models import comparisons
from xmlc.suite.report.status import Failure
from xmlc.suite.report.verdicts import Judge, judged
from xmlc.suite.results.columns import column
from xmlc.suite.results.fingerprint import TABLE, Fingerprint, of_parts
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.numbers import Key, as_float, place_of, read_published


@dataclass
class PaperPage:
    """The page of one paper or suite."""

    name: str
    title: str
    tables: list[Table]
    #: Published numbers, with ours and the verdicts.
    judged: pd.DataFrame
    #: Verdict on each counted claim, by the statement in words.
    claims: dict[str, str]
    #: Machines and versions of the records.
    environments: list[str]
    #: Rows of `judged` for each table, by place (`xmlc.suite.results.numbers.place_of`).
    verdicts: dict[str, dict[Key, dict[Hashable, Any]]]
    #: Counts of verdicts on each table's published numbers, in words.
    findings: dict[str, list[str]]
    #: Caption and SVG by name.
    figures: dict[str, tuple[str, bytes]]

    @property
    def shown(self) -> list[Table]:
        """Tables to show: the paper's and then its claims, or all of a suite without a paper."""
        shown = []
        for table in self.tables:
            name = table.spec.name
            if self.judged.empty or name.removeprefix("table").isdecimal() or name == CLAIMS:
                shown.append(table)
        return sorted(shown, key=lambda table: table.spec.name == CLAIMS)

    @property
    def fingerprint(self) -> Fingerprint:
        """Fingerprint of the paper's tables."""
        return of_parts({one.spec.name + TABLE: fingerprint_of(one) for one in self.tables})

    def verdict_of(self, table: Table, cell: Cell) -> dict[Hashable, Any] | None:
        """Return the row of `judged` for a cell, or None if the paper has no such number."""
        return self.verdicts[table.spec.name].get(
            place_of(table.spec.keys, *cell.key, cell.quantity)
        )


def pages_of(
    tables: Sequence[Manifest], failures: Sequence[Failure], judge: Judge, run: str = ""
) -> tuple[dict[str, str], pd.DataFrame]:
    """Return the report's files as texts by path, and all published numbers with verdicts."""
    known: Known = {}
    papers = []
    for name, finished in groupby(tables, key=lambda made: made.paper):
        papers.append(_paper(name, [*finished], judge, known))
    numbers = pd.concat([paper.judged for paper in papers], ignore_index=True)
    templates = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {
        "version": __version__,
        "fitted_mark": FITTED,
        "published_lines": published_lines,
        "title_of": title_of,
        "fingerprint_of": fingerprint_of,
        "cost_ratio": cost_ratio,
        "address_of": address_of,
        "papers": papers,
        "headlines": HEADLINES,
        "column": column,
        "count_outcomes": count_outcomes,
    }
    texts = {}
    for paper in papers:
        for table in paper.tables:
            texts[f"{paper.name}/{table.spec.name}.csv"] = to_csv(table)
        texts[f"{paper.name}.html"] = templates.get_template("paper.html.j2").render(page=paper)
    index = templates.get_template("index.html.j2")
    texts["index.html"] = index.render(
        page=None,
        total=count_outcomes(numbers),
        comparisons=comparisons(known),
        failures=failures,
        run=run,
    )
    return texts, numbers


def _paper(name: str, finished: Sequence[Manifest], judge: Judge, known: Known) -> PaperPage:
    own: Known = {}
    tables = {made.table: build_table(made, own) for made in finished}
    known |= own
    numbers = [pd.DataFrame(columns=["kind", "verdict", "dataset", "fitted"])]
    for spec in tables_of(name):
        file = Path(paths.PUBLISHED, name, f"{spec.name}.csv")
        if file.is_file():
            means = tables[spec.name].means if spec.name in tables else None
            numbers.append(judged(name, spec, means, read_published(file, spec.keys), judge))
    verdicts = {}
    findings = {}
    for table in tables.values():
        rows = judged(name, table.spec, table.means, table.published, judge)
        verdicts[table.spec.name] = dict(zip(rows["place"], rows.to_dict("records"), strict=True))
        if len(rows):
            findings[table.spec.name] = published_lines(rows)
    figures = {}
    for figure in sorted(figures_of(name), key=lambda figure: figure.name):
        file = Path(paths.FIGURES, name, f"{figure.name}.svg")
        if file.is_file():
            figures[figure.name] = figure.caption, file.read_bytes()
    suite = find_suite(name, config_folder())
    claims = {}
    if CLAIMS in tables:
        claims = counted(tables[CLAIMS])
    abouts = [environment_columns(record) for record in own.values()]
    environments = dict.fromkeys(
        f"{about['cpu']}: {about['versions']}" for about in abouts if about["versions"]
    )
    return PaperPage(
        name=name,
        title=suite.title if suite else name,
        tables=[*tables.values()],
        judged=pd.concat(numbers, ignore_index=True),
        claims=claims,
        environments=[*environments],
        verdicts=verdicts,
        findings=findings,
        figures=figures,
    )


def address_of(svg: bytes) -> str:
    """Return a data URL of an SVG."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def cost_ratio(cell: Cell) -> str:
    """Return our cost divided by the published one as text, or ""."""
    published = as_float(cell.published)
    value = as_float(cell.value)
    if not column(cell.quantity).cost or not published or not value or math.isnan(value):
        return ""
    return f"×{value / published:.2g}"
