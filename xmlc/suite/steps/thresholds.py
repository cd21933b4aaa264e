"""A threshold method: tuned on saved estimates of the validation set, and evaluated on the test set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np
from scipy import sparse

from xmlc.cli._options import FILE, FOLDER, out_option, threads_option
from xmlc.core.errors import XmlcError, let_through
from xmlc.core.files import atomic_folder, check_replaceable
from xmlc.core.passport import WARM_UP_ROWS, step_costs, timed, with_passport
from xmlc.data.matrices import load_csr
from xmlc.kernels.csr import as_estimates, lent, release, some_rows, top_k_of
from xmlc.metrics.classification import agreement_of_blocks, groups_by_frequency, measure_scores, scores_by_frequency
from xmlc.metrics.ranking import K, calibration_scores, precision_and_ndcg
from xmlc.metrics.resampling import resampled_sets
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import load_estimator
from xmlc.suite.options import data_option, extension_option, model_option, training_option
from xmlc.suite.results.records.calibration import PRECISION, CalibrationRecord
from xmlc.suite.results.records.thresholds import Chosen, Estimates, GridScores, ThresholdCosts, ThresholdRecord
from xmlc.suite.results.records.training import TrainingRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.subject import with_method
from xmlc.suite.steps.timed import estimate_timed, mean_of, write_estimates
from xmlc.thresholds.bounds import GRID, priors
from xmlc.thresholds.calibration import IsotonicCalibration
from xmlc.thresholds.methods import agreement_above, apply_thresholds, sets_above
from xmlc.thresholds.sweeps import METHODS, GridPoint, Tuned, fit_unlabelled, scores_of, tune


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
    names, prior, test_seconds, spe_test = scores_of(method), priors(Y_fit), 0.0, as_estimates(spe_test)

    def score_test(thresholds: np.ndarray) -> dict[str, float]:
        nonlocal test_seconds
        scores, seconds = timed(lambda: measure_scores(agreement_above(Y_test, spe_test, thresholds), names))
        test_seconds += seconds
        return scores

    few = min(WARM_UP_ROWS, Y_val.shape[0])
    tune(method, some_rows(spe_val, 0, few), Y_val[:few], prior, floor=floor)  # compiles, untimed
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
    prior = priors(prepared.part("train")[1])
    with TemporaryDirectory(dir=out) as place:
        spe, _ = write_estimates(model, prepared, "test", floor, Path(place))
        for method in methods:
            fit_unlabelled(method, some_rows(spe, 0, min(WARM_UP_ROWS, spe.shape[0])), prior)  # compiles, untimed
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
    first = 0

    def compare(answer: sparse.csr_array) -> None:
        nonlocal first
        last = first + answer.shape[0]
        saved = apply_thresholds(some_rows(spe["test"], first, last), point.thresholds)
        if answer.nnz != saved.nnz or (answer.indices != saved.indices).any():
            raise XmlcError(
                f"the model predicts {answer.nnz} labels with these thresholds for the test instances {first} .. "
                f"{last - 1}, its saved estimates {saved.nnz}; estimates and model do not belong together: make the "
                "estimates again"
            )
        release(spe["test"])
        first = last

    ms = estimate_timed(model, prepared, "test", point.thresholds, compare)
    validation = {}
    if "val" in spe:
        counts = agreement_above(prepared.part("val")[1], as_estimates(spe["val"]), point.thresholds)
        validation = measure_scores(counts)
    # Made once for all replicates.
    sets = [*sets_above(prepared.part("test")[1], as_estimates(spe["test"]), point.thresholds)]
    counts = agreement_of_blocks(sets)
    test = measure_scores(counts) | scores_by_frequency(counts, groups_by_frequency(prepared.part("train")[1]))
    resampled = resampled_sets(spe["test"].shape[0], partial(agreement_of_blocks, sets), test)
    costs = ThresholdCosts(
        **asdict(training.costs),
        tune_seconds=tune_seconds,
        test_ms_per_instance=ms,
        test_inner_products_per_instance=mean_of(model.inner_products_),
        threads=threads,
    )
    ThresholdRecord(
        **with_method(training, METHODS[method].sweep if method in METHODS else None),
        tuning=training.tuning,
        method=method,
        grid=grid,
        best=Chosen(c=point.c, a=point.a, b=point.b, validation=validation, test=test),
        resampled=resampled,
        costs=costs,
        **with_passport(step_costs("evaluate", threads, *training.run_names, method)),
    ).write(out / f"{method}.json")


def evaluate_calibration(
    prepared: Prepared, training: TrainingRecord, spe: Mapping[str, sparse.csr_array], threads: int, out: Path
) -> None:
    """Calibrate estimates on the validation set, and write how far they were and are from shares of true labels.

    Both are of the labels that the estimates rank first: by calibrated ones, which are steps, ties would decide, and
    the two errors would be of other labels.

    Parameters
    ----------
    prepared : Prepared
    training : TrainingRecord
        Of the model.
    spe : mapping of str to csr_array of float32, shape (n, m)
        Estimates of the parts ``val`` and ``test``.
    threads : int
    out : Path
        The record to write.
    """
    (_, Y_val), (_, Y) = (prepared.part(part) for part in ("val", "test"))
    calibration = IsotonicCalibration().fit(spe["val"], Y_val)
    labels, before = top_k_of(spe["test"], max(K))
    rows, ranks = np.nonzero(labels >= 0)
    best = sparse.csr_array((before[rows, ranks], (rows, labels[rows, ranks])), shape=Y.shape)
    after = np.zeros_like(before)
    after[rows, ranks] = calibration.transform(best)[rows, labels[rows, ranks]]
    precision = {name: value for name, value in precision_and_ndcg(Y, labels).items() if name in PRECISION}
    CalibrationRecord(
        **training.head_fields(),
        tuning=training.tuning,
        costs=training.costs,
        metrics=precision | calibration_scores(Y, labels, before),
        isotonic=calibration_scores(Y, labels, after),
        **with_passport(step_costs("calibrate", threads, *training.run_names)),
    ).write(out)


@click.command(
    help="Tune thresholds by each METHOD on estimates of the validation set, and evaluate them on the test set. "
    "Without --estimates each METHOD is one that needs no validation set, and takes the model's own estimates."
)
@data_option
@model_option
@training_option
@click.option("--estimates", type=FOLDER, default=None, help="Folder written by `xmlc estimate`.")
@click.option("--floor", type=float, default=0.0, help="Without --estimates: smaller predictions are left out.")
@extension_option
@click.argument("methods", nargs=-1)
@threads_option
@click.option("--thresholds", type=FOLDER, default=None, help="Folder for <method>.npy; it is replaced.")
@click.option("--calibration", type=FILE, default=None,
              help="With --estimates: JSON record to write, of their calibration.")  # fmt: skip
@out_option("Folder for <method>.json, one record each.")
def command(
    data: Path,
    model_folder: Path,
    training: Path,
    estimates: Path | None,
    floor: float,
    methods: tuple[str, ...],
    threads: int,
    thresholds: Path | None,
    calibration: Path | None,
    out: Path,
) -> None:
    """Tune and evaluate one method after the other."""
    if thresholds:
        check_replaceable(thresholds)
    record = TrainingRecord.read(training)
    prepared = Prepared(data, record.seed)
    model = load_estimator(record.estimator, model_folder, threads)
    if calibration and estimates is None:
        raise click.UsageError("--calibration is of saved estimates: give --estimates")
    if estimates is None:
        with atomic_folder(out) as folder:
            evaluate_unlabelled(prepared, model, record, methods, floor, threads, folder)
        return
    spe = {part: lent(load_csr(estimates, part, made_by="estimate")) for part in ("val", "test")}
    floor, found = Estimates.read(estimates / Estimates.FILE).floor, {}
    with atomic_folder(out) as folder:
        for method in methods:
            try:
                found[method] = tune_and_evaluate(prepared, model, record, spe, floor, method, threads, folder)
            except XmlcError as error:
                raise XmlcError(f"threshold method {method}: {error}") from error
            except Exception as error:  # a method of the user's own may raise anything
                let_through(error)
                raise XmlcError(f"threshold method {method}: {type(error).__name__}: {error}") from error
    if calibration:
        evaluate_calibration(prepared, record, spe, threads, calibration)
    if thresholds:
        with atomic_folder(thresholds) as folder:
            for method, tuned in found.items():
                np.save(folder / f"{method}.npy", tuned)
