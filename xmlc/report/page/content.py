"""Contents of the page as plain values: papers, tables, figures as SVG, the best model of each dataset."""

from __future__ import annotations

import base64
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from xmlc.core.errors import XmlcError
from xmlc.metrics.measures import MEASURE_METHODS
from xmlc.numbers.columns import MISSING, column
from xmlc.numbers.fingerprint import TABLE, Fingerprint, of_parts
from xmlc.numbers.long import Key, Row, Rows, Source, average, key_by, long_of, read_rows
from xmlc.numbers.made_of import MadeOf
from xmlc.numbers.passports import passport_of
from xmlc.numbers.titles import LIMITS, method_title, model_title
from xmlc.papers import figure_of
from xmlc.papers.building import Known, build_table, sources_of
from xmlc.papers.claims import CLAIMS, Word, counted
from xmlc.papers.common.figures import COSTS, pareto
from xmlc.papers.plotting import METADATA, SETTINGS
from xmlc.papers.table import Table
from xmlc.records.ranking import COST_COLUMNS, RankingRecord
from xmlc.records.thresholds import ThresholdRecord
from xmlc.report.compare import Comparison, beside_print, outcome_of, published_lines
from xmlc.report.contribute import origin_of
from xmlc.report.failures import Failure
from xmlc.report.judge import Judge
from xmlc.report.page.tables import (
    REFERENCE,
    PageCell,
    PagePanel,
    PageTable,
    Passports,
    ShownPassport,
    TableOnPage,
    accepted_cells,
    count,
)
from xmlc.report.verdict import OUTCOMES, Verdict
from xmlc.suites import paths
from xmlc.suites.suite import find_suite

PARETO = "pareto"
PARETO_COSTS = [COST_COLUMNS[name][0] for name in COSTS]
CONTRIBUTED = "§"  # behind numbers of runs of others
NUMBERED = re.compile(r"^Figure \d+( of \w+)?: ")


@dataclass(frozen=True)
class Drawing:
    """A figure: its title, its caption, and the image itself, as a data address of its SVG."""

    identifier: str
    title: str
    caption: str
    address: str


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

    @property
    def shares(self) -> list[tuple[Verdict, int, float]]:
        """Return verdict, number and percent of all printed measurements, for a bar."""
        counts, total = self.outcome, self.outcome["printed"]
        return [(one, n, 100 * n / total) for one in OUTCOMES if (n := counts[one])]


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
    datasets: list[str]
    #: The best model of each dataset.
    best: PagePanel | None

    @property
    def own(self) -> bool:
        """Say whether no dataset was run that a paper prints: the page is about these data, not about papers."""
        return not self.tally.outcome["run"]

    @property
    def claims(self) -> Counter[Word]:
        """Count the statements of all papers by verdict."""
        return sum((paper.claims for paper in self.papers), Counter())

    @property
    def headline(self) -> str:
        """Count the cells that the papers measured by verdict; of data that no paper prints, return their names."""
        return f"Results on {', '.join(self.datasets)}" if self.own and self.datasets else self.tally.headline


@dataclass(frozen=True)
class Folders:
    """Input folders of a page; the published tables are named by the provenance of the tables."""

    figures: Path = Path(paths.FIGURES)
    reference: Path = Path(paths.ACCEPTED)
    config: Path = Path("config")


