"""Commands that compare tables with published and accepted ones."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.options import split_names
from xmlc.suite.papers.building import Known, build_table
from xmlc.suite.report.compare import accept, compare, compared_fingerprints
from xmlc.suite.report.judge import Judge
from xmlc.suite.report.runs import Runs, runs_of
from xmlc.suite.report.summary import tell_published, tell_runs, to_markdown, to_text
from xmlc.suite.report.verdict import Tolerance
from xmlc.suite.results.fingerprint import fingerprint
from xmlc.suite.results.made_of import finished_tables

TABLE = click.Path(path_type=Path)
NOT_NEGATIVE = click.FloatRange(min=0)
COMPARING = """Say what moved between the tables OLD and NEW: two CSV files, two folders of them, or two folders of
suites, of which those in OLD are compared.

First come five lines at most: fingerprints, how much moved, what settings of the two runs differ; then the largest
moves of headline quantities beside the noise over seeds, then each table in a line, claims last.

Two runs of ours, or a run and the accepted numbers, are compared exactly if no tolerance is given: one seed gives the
same numbers to the last bit, whatever the processor and the number of threads. With --published, OLD was printed in a
paper: each number that the paper measured is judged by an interval of its own, and NEW may have more.

Costs, such as times, are never judged. Exit status: 0 if nothing moved, and with --published; 1 if a judged cell moved,
or a row, column or table is missing or new; 2 if the comparison cannot be made.
"""


@click.command(help=COMPARING)
@click.argument("old", type=TABLE)
@click.argument("new", type=TABLE)
@click.option("--published", is_flag=True, help="OLD was printed in a paper.")
@click.option("--tolerance", type=NOT_NEGATIVE, default=0.0, help="Numbers that differ by at most this are equal.")
@click.option("--relative", type=NOT_NEGATIVE, default=0.0, help="Likewise by at most this share of the old number.")
@click.option("--columns", multiple=True, callback=split_names, help="Only these columns, such as p@1,macro_f.")
@click.option("--all", "every_cell", is_flag=True, help="List each cell that moved.")
@click.option("--markdown", type=FILE, default=None, help="Write it as Markdown too, short enough for a comment.")
@click.pass_context
def compare_command(
    ctx: click.Context,
    old: Path,
    new: Path,
    published: bool,
    tolerance: float,
    relative: float,
    columns: tuple[str, ...],
    every_cell: bool,
    markdown: Path | None,
) -> None:
    """Compare, tell, judge."""
    if published and (tolerance or relative):
        raise click.UsageError("--published judges by intervals; leave out --tolerance and --relative")
    only = f"; only {', '.join(columns)}" if columns else ""
    try:
        if published:
            comparisons = compare(old, new, Judge.of_project(config_folder()), columns=columns)
            told = tell_published(comparisons, f"old: {old}, new: {new}; each by an interval of its own{only}")
        else:
            comparisons = compare(old, new, tolerance=Tolerance(tolerance, relative), columns=columns)
            within = [f"{tolerance:g}"] * bool(tolerance) + [f"{100 * relative:g} % of old"] * bool(relative)
            how = f"equal within {' or '.join(within)}" if within else "exact"
            known = config_folder() / "runs.csv"
            runs = Runs.read(known) if known.is_file() else Runs()
            told = tell_runs(
                comparisons, *compared_fingerprints(old, new), f"old: {old}, new: {new}; {how}{only}", runs
            )
        if markdown:
            with atomic_file(markdown) as temporary:
                temporary.write_text(to_markdown(told), encoding="utf-8")
    except (XmlcError, OSError) as error:  # whose status elsewhere, 1, would say that numbers moved
        click.echo(f"xmlc: error: {error}", err=True)
        ctx.exit(2)
    click.echo(to_text(told, every_cell), nl=False)
    if not all(comparison.same for comparison in comparisons):
        ctx.exit(1)


ACCEPTING = """Replace the accepted tables, REFERENCE/<suite>/, by those of the current run, TABLES/<suite>/*.csv.

Only suites with a folder in REFERENCE and only tables that the run made are replaced; all other accepted tables stay as
they are. Costs (times, memory) and numbers of threads are left out, so that `git diff` shows the numbers that moved;
beside claims it shows the data and settings behind them.
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
