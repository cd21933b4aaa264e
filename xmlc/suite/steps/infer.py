"""`xmlc infer`: label sets for each test instance by several methods in one job."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
from scipy import sparse

from xmlc.cli.options import FOLDER, out_option, threads_option
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder
from xmlc.core.memory import peak_bytes
from xmlc.data.matrices import load_csr
from xmlc.inference.distributions import missed_below, truncation_loss
from xmlc.inference.methods import METHODS, infer_blocks, method_named, take_instances
from xmlc.inference.samples import Samples
from xmlc.kernels.csr import released
from xmlc.kernels.elementwise import mean
from xmlc.metrics.classification import (
    agreement,
    groups_by_frequency,
    measure_scores,
    scores_by_frequency,
)
from xmlc.metrics.resampling import resampled_sets
from xmlc.models.abilities import DrawsSamples
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.warm_up import WARM_UP_ROWS
from xmlc.suite.options import data_option, extension_option, training_option
from xmlc.suite.provenance.environment import timed
from xmlc.suite.results.records.inference import InferenceCosts, InferenceRecord, TruncatedEstimates
from xmlc.suite.results.records.thresholds import EstimatesRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.run import TrainedStep, instances_for, predict_timed


@dataclass(frozen=True)
class Basis:
    """The input that all inference methods of a job share.

    The distribution consists of samples of label vectors if the model can draw them, and otherwise
    of the marginals p(Y_i = 1). Milliseconds per instance are for drawing or estimating, which an
    oracle does not need.
    """

    distribution: Samples | sparse.csr_array
    draw_ms: float | None = None
    estimate_ms: float | None = None
    truncated: TruncatedEstimates | None = None


def basis_of_model(prepared: Prepared, model: SparseProbabilityEstimator, n_samples: int) -> Basis:
    """Return ``n_samples`` label vectors per test instance from the model, or its estimated
    marginals if it cannot draw any.
    """
    if prepared.left_out("test") is not None:
        raise XmlcError(
            "--from: found a model, expected estimates, because measures ignore some pairs of "
            f"{prepared.folder}. "
            'Run `xmlc estimate` first, or use `split: "80"` in a suite'
        )
    X = instances_for(model, prepared, "test")
    if isinstance(model, DrawsSamples):
        drawn, ms = predict_timed(model, X, lambda rows: model.sample(rows, n_samples))
        return Basis(Samples(drawn, n_samples), draw_ms=ms)
    spe, ms = predict_timed(model, X, model.predict_proba)
    return Basis(spe, estimate_ms=ms)


def basis_of_estimates(prepared: Prepared, folder: Path) -> Basis:
    """Read estimates for the test set from a folder that `xmlc estimate` wrote."""
    about = EstimatesRecord.read(folder / EstimatesRecord.FILE)
    Y = prepared.part("test")[1]
    spe = released(load_csr(folder, "test", made_by="estimate"))
    if spe.shape[0] != Y.shape[0]:
        raise XmlcError(
            f"{folder}: found estimates of {spe.shape[0]} instances, expected {Y.shape[0]} as in "
            "the test set. Delete this folder and run `xmlc estimate` again"
        )
    truncated = None
    if about.min_probability > 0:
        truncated = TruncatedEstimates(
            min_probability=about.min_probability,
            estimates_per_instance=spe.nnz / max(Y.shape[0], 1),
            missed_per_instance=mean(missed_below(spe, Y)),
        )
    return Basis(spe, estimate_ms=about.parts["test"].ms_per_instance, truncated=truncated)


def infer_and_score(
    step: TrainedStep, basis: Basis, name: str, time_limit: float | None, out: Path
) -> None:
    """Infer label sets for the test set by one method, score them, and write the record.

    A first, untimed call on a few instances compiles the kernels. If the method reaches its time
    limit, the record has neither scores nor a time.
    """
    method = method_named(name)
    distribution = basis.distribution
    infer_blocks(name, take_instances(distribution, slice(0, WARM_UP_ROWS)), step.threads)
    inferred, seconds = timed(lambda: infer_blocks(name, distribution, step.threads, time_limit))
    scores: dict[str, Any] = dict.fromkeys(("metrics", "expected_f", "truncation_loss"))
    truncated = basis.truncated
    ms = None
    total = None
    if inferred is not None:
        Y_hat, expected_f = inferred
        Y = step.data.part("test")[1]
        n = Y.shape[0]
        counts = agreement(Y, Y_hat)
        metrics = measure_scores(counts) | scores_by_frequency(
            counts, groups_by_frequency(step.data.part("train")[1])
        )
        scores |= {"metrics": metrics, "expected_f": mean(expected_f)}
        scores["resampled"] = resampled_sets(n, partial(agreement, Y, Y_hat), metrics)
        if (
            truncated
            and truncated.min_probability
            and method.is_exact
            and not isinstance(distribution, Samples)
        ):
            scores["truncation_loss"] = truncation_loss(
                distribution, truncated.min_probability, Y, Y_hat, expected_f
            )
        ms = 1e3 * seconds / max(n, 1)
        before = basis.estimate_ms if basis.draw_ms is None else basis.draw_ms
        if before is not None:  # an oracle has its marginals at once
            total = 1e-3 * n * (before + ms)
    step.write(
        InferenceRecord,
        out,
        code=method.infer,
        method=name,
        samples=distribution.n_samples if isinstance(distribution, Samples) else None,
        time_limit=time_limit,
        estimates=truncated,
        finished=inferred is not None,
        costs=InferenceCosts(
            **asdict(step.about.costs),
            draw_ms_per_instance=basis.draw_ms,
            estimate_ms_per_instance=basis.estimate_ms,
            infer_ms_per_instance=ms,
            inference_seconds=total,
            threads=step.threads,
            infer_peak_bytes=peak_bytes(),
        ),
        **scores,
    )


@click.command(help="Infer a label set for each test instance by one or several methods.")
@data_option
@click.option("--from", "basis", type=FOLDER, required=True,
              help="Folder written by `xmlc train` or `xmlc estimate`.")  # fmt: skip
@training_option
@click.option(
    "--method",
    "methods",
    multiple=True,
    required=True,
    help=f"One of {', '.join(METHODS)}; repeatable.",
)
@extension_option
@click.option("--samples", default=200, show_default=True, type=click.IntRange(min=1),
              help="Number of label vectors to draw for each instance.")  # fmt: skip
@click.option(
    "--time-limit",
    type=float,
    default=None,
    help="Stop a method after this many seconds of inference.",
)
@threads_option
@out_option("Folder to write, with one record <method>.json for each method.")
def command(
    data: Path,
    basis: Path,
    training: Path,
    methods: tuple[str, ...],
    samples: int,
    time_limit: float | None,
    threads: int,
    out: Path,
) -> None:
    """Draw samples or estimate marginals once, and pass the result to all methods."""
    for name in methods:
        method_named(name)  # fails for an unknown name, before any inference
    step = TrainedStep.read("infer", data, training, threads, basis)
    if (basis / EstimatesRecord.FILE).is_file():
        given = basis_of_estimates(step.data, basis)
    else:
        given = basis_of_model(step.data, step.model, samples)
    with atomic_folder(out) as folder:
        for name in methods:
            infer_and_score(step, given, name, time_limit, folder / f"{name}.json")
