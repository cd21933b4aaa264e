"""Contents of the report: papers, tables, figures as SVG, and comparisons of the models on each dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.data.synthetic import without_mark
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.suite import Suite, find_suite
from xmlc.suite.papers import every_table, figure_of
from xmlc.suite.papers.building import Known, build_table
from xmlc.suite.papers.claims_table import CLAIMS, counted
from xmlc.suite.papers.printing import fingerprint_of, title_of, to_csv
from xmlc.suite.papers.tables import PAPER, Table, TableSpec
from xmlc.suite.report.page.cells import PagePanel, Place, judged_cells, page_panel, panel_of_rest, place_of
from xmlc.suite.report.page.drawing import Drawing, data_address
from xmlc.suite.report.page.environments import Environments
from xmlc.suite.report.page.models import ModelsOnDataset, models_on_datasets
from xmlc.suite.report.status import Failure
from xmlc.suite.report.verdicts import Judge, judged
from xmlc.suite.results.environments import environment_columns
from xmlc.suite.results.fingerprint import TABLE, Fingerprint, of_parts
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.numbers import read_published
from xmlc.suite.results.records.base import RecordFile
from xmlc.suite.results.verdicts import ClaimVerdict

FEW = 3  # The maximum number of datasets that a heading names.


@dataclass(frozen=True)
class PageTable:
    """A table of a paper's page.

    The panel ``others`` has the published numbers that no panel in ``panels`` shows. ``file`` is the path of the CSV
    file relative to the page, and ``csv`` is its text. ``judged`` has the verdicts on the numbers in ``panels``.
    """

    identifier: str
    title: str
    caption: str
    fingerprint: Fingerprint
    file: str
    csv: str
    panels: list[PagePanel]
    others: PagePanel | None
    notes: list[str]
    judged: pd.DataFrame

    @property
    def in_papers(self) -> bool:
        """Return whether the table has a number, such as Table 2, like all tables that are in papers."""
        return self.identifier.removeprefix("table").isdecimal()


@dataclass
class PaperPage:
    """The page of one paper or suite."""

    name: str
    title: str
    #: The fingerprint of the paper's tables.
    fingerprint: Fingerprint
    tables: list[PageTable]
    drawings: list[Drawing]
    #: All numbers that the paper published, with our numbers and the verdicts.
    judged: pd.DataFrame
    #: Triples of dataset, model, and the reason why the model is not run on the dataset.
    left_out: list[tuple[str, str, str]]
    #: The verdict on each counted claim, by the statement in words.
    claims: pd.Series
    environments: Environments

    @property
    def verdicts(self) -> Counter[ClaimVerdict]:
        """Return the number of the paper's claims for each verdict."""
        return Counter(map(ClaimVerdict, self.claims))

    @property
    def refuted(self) -> list[str]:
        """Return the counted statements that do not hold, in words."""
        return [str(name) for name in self.claims.index[self.claims == ClaimVerdict.DOES_NOT_HOLD]]

    @property
    def shown(self) -> list[PageTable]:
        """Return the tables to show: the tables that are in the paper, followed by the claims.

        The page of a suite without published numbers shows all tables.
        """
        shown = [one for one in self.tables if one.in_papers or one.identifier == CLAIMS or self.judged.empty]
        return sorted(shown, key=lambda one: one.identifier == CLAIMS)

    @property
    def more(self) -> list[PageTable]:
        """Return the tables that the page only links to."""
        return [one for one in self.tables if one not in self.shown]


@dataclass
class Report:
    """The pages of all papers, and the index of papers and datasets."""

    papers: list[PaperPage]
    failures: list[Failure]
    environments: Environments
    made: str
    versions: list[str]
    machines: list[str]
    datasets: list[ModelsOnDataset]
    #: A sentence about a run that is active or was killed, or "".
    run: str

    @property
    def judged(self) -> pd.DataFrame:
        """Return all published numbers of all papers, with our numbers and the verdicts."""
        if self.papers:
            return pd.concat([paper.judged for paper in self.papers], ignore_index=True)
        return pd.DataFrame()

    @property
    def headline(self) -> str:
        """Return the heading of the index, which names the datasets, or counts them if there are many."""
        names = [one.name for one in self.datasets]
        return f"Results on {f'{len(names)} datasets' if len(names) > FEW else ', '.join(names)}"


def report_of(
    tables: Sequence[Manifest], failed: list[Failure], judge: Judge, root: Path = Path(), run: str = ""
) -> Report:
    """Return the contents of the report for finished tables.

    Parameters
    ----------
    tables : sequence of Manifest
    failed : list of Failure
    judge : Judge
    root : Path
        Folder of the project, which contains figures and configuration.
    run : str
        A sentence about a run that is active or was killed (`xmlc.suite.report.status.run_outcome`), or "".

    Raises
    ------
    XmlcError
        No table is finished, or a record of a table violates its schema.
    """
    if not tables:
        raise XmlcError("found no finished table. Run an experiment first, as with `make demo` or `snakemake plt2016`")
    known: Known = {}
    built = [(made, build_table(made, known)) for made in tables]
    papers = []
    for name in dict.fromkeys(made.paper for made in tables):
        own = [(made, table) for made, table in built if made.paper == name]
        records = {path: known[path] for made, _ in own for path in made.records}
        papers.append(_paper(name, own, records, judge, failed, root))
    abouts = [environment_columns(record) for record in known.values()]
    versions = [version for about in abouts for version in about.versions.split("; ")]
    return Report(
        papers=papers,
        failures=failed,
        environments=Environments(known),
        made=max((about.time for about in abouts), default=""),
        versions=list(dict.fromkeys(filter(None, versions))),
        machines=list(dict.fromkeys(about.cpu for about in abouts if about.cpu)),
        datasets=models_on_datasets(known),
        run=run,
    )


