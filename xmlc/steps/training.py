"""Training of a model, and its time without compilation."""

from __future__ import annotations

from scipy import sparse

from xmlc.core.passport import cpu_seconds, peak_bytes, timed
from xmlc.models.abilities import looks_up
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.warm_up import warm_up
from xmlc.records.training import TrainingCosts


def fit_timed(model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array) -> tuple[float, float]:
    """Compile by a few rows, then fit.

    Returns
    -------
    seconds, cpu_seconds : float
        Wall seconds, and processor seconds on all threads.
    """
    warm_up(model, X, Y)
    before = cpu_seconds()
    _, seconds = timed(lambda: model.fit(X, Y))
    return seconds, cpu_seconds() - before


def training_costs(
    model: SparseProbabilityEstimator, seconds: float, cpu_seconds: float, threads: int, model_bytes: int
) -> TrainingCosts:
    """Return the costs of training until now; of one that looks estimates up, memory and disk alone."""
    known = not looks_up(model)
    return TrainingCosts(
        train_seconds=seconds if known else None,
        train_cpu_seconds=cpu_seconds if known else None,
        train_threads=threads if known else None,
        train_peak_bytes=peak_bytes(),
        model_bytes=model_bytes,
    )
