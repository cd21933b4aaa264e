"""`xmlc table`: one table of a paper, built from records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from xmlc.cli.options import FOLDER
from xmlc.suite.options import file_option, prefix_option, records_argument, titles_option
from xmlc.suite.papers import table_of
from xmlc.suite.papers.building import Known, build_table, record_files, write_table
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.settings import settings_of


@click.command(help="Build table NAME of a paper from RECORDS.")
@click.argument("name")
@records_argument
@click.option("--paper", required=True, help="Name of the paper or suite, such as demo.")
@click.option(
    "--published",
    type=FOLDER,
    default=None,
    help="Folder with published values in <paper>/<table>.csv.",
)
@file_option("--suite", "YAML file of the suite. Table 3 prints the search ranges in this file.")
@titles_option
@prefix_option(".csv, .md and .tex")
def command(
    name: str,
    records: tuple[Path, ...],
    of_methods: tuple[str, ...],
    paper: str,
    published: Path | None,
    suite: Path | None,
    titles: dict[str, str],
    out: Path,
) -> None:
    """Write the table, and print the paths of its files."""
    files = record_files(records, of_methods, table_of(name, paper))
    known: Known = {}
    made = Manifest(name, paper, files, published, suite, titles=titles)
    table = build_table(made, known)
    written = write_table(table, out)
    replace(
        made, table=table.spec.name, digests=table.digests, settings=settings_of(known.values())
    ).write(out)
    click.echo("\n".join(map(str, written)))
