"""A threshold method: tuned on saved estimates of the validation set, and evaluated on the test set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
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
from xmlc.models.registry import load_estimator
from xmlc.records.thresholds import Chosen, Estimates, GridScores, ThresholdCosts, ThresholdRecord, TunedThresholds
from xmlc.records.training import TrainingRecord
from xmlc.steps.timed import instances_for, mean_inner_products, predict_timed
from xmlc.thresholds.bounds import GRID, priors
from xmlc.thresholds.methods import apply_thresholds
from xmlc.thresholds.sweeps import GridPoint, Tuned, fit_unlabelled, scores_of, tune


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
    """Evaluate tuned thresholds on the validation and the test set, and write the record."""
    tuning = TunedThresholds.read(tuned / TunedThresholds.FILE)
    thresholds = load_array(tuned / "thresholds.npy", mmap=False)
    spe = {part: load_csr(estimates, part, made_by="estimate") for part in ("val", "test")}
    point = tuning.grid[tuning.best]
    chosen = GridPoint(thresholds, c=point.c, a=point.a, b=point.b)
    evaluate_point(
        prepared, model, training, spe, tuning.method, tuning.grid, chosen, tuning.tune_seconds, threads, out
    )


def evaluate_on_full(prepared: Prepared, full: Path, methods: Iterable[str], floor: float, threads: int) -> None:
    """Evaluate methods without a validation set with the model of the whole training set, and write the records.

    Parameters
    ----------
    prepared : Prepared
    full : Path
        Folder of the model and the record of its training, for ``evaluation/<method>.json``.
    methods : iterable of str
        Names in `xmlc.metrics.measures.UNLABELLED_METHODS`.
    floor : float
        Only greater estimates of the test set are used.
    threads : int
    """
    training, prior = TrainingRecord.read(full / "train.json"), priors(prepared.part("train")[1])
    model = load_estimator(training.estimator, full / "model", threads)
    spe = model.predict_proba(instances_for(model, prepared, "test"), floor)
    for method in methods:
        fit_unlabelled(method, spe[:WARM_UP_ROWS], prior)  # compiles, untimed
        fitted, seconds = timed(partial(fit_unlabelled, method, spe, prior))
        point = GridPoint(np.maximum(fitted.thresholds_, np.float32(floor)))
        out = full / "evaluation" / f"{method}.json"
        evaluate_point(prepared, model, training, {"test": spe}, method, (), point, seconds, threads, out)


def evaluate_point(
    prepared: Prepared,
    model: SparseProbabilityEstimator,
    training: TrainingRecord,
    spe: Mapping[str, sparse.csr_array],
    method: str,
    grid: tuple[GridScores, ...],
    point: GridPoint,
    tune_seconds: float,
    threads: int,
    out: Path,
) -> None:
    """Predict parts with thresholds, the test set among them, score them by every metric, and write the record.

    The cost is that of a prediction of the test set by the model with these thresholds, not of reading its estimates.

    Raises
    ------
    XmlcError
        The model does not predict what its estimates say.
    """
    predicted = {part: apply_thresholds(estimates, point.thresholds) for part, estimates in spe.items()}
    X = instances_for(model, prepared, "test")
    answer, ms = predict_timed(model, X, lambda rows: model.predict_proba(rows, point.thresholds))
    if answer.nnz != predicted["test"].nnz or (answer.indices != predicted["test"].indices).any():
        raise XmlcError(
            f"the model predicts {answer.nnz} labels with these thresholds, its saved estimates "
            f"{predicted['test'].nnz}; estimates and model do not belong together: make the estimates again"
        )
    scores = {part: classification_metrics(prepared.part(part)[1], sets) for part, sets in predicted.items()}
    costs = ThresholdCosts(
        **asdict(training.costs),
        tune_seconds=tune_seconds,
        test_ms_per_instance=ms,
        test_inner_products_per_instance=mean_inner_products(model),
        threads=threads,
    )
    ThresholdRecord(
        **training.head_fields(),
        tuning=training.tuning,
        method=method,
        grid=grid,
        best=Chosen(c=point.c, a=point.a, b=point.b, validation=scores.get("val", {}), test=scores["test"]),
        costs=costs,
        **with_passport(step_costs("evaluate", threads, *training.run_names, method)),
    ).write(out)
