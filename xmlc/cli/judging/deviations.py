"""`xmlc deviations`: measure how our own runs vary with the seed, for the tolerances."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.judging.deviations import deviations_over_seeds, write_deviations

HELP = """Measure standard deviations over seeds and write them into the file of tolerances.

TABLES is a folder of tables that were made with several seeds (key `seeds` of the configuration). What the file has of
other datasets and models stays.
"""


@click.command(help=HELP)
@click.argument("tables", type=FOLDER)
@click.option("--out", type=FILE, required=True, help="File of tolerances, such as config/tolerances.yaml.")
def command(tables: Path, out: Path) -> None:
    """Measure and write."""
    found = deviations_over_seeds(tables)
    write_deviations(out, found)
    for dataset, models in found.items():
        click.echo(f"{dataset}: {', '.join(models)}")
    click.echo(f"Deviations over seeds written to {out}")
