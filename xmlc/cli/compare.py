"""`xmlc compare`: compare two tables and judge the differences."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE
from xmlc.errors import XmlcError
from xmlc.files import atomic_file
from xmlc.reports.compare import Comparison, compare
from xmlc.reports.compare_text import to_markdown, to_text
from xmlc.reports.tolerances import EXACT, Tolerances, load_tolerances

TABLE = click.Path(path_type=Path)
HELP = """Compare the tables NEW with what is expected, OLD: two CSV files, or two folders of them.

Exit status: 0 where every judged cell is equal or within its tolerance; 1 where a cell is outside, or a cell, row,
column or table is missing, new or not run; 2 where the comparison cannot be made (a path that does not exist, a file
that is no table, an unknown option). Costs, such as times, are shown and never judged.
"""


@click.command(help=HELP)
@click.argument("old", type=TABLE)
@click.argument("new", type=TABLE)
@click.option("--tolerances", "file", type=FILE, default=None, help="YAML file; without it only rounding is allowed.")
@click.option("--exact", is_flag=True, help="Allow no difference at all; costs stay without judgement.")
@click.option(
    "--published",
    is_flag=True,
    help="OLD was printed in a paper: its own digits count, seeds were others, and NEW may have more.",
)
@click.option("--keys", default="", help="Columns that name a row, such as dataset,model; otherwise they are found.")
@click.option("--markdown", type=FILE, default=None, help="Write the comparison as Markdown too.")
@click.option("--report-only", is_flag=True, help="Exit with status 0 whatever the differences.")
@click.pass_context
def command(
    ctx: click.Context,
    old: Path,
    new: Path,
    file: Path | None,
    exact: bool,
    published: bool,
    keys: str,
    markdown: Path | None,
    report_only: bool,
) -> None:
    """Compare, report, judge."""
    try:
        tolerances = EXACT if exact else load_tolerances(file) if file else Tolerances()
        names = [key.strip() for key in keys.split(",") if key.strip()]
        comparisons: list[Comparison] = compare(old, new, tolerances, names, published)
    except XmlcError as error:
        click.echo(f"xmlc: error: {error}", err=True)
        ctx.exit(2)
    allowed = "exact" if exact else f"tolerances of {file}" if file else "rounding allowed"
    title = f"old: {old}, new: {new}; {allowed}{'; report only' if report_only else ''}"
    if markdown:
        with atomic_file(markdown) as temporary:
            temporary.write_text(to_markdown(comparisons, title, published), encoding="utf-8")
    click.echo(to_text(comparisons, title, published), nl=False)
    if not report_only and not all(comparison.same for comparison in comparisons):
        ctx.exit(1)
