"""Contents of the page as plain values: papers, tables, figures as SVG, the models of each dataset."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from xmlc.core.errors import XmlcError
from xmlc.numbers.fingerprint import TABLE, Fingerprint, of_parts
from xmlc.numbers.long import Source, read_rows, text_rows
from xmlc.numbers.made_of import MadeOf
from xmlc.numbers.passports import passport_of
from xmlc.papers import every_table, figure_of
from xmlc.papers.building import Known, build_table, sources_of
from xmlc.papers.claims import CLAIMS, Word, claims_line, counted
from xmlc.papers.printing import text_of
from xmlc.papers.table import Table
from xmlc.report.compare import Comparison, compare_with_print, outcome_of, published_lines
from xmlc.report.failures import Failure
from xmlc.report.judge import Judge
from xmlc.report.page.tables import PageTable, Passports, ShownPassport, TableOnPage, accepted_cells, by_place
from xmlc.report.page.winners import Contest, contests_of, earlier_sources, printed_datasets
from xmlc.report.verdict import Verdict
from xmlc.suites import paths
from xmlc.suites.suite import CONFIG, OWN, find_suite

FEW = 3  # datasets that a heading names
# Of a drawing: what draws nothing; an attribute; in it a number of which one decimal is enough for any screen.
NO_SHAPE = re.compile(r'<\?.*?\?>|<!.*?>|<metadata>.*?</metadata>|(?<=<g) id="[^"]*"', re.DOTALL)
QUOTED, LONG_NUMBER = re.compile(r'"[^"]*"'), re.compile(r"(?<![\d.])([1-9]\d+\.\d)\d+")
CONTRIBUTED = "§"  # behind numbers of runs of others
NUMBERED = re.compile(r"^Figure \d+( of \w+)?: ")


@dataclass(frozen=True)
class Drawing:
    """A figure: its title, its caption, and the image itself; see `data_address`."""

    identifier: str
    title: str
    caption: str
    address: Markup


@dataclass(frozen=True)
class Tally:
    """Cells beside the papers' and beside accepted ones."""

    #: All that the papers print beside ours, table by table.
    printed: list[Comparison] = field(default_factory=list)
    #: Cells beside this suite's own numbers, where the paper prints none.
    accepted: Counter[Verdict] = field(default_factory=Counter)

    def __add__(self, other: Tally) -> Tally:
        """Count both."""
        return Tally(self.printed + other.printed, self.accepted + other.accepted)

    @property
    def outcome(self) -> dict[str, Any]:
        """What became of the cells that the papers measured."""
        return outcome_of(self.printed)

    @property
    def headline(self) -> str:
        """Count the measured cells by verdict, in one line."""
        return (published_lines(self.printed) or [self.accepted_line or "Nothing to compare"])[0]

    @property
    def others(self) -> list[str]:
        """Count the other kinds of printed cells by verdict, then our own cells."""
        return [line for line in (*published_lines(self.printed), self.accepted_line) if line and line != self.headline]

    @property
    def accepted_line(self) -> str:
        """Say how many of our own numbers are as accepted before, or nothing."""
        total = self.accepted.total()
        return f"{self.accepted[Verdict.EQUAL]} of {total} cells as accepted before (results/reference)" * bool(total)


@dataclass
class PagePaper:
    """One paper or suite: its tables and figures, their fingerprint, and what became of its numbers."""

    name: str
    title: str
    fingerprint: Fingerprint
    tables: list[PageTable]
    drawings: list[Drawing]
    tally: Tally
    left_out: list[tuple[str, str, str]]
    #: The paper's statements by verdict; none where their table was not made.
    claims: Counter[Word] = field(default_factory=Counter)

    @property
    def statements(self) -> PageTable | None:
        """The table of claims, if there is one."""
        return next((table for table in self.tables if table.identifier == f"{self.name}-{CLAIMS}"), None)

    @property
    def told(self) -> bool:
        """Say whether any of the claims can be told."""
        return any(self.claims[word] for word in ("holds", "does not hold", "mixed"))


@dataclass
class Page:
    """The whole page; its fingerprint is that of the folder of tables."""

    papers: list[PagePaper]
    fingerprint: Fingerprint
    tally: Tally
    failures: list[Failure]
    passports: list[ShownPassport]
    made: str
    versions: list[str]
    machines: list[str]
    contests: list[Contest]

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
        if not self.tally.outcome["run"]:
            return "No paper prints results of these datasets"
        return "; ".join([self.tally.headline, *([claims_line(self.claims)] if self.claims else [])])


