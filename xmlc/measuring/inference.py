"""What label sets are inferred from: samples or marginals of a model, timed, or saved estimates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scipy import sparse

from xmlc.csr import load_csr
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.estimates import Samples
from xmlc.inference.distributions import labels_below_floor
from xmlc.inference.methods import method_named, n_instances
from xmlc.measuring.label_sets import Given, learn_sizes
from xmlc.measuring.prediction import instances_for, predict_timed
from xmlc.models.base import DrawsSamples, SparseProbabilityEstimator
from xmlc.records.estimates import Estimates
from xmlc.records.inference import FlooredEstimates, SizeWeights


@dataclass(frozen=True)
class Basis:
    """What all methods of one job infer from.

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
    n_samples: int | None
    floored: FlooredEstimates | None
    sizes: SizeWeights | None


def check_sources(methods: Iterable[str], model: Path | None, estimates: Path | None) -> None:
    """Check that these methods can infer from what is given, before anything is read.

    Raises
    ------
    XmlcError
        There is no such method, or it needs estimates; or not one of ``model`` and ``estimates`` is given.
    """
    if needs_sizes(methods) and estimates is None:
        raise XmlcError("gfm-sizes learns from estimates of the validation set: give --estimates in place of --model")
    if (model is None) == (estimates is None):
        raise XmlcError("give either --model or --estimates: label sets are inferred from one of them")


def needs_sizes(methods: Iterable[str]) -> bool:
    """Return whether any of these methods needs sizes; each must be known."""
    return any([method_named(name).takes_sizes for name in methods])


def basis_of(
    prepared: Prepared,
    methods: Iterable[str],
    model: SparseProbabilityEstimator | None,
    estimates: Path | None,
    floor: float,
    n_samples: int,
) -> Basis:
    """Draw samples from a model, estimate its marginals, or read estimates; learn sizes where a method needs them.

    Parameters
    ----------
    prepared : Prepared
    methods : iterable of str
        Names in `xmlc.inference.METHODS`.
    model : SparseProbabilityEstimator or None
        Trained.
    estimates : Path or None
        In place of a model: folder written by `xmlc estimate`.
    floor : float
        Only greater marginals are estimated.
    n_samples : int
        Label sets drawn for each instance.

    Raises
    ------
    XmlcError
        Estimates and test set do not belong together.
    """
    if model is None:
        if estimates is None:
            raise TypeError("neither a model nor estimates")
        given = given_estimates(estimates)
    else:
        given = draw_or_estimate(prepared, model, floor, n_samples)
    Y, n = prepared.part("test")[1], n_instances(given.distribution)
    if n != Y.shape[0]:
        raise XmlcError(
            f"estimates of {n} instances, a test set of {Y.shape[0]}; they do not belong together: delete {estimates} "
            "and make it again"
        )
    marginals, sizes = given.marginals, None
    floored = None if marginals is None or given.floor <= 0 else describe_estimates(marginals, given.floor, Y)
    if estimates is not None and needs_sizes(methods):
        sizes = learn_sizes(load_csr(estimates, "val", mmap=False, made_by="estimate"), prepared.part("val")[1])
    return Basis(given, Y, n_samples if marginals is None else None, floored, sizes)


def describe_estimates(marginals: sparse.csr_array, floor: float, Y: sparse.csr_array) -> FlooredEstimates:
    """Count what the floor left of the estimates, shape (n, m), and the true labels that it left out."""
    return FlooredEstimates(
        floor=floor,
        estimates_per_instance=marginals.nnz / max(Y.shape[0], 1),
        missed_per_instance=float(labels_below_floor(marginals, Y).mean()),
    )


def given_estimates(folder: Path) -> Given:
    """Take the test set's part of what `xmlc estimate` wrote, and its cost."""
    meta = Estimates.read(folder)
    ms = meta.parts["test"].ms_per_instance
    return Given(
        load_csr(folder, "test", mmap=False, made_by="estimate"), estimate_ms_per_instance=ms, floor=meta.floor
    )


def draw_or_estimate(prepared: Prepared, model: SparseProbabilityEstimator, floor: float, n_samples: int) -> Given:
    """Draw label sets for the test set from a model of the joint distribution; estimate the marginals of any other.

    Parameters
    ----------
    prepared : Prepared
    model : SparseProbabilityEstimator
        Trained.
    floor : float
        Only greater marginals are estimated.
    n_samples : int
        Label sets drawn for each instance.
    """
    X = instances_for(model, prepared, "test")
    if isinstance(model, DrawsSamples):
        drawn, ms = predict_timed(model, X, lambda rows: model.sample(rows, n_samples))
        return Given(Samples(drawn, n_samples), draw_ms_per_instance=ms)
    spe, ms = predict_timed(model, X, lambda rows: model.predict_proba(rows, floor))
    return Given(spe, estimate_ms_per_instance=ms, floor=floor)
