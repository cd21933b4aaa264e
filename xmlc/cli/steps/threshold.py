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
from xmlc.metrics.classification import measure_scores
from xmlc.passport import WARM_UP_ROWS, ending, timed
from xmlc.records.estimates import Estimates
from xmlc.records.thresholds import GridPoint, TunedThresholds
from xmlc.thresholds.apply import apply_thresholds
from xmlc.thresholds.bounds import priors
from xmlc.thresholds.tune import METHODS, scores_of, tune


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
    (_, Y_fit), (_, Y_val), (_, Y_test) = (prepared.part(part) for part in ("fit", "val", "test"))
    spe_val, spe_test = load_csr(estimates, "val"), load_csr(estimates, "test")
    estimated = Estimates.read(estimates)
    test_seconds = 0.0

    def score_test(thresholds: np.ndarray) -> dict[str, float]:
        nonlocal test_seconds
        names = scores_of(method)
        scores, seconds = timed(lambda: measure_scores(Y_test, apply_thresholds(spe_test, thresholds), names))
        test_seconds += seconds
        return scores

    prior, floor = priors(Y_fit), estimated.floor
    tune(method, spe_val[:WARM_UP_ROWS], Y_val[:WARM_UP_ROWS], prior, floor=floor)  # compiles, untimed
    tuned, seconds = timed(lambda: tune(method, spe_val, Y_val, prior, floor=floor, score_test=score_test))
    with atomic_folder(out) as folder:
        np.save(folder / "thresholds.npy", tuned.thresholds)
        names = prepared.meta["name"], estimated.step["model"], estimated.step["portion"], method
        TunedThresholds(
            method=method,
            grid=tuple(GridPoint(**asdict(point)) for point in tuned.grid),
            best=tuned.best,
            tune_seconds=seconds - test_seconds,
            **ending("threshold", threads, *names, written=folder),
        ).write(folder)
