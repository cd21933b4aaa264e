"""`xmlc figure`: draw one figure of a paper from records."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import gather_records, list_definitions, records_argument
from xmlc.papers import every_figure
from xmlc.papers.building import draw_figure
from xmlc.papers.plotting import write_figure


@click.command(help="Draw figure NAME of a paper from RECORDS; write the list of these records too.")
@click.argument("name")
@records_argument
@click.option("--paper", required=True, help="Name of the paper, or of any suite such as demo.")
@click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=list_definitions(every_figure),
              help="List the figures of each paper, and those of every suite (common).")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Prefix of the .svg and .png to write.")
def command(name: str, records: tuple[Path, ...], records_from: Path | None, paper: str, out: Path) -> None:
    """Draw, write, print the paths."""
    for file in write_figure(draw_figure(name, paper, gather_records(records, records_from)), out):
        click.echo(str(file))