def page_of(tables: Sequence[MadeOf], failed: list[Failure], judge: Judge, folders: Folders) -> Page:
    """Gather the page of finished tables.

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
    passports = Passports(sources)
    papers = [
        _paper(
            paper,
            [build_table(made, known) for made in tables if made.paper == paper],
            [source for source, of_papers in used if paper in of_papers],
            next((made.published for made in tables if made.paper == paper and made.published), None),
            failed,
            judge,
            folders,
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
        datasets=list(dict.fromkeys(source.record.dataset_name for source in sources)),
        best=best_of(sources),
    )


_NOT_PACKAGES = ("machine", "cpu", "threads", "time")


def _paper(
    name: str,
    tables: Sequence[Table],
    sources: Sequence[Source],
    published: Path | None,
    failed: list[Failure],
    judge: Judge,
    folders: Folders,
    passports: Passports,
) -> PagePaper:
    suite = find_suite(name, folders.config)
    built, accepted = [], Counter[Verdict]()
    for table in tables:
        joined = TableOnPage(table, accepted_cells(table, folders.reference), judge, failed, passports)
        # A table that is part of another in the paper has no file of its own; the rest is counted with that other.
        file = published / name / f"{table.name}.csv" if published else None
        built.append(joined.page_table(read_rows(file, table.keys) if file and file.is_file() else {}))
        accepted += count(joined.counted(), REFERENCE)
    datasets = {source.record.dataset_name for source in sources}
    left_out = [
        (dataset, model, reason)
        for model, definition in (suite.all_models if suite else {}).items()
        for dataset, reason in definition.without.items()
        if dataset in datasets
    ]
    by_name = {table.name: table for table in tables}
    return PagePaper(
        name,
        suite.title if suite else name,
        of_parts({table.name + TABLE: page_table.fingerprint for table, page_table in zip(tables, built)}),
        built,
        _drawings(name, sources, folders.figures / name),
        Tally(beside_print(name, published, by_name, judge) if published else [], accepted),
        left_out,
        counted(by_name[CLAIMS]) if CLAIMS in by_name else Counter(),
    )


def _drawings(paper: str, sources: Sequence[Source], folder: Path) -> list[Drawing]:
    """Return the finished figures, and a Pareto figure of the rankings if none is among them."""
    drawings = [_drawing(paper, file.stem, file.read_bytes()) for file in sorted(folder.glob("*.svg"))]
    rankings = [s.record for s in sources if isinstance(s.record, RankingRecord) and s.record.portion == "full"]
    timed = [r for r in rankings if all(getattr(r.costs, key) is not None for key in PARETO_COSTS)]
    if timed and all(drawing.identifier != f"{paper}-{PARETO}" for drawing in drawings):
        drawings.append(_drawing(paper, PARETO, svg_of(pareto(paper, timed))))
    return sorted(drawings, key=lambda drawing: drawing.identifier == f"{paper}-{PARETO}")


def _drawing(paper: str, name: str, svg: bytes) -> Drawing:
    number = name.removeprefix("figure")
    title = f"Figure {number}" if number.isdecimal() else "Quality against time" if name == PARETO else name
    address = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    return Drawing(f"{paper}-{name}", title, _caption(paper, name), address)


def _caption(paper: str, name: str) -> str:
    """Return the caption of a figure, in the words of the function that draws it."""
    try:
        text = figure_of(name, paper).draw.__doc__ or ""
    except XmlcError:
        return ""
    line = NUMBERED.sub("", text.strip().partition("\n")[0].removeprefix("Draw "))
    return line[:1].upper() + line[1:]


HEADINGS = ["Best by P@1", "P@1 (%)", "Best by macro-F", "Macro-F (%)", "of it 0/0 = 1 (%)"]


def best_of(sources: Iterable[Source]) -> PagePanel | None:
    """Return a row for each dataset: the best model by P@1, the best model and method by macro-F, on the test set.

    Means over seeds are compared; models that are given the truth, and thresholds for other measures, are left out. The
    last column is the share of labels that macro-F counts as 1 because they are neither in the test set nor predicted.
    None without such records.
    """
    compared = [source for source in sources if source.record.model_name not in LIMITS]
    ranked = [s for s in compared if isinstance(s.record, RankingRecord) and s.record.portion == "full"]
    tuned = [s for s in compared if isinstance(s.record, ThresholdRecord) and s.record.method not in MEASURE_METHODS]
    by_precision = _best(average(long_of(ranked), key_by(("dataset", "model"))), "p@1")
    by_f = _best(average(long_of(tuned), key_by(("dataset", "model", "method"))), "macro_f")
    contributed = {source.record.dataset_name for source in compared if origin_of(source.path)[0]}
    rows: list[tuple[Sequence[str], list[PageCell]]] = []
    for dataset in {**by_precision, **by_f}:
        cells = [PageCell(MISSING)] * len(HEADINGS)
        if dataset in by_precision:
            (_, model), row = by_precision[dataset]
            cells[:2] = [PageCell(model_title(model)), _number(row["p@1"].value)]
        if dataset in by_f:
            (_, model, method), row = by_f[dataset]
            convention = row["macro_f"].value - row["macro_f_zero"].value
            title = f"{model_title(model)}, {method_title(method)}"
            cells[2:] = [PageCell(title), _number(row["macro_f"].value), _number(convention)]
        rows.append(([f"{dataset} {CONTRIBUTED}" if dataset in contributed else dataset], cells))
    return PagePanel("", ["Dataset"], HEADINGS, rows) if rows else None


def _best(rows: Rows, quantity: str) -> dict[str, tuple[Key, Row]]:
    """Return the row of each dataset that has the highest number, the first of equal ones."""
    best: dict[str, tuple[Key, Row]] = {}
    for key, row in rows.items():
        if key[0] not in best or row[quantity].value > best[key[0]][1][quantity].value:
            best[key[0]] = key, row
    return best


def _number(value: float) -> PageCell:
    return PageCell(column("macro_f").printed(value), value)


def svg_of(figure: Figure) -> bytes:
    """Draw a figure as SVG."""
    file = io.BytesIO()
    with mpl.rc_context(SETTINGS):
        figure.savefig(file, format="svg", metadata=METADATA["svg"])
    return file.getvalue()
