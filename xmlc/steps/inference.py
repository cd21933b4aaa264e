"""Label sets inferred from samples or marginals of a model, or from saved estimates; timed and scored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.passport import WARM_UP_ROWS, peak_bytes, step_costs, timed, with_passport
from xmlc.data.matrices import load_csr
from xmlc.data.prepared import Prepared
from xmlc.inference.distributions import floor_loss, labels_below_floor
from xmlc.inference.methods import infer_blocks, method_named, take_instances
from xmlc.inference.samples import Samples
from xmlc.inference.sizes import fit_size_weights
from xmlc.metrics.classification import classification_metrics
from xmlc.models.abilities import DrawsSamples
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.records.inference import FlooredEstimates, InferenceCosts, InferenceRecord, InferringCosts, SizeWeights
from xmlc.records.thresholds import Estimates
from xmlc.records.training import TrainingRecord
from xmlc.steps.estimation import instances_for, predict_timed


@dataclass(frozen=True)
class Basis:
    """The common input of all inference methods of one job.

    Attributes
    ----------
    given : Given
    Y : boolean csr_array, shape (n, m)
        The truth.
    n_samples : int or None
        Label sets drawn for each instance; None where marginals are given.
    floored : FlooredEstimates or None
        What a floor left of marginals.
    sizes : SizeWeights or None
        Where a method needs them.
    """

    given: Given
    Y: sparse.csr_array
    n_samples: int | None = None
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
    X, Y = instances_for(model, prepared, "test"), prepared.part("test")[1]
    if isinstance(model, DrawsSamples):
        drawn, ms = predict_timed(model, X, lambda rows: model.sample(rows, n_samples))
        return Basis(Given(Samples(drawn, n_samples), draw_ms_per_instance=ms), Y, n_samples)
    spe, ms = predict_timed(model, X, model.predict_proba)
    return Basis(Given(spe, estimate_ms_per_instance=ms), Y)


def basis_of_estimates(prepared: Prepared, methods: Iterable[str], folder: Path) -> Basis:
    """Read the test set's estimates of an `xmlc estimate` folder; learn sizes where a method needs them.

    Raises
    ------
    XmlcError
        Estimates and test set do not belong together.
    """
    about, Y = Estimates.read(folder / Estimates.FILE), prepared.part("test")[1]
    spe = load_csr(folder, "test", mmap=False, made_by="estimate")
    if spe.shape[0] != Y.shape[0]:
        raise XmlcError(
            f"estimates of {spe.shape[0]} instances, a test set of {Y.shape[0]}; they do not belong together: delete "
            f"{folder} and make it again"
        )
    given = Given(spe, estimate_ms_per_instance=about.parts["test"].ms_per_instance, floor=about.floor)
    floored, sizes = describe_estimates(spe, about.floor, Y) if about.floor > 0 else None, None
    if needs_sizes(methods):
        sizes = learn_sizes(load_csr(folder, "val", mmap=False, made_by="estimate"), prepared.part("val")[1])
    return Basis(given, Y, None, floored, sizes)


def describe_estimates(marginals: sparse.csr_array, floor: float, Y: sparse.csr_array) -> FlooredEstimates:
    """Count the estimates above the floor, shape (n, m), and the true labels below it."""
    return FlooredEstimates(
        floor=floor,
        estimates_per_instance=marginals.nnz / max(Y.shape[0], 1),
        missed_per_instance=float(labels_below_floor(marginals, Y).mean()),
    )


@dataclass(frozen=True)
class Given:
    """Distributions or marginals to infer label sets from, with their costs.

    Attributes
    ----------
    distribution : Samples, or csr_array of shape (n, m)
        Label vectors of a model that can be drawn from; of any other the marginals p(Y_i = 1).
    draw_ms_per_instance, estimate_ms_per_instance : float or None
        Milliseconds; one of the two is None, and both are for an oracle.
    floor : float
        Marginals up to this count as 0.
    """

    distribution: Samples | sparse.csr_array
    draw_ms_per_instance: float | None = None
    estimate_ms_per_instance: float | None = None
    floor: float = 0.0

    @property
    def marginals(self) -> sparse.csr_array | None:
        """The marginals, where they are given."""
        return None if isinstance(self.distribution, Samples) else self.distribution


@dataclass(frozen=True)
class Inferred:
    """Quality and costs of the label sets of one method.

    Attributes
    ----------
    finished : bool
        False where the clock ran out; then there are no other numbers.
    metrics : dict of str to float, or None
        As from `xmlc.metrics.classification_metrics`.
    expected_f : float or None
        Mean of what the method takes for the expected F-measures.
    floor_loss : float or None
        Of an exact maximiser from estimates with a floor; see `xmlc.inference.distributions.floor_loss`.
    costs : InferringCosts
    """

    finished: bool
    metrics: dict[str, float] | None
    expected_f: float | None
    floor_loss: float | None
    costs: InferringCosts


def learn_sizes(estimates: sparse.csr_array, Y: sparse.csr_array) -> SizeWeights:
    """Learn how many labels instances have from estimates and truth of the validation set, both of shape (n, m)."""
    fit_size_weights(estimates[:WARM_UP_ROWS], Y[:WARM_UP_ROWS])
    weights, seconds = timed(lambda: fit_size_weights(estimates, Y))
    return SizeWeights(weights=tuple(weights.tolist()), learn_seconds=seconds)


def infer_and_score(
    method: str,
    given: Given,
    Y: sparse.csr_array,
    time_limit: float | None = None,
    threads: int = 1,
    size_weights: np.ndarray | None = None,
) -> Inferred:
    """Run one method, compiled beforehand on a few rows, within its time, and score its label sets.

    Parameters
    ----------
    method : str
        A name in `xmlc.inference.METHODS`.
    given : Given
    Y : boolean csr_array, shape (n, m)
        The truth.
    time_limit : float or None
        Seconds of inferring after which the method is stopped.
    threads : int
    size_weights : ndarray of float64, shape (S,), or None
        For a method that takes sizes.

    Raises
    ------
    XmlcError
        There is no such method, or size weights are missing.
    """
    few = take_instances(given.distribution, slice(0, WARM_UP_ROWS))
    infer_blocks(method, few, threads, size_weights=size_weights)
    inferred, seconds = timed(lambda: infer_blocks(method, given.distribution, threads, time_limit, size_weights))
    costs = _costs(given, None if inferred is None else seconds, Y.shape[0], threads)
    if inferred is None:
        return Inferred(False, None, None, None, costs)
    Y_hat, expected_f = inferred
    loss, marginals = None, given.marginals
    if marginals is not None and given.floor > 0 and method_named(method).is_exact:
        loss = floor_loss(marginals, given.floor, Y, Y_hat, expected_f)
    return Inferred(True, classification_metrics(Y, Y_hat), float(expected_f.mean()), loss, costs)


def write_inferences(
    basis: Basis, methods: Iterable[str], record: TrainingRecord, time_limit: float | None, threads: int, out: Path
) -> None:
    """Infer label sets by one method after the other, and write the record of each.

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
    for method in methods:
        found = infer_and_score(method, basis.given, basis.Y, time_limit, threads, weights)
        InferenceRecord(
            **record.head_fields(),
            tuning=record.tuning,
            method=method,
            samples=basis.n_samples,
            time_limit=time_limit,
            estimates=basis.floored,
            sizes=basis.sizes if method_named(method).takes_sizes else None,
            finished=found.finished,
            metrics=found.metrics,
            expected_f=found.expected_f,
            floor_loss=found.floor_loss,
            costs=InferenceCosts(**asdict(record.costs), **asdict(found.costs)),
            **with_passport(step_costs("infer", threads, *record.run_names, method)),
        ).write(out / f"{method}.json")


def _costs(given: Given, seconds: float | None, n: int, threads: int) -> InferringCosts:
    """Add the time of inferring to the time of drawing or estimating; an oracle has neither of the two."""
    ms = None if seconds is None else 1e3 * seconds / max(n, 1)
    before = given.estimate_ms_per_instance if given.draw_ms_per_instance is None else given.draw_ms_per_instance
    whole = None if ms is None or before is None else 1e-3 * n * (before + ms)
    return InferringCosts(
        draw_ms_per_instance=given.draw_ms_per_instance,
        estimate_ms_per_instance=given.estimate_ms_per_instance,
        infer_ms_per_instance=ms,
        inference_seconds=whole,
        threads=threads,
        infer_peak_bytes=peak_bytes(),
    )