def _paper(
    name: str,
    own: Sequence[tuple[Manifest, Table]],
    records: dict[Path, RecordFile],
    judge: Judge,
    failed: list[Failure],
    root: Path,
) -> PaperPage:
    folder = next((made.published / name for made, _ in own if made.published), None)
    tables = []
    numbers = []
    claims = pd.Series(dtype=object)
    for _, table in own:
        printed = _published(folder, table.spec)
        verdicts = judged(name, table.spec, table.means, table.published, judge, failed)
        tables.append(_page_table(table, verdicts, printed))
        counts = _places(verdicts, table.spec.keys).isin(_places(printed, table.spec.keys))
        numbers.append(verdicts[counts.to_numpy(dtype=bool)])
        if table.spec.name == CLAIMS:
            claims = counted(table)
    built = {table.spec.name for _, table in own}
    for paper, spec in every_table():
        # A table that is a part of a published table has no separate file of published numbers.
        if paper == name and spec.name not in built:
            printed = _published(folder, spec)
            numbers.append(judged(name, spec, printed.iloc[:0], printed, judge, failed))
    suite = find_suite(name, config_folder(root))
    parts = {table.spec.name + TABLE: one.fingerprint for (_, table), one in zip(own, tables, strict=True)}
    return PaperPage(
        name=name,
        title=suite.title if suite else name,
        fingerprint=of_parts(parts),
        tables=tables,
        drawings=[_drawing(name, file) for file in sorted((root / paths.FIGURES / name).glob("*.svg"))],
        judged=pd.concat(numbers, ignore_index=True),
        left_out=_left_out(suite, {without_mark(record.dataset_name) for record in records.values()}),
        claims=claims,
        environments=Environments(records),
    )


def _published(folder: Path | None, spec: TableSpec) -> pd.DataFrame:
    """Return the published numbers in the file of a table's name."""
    file = None
    if folder:
        file = folder / f"{spec.name}.csv"
    if file and file.is_file():
        return read_published(file, spec.keys)
    return pd.DataFrame(columns=[*spec.keys, "quantity", "value"], dtype=object)


def _places(cells: pd.DataFrame, keys: tuple[str, ...]) -> pd.Series:
    return pd.Series(cells[[*keys, "quantity"]].itertuples(index=False, name=None), index=cells.index, dtype=object)


def _page_table(table: Table, verdicts: pd.DataFrame, printed: pd.DataFrame) -> PageTable:
    keys = table.spec.keys
    by_place = judged_cells(verdicts, keys)
    records: dict[Place, tuple[Path, ...]] = {}
    if "records" in table.means:
        for row in table.means[[*keys, "quantity", "records"]].itertuples(index=False, name=None):
            if isinstance(row[-1], tuple):
                records[row[: len(keys)], row[len(keys)]] = row[-1]
    run = {key for key, _ in _cells_that_are_run(table)}
    panels = []
    shown = set()
    for panel in table.panels:
        cells = [cell for part in panel.columns for cell in part.cells]
        if panel.details or any(cell.key in run for cell in cells):
            compact = panel.compact()
            panels.append(page_panel(compact, by_place, records))
            if not panel.details:
                shown |= {place_of(keys, cell.key, cell.quantity) for part in compact.columns for cell in part.cells}
    own = verdicts[_places(verdicts, keys).isin(_places(printed, keys)).to_numpy(dtype=bool)]
    rest = panel_of_rest(own, keys, shown, table.cells)
    is_shown = [place_of(keys, place[:-1], place[-1]) in shown for place in _places(verdicts, keys)]
    return PageTable(
        identifier=table.spec.name,
        title=title_of(table),
        caption=table.spec.caption,
        fingerprint=fingerprint_of(table),
        file=f"{table.paper}/{table.spec.name}.csv",
        csv=to_csv(table),
        panels=panels,
        others=page_panel(rest, by_place, records) if rest else None,
        notes=[note for note in table.notes if not note.startswith(PAPER)],
        judged=verdicts[pd.Series(is_shown, index=verdicts.index, dtype=bool)],
    )


def _cells_that_are_run(table: Table) -> list[tuple[tuple[str, ...], str]]:
    run = table.means[table.means["is_run"]]
    keys = run[[*table.spec.keys]].itertuples(index=False, name=None)
    return list(zip(keys, run["quantity"], strict=True))


def _left_out(suite: Suite | None, datasets: set[str]) -> list[tuple[str, str, str]]:
    """Return the models that a suite does not run on some of the datasets, each with the reason."""
    left_out = []
    for name, model in (suite.all_models if suite else {}).items():
        for dataset, reason in model.without.items():
            if dataset in datasets:
                left_out.append((dataset, name, reason))
    return left_out


def _drawing(paper: str, file: Path) -> Drawing:
    number = file.stem.removeprefix("figure")
    title = number
    if number.isdecimal():
        title = f"Figure {number}"
    if number == "pareto":
        title = "Quality against time"
    caption = ""
    with suppress(XmlcError):  # A figure in the folder may be undeclared.
        caption = figure_of(file.stem, paper).caption
    return Drawing(file.stem, title, caption, data_address(file.read_text("utf-8", "replace")))
