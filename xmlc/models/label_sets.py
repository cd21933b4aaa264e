"""Compute the default label sets of estimators, which need neither thresholds nor labelled instances."""

from __future__ import annotations

from scipy import sparse

from xmlc.inference._independent import meuf_rows
from xmlc.inference.distributions import predict_from_marginals
from xmlc.kernels.csr import Matrix
from xmlc.models.base import SparseProbabilityEstimator

MIN_PROBABILITY = 1e-4  # Labels with estimates of at most 1e-4 are in no label set.
ROWS = 4096  # This is the number of instances whose estimates are in memory at the same time.


def estimates_of_sets(model: SparseProbabilityEstimator, X: Matrix) -> sparse.csr_array:
    """Find each instance's label set with the largest expected F-measure, and return the estimates of its labels.

    The sets are equal to the result of `xmlc.inference.meuf`. Unlike `meuf`, this function does not warn about the sum
    of all estimates. The set of an instance does not depend on other instances. If each training instance has a label,
    empty label sets are not considered. Empty sets would be too frequent, because the product of (1 - p) over the
    labels overestimates the probability that an instance has no label.

    Parameters
    ----------
    model : SparseProbabilityEstimator
        A fitted model.
    X : sparse or dense array, shape (n, d)
        Instances.

    Returns
    -------
    csr_array of float32, shape (n, m)
        Estimates of the labels in the sets.
    """
    asked, found = model._for_requests(), list[sparse.csr_array]()

    def keep_sets(spe: sparse.csr_array) -> None:
        sets, *_ = predict_from_marginals(meuf_rows, spe, getattr(model, "n_jobs", None), not model.all_labelled_)
        found.append(spe * sets)

    asked.estimate_blocks(model._instances(X), MIN_PROBABILITY, ROWS, keep_sets)
    model.inner_products_ = asked.inner_products_
    return sparse.csr_array(sparse.vstack(found, format="csr"))
