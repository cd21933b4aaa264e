"""Collect the contents of the report: papers, tables, figures as SVG, and comparisons of the models on each dataset."""

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
from xmlc.suite.config.folders import STUDY, config_folder
from xmlc.suite.config.suite import find_suite, read_suites
from xmlc.suite.papers import enter_rooms, every_table, figure_of
from xmlc.suite.papers.building import Known, build_table, sources_of
from xmlc.suite.papers.claims_table import CLAIMS, claims_line, counted, counted_rows
from xmlc.suite.papers.declared import Table, TableDefinition
from xmlc.suite.report.compare import compare_with_published, published_lines
from xmlc.suite.report.page.drawing import Drawing, data_address
from xmlc.suite.report.page.tables import Environments, PageTable, page_table
from xmlc.suite.report.page.winners import Contest, contests_of, earlier_sources
from xmlc.suite.report.status import Failure
from xmlc.suite.report.verdicts import Judge
from xmlc.suite.results.environments import environment_columns
from xmlc.suite.results.fingerprint import TABLE, Fingerprint, of_parts
from xmlc.suite.results.frame import Number, Rows, Source, read_numbers
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.titles import name_models
from xmlc.suite.results.verdicts import ClaimVerdict

FEW = 3  # The maximum number of datasets that a heading names.


@dataclass
class PaperPage:
    """Hold the contents of the page of one paper or suite."""

    name: str
    title: str
    #: The fingerprint of the paper's tables.
    fingerprint: Fingerprint
    tables: list[PageTable]
    drawings: list[Drawing]
    #: All numbers that the paper published, each with our number.
    printed: list[Number]
    #: Triples of dataset, model, and the reason why the model is not run on the dataset.
    left_out: list[tuple[str, str, str]]
    #: The number of the paper's claims for each verdict. The counter is empty if the table of claims was not built.
    claims: Counter[ClaimVerdict]
    #: The counted statements that do not hold, in words.
    refuted: list[str]
    environments: Environments

    @property
    def shown(self) -> list[PageTable]:
        """Return the tables to show. A paper's page shows the tables that are in the paper, followed by the claims.

        The page of a suite without published numbers shows all tables.
        """
        shown = [one for one in self.tables if one.in_papers or one.identifier == CLAIMS or not self.printed]
        return sorted(shown, key=lambda one: one.identifier == CLAIMS)

    @property
    def more(self) -> list[PageTable]:
        """Return the tables that the page only links to."""
        return [one for one in self.tables if one not in self.shown]


@dataclass
class Report:
    """Hold the contents of the report: the page of each paper, and the index of all papers and datasets."""

    papers: list[PaperPage]
    failures: list[Failure]
    environments: Environments
    made: str
    versions: list[str]
    machines: list[str]
    contests: list[Contest]
    #: A sentence about a run that is active or was killed, or "".
    run: str

    @property
    def printed(self) -> list[Number]:
        """Return all published numbers of all papers, each with our number."""
        return [number for paper in self.papers for number in paper.printed]

    @property
    def headline(self) -> str:
        """Return the heading of the index. The heading names the datasets, or counts them if there are many."""
        names = [contest.name for contest in self.contests]
        return f"Results on {f'{len(names)} datasets' if len(names) > FEW else ', '.join(names) or 'no dataset yet'}"

    @property
    def outcome(self) -> str:
        """Return one line that counts the verdicts on published numbers and on the papers' claims."""
        claims = sum((paper.claims for paper in self.papers), Counter[ClaimVerdict]())
        return "; ".join([*published_lines(self.printed)[:1], *([claims_line(claims)] if claims else [])])


def report_of(
    tables: Sequence[Manifest], failed: list[Failure], judge: Judge, root: Path = Path(), run: str = ""
) -> Report:
    """Return the contents of the report for finished tables, and for results that no table has yet.

    Parameters
    ----------
    tables : sequence of Manifest
    failed : list of Failure
    judge : Judge
    root : Path
        Folder of the project, which contains figures, configuration, and results of earlier runs.
    run : str
        A sentence about a run that is active or was killed (`xmlc.suite.report.status.run_outcome`), or "".

    Raises
    ------
    XmlcError
        Nothing is finished, or a record of a table violates its schema.
    """
    known: Known = {}
    used = sources_of(tables, known)
    sources = [source for source, _ in used]
    earlier = earlier_sources(root, known, _datasets(sources))
    if not tables and not earlier:
        raise XmlcError("found no finished result. Run an experiment first, as with `make demo` or `snakemake plt2016`")
    suites = read_suites(config_folder(root))
    of_papers = {name for suite in suites.values() for name in suite.datasets} | {*judge.report_on.values()}
    # The tables are built first, because building them registers the names of models for the comparisons of models.
    built = [build_table(made, known) for made in tables]
    if not tables:
        enter_rooms()
        for suite in suites.values():
            name_models(suite.titles, over=True)
    names = list(dict.fromkeys(made.paper for made in tables))
    wanted = [suites[name] for name in names or [STUDY] if name in suites]
    papers = []
    for name in names:
        own = [table for table in built if table.paper == name]
        published = next((made.published / name for made in tables if made.paper == name and made.published), None)
        papers.append(_paper(name, own, published, [s for s, of in used if name in of], judge, failed, root))
    abouts = [environment_columns(source.record) for source in (sources or earlier)]
    versions = (version for about in abouts for version in about.versions.split("; ") if version)
    return Report(
        papers=papers,
        failures=failed,
        environments=Environments([*sources, *earlier]),
        made=max((about.time for about in abouts), default=""),
        versions=list(dict.fromkeys(versions)),
        machines=list(dict.fromkeys(about.cpu for about in abouts if about.cpu)),
        contests=contests_of(sources, earlier, of_papers, wanted, failed),
        run=run,
    )


def _datasets(sources: Iterable[Source]) -> set[str]:
    """Return the names of the records' datasets, in the form that paths and suites use."""
    return {without_mark(source.record.dataset_name) for source in sources}


def _paper(
    paper: str,
    tables: Sequence[Table],
    published: Path | None,
    sources: Sequence[Source],
    judge: Judge,
    failed: list[Failure],
    root: Path,
) -> PaperPage:
    """Return the tables and figures of a paper, with verdicts on the published numbers in the folder ``published``."""

    def published_in(definition: TableDefinition) -> Rows:
        # A table that is a part of a published table has no separate file of published numbers.
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
        built.append(page_table(table, judged, own))
        printed += [number for number in judged if number.quantity in own.get(number.key, {})]
    claims = next((table for table in tables if table.name == CLAIMS), None)
    models, datasets = suite.all_models if suite else {}, _datasets(sources)
    return PaperPage(
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
        claims=counted(claims) if claims else Counter(),
        refuted=[
            str(row["statement"].value)
            for row in (counted_rows(claims) if claims else ())
            if row["verdict"].value == ClaimVerdict.DOES_NOT_HOLD
        ],
        environments=Environments(sources),
    )


def _drawing(paper: str, file: Path) -> Drawing:
    number = file.stem.removeprefix("figure")
    title = f"Figure {number}" if number.isdecimal() else "Quality against time" if number == "pareto" else number
    caption = ""
    with suppress(XmlcError):  # A figure in the folder may be undeclared.
        caption = figure_of(file.stem, paper).caption
    return Drawing(file.stem, title, caption, data_address(file.read_text("utf-8", "replace")))
