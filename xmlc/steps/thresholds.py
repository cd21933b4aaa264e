"""A threshold method: tuned on saved estimates of the validation set, and evaluated on the test set."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder
from xmlc.core.passport import WARM_UP_ROWS, step_costs, timed, with_passport
from xmlc.data.matrices import load_csr
from xmlc.data.prepared import Prepared
from xmlc.kernels.stored import load_array
from xmlc.metrics.classification import classification_metrics, measure_scores
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.records.thresholds import Chosen, Estimates, GridScores, ThresholdCosts, ThresholdRecord, TunedThresholds
from xmlc.records.training import TrainingRecord
from xmlc.steps.timed import instances_for, mean_inner_products, predict_timed
from xmlc.thresholds.bounds import GRID, priors
from xmlc.thresholds.methods import apply_thresholds
from xmlc.thresholds.sweeps import Tuned, scores_of, tune


def tune_timed(
    method: str, prepared: Prepared, spe_val: sparse.csr_array, spe_test: sparse.csr_array, floor: float
) -> tuple[Tuned, float]:
    """Sweep a method's grid; choose by its measure on the validation set, and score each point on the test set, too.

    Parameters
    ----------
    method : str
        A name of `xmlc.thresholds.sweeps.METHODS`.
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
    tuned, seconds = timed(lambda: tune(method, spe_val, Y_val, prior, GRID, floor, score_test, unlabelled=spe_test))
    return tuned, seconds - test_seconds


def tune_method(prepared: Prepared, estimates: Path, method: str, threads: int, out: Path) -> None:
    """Sweep a method's grid; choose by its measure on the validation set, report the test's too; write both."""
    estimated = Estimates.read(estimates / Estimates.FILE)
    spe_val, spe_test = (load_csr(estimates, part, made_by="estimate") for part in ("val", "test"))
    tuned, seconds = tune_timed(method, prepared, spe_val, spe_test, estimated.floor)
    with atomic_folder(out) as folder:
        np.save(folder / "thresholds.npy", tuned.thresholds)
        names = prepared.meta["name"], estimated.step["model"], estimated.step["portion"], method
        TunedThresholds(
            method=method,
            grid=tuple(GridScores(**asdict(point)) for point in tuned.grid),
            best=tuned.best,
            tune_seconds=seconds,
            **with_passport(step_costs("threshold", threads, *names, written=folder)),
        ).write(folder / TunedThresholds.FILE)


def evaluate_method(
    prepared: Prepared,
    model: SparseProbabilityEstimator,
    training: TrainingRecord,
    estimates: Path,
    tuned: Path,
    threads: int,
    out: Path,
) -> None:
    """Predict validation and test set with tuned thresholds, score both by every metric, and write the record.

    The cost is that of a prediction of the test set by the model with these thresholds, not of reading its estimates.

    Raises
    ------
    XmlcError
        The model does not predict what its estimates say.
    """
    tuning = TunedThresholds.read(tuned / TunedThresholds.FILE)
    thresholds = load_array(tuned / "thresholds.npy", np.float32, (None,), mmap=False)
    predicted = {
        part: apply_thresholds(load_csr(estimates, part, made_by="estimate"), thresholds) for part in ("val", "test")
    }
    X = instances_for(model, prepared, "test")
    answer, ms = predict_timed(model, X, lambda rows: model.predict_proba(rows, thresholds))
    if answer.nnz != predicted["test"].nnz or (answer.indices != predicted["test"].indices).any():
        raise XmlcError(
            f"the model predicts {answer.nnz} labels with these thresholds, its saved estimates "
            f"{predicted['test'].nnz}; estimates and model do not belong together: delete {estimates}"
        )
    validation, test = (classification_metrics(prepared.part(part)[1], sets) for part, sets in predicted.items())
    point = tuning.grid[tuning.best]
    costs = ThresholdCosts(
        **asdict(training.costs),
        tune_seconds=tuning.tune_seconds,
        test_ms_per_instance=ms,
        test_inner_products_per_instance=mean_inner_products(model),
        threads=threads,
    )
    ThresholdRecord(
        **training.head_fields(),
        tuning=training.tuning,
        method=tuning.method,
        grid=tuning.grid,
        best=Chosen(c=point.c, a=point.a, b=point.b, validation=validation, test=test),
        costs=costs,
        **with_passport(step_costs("evaluate", threads, *training.run_names, tuning.method)),
    ).write(out)
