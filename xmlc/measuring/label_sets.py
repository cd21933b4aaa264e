"""Label sets inferred for each instance: compiled beforehand, timed, stopped by a clock, scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from xmlc.estimates import Samples
from xmlc.inference.distributions import floor_loss
from xmlc.inference.methods import infer_blocks, method_named, take_instances
from xmlc.inference.sizes import fit_size_weights
from xmlc.metrics.classification import classification_metrics
from xmlc.passport import WARM_UP_ROWS, peak_bytes, timed
from xmlc.records.inference import InferringCosts, SizeWeights


@dataclass(frozen=True)
class Given:
    """What label sets are inferred from, and what it took to get it.

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
        """The marginals, where that is what is given."""
        return None if isinstance(self.distribution, Samples) else self.distribution


@dataclass(frozen=True)
class Inferred:
    """How good the label sets of one method are, and what they took.

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


def _costs(given: Given, seconds: float | None, n: int, threads: int) -> InferringCosts:
    """Add the time of inferring to that of drawing or estimating; an oracle has neither of the two."""
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