def page_of(
    tables: Sequence[MadeOf],
    failed: list[Failure],
    judge: Judge,
    reference: Path = Path(paths.ACCEPTED),
    root: Path = Path(),
) -> Page:
    """Gather the page of finished tables.

    Parameters
    ----------
    tables : sequence of MadeOf
    failed : list of Failure
    judge : Judge
    reference : Path
        Folder of the accepted tables.
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
    earlier = earlier_sources(root, known, {source.record.dataset_name for source in sources})
    passports = Passports([*sources, *earlier])
    published = next((made.published for made in tables if made.published), None)
    synthetic = {source.record.dataset_name for source, of_papers in used if {*of_papers} <= {*OWN}}
    contests = contests_of(sources, earlier, printed_datasets(published) | synthetic, passports)
    papers = [
        _paper(
            paper,
            [build_table(made, known) for made in tables if made.paper == paper],
            [source for source, of_papers in used if paper in of_papers],
            next((made.published for made in tables if made.paper == paper and made.published), None),
            failed,
            judge,
            reference,
            root,
            passports,
        )
        for paper in dict.fromkeys(made.paper for made in tables)
    ]
    abouts = [passport_of(source.record) for source in sources]
    versions = [f"{name} {text}" for about in abouts for name, text in about.items() if name not in _NOT_PACKAGES]
    return Page(
        papers=papers,
        fingerprint=of_parts({paper.name: paper.fingerprint for paper in papers}),
        tally=sum((paper.tally for paper in papers), Tally()),
        failures=failed,
        passports=passports.shown,
        made=max((about.get("time", "") for about in abouts), default=""),
        versions=list(dict.fromkeys(versions)),
        machines=list(dict.fromkeys(about["cpu"] for about in abouts if about.get("cpu"))),
        contests=contests,
    )


_NOT_PACKAGES = ("machine", "cpu", "threads", "time")


def _paper(
    name: str,
    tables: Sequence[Table],
    sources: Sequence[Source],
    published: Path | None,
    failed: list[Failure],
    judge: Judge,
    reference: Path,
    root: Path,
    passports: Passports,
) -> PagePaper:
    suite = find_suite(name, root / CONFIG)
    built, accepted = [], Counter[Verdict]()
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
    for table in tables:
        ours, own = text_rows(text_of(table), table.keys, table.name), in_print.get(table.name, {})
        beside = compare_with_print(table.name, name, table.definition, table.printed, ours, judge, why)
        joined = TableOnPage(table, by_place(beside), accepted_cells(table, ours, reference), why, passports)
        built.append(joined.page_table(own))
        printed.append(replace(beside, cells=[one for one in beside.cells if one.column in own.get(one.key, {})]))
        accepted += joined.counts(printed=False)
    datasets = {source.record.dataset_name for source in sources}
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
        Tally(printed, accepted),
        left_out,
        counted(by_name[CLAIMS]) if CLAIMS in by_name else Counter(),
    )


def _drawing(paper: str, file: Path) -> Drawing:
    number = file.stem.removeprefix("figure")
    title = f"Figure {number}" if number.isdecimal() else "Quality against time" if number == "pareto" else number
    return Drawing(f"{paper}-{file.stem}", title, _caption(paper, file.stem), data_address(file.read_text("utf-8")))


def data_address(svg: str) -> Markup:
    """Return an image as the text of an attribute between ``'``; of long numbers one decimal stays."""
    text = " ".join(NO_SHAPE.sub("", svg).split())
    text = QUOTED.sub(lambda found: LONG_NUMBER.sub(r"\1", found[0]).replace(": ", ":").replace("; ", ";"), text)
    return Markup("data:image/svg+xml," + "".join(f"%{ord(c):02X}" if c in "%#&'" else c for c in text))


def _caption(paper: str, name: str) -> str:
    """Return the caption of a figure, in the words of the function that draws it."""
    try:
        text = figure_of(name, paper).draw.__doc__ or ""
    except XmlcError:
        return ""
    line = NUMBERED.sub("", text.strip().partition("\n")[0].removeprefix("Draw "))
    return line[:1].upper() + line[1:]
