"""HTML pages of all finished results next to the papers' numbers. They have no scripts and load no other files."""

from __future__ import annotations

import base64
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from xmlc import __version__
from xmlc.core.errors import XmlcError
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.suite import find_suite
from xmlc.suite.papers import tables_of
from xmlc.suite.papers.building import Known, build_table
from xmlc.suite.papers.claims import CLAIMS, FITTED, counted
from xmlc.suite.papers.printing import fingerprint_of, title_of, to_csv
from xmlc.suite.papers.tables import Cell, Table, TableSpec
from xmlc.suite.report.compare import published_lines
from xmlc.suite.report.models import comparisons
from xmlc.suite.report.status import Failure
from xmlc.suite.report.verdicts import Judge, judged
from xmlc.suite.results.columns import column
from xmlc.suite.results.environments import environment_columns
from xmlc.suite.results.fingerprint import TABLE, Fingerprint, of_parts
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.numbers import Key, as_float, read_published

Place = tuple[str, Key, str]


@dataclass
class PaperPage:
    """The page of one paper or suite."""

    name: str
    title: str
    tables: list[Table]
    #: All numbers that the paper published, with our numbers and the verdicts.
    judged: pd.DataFrame
    #: The verdict on each counted claim, by the statement in words.
    claims: dict[str, str]
    #: Machines and versions of the records.
    environments: list[str]
    #: Our number, the published number and the verdict, by the place of a cell (`place_of`).
    verdicts: dict[Place, dict[Hashable, Any]]

    @property
    def shown(self) -> list[Table]:
        """Return the tables to show: those of the paper, then its claims. A suite without a paper shows all."""
        shown = [one for one in self.tables if self.judged.empty or one.spec.name.removeprefix("table").isdecimal()]
        claims = [one for one in self.tables if one.spec.name == CLAIMS]
        return [one for one in shown if one not in claims] + claims

    @property
    def figures(self) -> dict[str, str]:
        """Return the paper's figures as addresses that contain an SVG, by name."""
        figures = {}
        for file in sorted(Path(paths.FIGURES, self.name).glob("*.svg")):
            figures[file.stem] = address_of(file.read_bytes())
        return figures

    @property
    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the paper's tables."""
        return of_parts({one.spec.name + TABLE: fingerprint_of(one) for one in self.tables})

    def verdict_of(self, table: Table, cell: Cell) -> dict[Hashable, Any] | None:
        """Return the row of `judged` for a cell, or None if the paper has no such number."""
        return self.verdicts.get(place_of(table.spec, cell.key, cell.quantity))


def pages_of(
    tables: Sequence[Manifest], failures: Sequence[Failure], judge: Judge, run: str = ""
) -> tuple[dict[str, str], pd.DataFrame]:
    """Return the text of each file of the report by its path, and all published numbers with their verdicts.

    Raises
    ------
    XmlcError
        No table is finished, or a record of a table violates its schema.
    """
    if not tables:
        raise XmlcError("found no finished table. Run an experiment first, as with `make demo` or `snakemake plt2016`")
    papers = []
    known: Known = {}
    for name in dict.fromkeys(made.paper for made in tables):
        papers.append(_paper(name, [made for made in tables if made.paper == name], judge, known))
    numbers = pd.concat([paper.judged for paper in papers], ignore_index=True)
    package = "xmlc.suite.report"
    environment = Environment(
        loader=PackageLoader(package), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {
        "version": __version__,
        "style": Markup(files(package).joinpath("templates/report.css").read_text(encoding="utf-8")),
        "fitted_mark": FITTED,
        "published_lines": published_lines,
        "title_of": title_of,
        "fingerprint_of": fingerprint_of,
        "cost_ratio": cost_ratio,
        "address_of": address_of,
        "papers": papers,
    }
    texts = {}
    for paper in papers:
        for table in paper.tables:
            texts[f"{paper.name}/{table.spec.name}.csv"] = to_csv(table)
        page = environment.get_template("paper.html.j2")
        texts[f"{paper.name}.html"] = page.render(page=paper)
    index = environment.get_template("index.html.j2")
    texts["index.html"] = index.render(
        page=None, judged=numbers, comparisons=comparisons(known), failures=failures, run=run
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
            published = read_published(file, spec.keys)
            means = published.iloc[:0]
            if spec.name in tables:
                means = tables[spec.name].means
            numbers.append(judged(name, spec, means, published, judge))
    verdicts = {}
    for table in tables.values():
        for number in judged(name, table.spec, table.means, table.published, judge).to_dict("records"):
            key = tuple(number[key] for key in table.spec.keys)
            verdicts[place_of(table.spec, key, number["quantity"])] = number
    title = name
    suite = find_suite(name, config_folder())
    if suite:
        title = suite.title
    claims = {}
    if CLAIMS in tables:
        claims = counted(tables[CLAIMS]).to_dict()
    abouts = [environment_columns(record) for record in own.values()]
    environments = dict.fromkeys(f"{about['cpu']}: {about['versions']}" for about in abouts if about["versions"])
    all_numbers = pd.concat(numbers, ignore_index=True)
    return PaperPage(name, title, [*tables.values()], all_numbers, claims, [*environments], verdicts)


def address_of(svg: bytes) -> str:
    """Return an address that contains an SVG."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def place_of(spec: TableSpec, key: Key, quantity: str) -> Place:
    """Return the table, the row and the column of a cell. A statistic of a dataset has the dataset as its row."""
    if key and "dataset" in spec.keys and column(quantity).kind == "constant":
        key = (key[spec.keys.index("dataset")],)
    return spec.name, key, quantity


def cost_ratio(cell: Cell) -> str:
    """Return our cost divided by the published one as text, or ""."""
    published = as_float(cell.published)
    value = as_float(cell.value)
    if not column(cell.quantity).cost or not published or not value or math.isnan(value):
        return ""
    return f"×{value / published:.2g}"
