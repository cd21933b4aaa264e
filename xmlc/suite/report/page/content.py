"""Collect the contents of the page: papers, tables, figures as SVG, and comparisons of the models on each dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from xmlc.core.errors import XmlcError
from xmlc.data.synthetic import without_mark
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.suite import find_suite, read_suites
from xmlc.suite.papers import every_table, figure_of
from xmlc.suite.papers.building import Known, build_table, sources_of
from xmlc.suite.papers.claims_table import CLAIMS, claims_line, counted
from xmlc.suite.papers.declared import Table, TableDefinition
from xmlc.suite.papers.outcome import Word
from xmlc.suite.report.compare import compare_with_published, count_outcomes, published_lines
from xmlc.suite.report.page.drawing import Drawing, data_address
from xmlc.suite.report.page.tables import Environments, PageTable, TableOnPage
from xmlc.suite.report.page.winners import Contest, contests_of, earlier_sources
from xmlc.suite.report.status import Failure
from xmlc.suite.report.verdicts import Judge
from xmlc.suite.results.environments import environment_columns
from xmlc.suite.results.fingerprint import TABLE, Fingerprint, of_parts
from xmlc.suite.results.frame import Number, Rows, Source, read_numbers
from xmlc.suite.results.manifest import Manifest

FEW = 3  # The maximum number of datasets that a heading names.
CONTRIBUTED = "§"  # The mark of numbers from contributed runs.


@dataclass
class PagePaper:
    """Hold the tables and figures of one paper or suite, the tables' fingerprint, and the verdicts on numbers."""

    name: str
    title: str
    fingerprint: Fingerprint
    tables: list[PageTable]
    drawings: list[Drawing]
    #: All numbers that the paper published, each with our number.
    printed: list[Number]
    #: Triples of dataset, model, and the reason why the model is not run on the dataset.
    left_out: list[tuple[str, str, str]]
    #: The number of the paper's claims for each verdict. The counter is empty if the table of claims was not built.
    claims: Counter[Word]

    @property
    def statements(self) -> PageTable | None:
        """Return the table of claims, or None if the paper has no such table."""
        return next((table for table in self.tables if table.identifier == f"{self.name}-{CLAIMS}"), None)

    @property
    def has_decided(self) -> bool:
        """Return whether at least one of the paper's claims has a verdict other than "undecided" or "no data"."""
        return any(self.claims[word] for word in ("holds", "does not hold", "opposite sign", "mixed"))


@dataclass
class Page:
    """Hold the contents of the whole report page.

    The field ``fingerprint`` is the fingerprint of the folder of tables.
    """

    papers: list[PagePaper]
    fingerprint: Fingerprint
    failures: list[Failure]
    environments: Environments
    made: str
    versions: list[str]
    machines: list[str]
    contests: list[Contest]

    @property
    def printed(self) -> list[Number]:
        """Return all published numbers of all papers, each with our number."""
        return [number for paper in self.papers for number in paper.printed]

    @property
    def claims(self) -> Counter[Word]:
        """Return the number of claims of all papers for each verdict."""
        return sum((paper.claims for paper in self.papers), Counter())

    @property
    def headline(self) -> str:
        """Return the heading of the page. The heading names the datasets, or counts them if there are many."""
        names = [contest.name for contest in self.contests]
        return f"Results on {f'{len(names)} datasets' if len(names) > FEW else ', '.join(names) or 'no dataset yet'}"

    @property
    def outcome(self) -> str:
        """Return one line that counts the verdicts on published numbers and on the papers' claims."""
        if not count_outcomes(self.printed)["run"]:
            return "No paper has published results on these datasets"
        return "; ".join([published_lines(self.printed)[0], *([claims_line(self.claims)] if self.claims else [])])


