"""Label sets inferred from samples or marginals of a model, or from saved estimates; timed and scored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.passport import WARM_UP_ROWS, peak_bytes, step_costs, timed, with_passport
from xmlc.data.matrices import load_csr
from xmlc.inference.distributions import floor_loss, labels_below_floor
from xmlc.inference.methods import infer_blocks, method_named, take_instances
from xmlc.inference.samples import Samples
from xmlc.inference.sizes import fit_size_weights
from xmlc.kernels.csr import lent, some_rows
from xmlc.kernels.elementwise import mean
from xmlc.metrics.classification import agreement, groups_by_frequency, measure_scores, scores_by_frequency
from xmlc.metrics.resampling import resampled_sets
from xmlc.models.abilities import DrawsSamples
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.suite.results.records.inference import FlooredEstimates, InferenceCosts, InferenceRecord, SizeWeights
from xmlc.suite.results.records.thresholds import Estimates
from xmlc.suite.results.records.training import TrainingRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.subject import with_method
from xmlc.suite.steps.timed import instances_for, predict_timed


@dataclass(frozen=True)
class Basis:
    """The common input of all inference methods of one job.

    Attributes
    ----------
    distribution : Samples, or csr_array of shape (n, m)
        Label vectors of a model that can be drawn from; of any other the marginals p(Y_i = 1).
    Y : boolean csr_array, shape (n, m)
        The truth.
    groups : ndarray of int, shape (m,)
        Of labels, as of `groups_by_frequency`.
    draw_ms_per_instance, estimate_ms_per_instance : float or None
        Milliseconds; one of the two is None, and both are for an oracle.
    floored : FlooredEstimates or None
        What a floor left of marginals.
    sizes : SizeWeights or None
        Where a method needs them.
    """

    distribution: Samples | sparse.csr_array
    Y: sparse.csr_array
    groups: np.ndarray
    draw_ms_per_instance: float | None = None
    estimate_ms_per_instance: float | None = None
    floored: FlooredEstimates | None = None
    sizes: SizeWeights | None = None


def needs_sizes(methods: Iterable[str]) -> bool:
    """Return whether any of these methods needs sizes; each must be known."""
    return any([method_named(name).takes_sizes for name in methods])


def basis_of_model(prepared: Prepared, model: SparseProbabilityEstimator, n_samples: int) -> Basis:
    """Draw label sets for the test set from a model of the joint distribution; estimate the marginals of any other.

    Parameters
    ----------
    prepared : Prepared
    model : SparseProbabilityEstimator
        Trained.
    n_samples : int
        Label sets drawn for each instance.
    """
    if prepared.left_out("test") is not None:
        raise XmlcError(
            f"{prepared.folder}: pairs of its test set are left out, which a model's distribution does not know; "
            'expected inference from estimates, which lack them: `xmlc estimate` and --from, in a suite `portion: "80"`'
        )
    X, Y = instances_for(model, prepared, "test"), prepared.part("test")[1]
    groups = groups_by_frequency(prepared.part("train")[1])
    if isinstance(model, DrawsSamples):
        drawn, ms = predict_timed(model, X, lambda rows: model.sample(rows, n_samples))
        return Basis(Samples(drawn, n_samples), Y, groups, draw_ms_per_instance=ms)
    spe, ms = predict_timed(model, X, model.predict_proba)
    return Basis(spe, Y, groups, estimate_ms_per_instance=ms)


def basis_of_estimates(prepared: Prepared, methods: Iterable[str], folder: Path) -> Basis:
    """Read the test set's estimates of an `xmlc estimate` folder; learn sizes where a method needs them.

    Raises
    ------
    XmlcError
        Estimates and test set do not belong together.
    """
    about, Y = Estimates.read(folder / Estimates.FILE), prepared.part("test")[1]
    spe = lent(load_csr(folder, "test", made_by="estimate"))
    if spe.shape[0] != Y.shape[0]:
        raise XmlcError(
            f"estimates of {spe.shape[0]} instances, a test set of {Y.shape[0]}; they do not belong together: delete "
            f"{folder} and make it again"
        )
    floored, sizes = describe_estimates(spe, about.floor, Y) if about.floor > 0 else None, None
    if needs_sizes(methods):
        sizes = learn_sizes(lent(load_csr(folder, "val", made_by="estimate")), prepared.part("val")[1])
    groups, ms = groups_by_frequency(prepared.part("train")[1]), about.parts["test"].ms_per_instance
    return Basis(spe, Y, groups, None, ms, floored, sizes)


def describe_estimates(marginals: sparse.csr_array, floor: float, Y: sparse.csr_array) -> FlooredEstimates:
    """Count the estimates above the floor, shape (n, m), and the true labels below it."""
    return FlooredEstimates(
        floor=floor,
        estimates_per_instance=marginals.nnz / max(Y.shape[0], 1),
        missed_per_instance=mean(labels_below_floor(marginals, Y)),
    )


def learn_sizes(estimates: sparse.csr_array, Y: sparse.csr_array) -> SizeWeights:
    """Learn how many labels instances have from estimates and truth of the validation set, both of shape (n, m)."""
    few = min(WARM_UP_ROWS, Y.shape[0])
    fit_size_weights(some_rows(estimates, 0, few), Y[:few])
    weights, seconds = timed(lambda: fit_size_weights(estimates, Y))
    return SizeWeights(weights=tuple(weights.tolist()), learn_seconds=seconds)


def write_inferences(
    basis: Basis, methods: Iterable[str], record: TrainingRecord, time_limit: float | None, threads: int, out: Path
) -> None:
    """Infer label sets by one method after the other, compiled beforehand on a few rows, and write the record of each.

    Parameters
    ----------
    basis : Basis
    methods : iterable of str
        Names in `xmlc.inference.METHODS`.
    record : TrainingRecord
        Of the model behind the basis.
    time_limit : float or None
        Seconds of inferring after which a method is stopped.
    threads : int
    out : Path
        Folder for ``<method>.json``.
    """
    weights = None if basis.sizes is None else np.array(basis.sizes.weights)
    distribution, Y, floored = basis.distribution, basis.Y, basis.floored
    few = take_instances(distribution, slice(0, WARM_UP_ROWS))
    for name in methods:
        method = method_named(name)
        infer_blocks(name, few, threads, size_weights=weights)
        inferred, seconds = timed(partial(infer_blocks, name, distribution, threads, time_limit, weights))
        costs = _costs(basis, record, None if inferred is None else seconds, threads)
        metrics, resampled, expected, loss = None, {}, None, None
        if inferred is not None:
            Y_hat, expected_f = inferred
            counts, expected = agreement(Y, Y_hat), mean(expected_f)
            metrics = measure_scores(counts) | scores_by_frequency(counts, basis.groups)
            resampled = resampled_sets(Y.shape[0], partial(agreement, Y, Y_hat), metrics)
            if floored and floored.floor and method.is_exact and not isinstance(distribution, Samples):
                loss = floor_loss(distribution, floored.floor, Y, Y_hat, expected_f)
        InferenceRecord(
            **with_method(record, method.infer),
            tuning=record.tuning,
            method=name,
            samples=distribution.n_samples if isinstance(distribution, Samples) else None,
            time_limit=time_limit,
            estimates=floored,
            sizes=basis.sizes if method.takes_sizes else None,
            finished=inferred is not None,
            metrics=metrics,
            resampled=resampled,
            expected_f=expected,
            floor_loss=loss,
            costs=costs,
            **with_passport(step_costs("infer", threads, *record.run_names, name)),
        ).write(out / f"{name}.json")


def _costs(basis: Basis, record: TrainingRecord, seconds: float | None, threads: int) -> InferenceCosts:
    """Add the time of inferring to the time of drawing or estimating; an oracle has neither of the two."""
    n = basis.Y.shape[0]
    ms = None if seconds is None else 1e3 * seconds / max(n, 1)
    before = basis.estimate_ms_per_instance if basis.draw_ms_per_instance is None else basis.draw_ms_per_instance
    whole = None if ms is None or before is None else 1e-3 * n * (before + ms)
    return InferenceCosts(
        **asdict(record.costs),
        draw_ms_per_instance=basis.draw_ms_per_instance,
        estimate_ms_per_instance=basis.estimate_ms_per_instance,
        infer_ms_per_instance=ms,
        inference_seconds=whole,
        threads=threads,
        infer_peak_bytes=peak_bytes(),
    )
