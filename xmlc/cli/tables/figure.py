"""`xmlc figure`: draw one figure of a paper from records."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._records import gather_records, records_argument
from xmlc.papers.figures import FIGURES, draw_figure, write_figure


@click.command(help=f"Draw figure NAME ({', '.join(FIGURES.names())}) from RECORDS; name the records behind it.")
@click.argument("name")
@records_argument
@click.option("--paper", required=True, help="Name of the paper, or of any suite such as demo.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Prefix of the .svg and .png to write.")
def command(name: str, records: tuple[Path, ...], records_from: Path | None, paper: str, out: Path) -> None:
    """Draw, write, say where."""
    for file in write_figure(draw_figure(name, paper, gather_records(records, records_from)), out):
        click.echo(str(file))
