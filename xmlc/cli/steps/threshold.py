"""`xmlc threshold`: tune one threshold method on the validation estimates."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, SEED, data_option, out_option, threads_option
from xmlc.data.prepared import Prepared
from xmlc.extensions import import_file
from xmlc.measuring.tuned_thresholds import tune_method
from xmlc.thresholds.tune import METHODS


@click.command(help="Try every value of a method's grid on the validation set and write the best thresholds.")
@data_option
@click.option("--estimates", type=FOLDER, required=True, help="Folder written by `xmlc estimate`.")
@click.option("--method", required=True, help=f"One of {', '.join(METHODS)}, or one that an extension registers.")
@click.option("--extension", type=FILE, multiple=True, help="Python file that registers a method of your own.")
@click.option(
    "--seed", type=SEED, default=0, show_default=True, help="Seed of the run, which determines the validation part."
)
@threads_option
@out_option("Folder to write.")
def command(
    data: Path, estimates: Path, method: str, extension: tuple[Path, ...], seed: int, threads: int, out: Path
) -> None:
    """Sweep the grid in one job."""
    for file in extension:
        import_file(file)
    tune_method(Prepared(data, seed), estimates, method, threads, out)
