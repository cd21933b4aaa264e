"""Predictions timed without compilation, and sparse probability estimates of one part of a dataset with their costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy import sparse

from xmlc.core.passport import WARM_UP_ROWS, timed
from xmlc.data.prepared import Prepared
from xmlc.kernels.csr import ROUNDING, check_probabilities
from xmlc.models.abilities import looks_up
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.records.thresholds import PartEstimates


@dataclass(frozen=True)
class Estimated:
    """Estimates above a floor.

    Attributes
    ----------
    spe : csr_array of float32, shape (n, m)
    inner_products : ndarray of int64, shape (n,), or None
        Of each instance; None where a model does not tell.
    about : PartEstimates
    """

    spe: sparse.csr_array
    inner_products: np.ndarray | None
    about: PartEstimates


def estimate_part(model: SparseProbabilityEstimator, prepared: Prepared, part: str, floor: float) -> Estimated:
    """Estimate the probabilities of one part, those greater than ``floor``."""
    X = instances_for(model, prepared, part)
    spe, ms_per_instance = predict_timed(model, X, lambda rows: model.predict_proba(rows, floor))
    check_probabilities(spe.data, "what the model estimates", 1 + ROUNDING)
    n, inner_products = max(X.shape[0], 1), model.inner_products_
    about = PartEstimates(
        instances=X.shape[0],
        estimates_per_instance=spe.nnz / n,
        inner_products_per_instance=None if inner_products is None else float(inner_products.sum() / n),
        ms_per_instance=ms_per_instance,
    )
    return Estimated(spe, inner_products, about)


T = TypeVar("T")


def instances_for(model: SparseProbabilityEstimator, prepared: Prepared, part: str) -> sparse.csr_array:
    """Return the instances of one part, and give an oracle the posteriors that belong to them."""
    if looks_up(model):
        model.use_posteriors(prepared.posteriors(part))
    return prepared.part(part)[0]


def predict_timed(
    model: SparseProbabilityEstimator, X: sparse.csr_array, predict: Callable[[sparse.csr_array], T]
) -> tuple[T, float | None]:
    """Call ``predict`` on a few rows, so that compilation is in no measured time, then on all of them.

    Returns
    -------
    result
    ms_per_instance : float or None
        Wall milliseconds per instance; None for an oracle.
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
