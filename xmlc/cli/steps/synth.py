"""`xmlc synth`: a synthetic dataset, with known posteriors or with few examples of each class."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import POSITIVE, SEED, catalogue_option, out_option, threads_option
from xmlc.core.errors import XmlcError
from xmlc.data.catalogue import dataset as catalogue_entry
from xmlc.data.catalogue import load_catalogue
from xmlc.data.synthetic.making import KINDS, SIZES, make_dataset

COUNT = click.IntRange(min=1)


@click.command(
    help="Make sparse multi-label data whose true posteriors are known, or multi-class data with few examples of each "
    "class. Options override the catalogue's."
)
@click.argument("dataset")
@out_option("Folder to write, such as resources/DATASET.")
@catalogue_option
@click.option(
    "--kind", type=click.Choice(list(KINDS)), help="Several labels (the default), views of objects, or texts."
)
@click.option("--n-train", type=COUNT, help="Instances of the training set.")
@click.option("--n-test", type=COUNT, help="Instances of the test set.")
@click.option("--n-features", type=COUNT, help="Features d.")
@click.option("--n-labels", type=COUNT, help="Labels m.")
@click.option("--labels-per-instance", type=POSITIVE, help="Labels per instance, on average.")
@click.option("--nonzeros", type=COUNT, help="Draws of features per instance.")
@click.option("--seed", type=SEED, help="Seed of the random numbers.")
@threads_option
def command(
    dataset: str, out: Path, catalogue: Path | None, threads: int, kind: str | None, **options: float | None
) -> None:
    """Draw both parts and write them as text, with the posteriors beside."""
    listed = catalogue_entry(dataset, load_catalogue(catalogue)).synthetic
    kind = kind or (listed.get("kind", "labels") if listed else "labels")
    given = {key: value for key, value in (listed or {}).items() if isinstance(value, int | float)}
    given |= {key: value for key, value in options.items() if value is not None}
    if missing := [key for key in SIZES if key not in given]:
        flags = ", ".join("--" + key.replace("_", "-") for key in missing)
        raise XmlcError(f"{dataset} is no synthetic set of the catalogue; give {flags}")
    make_dataset(dataset, kind, given, out, threads)
