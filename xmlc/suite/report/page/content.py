"""Contents of the page as plain values: papers, tables, figures as SVG, the models of each dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xmlc.core.errors import XmlcError
from xmlc.data.synthetic import without_mark
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.suite import find_suite, read_suites
from xmlc.suite.papers import every_table, figure_of
from xmlc.suite.papers.building import Known, build_table, sources_of
from xmlc.suite.papers.claims_table import CLAIMS, claims_line, counted
from xmlc.suite.papers.declared import Table
from xmlc.suite.papers.outcome import Word
from xmlc.suite.papers.printing import text_of
from xmlc.suite.report.compare import Comparison, compare_with_print, outcome_of, published_lines
from xmlc.suite.report.failures import Failure
from xmlc.suite.report.judge import Judge
from xmlc.suite.report.page.drawing import Drawing, data_address
from xmlc.suite.report.page.tables import PageTable, Passports, ShownPassport, TableOnPage
from xmlc.suite.report.page.winners import Contest, contests_of, earlier_sources
from xmlc.suite.results.fingerprint import TABLE, Fingerprint, of_parts
from xmlc.suite.results.frame import Source, read_rows, text_rows, texts_of
from xmlc.suite.results.made_of import MadeOf
from xmlc.suite.results.passports import passport_columns

FEW = 3  # datasets that a heading names
CONTRIBUTED = "§"  # behind numbers of runs of others


@dataclass
class PagePaper:
    """One paper or suite: its tables and figures, their fingerprint, and what became of its numbers."""

    name: str
    title: str
    fingerprint: Fingerprint
    tables: list[PageTable]
    drawings: list[Drawing]
    #: All that the paper prints beside ours, table by table.
    printed: list[Comparison]
    #: Dataset, model, and the reason.
    left_out: list[tuple[str, str, str]]
    #: The paper's statements by verdict; none where their table was not made.
    claims: Counter[Word]

    @property
    def statements(self) -> PageTable | None:
        """The table of claims, if there is one."""
        return next((table for table in self.tables if table.identifier == f"{self.name}-{CLAIMS}"), None)

    @property
    def told(self) -> bool:
        """Say whether any of the claims can be told."""
        return any(self.claims[word] for word in ("holds", "does not hold", "reversed", "mixed"))


@dataclass
class Page:
    """The whole page; its fingerprint is that of the folder of tables."""

    papers: list[PagePaper]
    fingerprint: Fingerprint
    failures: list[Failure]
    passports: list[ShownPassport]
    made: str
    versions: list[str]
    machines: list[str]
    contests: list[Contest]

    @property
    def printed(self) -> list[Comparison]:
        """All that the papers print beside ours."""
        return [comparison for paper in self.papers for comparison in paper.printed]

    @property
    def claims(self) -> Counter[Word]:
        """Count the statements of all papers by verdict."""
        return sum((paper.claims for paper in self.papers), Counter())

    @property
    def headline(self) -> str:
        """Name the datasets, or count them."""
        names = [contest.name for contest in self.contests]
        return f"Results on {f'{len(names)} datasets' if len(names) > FEW else ', '.join(names) or 'no dataset yet'}"

    @property
    def outcome(self) -> str:
        """Say in one line what became of the printed numbers and of the papers' statements."""
        if not outcome_of(self.printed)["run"]:
            return "No paper prints results of these datasets"
        return "; ".join([published_lines(self.printed)[0], *([claims_line(self.claims)] if self.claims else [])])


