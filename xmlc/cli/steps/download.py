"""`xmlc download`: a dataset's files, verified."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from xmlc.cli._options import catalogue_option, out_option
from xmlc.data.catalogue import dataset as catalogue_entry
from xmlc.data.catalogue import load_catalogue
from xmlc.data.download import check_sources, download


@click.command()
@click.argument("dataset")
@out_option("Folder to write, such as resources/DATASET.")
@click.option("--mirror", help="Folder or base URL that has the dataset's files in DATASET/.")
@catalogue_option
def command(dataset: str, out: Path, mirror: str | None, catalogue: tuple[Path, ...]) -> None:
    """Fetch a dataset's files, all or none of them.

    The sources are, in this order: a copy that you put into the folder manual/DATASET beside OUT (the files, or one
    archive with them); the mirror, if one is given; the sources that the catalogue names.

    In both places lie the files that the catalogue names, or train.txt and test.txt in the repository's format; each
    plain or compressed (.gz, .xz, .bz2). A dataset outside the catalogue needs no more than such a folder. Digests
    are recorded the first time and checked from then on.
    """
    known = load_catalogue(*catalogue)
    entry = catalogue_entry(dataset, known)
    if not entry.synthetic:
        check_sources([entry], mirror, out.parent, known)
    say = partial(click.echo, err=True)
    origin = download(entry, out, mirror, lambda reason: say(f"{dataset}: {reason}"))
    say(f"{dataset}: fetched from {origin}")
