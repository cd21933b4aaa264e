"""`xmlc synth`: a synthetic dataset, with known posteriors or with few examples of each class."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import catalogue_option, out_option, threads_option
from xmlc.core.errors import XmlcError, nearest
from xmlc.data.catalogue import dataset as catalogue_entry
from xmlc.data.catalogue import load_catalogue
from xmlc.data.synthetic.making import make_dataset


@click.command(
    help="Make sparse multi-label data whose true posteriors are known, or multi-class data with few examples of each "
    "class, as the catalogue describes it (key `synthetic`); or data in the shape of a large set (key `shape`)."
)
@click.argument("dataset")
@out_option("Folder to write, such as resources/DATASET.")
@click.option(
    "--one-in",
    type=click.IntRange(1),
    help="In the shape of a large set: its features and labels, and one in so many of its instances.",
)
@catalogue_option
@threads_option
def command(dataset: str, out: Path, one_in: int | None, catalogue: tuple[Path, ...], threads: int) -> None:
    """Draw both parts and write them as text, with the posteriors beside."""
    entry = catalogue_entry(dataset, load_catalogue(*catalogue))
    listed = entry.synthetic if one_in is None else entry.in_its_shape(one_in)
    if listed is None:
        made = [name for name, one in load_catalogue(*catalogue).items() if one.synthetic]
        raise XmlcError(f"dataset {dataset}: not in the catalogue of synthetic sets, expected {nearest(dataset, made)}")
    given = {key: value for key, value in listed.items() if key != "kind"}
    make_dataset(dataset, listed.get("kind", "labels"), given, out, threads)
