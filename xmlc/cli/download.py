"""`xmlc download`: a dataset's files, verified."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FOLDER, catalogue_option
from xmlc.data.catalogue import dataset as catalogue_entry
from xmlc.data.catalogue import load_catalogue
from xmlc.data.download import download


@click.command(help="Fetch a dataset from a mirror, a hand-downloaded copy or the catalogue's source.")
@click.argument("dataset")
@click.option("--out", type=FOLDER, required=True, help="Folder to write, such as resources/DATASET.")
@click.option("--mirror", help="Folder or base URL laid out DATASET/{train,test}.txt[.gz|.xz|.bz2].")
@catalogue_option
def command(dataset: str, out: Path, mirror: str | None, catalogue: Path | None) -> None:
    """Download and say from where."""
    origin = download(catalogue_entry(dataset, load_catalogue(catalogue)), out, mirror)
    click.echo(f"{dataset}: fetched from {origin}", err=True)
