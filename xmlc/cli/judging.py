"""Commands that compare tables with published and accepted ones."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.numbers.fingerprint import fingerprint
from xmlc.numbers.made_of import finished_tables
from xmlc.papers.building import Known, build_table
from xmlc.report.compare import accept, compare, compared_fingerprints
from xmlc.report.judge import Judge
from xmlc.report.runs import Runs, runs_of
from xmlc.report.summary import agreement, to_markdown, to_text
from xmlc.suites import paths
from xmlc.suites.suite import CONFIG

TABLE = click.Path(path_type=Path)
COMPARING = """Compare the tables NEW with what is expected, OLD: two CSV files, two folders of them, or two
folders of suites, of which those in OLD are compared.

Two runs of ours, or a run and the accepted numbers, are compared exactly: one seed gives the same numbers to the last
bit, whatever the processor and the number of threads. With --published, OLD was printed in a paper: each number that
the paper measured is judged by an interval of its own, taken from our runs with several seeds, and NEW may have more.

Costs, such as times, are shown where both have them and never judged. Exit status: 1 if two runs differ in a judged
cell, or a cell, row, column or table of one is missing in the other; 2 if the comparison cannot be made (a path that
does not exist, a file that is no table, an unknown option); else 0, and so with --published whatever the verdicts.
"""


@click.command(help=COMPARING)
@click.argument("old", type=TABLE)
@click.argument("new", type=TABLE)
@click.option("--published", is_flag=True, help="OLD was printed in a paper.")
@click.option("--markdown", type=FILE, default=None, help="Write the comparison as Markdown too.")
@click.pass_context
def compare_command(ctx: click.Context, old: Path, new: Path, published: bool, markdown: Path | None) -> None:
    """Compare, report, judge."""
    try:
        judge = Judge.of_project(CONFIG) if published else None
        comparisons = compare(old, new, judge)
        first = "" if published else agreement(*compared_fingerprints(old, new))
    except XmlcError as error:
        click.echo(f"xmlc: error: {error}", err=True)
        ctx.exit(2)
    how = "each cell by an interval of its own" if published else "exact"
    title = f"old: {old}, new: {new}; {how}"
    if markdown:
        with atomic_file(markdown) as temporary:
            text = to_markdown(comparisons, title, published)
            temporary.write_text(f"**{first}**\n\n{text}" if first else text, encoding="utf-8")
    if first:
        click.echo(first)
    click.echo(to_text(comparisons, title, published), nl=False)
    if not all(comparison.same for comparison in comparisons):
        ctx.exit(1)


ACCEPTING = """Replace the accepted tables, REFERENCE/<suite>/, by those of the current run, TABLES/<suite>/*.csv.

Only suites with a folder in REFERENCE and only tables that the run made are replaced; all other accepted tables stay as
they are. Costs (times, memory) and numbers of threads are left out, so that `git diff` shows the numbers that moved and
nothing else.
"""


@click.command(help=ACCEPTING)
@click.argument("tables", type=FOLDER)
@click.argument("reference", type=FOLDER)
def accept_command(tables: Path, reference: Path) -> None:
    """Accept the tables and print which."""
    for file, line in accept(tables, reference):
        click.echo(f"{file}: {line}")


FINGERPRINT = """Print a fingerprint of all numbers of each PATH: the same fingerprint means the same numbers.

PATH is a table (CSV), arrays (.npy, .npz), or a folder of tables or arrays, such as that of a model or a prepared
dataset; by default the finished tables, results/tables. Costs (times, memory) and numbers of threads do not count,
nor do the order of rows and columns. The fingerprint of each part is printed above that of the
whole.
"""


@click.command(help=FINGERPRINT)
@click.argument("given", metavar="[PATH]...", type=click.Path(path_type=Path), nargs=-1)
def fingerprint_command(given: tuple[Path, ...]) -> None:
    """Hash and print."""
    lines: list[tuple[str, str]] = []
    for path in given or (Path(paths.TABLES),):
        found = fingerprint(path)
        lines += found.lines()
        lines.append((str(path), found.word))
    width = max(len(name) for name, _ in lines)
    for name, word in lines:
        click.echo(f"{name:{width}}  {word}")


DEVIATIONS = """Take finished tables apart by seed and write what each run gave for each printed cell.

TABLES is a folder of tables that were made with several seeds (key `seeds` of the configuration); each seed draws the
80/20 split too. From the runs `xmlc compare --published` and the report take the interval of each cell. What the file
has of other datasets stays.
"""


@click.command(help=DEVIATIONS)
@click.argument("tables", type=FOLDER)
@click.option("--out", type=FILE, required=True, help="CSV to write, such as config/runs.csv.")
def deviations_command(tables: Path, out: Path) -> None:
    """Measure and write."""
    known: Known = {}
    found = runs_of([build_table(made, known) for made in finished_tables(tables, [])], known)
    found.over(Runs.read(out) if out.is_file() else Runs()).write(out)
    counts: dict[str, int] = {}
    for place in found.cells:
        where = f"{place.paper}/{place.table}"
        counts[where] = counts.get(where, 0) + 1
    for where, count in counts.items():
        click.echo(f"{where}: {count} cells")
    click.echo(f"Runs written to {out}")
