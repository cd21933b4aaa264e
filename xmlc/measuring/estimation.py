"""Sparse probability estimates of one part of a dataset: how many there are, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from xmlc.data.prepared import Prepared
from xmlc.measuring.prediction import instances_for, predict_timed
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.records.estimates import PartEstimates


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
    n, inner_products = max(X.shape[0], 1), model.inner_products_
    about = PartEstimates(
        instances=X.shape[0],
        estimates_per_instance=spe.nnz / n,
        inner_products_per_instance=None if inner_products is None else float(inner_products.sum() / n),
        ms_per_instance=ms_per_instance,
    )
    return Estimated(spe, inner_products, about)
