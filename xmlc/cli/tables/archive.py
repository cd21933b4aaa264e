"""`xmlc archive`: the records and figures of finished tables in one file."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.errors import XmlcError
from xmlc.overview.archive import archived_files, write_archive
from xmlc.tables.made_of import finished_tables

HELP = """Put the records and figures behind finished tables into one archive, from which the page is made again.

Unpack it in a folder that has the project's config and results/published, and call `xmlc report` there. The archive is
small: it has no datasets, models or estimates.
"""


@click.command(help=HELP)
@click.option("--tables", type=FOLDER, default="results/tables", show_default=True, help="Folder of finished tables.")
@click.option("--figures", type=FOLDER, default="results/figures", show_default=True, help="Folder of figures.")
@click.option("--out", type=FILE, required=True, help="Archive to write, such as records.tar.xz.")
def command(tables: Path, figures: Path, out: Path) -> None:
    """Collect and write."""
    made = finished_tables(tables, [])
    if not made:
        raise XmlcError(f"{tables}: no finished table; make some first, as with `make demo` or `snakemake plt2016`")
    files = archived_files(made, tables, figures)
    write_archive(files, out)
    click.echo(f"{len(files)} files of {len(made)} tables in {out}, {out.stat().st_size / 1e6:.2f} MB")
