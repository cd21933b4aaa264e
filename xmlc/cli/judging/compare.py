"""`xmlc compare`: compare two tables and judge the differences."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE
from xmlc.errors import XmlcError
from xmlc.files import atomic_file
from xmlc.judging.compare import compare, compared_fingerprints
from xmlc.judging.compare_text import agreement, to_markdown, to_text
from xmlc.judging.judge import Judge

TABLE = click.Path(path_type=Path)
CONFIG = Path("config")
HELP = """Compare the tables NEW with what is expected, OLD: two CSV files, two folders of them, or two
folders of suites, of which those in OLD are compared.

Two runs of ours, or a run and the accepted numbers, are compared exactly: one seed gives the same numbers to the last
bit, whatever the processor and the number of threads. With --published, OLD was printed in a paper: each number that
the paper measured is judged by an interval of its own, taken from our runs with several seeds, and NEW may have more.

Costs, such as times, are shown where both have them and never judged. Exit status: 0 if every judged cell is equal,
reproduced, better, too uncertain to say or not run; 1 if a cell is different, not reproduced or failed, or a cell,
row, column or table of ours is missing or new; 2 if the comparison cannot be made (a path that does not exist, a
file that is no table, an unknown option).
"""


@click.command(help=HELP)
@click.argument("old", type=TABLE)
@click.argument("new", type=TABLE)
@click.option("--published", is_flag=True, help="OLD was printed in a paper.")
@click.option(
    "--runs",
    "file",
    type=FILE,
    default=None,
    help="With --published, our runs with several seeds (CSV); by default config/runs.csv.",
)
@click.option("--keys", default="", help="Columns that name a row, such as dataset,model; otherwise they are found.")
@click.option("--markdown", type=FILE, default=None, help="Write the comparison as Markdown too.")
@click.option("--report-only", is_flag=True, help="Exit with status 0 whatever the differences.")
@click.pass_context
def command(
    ctx: click.Context,
    old: Path,
    new: Path,
    published: bool,
    file: Path | None,
    keys: str,
    markdown: Path | None,
    report_only: bool,
) -> None:
    """Compare, report, judge."""
    if file and not published:
        raise click.UsageError("--runs goes with --published: two runs of ours are compared exactly")
    try:
        judge = Judge.of_project(CONFIG, file) if published else None
        names = [key.strip() for key in keys.split(",") if key.strip()]
        comparisons = compare(old, new, names, judge)
        first = "" if published else agreement(*compared_fingerprints(old, new))
    except XmlcError as error:
        click.echo(f"xmlc: error: {error}", err=True)
        ctx.exit(2)
    how = "each cell by an interval of its own" if published else "exact"
    title = f"old: {old}, new: {new}; {how}{'; report only' if report_only else ''}"
    if markdown:
        with atomic_file(markdown) as temporary:
            text = to_markdown(comparisons, title, published)
            temporary.write_text(f"**{first}**\n\n{text}" if first else text, encoding="utf-8")
    if first:
        click.echo(first)
    click.echo(to_text(comparisons, title, published), nl=False)
    if not report_only and not all(comparison.same for comparison in comparisons):
        ctx.exit(1)
