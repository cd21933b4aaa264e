"""`xmlc threshold`: tune one threshold method on the validation estimates."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
import numpy as np

from xmlc.cli._options import FILE, FOLDER, data_option, threads_option
from xmlc.csr import load_csr
from xmlc.data.prepared import Prepared
from xmlc.extensions import import_file
from xmlc.files import atomic_folder
from xmlc.measuring.tuned_thresholds import tune_timed
from xmlc.passport import ending
from xmlc.records.estimates import Estimates
from xmlc.records.thresholds import GridPoint, TunedThresholds
from xmlc.thresholds.tune import METHODS


@click.command(help="Try every value of a method's grid on the validation set and keep the best thresholds.")
@data_option
@click.option("--estimates", type=FOLDER, required=True, help="Folder written by `xmlc estimate`.")
@click.option("--method", required=True, help=f"One of {', '.join(METHODS)}, or one that an extension registers.")
@click.option("--extension", type=FILE, multiple=True, help="Python file that registers a method of one's own.")
@threads_option
@click.option("--out", type=FOLDER, required=True, help="Folder to write.")
def command(data: Path, estimates: Path, method: str, extension: tuple[Path, ...], threads: int, out: Path) -> None:
    """Sweep the grid in one job."""
    for file in extension:
        import_file(file)
    tune_method(Prepared(data), estimates, method, threads, out)


def tune_method(prepared: Prepared, estimates: Path, method: str, threads: int, out: Path) -> None:
    """Sweep a method's grid; choose by its measure on the validation set, report the test's too; write both."""
    estimated, (spe_val, spe_test) = Estimates.read(estimates), (load_csr(estimates, part) for part in ("val", "test"))
    tuned, seconds = tune_timed(method, prepared, spe_val, spe_test, estimated.floor)
    with atomic_folder(out) as folder:
        np.save(folder / "thresholds.npy", tuned.thresholds)
        names = prepared.meta["name"], estimated.step["model"], estimated.step["portion"], method
        TunedThresholds(
            method=method,
            grid=tuple(GridPoint(**asdict(point)) for point in tuned.grid),
            best=tuned.best,
            tune_seconds=seconds,
            **ending("threshold", threads, *names, written=folder),
        ).write(folder)
