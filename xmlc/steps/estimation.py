"""Predictions of one part of a dataset, timed without compilation, and what a model tells of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from scipy import sparse

from xmlc.core.passport import WARM_UP_ROWS, timed
from xmlc.data.prepared import Prepared
from xmlc.models.abilities import looks_up
from xmlc.models.base import SparseProbabilityEstimator

T = TypeVar("T")


def instances_for(model: SparseProbabilityEstimator, prepared: Prepared, part: str) -> sparse.csr_array:
    """Return the instances of one part; a model that looks estimates up looks up theirs."""
    if looks_up(model):
        model.look_up(prepared, part)
    return prepared.part(part)[0]


def predict_timed(
    model: SparseProbabilityEstimator, X: sparse.csr_array, predict: Callable[[sparse.csr_array], T]
) -> tuple[T, float | None]:
    """Call ``predict`` on a few rows, so that compilation is in no measured time, then on all of them.

    Returns
    -------
    result
    ms_per_instance : float or None
        Wall milliseconds per instance; None for one that looks estimates up.
    """
    if looks_up(model):
        return predict(X), None
    predict(X[:WARM_UP_ROWS])
    result, seconds = timed(lambda: predict(X))
    return result, 1e3 * seconds / max(X.shape[0], 1)


def share_certified(model: SparseProbabilityEstimator) -> float | None:
    """Return for which share of the instances a beam proved the last ranking; None where no beam searched."""
    certified = model.certified_
    return None if certified is None or certified.size == 0 else float(certified.mean())


def mean_inner_products(model: SparseProbabilityEstimator) -> float | None:
    """Return the inner products per instance of the last prediction; None where a program reports none."""
    counts = model.inner_products_
    return None if counts is None or counts.size == 0 else float(counts.mean())
