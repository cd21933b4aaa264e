"""A threshold method: tuned on saved estimates of the validation set, and evaluated on the test set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.passport import WARM_UP_ROWS, step_costs, timed, with_passport
from xmlc.data.prepared import Prepared
from xmlc.metrics.classification import classification_metrics, measure_scores
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.records.thresholds import Chosen, GridScores, ThresholdCosts, ThresholdRecord
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


def tune_and_evaluate(
    prepared: Prepared,
    model: SparseProbabilityEstimator,
    training: TrainingRecord,
    spe: Mapping[str, sparse.csr_array],
    floor: float,
    method: str,
    threads: int,
    out: Path,
) -> np.ndarray:
    """Tune thresholds on the validation set, evaluate them on it and on the test set, and write the record.

    Parameters
    ----------
    prepared : Prepared
    model : SparseProbabilityEstimator
        The model of the estimates.
    training : TrainingRecord
        Of the model.
    spe : mapping of str to csr_array of float32, shape (n, m)
        Estimates of the parts ``val`` and ``test``.
    floor : float
        Where they end.
    method : str
        A name of `xmlc.thresholds.sweeps.METHODS`.
    threads : int
    out : Path
        Folder for ``<method>.json``.

    Returns
    -------
    float32 array of shape (m,)
        The thresholds.
    """
    tuned, seconds = tune_timed(method, prepared, spe["val"], spe["test"], floor)
    grid = tuple(GridScores(**asdict(point)) for point in tuned.grid)
    best = grid[tuned.best]
    chosen = GridPoint(tuned.thresholds, c=best.c, a=best.a, b=best.b)
    evaluate_point(prepared, model, training, spe, method, grid, chosen, seconds, threads, out)
    return tuned.thresholds


def evaluate_unlabelled(
    prepared: Prepared,
    model: SparseProbabilityEstimator,
    training: TrainingRecord,
    methods: Iterable[str],
    floor: float,
    threads: int,
    out: Path,
) -> None:
    """Evaluate methods that need no validation set with a model's predictions of the test set; write the records.

    Parameters
    ----------
    prepared : Prepared
    model : SparseProbabilityEstimator
        Of the whole training set.
    training : TrainingRecord
        Of the model.
    methods : iterable of str
        Names in `xmlc.metrics.measures.UNLABELLED_METHODS`.
    floor : float
        Only greater estimates of the test set are used.
    threads : int
    out : Path
        Folder for ``<method>.json``.
    """
    prior, spe = priors(prepared.part("train")[1]), model.predict_proba(instances_for(model, prepared, "test"), floor)
    for method in methods:
        fit_unlabelled(method, spe[:WARM_UP_ROWS], prior)  # compiles, untimed
        fitted, seconds = timed(partial(fit_unlabelled, method, spe, prior))
        point = GridPoint(np.maximum(fitted.thresholds_, np.float32(floor)))
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
    ).write(out / f"{method}.json")
