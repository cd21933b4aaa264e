"""Write the counts and verdicts of docs/results.md and of README from the archive of five seeds."""

from __future__ import annotations

import contextlib
import re
import tarfile
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import yaml

from xmlc.suite.papers.building import build_table
from xmlc.suite.papers.claims import CLAIMS, counted
from xmlc.suite.papers.tables import Table
from xmlc.suite.report.compare import compare, count_outcomes
from xmlc.suite.report.verdicts import Judge
from xmlc.suite.results.manifest import Manifest, finished_tables
from xmlc.suite.results.verdicts import ClaimVerdict

ROOT = Path(__file__).resolve().parents[1]
ARCHIVE = ROOT / "results/reference/five-seeds"
PAGE = ROOT / "docs/results.md"
README = ROOT / "README.md"
PAPERS: list[str] = yaml.safe_load((ROOT / "config/reference.yaml").read_text())["papers"]
# The headings of the tables of counts. The README's table also has the papers' titles.
NUMBERS = ("datasets run", "published", "run", "reproduced", "agree, fitted", "differ", "undecided")
STATEMENTS = ("stated", "hold", "do not hold", "undecided", "not run")


def unpack(folder: Path) -> None:
    """Unpack the archive into an empty folder.

    The tables of its records also need the configuration.
    """
    with tarfile.open(ARCHIVE / "records.tar.xz") as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                file = folder / member.name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content.read())
    for name in ("config", "results/published"):
        (folder / name).symlink_to(ROOT / name)


def claims_of(finished: Sequence[Manifest]) -> dict[str, Table]:
    """Build the tables of claims of the papers."""
    return {
        made.paper: build_table(made)
        for made in finished
        if made.table == CLAIMS and made.paper in PAPERS
    }


def outcomes() -> dict[str, dict[str, object]]:
    """Count the verdicts on the published numbers of each paper."""
    judge = Judge.of_project(ROOT / "config")
    counts = {}
    for paper in PAPERS:
        comparison = compare(ROOT / "results/published" / paper, ARCHIVE / paper, judge)
        counts[paper] = count_outcomes(comparison.cells)
    return counts


def page(text: str, numbers: dict[str, dict[str, object]], claims: dict[str, Table]) -> str:
    """Return docs/results.md with current counts and verdicts."""
    rows = []
    for paper in PAPERS:
        rows.append([f"`{paper}`", *(numbers[paper][name] for name in NUMBERS)])
    text = with_table(text, ["results of", *NUMBERS], [*rows, ["all", "", *totals(numbers)]])
    counts = {paper: counts_of(table) for paper, table in claims.items()}
    every = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = [[f"`{paper}`", *counts[paper]] for paper in PAPERS]
    text = with_table(text, ["claims of", *STATEMENTS], [*rows, ["all", *every]])
    text, found = re.subn(r"The counts leave out .* on time and memory\.", left_out(claims), text)
    if found != 1:
        raise ValueError("docs/results.md: found no sentence on the claims that are not counted")
    for paper, table in claims.items():
        begin = text.index(f"## {paper}: ")
        verdicts = counted(table)
        panel = table.panels[0]
        listed = []
        for (statement, *_), cells in zip(panel.rows, panel.cells, strict=True):
            if statement in verdicts:
                listed.append([statement, cells[-1].text])
        text = text[:begin] + with_table(text[begin:], ["statement", "verdict"], listed)
    return text


def readme(text: str, numbers: dict[str, dict[str, object]], claims: dict[str, Table]) -> str:
    """Return the README with current counts."""
    rows = []
    titles = dict(re.findall(r"(?m)^\| `(\w+)` \| ([^|]+) \|", text))
    for paper in PAPERS:
        counts = [numbers[paper][name] for name in NUMBERS[1:]]
        rows.append([f"`{paper}`", titles[paper], *counts, *counts_of(claims[paper])])
    every = [sum(column) for column in zip(*map(counts_of, claims.values()), strict=True)]
    rows.append(["all", "", *totals(numbers), *every])
    headings = ["paper", "title", *NUMBERS[1:], "statements", *STATEMENTS[1:]]
    return with_table(text, headings, rows)


def totals(numbers: dict[str, dict[str, object]]) -> list[int]:
    """Return the sums over all papers, without the number of datasets."""
    rows = [[int(str(counts[name])) for name in NUMBERS[1:]] for counts in numbers.values()]
    return [sum(column) for column in zip(*rows, strict=True)]


def counts_of(table: Table) -> list[int]:
    """Return how many statements a paper makes, and how many of them have each verdict."""
    counts = Counter(counted(table).values())
    return [counts.total(), *(counts[verdict] for verdict in ClaimVerdict)]


def left_out(claims: dict[str, Table]) -> str:
    """Return the sentence about the claims that are not counted."""
    kinds: Counter[str] = Counter()
    for table in claims.values():
        claims_of_paper = table.means.pivot(index="claim", columns="quantity", values="value")
        kinds.update(claims_of_paper["stated"].where(claims_of_paper["verdict"].notna(), "cost"))
    others = f"{kinds['derived']} statements derived from the papers, {kinds['xmlc']} of xmlc"
    return f"The counts leave out {others}, and {kinds['cost']} on time and memory."


def with_table(text: str, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a text in which the first table with the given headings has other rows.

    Columns of counts are aligned to the right, as in the heading of the table.
    """
    heading = f"| {' | '.join(headings)} |"
    start = text.index(heading)
    end = text.index("\n\n", start)
    alignment = text[start:end].splitlines()[1]
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return text[:start] + "\n".join([heading, alignment, *lines]) + text[end:]


if __name__ == "__main__":
    found = outcomes()
    with tempfile.TemporaryDirectory() as folder:
        unpack(Path(folder))
        with contextlib.chdir(folder):  # the paths of records start at the root of the project
            tested = claims_of(finished_tables(Path("results/tables")))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found, tested), encoding="utf-8")
    README.write_text(readme(README.read_text(encoding="utf-8"), found, tested), encoding="utf-8")
