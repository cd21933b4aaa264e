"""`xmlc deviations`: measure how our own runs vary, for the tolerances."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.reports.deviations import deviations_over_machines, deviations_over_seeds, write_deviations

HELP = """Measure standard deviations of our own runs and write them into the file of tolerances.

One folder of TABLES that were made with several seeds (key `seeds` of the configuration) gives the deviations over
seeds. Several folders, with the tables of the same runs on different machines, give those over machines. What the file
has of other datasets and models stays.
"""


@click.command(help=HELP)
@click.argument("tables", type=FOLDER, nargs=-1, required=True)
@click.option("--out", type=FILE, required=True, help="File of tolerances, such as config/tolerances.yaml.")
def command(tables: tuple[Path, ...], out: Path) -> None:
    """Measure and write."""
    kind = "seeds" if len(tables) == 1 else "machines"
    found = deviations_over_seeds(tables[0]) if kind == "seeds" else deviations_over_machines(tables)
    write_deviations(out, kind, found)
    for dataset, models in found.items():
        click.echo(f"{dataset}: {', '.join(models)}")
    click.echo(f"Deviations over {kind} written to {out}")
