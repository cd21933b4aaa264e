"""`xmlc prepare`: text files to memory-mapped arrays."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, SEED, catalogue_option, out_option
from xmlc.core.passport import step_costs
from xmlc.data.catalogue import dataset as catalogue_entry
from xmlc.data.catalogue import load_catalogue
from xmlc.data.prepare import prepare
from xmlc.data.prepared import recorded_name
from xmlc.records.statistics import Statistics, part_statistics


@click.command(help="Read a dataset, check it against its published numbers, split it 80/20, write arrays.")
@click.argument("dataset")
@click.option("--source", type=FOLDER, required=True, help="Folder with the dataset's text files.")
@out_option("Folder to write.")
@click.option("--statistics", type=FILE, required=True, help="JSON file for the summaries.")
@catalogue_option
@click.option("--validation-share", default=0.2, show_default=True, help="Share of the training set held out.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the split.")
@click.option(
    "--filter",
    type=FILE,
    help="Text of lines `instance label`, from 0: pairs of the test set that no measure counts; "
    "in place of the entry's filter.",
)
def command(
    dataset: str,
    source: Path,
    out: Path,
    statistics: Path,
    catalogue: tuple[Path, ...],
    validation_share: float,
    seed: int,
    filter: Path | None,
) -> None:
    """Prepare; report differences from published counts and labels without instances."""
    entry = catalogue_entry(dataset, load_catalogue(*catalogue))
    meta, train, test = prepare(entry, source, out, validation_share, seed, filter)
    Statistics(
        name=recorded_name(meta),
        digest=meta["digest"],
        d=meta["d"],
        m=meta["m"],
        notes=tuple(meta["notes"]),
        train=part_statistics(*train),
        test=part_statistics(*test),
        step=step_costs("prepare", 1, meta["name"], written=out),
    ).write(statistics)
    for note in meta["notes"]:
        click.echo(f"{dataset}: {note}", err=True)
