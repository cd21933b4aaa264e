"""`xmlc thresholds`: thresholds tuned on the validation set and evaluated on the test set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from math import fsum
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np
from scipy import sparse

from xmlc.cli.options import FOLDER, out_option
from xmlc.core.errors import XmlcError, let_through
from xmlc.core.files import atomic_folder
from xmlc.data.matrices import load_csr
from xmlc.kernels.csr import as_estimates, release, released, some_rows, top_k_of
from xmlc.metrics.classification import (
    agreement_of_blocks,
    groups_by_frequency,
    measure_scores,
    scores_by_frequency,
)
from xmlc.metrics.ranking import K, calibration_scores, precision_and_ndcg
from xmlc.metrics.resampling import resampled_sets
from xmlc.models.warm_up import WARM_UP_ROWS
from xmlc.suite.options import extension_option, file_option
from xmlc.suite.provenance.environment import timed
from xmlc.suite.results.records.calibration import PRECISION, CalibrationRecord
from xmlc.suite.results.records.thresholds import (
    Chosen,
    EstimatesRecord,
    GridScores,
    ThresholdCosts,
    ThresholdRecord,
)
from xmlc.suite.steps.run import (
    TrainedStep,
    estimate_timed,
    mean_of,
    on_trained_model,
    write_estimates,
)
from xmlc.thresholds.bounds import priors
from xmlc.thresholds.calibration import IsotonicCalibration
from xmlc.thresholds.methods import agreement_above, apply_thresholds, sets_above
from xmlc.thresholds.sweeps import METHODS, Tuned, fit_unlabelled, scores_of, tune

# Estimates by part of the dataset, ``val`` or ``test``
Estimated = Mapping[str, sparse.csr_array]
Scores = dict[str, float]


def tune_timed(
    step: TrainedStep, spe: Estimated, min_probability: float, method: str
) -> tuple[Tuned, float]:
    """Tune thresholds by a method of `xmlc.thresholds.sweeps.METHODS`, and return them with the
    time.

    The method tries the points of a grid on ``spe``, the estimates of ``val`` and ``test`` above
    ``min_probability``, and selects the best one in validation. Each point is also scored on the
    test set, which the wall seconds exclude like the compilation.
    """
    Y_val = step.data.part("val")[1]
    Y_test = step.data.part("test")[1]
    prior = priors(step.data.part("fit")[1])
    spe_test = as_estimates(spe["test"])
    test_seconds = [0.0]

    def score_test(thresholds: np.ndarray) -> Scores:
        scores, seconds = timed(
            lambda: measure_scores(agreement_above(Y_test, spe_test, thresholds), scores_of(method))
        )
        test_seconds.append(seconds)
        return scores

    few = min(WARM_UP_ROWS, Y_val.shape[0])
    tune_on = partial(tune, method, priors=prior, min_probability=min_probability)
    # Compiles the kernels, untimed.
    tune_on(some_rows(spe["val"], 0, few), Y_val[:few])
    tuned, seconds = timed(
        partial(tune_on, spe["val"], Y_val, score_test=score_test, unlabelled=spe_test)
    )
    return tuned, seconds - fsum(test_seconds)


def predict_test(step: TrainedStep, spe: sparse.csr_array, thresholds: np.ndarray) -> float | None:
    """Predict label sets for the test set, and return the milliseconds per instance.

    The model predicts them from the features with one threshold per label. They must equal the
    label sets of the saved estimates ``spe`` of shape (n, m), an untimed comparison.
    """

    def compare(first: int, answer: sparse.csr_array) -> None:
        last = first + answer.shape[0]
        saved = apply_thresholds(some_rows(spe, first, last), thresholds)
        if answer.nnz != saved.nnz or (answer.indices != saved.indices).any():
            found = (
                f"found {saved.nnz} labels above the thresholds, expected {answer.nnz} from --model"
            )
            raise XmlcError(
                f"--estimates: {found}, for test instances {first} to {last - 1}. The estimates "
                "may be from another model. Run `xmlc estimate` again"
            )
        release(spe)

    return estimate_timed(step, "test", thresholds, compare)


def evaluate(
    step: TrainedStep, spe: Estimated, method: str, tuned: Tuned, tune_seconds: float, out: Path
) -> None:
    """Predict label sets for the test set, score them, and write ``<method>.json``.

    Without estimates for the validation set, the record has no validation scores.
    """
    data = step.data
    grid = tuple(GridScores(**point._asdict()) for point in tuned.grid)
    parameters = dict.fromkeys(("c", "a", "b"))
    if grid:
        parameters = {name: getattr(grid[tuned.best], name) for name in parameters}
    ms = predict_test(step, spe["test"], tuned.thresholds)
    validation: Scores = {}
    if "val" in spe:
        validation = measure_scores(
            agreement_above(data.part("val")[1], as_estimates(spe["val"]), tuned.thresholds)
        )
    # Computed once, because all bootstrap replicates have the same label sets
    sets = [*sets_above(data.part("test")[1], as_estimates(spe["test"]), tuned.thresholds)]
    counts = agreement_of_blocks(sets)
    test = measure_scores(counts) | scores_by_frequency(
        counts, groups_by_frequency(data.part("train")[1])
    )
    costs = ThresholdCosts(
        **asdict(step.about.costs),
        tune_seconds=tune_seconds,
        test_ms_per_instance=ms,
        test_inner_products_per_instance=mean_of(step.model.inner_products_),
        threads=step.threads,
    )
    step.write(
        ThresholdRecord,
        out / f"{method}.json",
        code=METHODS[method].sweep if method in METHODS else None,
        method=method,
        grid=grid,
        best=Chosen(**parameters, validation=validation, test=test),
        resampled=resampled_sets(spe["test"].shape[0], partial(agreement_of_blocks, sets), test),
        costs=costs,
    )


def evaluate_unlabelled(
    step: TrainedStep, methods: Iterable[str], min_probability: float, out: Path
) -> None:
    """Evaluate methods that need no validation set, for a model of the whole training set.

    They are in `xmlc.metrics.measures.UNLABELLED_METHODS`, and each gets a file ``<method>.json``
    in ``out``. Only test estimates above ``min_probability`` are computed.
    """
    prior = priors(step.data.part("train")[1])
    with TemporaryDirectory(dir=out) as place:
        spe, _ = write_estimates(step, "test", min_probability, Path(place))
        for method in methods:
            # Compiles the kernels, untimed.
            fit_unlabelled(method, some_rows(spe, 0, min(WARM_UP_ROWS, spe.shape[0])), prior)
            fitted, seconds = timed(partial(fit_unlabelled, method, spe, prior))
            found = Tuned([], 0, np.maximum(fitted.thresholds_, np.float32(min_probability)))
            evaluate(step, {"test": spe}, method, found, seconds, out)


def evaluate_calibration(step: TrainedStep, spe: Estimated, out: Path) -> None:
    """Calibrate estimates on the validation set, and record the calibration errors on the test set.

    A calibration error is the distance between estimates and observed frequencies of true labels.
    Both errors, before and after, are measured on the labels that the uncalibrated estimates rank
    first, because calibrated ones often tie: the calibration is a step function.
    """
    Y = step.data.part("test")[1]
    calibration = IsotonicCalibration().fit(spe["val"], step.data.part("val")[1])
    labels, before = top_k_of(spe["test"], max(K))
    rows, ranks = np.nonzero(labels >= 0)
    best = sparse.csr_array((before[rows, ranks], (rows, labels[rows, ranks])), shape=Y.shape)
    after = np.zeros_like(before)
    after[rows, ranks] = calibration.transform(best)[rows, labels[rows, ranks]]
    precision = {
        name: value for name, value in precision_and_ndcg(Y, labels).items() if name in PRECISION
    }
    replace(step, name="calibrate").write(
        CalibrationRecord,
        out,
        costs=step.about.costs,
        metrics=precision | calibration_scores(Y, labels, before),
        isotonic=calibration_scores(Y, labels, after),
    )


@click.command()
@on_trained_model("evaluate")
@click.option("--estimates", type=FOLDER, default=None, help="Folder written by `xmlc estimate`.")
@click.option(
    "--min-probability",
    type=float,
    default=0.0,
    help="Without --estimates, ignore estimates up to this value.",
)
@extension_option
@click.argument("methods", nargs=-1)
@out_option(
    "Folder to write, with the thresholds <method>.npy of each METHOD.",
    required=False,
    name="--thresholds",
)
@file_option("--calibration", "JSON record to write, with the calibration errors of --estimates.")
@out_option("Folder to write, with one record <method>.json for each METHOD.")
def command(
    step: TrainedStep,
    estimates: Path | None,
    min_probability: float,
    methods: tuple[str, ...],
    thresholds: Path | None,
    calibration: Path | None,
    out: Path,
) -> None:
    """Tune thresholds by each METHOD, and evaluate the label sets of these thresholds.

    Thresholds are tuned on the validation set, and evaluated on the test set. If you do not use
    --estimates, each METHOD must be one that needs no validation set.
    """
    if estimates is None:
        if calibration:
            raise click.UsageError("--calibration: found no estimates. Add --estimates")
        with atomic_folder(out) as folder:
            evaluate_unlabelled(step, methods, min_probability, folder)
        return
    spe = {
        part: released(load_csr(estimates, part, made_by="estimate")) for part in ("val", "test")
    }
    min_probability = EstimatesRecord.read(estimates / EstimatesRecord.FILE).min_probability
    found = {}
    with atomic_folder(out) as folder:
        for method in methods:
            try:
                tuned, seconds = tune_timed(step, spe, min_probability, method)
                evaluate(step, spe, method, tuned, seconds, folder)
            except Exception as error:  # a user's threshold method may raise any error
                let_through(error)
                problem = str(error)
                if not isinstance(error, XmlcError):
                    problem = f"{type(error).__name__}: {problem}"
                raise XmlcError(f"threshold method {method}: {problem}") from error
            found[method] = tuned.thresholds
    if calibration:
        evaluate_calibration(step, spe, calibration)
    if thresholds:
        with atomic_folder(thresholds) as folder:
            for method, values in found.items():
                np.save(folder / f"{method}.npy", values)
