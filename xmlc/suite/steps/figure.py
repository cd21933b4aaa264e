"""`xmlc figure`: one figure of a paper, drawn from records."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.suite.config.folders import STUDY
from xmlc.suite.options import prefix_option, records_argument, titles_option
from xmlc.suite.papers import figure_of
from xmlc.suite.papers.building import draw_figure, record_files
from xmlc.suite.papers.plotting import write_figure
from xmlc.suite.results.titles import name_models


@click.command(help="Draw figure NAME of a paper from RECORDS.")
@click.argument("name")
@records_argument
@click.option("--paper", required=True, help="Name of the paper or suite, such as demo.")
@titles_option
@prefix_option(".svg and .pdf")
def command(
    name: str,
    records: tuple[Path, ...],
    of_methods: tuple[str, ...],
    paper: str,
    titles: dict[str, str],
    out: Path,
) -> None:
    """Write the figure, and print the paths of its files."""
    # Imports the packages of all papers, which register names of models, so that a study can
    # replace them.
    definition = figure_of(name, paper)
    name_models(titles, over=paper == STUDY)
    for file in write_figure(
        draw_figure(name, paper, record_files(records, of_methods, definition)), out
    ):
        click.echo(str(file))
