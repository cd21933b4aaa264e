"""`xmlc table`: assemble one table of a paper from records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from xmlc.cli._options import FILE, FOLDER, record_files, records_argument, selection_options, titles_option
from xmlc.numbers.made_of import MadeOf
from xmlc.numbers.settings import settings_of
from xmlc.papers.building import Known, selected_table, write_table
from xmlc.papers.printing import to_markdown


@click.command(help="Build table NAME of a paper from RECORDS; of a whole table, write the list of these records too.")
@click.argument("name")
@records_argument
@click.option("--paper", required=True, help="Name of the paper, or of any suite such as demo.")
@click.option("--published", type=FOLDER, default=None, help="Folder with <paper>/<table>.csv, to print beside ours.")
@click.option("--suite", type=FILE, default=None, help="Configuration of the paper; Table 3 prints its ranges.")
@titles_option
@selection_options
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Prefix of the .csv, .md, .tex to write.")
@click.option("--print", "on_screen", is_flag=True, help="Print the Markdown too.")
def command(
    name: str,
    records: tuple[Path, ...],
    of_methods: tuple[str, ...],
    paper: str,
    published: Path | None,
    suite: Path | None,
    titles: dict[str, str],
    out: Path,
    on_screen: bool,
    **selection: Any,
) -> None:
    """Build, write, say where."""
    made = MadeOf(name, paper, record_files(records, of_methods), published, suite, titles=titles)
    known: Known = {}
    table = selected_table(made, known, **selection)
    files = write_table(table, out)
    if not any(selection.values()):  # the page and comparisons are about whole tables
        settings = settings_of(source.record for source in known.values())
        replace(made, table=table.name, digests=table.digests, settings=settings).write(out)
    if on_screen:
        click.echo(to_markdown(table))
    for file in files:
        click.echo(str(file))