def page_of(tables: Sequence[Manifest], failed: list[Failure], judge: Judge, root: Path = Path()) -> Page:
    """Return the contents of the page for finished tables.

    Parameters
    ----------
    tables : sequence of Manifest
    failed : list of Failure
    judge : Judge
    root : Path
        Folder of the project, which contains figures, configuration, and results of earlier runs.

    Raises
    ------
    XmlcError
        No table is finished, or a record of a table violates its schema.
    """
    if not tables:
        raise XmlcError("found no finished table. Build one first, as with `make demo` or `snakemake plt2016`")
    known: Known = {}
    used = sources_of(tables, known)
    sources = [source for source, _ in used]
    earlier = earlier_sources(root, known, _datasets(sources))
    environments = Environments([*sources, *earlier])
    of_suites = {name for suite in read_suites(config_folder(root)).values() for name in suite.datasets}
    # The tables are built first, because building them registers the names of models for the comparisons of models.
    built = [build_table(made, known) for made in tables]
    contests = contests_of(sources, earlier, of_suites, environments)
    papers = []
    for name in dict.fromkeys(made.paper for made in tables):
        own = [table for table in built if table.paper == name]
        published = next((made.published / name for made in tables if made.paper == name and made.published), None)
        datasets = _datasets(source for source, of_papers in used if name in of_papers)
        papers.append(_paper(name, own, published, datasets, judge, failed, root, environments))
    abouts = [environment_columns(source.record) for source in sources]
    versions = (version for about in abouts for version in about.versions.split("; ") if version)
    return Page(
        papers=papers,
        fingerprint=of_parts({paper.name: paper.fingerprint for paper in papers}),
        failures=failed,
        environments=environments,
        made=max((about.time for about in abouts), default=""),
        versions=list(dict.fromkeys(versions)),
        machines=list(dict.fromkeys(about.cpu for about in abouts if about.cpu)),
        contests=contests,
    )


def _datasets(sources: Iterable[Source]) -> set[str]:
    """Return the names of the datasets in some records, as these names are in paths and suites."""
    return {without_mark(source.record.dataset_name) for source in sources}


def _paper(
    paper: str,
    tables: Sequence[Table],
    published: Path | None,
    datasets: set[str],
    judge: Judge,
    failed: list[Failure],
    root: Path,
    environments: Environments,
) -> PagePaper:
    """Return the tables and figures of a paper, with verdicts on the published numbers in the folder ``published``."""

    def published_in(definition: TableDefinition) -> Rows:
        # If a table is a part of another table, there is no file of published numbers.
        file = published / f"{definition.name}.csv" if published else None
        return read_numbers(file, definition.keys) if file and file.is_file() else {}

    def reason(number: Number) -> str:
        return next((one.reason for one in failed if one.concerns(number.dataset, number.model)), "")

    suite = find_suite(paper, config_folder(root))
    compared = partial(compare_with_published, "", paper, judge=judge, failed=reason)
    names = [table.name for table in tables]
    others = [definition for own, definition in every_table() if own == paper and definition.name not in names]
    printed = [number for one in others for number in compared(one, published_in(one), {}).numbers]
    built = []
    for table in tables:
        own, judged = published_in(table.definition), compared(table.definition, table.printed, table.rows).numbers
        built.append(TableOnPage(table, judged).page_table(own))
        environments.enter(built[-1])
        printed += [number for number in judged if number.quantity in own.get(number.key, {})]
    models = suite.all_models if suite else {}
    return PagePaper(
        name=paper,
        title=suite.title if suite else paper,
        fingerprint=of_parts({table.name + TABLE: one.fingerprint for table, one in zip(tables, built)}),
        tables=built,
        drawings=[_drawing(paper, file) for file in sorted((root / paths.FIGURES / paper).glob("*.svg"))],
        printed=printed,
        left_out=[
            (dataset, name, why)
            for name, model in models.items()
            for dataset, why in model.without.items()
            if dataset in datasets
        ],
        claims=next((counted(table) for table in tables if table.name == CLAIMS), Counter()),
    )


def _drawing(paper: str, file: Path) -> Drawing:
    number = file.stem.removeprefix("figure")
    title = f"Figure {number}" if number.isdecimal() else "Quality against time" if number == "pareto" else number
    caption = ""
    with suppress(XmlcError):  # A figure in the folder may be undeclared.
        caption = figure_of(file.stem, paper).caption
    return Drawing(f"{paper}-{file.stem}", title, caption, data_address(file.read_text("utf-8")))
