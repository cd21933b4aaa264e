"""Compute the default label sets of estimators, which need no thresholds from the user."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, XmlcError
from xmlc.inference.distributions import predict_from_marginals
from xmlc.inference.meuf import meuf_rows
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.csr import NO_WEIGHTS, KernelCSR, Matrix
from xmlc.kernels.domains import OneOf, check
from xmlc.kernels.rows import top_k_of_row
from xmlc.thresholds.bounds import priors
from xmlc.thresholds.label_sets import LabelSets, SetMeasure

if TYPE_CHECKING:
    from xmlc.models.base import SparseProbabilityEstimator

MEASURE = OneOf(get_args(SetMeasure))
INSTANCE_F: SetMeasure = "instance_f"
MIN_PROBABILITY = 1e-4  # Labels with estimates of at most 1e-4 are in no label set.
ROWS = 4096  # This is the number of instances whose estimates are in memory at the same time.
MOST_HELD_OUT = 2000  # more rows gain nothing for `Stacking`
FEWEST = 100  # With fewer instances, most labels have no instance that deserves them.


def estimates_of_sets(
    model: SparseProbabilityEstimator, X: Matrix, measure: SetMeasure = "instance_f"
) -> sparse.csr_array:
    """Find each instance's label set for a measure, and return the estimates of its labels.

    For "instance_f", the sets are equal to the result of `xmlc.inference.meuf`. Unlike `meuf`, this
    function does not warn about the sum of all estimates. The set of an instance does not depend on
    other instances. If each training instance has a label, empty label sets are not considered.
    Empty sets would be too frequent, because the product of (1 - p) over the labels overestimates
    the probability that an instance has no label.

    For "macro_f" and "micro_f", thresholds follow from the estimates of all instances.

    Parameters
    ----------
    model : SparseProbabilityEstimator
        A fitted model.
    X : sparse or dense array, shape (n, d)
        Instances.
    measure : {"instance_f", "macro_f", "micro_f"}
        F-measure that the sets maximise.

    Returns
    -------
    csr_array of float32, shape (n, m)
        Estimates of the labels in the sets.

    Raises
    ------
    XmlcError
        ``measure`` is unknown, or the model does not know how often each label occurs in its
        training set.

    Warns
    -----
    UserWarning
        There are fewer than 100 instances to find thresholds for "macro_f".
    """
    check("measure", measure, MEASURE)
    instances = model._instances(X)
    asked = model._for_requests()
    found = list[sparse.csr_array]()

    def keep(spe: sparse.csr_array) -> None:
        if measure == INSTANCE_F:
            sets, *_ = predict_from_marginals(
                meuf_rows, spe, getattr(model, "n_jobs", None), not model.all_labelled_
            )
            spe = spe * sets
        found.append(spe)

    asked.estimate_blocks(instances, MIN_PROBABILITY, ROWS, keep)
    model.inner_products_ = asked.inner_products_
    spe = sparse.csr_array(sparse.vstack(found, format="csr"))
    if measure == INSTANCE_F:
        return spe
    if measure == "macro_f" and spe.shape[0] < FEWEST:
        said = (
            "Predict more instances at once, or use TextClassifier(measure='macro_f') for single "
            "texts."
        )
        warnings.warn(
            f"measure='macro_f': found {spe.shape[0]} instances to find thresholds. {said}",
            stacklevel=3,
        )
    return spe * LabelSets(measure).fit(spe, prior=shares_of(model)).predict(spe)


def shares_of(model: SparseProbabilityEstimator) -> np.ndarray:
    """Return the share of the training set that carries each label, float64 (m,).

    Raises
    ------
    XmlcError
        The model does not know the shares, because an earlier version of xmlc trained it, or it has
        not learned.
    """
    if model.label_counts_ is None:
        found = "found no counts of labels, expected them with the model. Train the model again"
        raise XmlcError(f"{type(model).__name__}: {found}, or use LabelSets with a prior.")
    shares: np.ndarray = model.label_counts_ / max(model.n_counted_, 1)
    return shares


def fitted_thresholds(
    model: SparseProbabilityEstimator,
    X: sparse.csr_array,
    Y: sparse.csr_array,
    measure: SetMeasure,
    given: Any,
) -> np.ndarray:
    """Return thresholds of the labels for "macro_f" or "micro_f", so that the set of an instance
    depends on it alone.

    The thresholds follow from labelled instances that were held out, as in `LabelSets`. `Stacking`
    has held out instances in its training. For any other model, a copy learns the training set
    without a fifth of the instances.

    Parameters
    ----------
    model : SparseProbabilityEstimator
        The model, fitted to X and Y.
    X, Y : csr_array
        Training set in canonical form.
    measure : {"macro_f", "micro_f"}
    given : ndarray of float32, shape (n,), or None
        Weights of the instances, which only training takes into account.

    Returns
    -------
    ndarray of float32, shape (m,)

    Raises
    ------
    InvalidDataError
        There are fewer than five instances.
    """
    rows, spe = model._held_out or _estimates_without(model, X, Y, given)
    fitted = LabelSets(measure).fit(spe, Y[rows], prior=priors(Y))
    return np.maximum(fitted.limits(), np.float32(MIN_PROBABILITY))


def _estimates_without(
    model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array, given: Any
) -> tuple[np.ndarray, sparse.csr_array]:
    """Return the numbers of held-out instances, and their estimates by a copy that has not learned
    them.
    """
    n = X.shape[0]
    if n < 5:
        raise InvalidDataError(
            f"found {n} instances, expected at least 5 to hold out a fifth for thresholds"
        )
    order = random_permutation(n, getattr(model, "random_state", 0), Stream.STACKING)
    rows, part = np.split(order, [min(MOST_HELD_OUT, n // 5)])
    copy = model.unfitted().set_params(**model._selected())
    copy._fit_rows(X, Y, given, part)
    return rows, copy.predict_proba(X[rows], MIN_PROBABILITY)


def ranked_set_of_row(
    model: SparseProbabilityEstimator, x: KernelCSR
) -> tuple[np.ndarray, np.ndarray]:
    """Return the label set that `estimates_of_sets` finds for a single instance, best label first,
    and its estimates.

    The function avoids the overhead of batches and threads, and changes no attribute of the model.

    Parameters
    ----------
    model : SparseProbabilityEstimator
        A fitted model.
    x : KernelCSR
        The instance, checked but not scaled.

    Returns
    -------
    labels : ndarray of int32, shape (1, size of the set)
        The labels, or the label -1 if the set is empty.
    estimates : ndarray of float32, shape (1, size of the set)
    """
    labels, estimates = model._estimate_row(x, MIN_PROBABILITY)
    ids = labels.astype(np.uint32)
    marginals = np.minimum(estimates.astype(np.float64), 1.0)
    size = np.zeros(1, dtype=np.int64)
    value = np.empty(1)
    chosen = meuf_rows(
        np.array([0, ids.size]), ids, marginals, not model.all_labelled_, size, value
    )
    places = np.searchsorted(ids, np.sort(chosen))
    return top_k_of_row(labels[places], estimates[places], max(1, chosen.size), NO_WEIGHTS)
