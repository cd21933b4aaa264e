"""`xmlc compare`: compare two tables and judge the differences."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE
from xmlc.files import atomic_file
from xmlc.reports.compare import compare
from xmlc.reports.tolerances import EXACT, Tolerances, load_tolerances
from xmlc.reports.verdict import to_markdown, to_text

TABLE = click.Path(path_type=Path)


@click.command(help="Compare table RIGHT with what is expected, LEFT: two CSV files, or two folders of them.")
@click.argument("left", type=TABLE)
@click.argument("right", type=TABLE)
@click.option("--keys", default="", help="Columns that name a row, such as dataset,model; otherwise they are found.")
@click.option("--tolerances", "file", type=FILE, default=None, help="YAML file; without it only rounding is allowed.")
@click.option("--exact", is_flag=True, help="Allow no difference at all; costs stay without judgement.")
@click.option("--markdown", type=FILE, default=None, help="Write the comparison as Markdown too.")
@click.option("--report-only", is_flag=True, help="Exit with status 0 whatever the differences.")
@click.pass_context
def command(
    ctx: click.Context,
    left: Path,
    right: Path,
    keys: str,
    file: Path | None,
    exact: bool,
    markdown: Path | None,
    report_only: bool,
) -> None:
    """Compare, report, judge: status 1 if anything is outside, missing or new."""
    tolerances = EXACT if exact else load_tolerances(file) if file else Tolerances()
    comparisons = compare(left, right, tolerances, [key.strip() for key in keys.split(",") if key.strip()])
    allowed = "exact" if exact else f"tolerances of {file}" if file else "rounding allowed"
    title = f"left: {left}, right: {right}; {allowed}{'; report only' if report_only else ''}"
    if markdown:
        with atomic_file(markdown) as temporary:
            temporary.write_text(to_markdown(comparisons, title), encoding="utf-8")
    click.echo(to_text(comparisons, title), nl=False)
    if not report_only and not all(comparison.same for comparison in comparisons):
        ctx.exit(1)