def page_of(tables: Sequence[MadeOf], failed: list[Failure], judge: Judge, root: Path = Path()) -> Page:
    """Gather the page of finished tables.

    Parameters
    ----------
    tables : sequence of MadeOf
    failed : list of Failure
    judge : Judge
    root : Path
        Folder of the project, with figures, configuration, and results of earlier runs.

    Raises
    ------
    XmlcError
        No table is finished, or a record behind one does not fit.
    """
    if not tables:
        raise XmlcError("no finished table is found; make some first, as with `make demo` or `snakemake plt2016`")
    known: Known = {}
    used = sources_of(tables, known)
    sources = [source for source, _ in used]
    earlier = earlier_sources(root, known, _datasets(sources))
    passports = Passports([*sources, *earlier])
    of_suites = {name for suite in read_suites(config_folder(root)).values() for name in suite.datasets}
    built = [build_table(made, known) for made in tables]  # which names their models, before contests print them
    contests = contests_of(sources, earlier, of_suites, passports)
    papers = [
        _paper(
            paper,
            [table for table in built if table.paper == paper],
            [source for source, of_papers in used if paper in of_papers],
            next((made.published for made in tables if made.paper == paper and made.published), None),
            failed,
            judge,
            root,
            passports,
        )
        for paper in dict.fromkeys(made.paper for made in tables)
    ]
    abouts = [passport_columns(source.record) for source in sources]
    versions = (version for about in abouts for version in about.versions.split("; ") if version)
    return Page(
        papers=papers,
        fingerprint=of_parts({paper.name: paper.fingerprint for paper in papers}),
        failures=failed,
        passports=passports.shown,
        made=max((about.time for about in abouts), default=""),
        versions=list(dict.fromkeys(versions)),
        machines=list(dict.fromkeys(about.cpu for about in abouts if about.cpu)),
        contests=contests,
    )


def _datasets(sources: Iterable[Source]) -> set[str]:
    """Return the datasets of records by their names in paths and suites."""
    return {without_mark(source.record.dataset_name) for source in sources}


def _paper(
    name: str,
    tables: Sequence[Table],
    sources: Sequence[Source],
    published: Path | None,
    failed: list[Failure],
    judge: Judge,
    root: Path,
    passports: Passports,
) -> PagePaper:
    suite = find_suite(name, config_folder(root))
    by_name = {table.name: table for table in tables}
    definitions = {one.name: one for own, one in every_table() if own == name}
    files = {one: published / name / f"{one}.csv" for one in {**by_name, **definitions}} if published else {}
    # A table that is part of another in the paper has no file of its own: its numbers are counted with that other.
    in_print = {one: read_rows(file, definitions[one].keys) for one, file in files.items() if file.is_file()}

    def why(about: Mapping[str, str]) -> str:
        return next((one.reason for one in failed if one.concerns(about.get("dataset"), about.get("model"))), "")

    printed = [
        compare_with_print(one, name, definitions[one], rows, {}, judge)
        for one, rows in in_print.items()
        if one not in by_name
    ]
    built = []
    for table in tables:
        ours, own = text_rows(text_of(table), table.keys, table.name), in_print.get(table.name, {})
        beside = compare_with_print(table.name, name, table.definition, texts_of(table.printed), ours, judge, why)
        built.append(TableOnPage(table, beside, why, passports).page_table(own))
        printed.append(replace(beside, cells=[one for one in beside.cells if one.column in own.get(one.key, {})]))
    datasets = _datasets(sources)
    left_out = [
        (dataset, model, reason)
        for model, definition in (suite.all_models if suite else {}).items()
        for dataset, reason in definition.without.items()
        if dataset in datasets
    ]
    return PagePaper(
        name,
        suite.title if suite else name,
        of_parts({table.name + TABLE: page_table.fingerprint for table, page_table in zip(tables, built)}),
        built,
        [_drawing(name, file) for file in sorted((root / paths.FIGURES / name).glob("*.svg"))],
        printed,
        left_out,
        counted(by_name[CLAIMS]) if CLAIMS in by_name else Counter(),
    )


def _drawing(paper: str, file: Path) -> Drawing:
    number = file.stem.removeprefix("figure")
    title = f"Figure {number}" if number.isdecimal() else "Quality against time" if number == "pareto" else number
    return Drawing(f"{paper}-{file.stem}", title, _caption(paper, file.stem), data_address(file.read_text("utf-8")))


def _caption(paper: str, name: str) -> str:
    """Return the caption of a figure; nothing of one that is declared no more."""
    try:
        return figure_of(name, paper).caption
    except XmlcError:
        return ""
