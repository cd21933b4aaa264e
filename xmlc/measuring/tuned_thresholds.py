"""One threshold method tuned on saved estimates: the best thresholds, and the time that finding them takes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.csr import load_csr
from xmlc.data.prepared import Prepared
from xmlc.files import atomic_folder
from xmlc.metrics.classification import measure_scores
from xmlc.passport import WARM_UP_ROWS, ending, step_costs, timed
from xmlc.records.estimates import Estimates
from xmlc.records.thresholds import GridPoint, TunedThresholds
from xmlc.thresholds.apply import apply_thresholds
from xmlc.thresholds.bounds import priors
from xmlc.thresholds.tune import Tuned, scores_of, tune


def tune_timed(
    method: str, prepared: Prepared, spe_val: sparse.csr_array, spe_test: sparse.csr_array, floor: float
) -> tuple[Tuned, float]:
    """Sweep a method's grid; choose by its measure on the validation set, and score each point on the test set, too.

    Parameters
    ----------
    method : str
        A name of `xmlc.thresholds.tune.METHODS`.
    prepared : Prepared
    spe_val, spe_test : csr_array of float32, shape (n, m)
        Estimates of both parts.
    floor : float
        Where they end.

    Returns
    -------
    tuned : Tuned
    seconds : float
        Wall seconds of tuning, those of compilation and of the test set aside.
    """
    (_, Y_fit), (_, Y_val), (_, Y_test) = (prepared.part(part) for part in ("fit", "val", "test"))
    names, prior, test_seconds = scores_of(method), priors(Y_fit), 0.0

    def score_test(thresholds: np.ndarray) -> dict[str, float]:
        nonlocal test_seconds
        scores, seconds = timed(lambda: measure_scores(Y_test, apply_thresholds(spe_test, thresholds), names))
        test_seconds += seconds
        return scores

    tune(method, spe_val[:WARM_UP_ROWS], Y_val[:WARM_UP_ROWS], prior, floor=floor)  # compiles, untimed
    tuned, seconds = timed(lambda: tune(method, spe_val, Y_val, prior, floor=floor, score_test=score_test))
    return tuned, seconds - test_seconds


def tune_method(prepared: Prepared, estimates: Path, method: str, threads: int, out: Path) -> None:
    """Sweep a method's grid; choose by its measure on the validation set, report the test's too; write both."""
    estimated = Estimates.read(estimates)
    spe_val, spe_test = (load_csr(estimates, part, made_by="estimate") for part in ("val", "test"))
    tuned, seconds = tune_timed(method, prepared, spe_val, spe_test, estimated.floor)
    with atomic_folder(out) as folder:
        np.save(folder / "thresholds.npy", tuned.thresholds)
        names = prepared.meta["name"], estimated.step["model"], estimated.step["portion"], method
        TunedThresholds(
            method=method,
            grid=tuple(GridPoint(**asdict(point)) for point in tuned.grid),
            best=tuned.best,
            tune_seconds=seconds,
            **ending(step_costs("threshold", threads, *names, written=folder)),
        ).write(folder)
