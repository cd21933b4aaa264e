"""Label sets of estimators for which users need to choose no thresholds."""

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
MIN_PROBABILITY = 1e-4  # labels with smaller estimates are in no label set
ROWS = 4096  # instances whose estimates are in memory at once
MOST_HELD_OUT = 2000  # more rows gain nothing for `Stacking`
FEWEST = 100  # with fewer instances, most labels have none that deserves them


def estimates_of_sets(
    model: SparseProbabilityEstimator, X: Matrix, measure: SetMeasure = "instance_f"
) -> sparse.csr_array:
    """Return the estimates of the labels in each instance's set, which maximises a measure.

    For "instance_f", a set is the result of `xmlc.inference.meuf`, without its warning about the
    sum of all estimates. Empty sets are not considered if each training instance has a label,
    because they would be too frequent: the product of (1 - p) over the labels overestimates the
    probability of having none.

    For "macro_f" and "micro_f", thresholds follow from the estimates of all instances.

    Raises
    ------
    XmlcError
        ``measure`` is unknown, or the model has no counts of its training labels.

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
            "Predict more instances at once. For single texts, train with xmlc fit --measure "
            "macro_f or TextClassifier(measure='macro_f'), and leave out --measure to predict."
        )
        warnings.warn(
            f"measure='macro_f': found {spe.shape[0]} instances to find thresholds. {said}",
            stacklevel=3,
        )
    return spe * LabelSets(measure).fit(spe, prior=shares_of(model)).predict(spe)


def shares_of(model: SparseProbabilityEstimator) -> np.ndarray:
    """Return the share of the training set that carries each label, float64 (m,).

    An `XmlcError` is raised if the model has not learned, or is from a version without counts.
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
    """Return thresholds, float32 (m,), for "macro_f" or "micro_f", so that the set of an instance
    depends on it alone.

    They follow from labelled instances that were held out, as in `LabelSets`. `Stacking` holds out
    instances anyway, and any other model has a copy that learns the training set without a fifth.

    The model is fitted to the canonical training set ``X`` and ``Y``, of at least five instances.
    Only training takes their weights ``given``, float32 (n,) or None, into account.
    """
    rows, spe = model._held_out or _estimates_without(model, X, Y, given)
    fitted = LabelSets(measure).fit(spe, Y[rows], prior=priors(Y))
    return np.maximum(fitted.limits(), np.float32(MIN_PROBABILITY))


def _estimates_without(
    model: SparseProbabilityEstimator, X: sparse.csr_array, Y: sparse.csr_array, given: Any
) -> tuple[np.ndarray, sparse.csr_array]:
    n = X.shape[0]
    if n < 5:
        raise InvalidDataError(
            f"found {n} instances, expected at least 5 to hold out a fifth for thresholds. "
            "Add more, or leave out the measure."
        )
    order = random_permutation(n, getattr(model, "random_state", 0), Stream.STACKING)
    rows, part = np.split(order, [min(MOST_HELD_OUT, n // 5)])
    copy = model.unfitted().set_params(**model._selected())
    copy._fit_rows(X, Y, given, part)
    return rows, copy.predict_proba(X[rows], MIN_PROBABILITY)


def ranked_set_of_row(
    model: SparseProbabilityEstimator, x: KernelCSR
) -> tuple[np.ndarray, np.ndarray]:
    """Return the label set of a single instance, best label first, and its estimates.

    It is the result of `estimates_of_sets`, without the overhead of batches and threads, and leaves
    the model's attributes alone. The instance ``x`` is checked but not scaled.

    Returns
    -------
    labels : ndarray of int32, estimates : ndarray of float32, shape (1, size of the set)
        An empty set has the single label -1.
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
