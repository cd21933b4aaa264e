"""`xmlc compare`: compare two tables and judge the differences."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE
from xmlc.errors import XmlcError
from xmlc.files import atomic_file
from xmlc.judging.compare import compare, compared_fingerprints
from xmlc.judging.compare_text import agreement, to_markdown, to_text
from xmlc.judging.tolerances import Tolerances, load_tolerances

TABLE = click.Path(path_type=Path)
DEFAULT_TOLERANCES = Path("config/tolerances.yaml")
HELP = """Compare the tables NEW with what is expected, OLD: two CSV files, two folders of them, or two
folders of suites, of which those are compared that OLD has.

Two runs of ours, or a run and the accepted numbers, are compared exactly: one seed gives the same numbers to the last
bit, whatever the processor and the number of threads. With --published, OLD was printed in a paper: each number is as
exact as its own digits, the deviation of our runs over seeds is tolerated, and NEW may have more.

Costs, such as times, are shown where both have them and never judged. Exit status: 0 where every judged cell is equal
or within its tolerance; 1 where a cell is different or outside, or a cell, row, column or table is missing, new or not
run; 2 where the comparison cannot be made (a path that does not exist, a file that is no table, an unknown option).
"""


@click.command(help=HELP)
@click.argument("old", type=TABLE)
@click.argument("new", type=TABLE)
@click.option("--published", is_flag=True, help="OLD was printed in a paper.")
@click.option(
    "--tolerances",
    "file",
    type=FILE,
    default=None,
    help=f"With --published, what is tolerated; {DEFAULT_TOLERANCES} if it exists, else rounding only.",
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
        raise click.UsageError("--tolerances goes with --published: two runs of ours are compared exactly")
    if published and file is None and DEFAULT_TOLERANCES.is_file():
        file = DEFAULT_TOLERANCES
    try:
        tolerances = (load_tolerances(file) if file else Tolerances()) if published else None
        names = [key.strip() for key in keys.split(",") if key.strip()]
        comparisons = compare(old, new, names, tolerances)
        first = "" if published else agreement(*compared_fingerprints(old, new))
    except XmlcError as error:
        click.echo(f"xmlc: error: {error}", err=True)
        ctx.exit(2)
    allowed = "exact" if not published else f"tolerances of {file}" if file else "rounding allowed"
    title = f"old: {old}, new: {new}; {allowed}{'; report only' if report_only else ''}"
    if markdown:
        with atomic_file(markdown) as temporary:
            text = to_markdown(comparisons, title, published)
            temporary.write_text(f"**{first}**\n\n{text}" if first else text, encoding="utf-8")
    if first:
        click.echo(first)
    click.echo(to_text(comparisons, title, published), nl=False)
    if not report_only and not all(comparison.same for comparison in comparisons):
        ctx.exit(1)
