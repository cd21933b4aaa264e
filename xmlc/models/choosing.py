"""Hyperparameters that an estimator chooses from its training set: by P@1 on instances that it has not learned."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
from scipy import sparse

from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.models.base import SparseProbabilityEstimator

SAMPLE = 1000  # instances at most, so that a choice takes little beside training on many
FOLDS = 3


def cross_validated(
    make: Callable[[float], SparseProbabilityEstimator],
    usual: float,
    other: float,
    X: sparse.csr_array,
    Y: sparse.csr_array,
    weights: np.ndarray | None = None,
) -> float:
    """Choose one of two values of a hyperparameter by 3-fold cross-validation on a sample of a training set.

    Parameters
    ----------
    make : function
        Makes an estimator with a value.
    usual, other : float
        The second is chosen where it ranks better by more than a standard error.
    X : csr_array, shape (n, d)
    Y : csr_array of bool, shape (n, m)
    weights : ndarray of float32, shape (n,), optional
        Of the instances, for ``fit`` and P@1.
    """
    rows = sample(X.shape[0])
    labels = np.unique(Y[rows].indices)
    if rows.size < 2 * FOLDS or labels.size == 0:
        return usual
    X, Y, folds = X[rows], Y[rows][:, labels], np.arange(rows.size) % FOLDS
    hits = np.zeros((2, rows.size), dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a model that nobody asked for
        for hit, value in zip(hits, (usual, other)):
            for fold in range(FOLDS):
                out = folds == fold
                given = () if weights is None else (weights[rows][~out],)
                model = make(value).fit(X[~out], Y[~out], *given)
                hit[out] = are_right(model.predict_top_k(X[out], 1)[0], Y[out])
    return other if is_better(hits[1], hits[0], None if weights is None else weights[rows]) else usual


def sample(n: int) -> np.ndarray:
    """Draw at most 1000 of n instances, in a random order; the same ones whatever the seed of an estimator."""
    return random_permutation(n, 0, Stream.CHOICE)[:SAMPLE]


def are_right(labels: np.ndarray, Y: sparse.csr_array) -> np.ndarray:
    """Tell for which instances the label that is ranked first, in a column, is one of theirs."""
    first = labels[:, 0]
    return (first >= 0) & Y[np.arange(first.size), first]


def is_better(hits: np.ndarray, usual: np.ndarray, weights: np.ndarray | None = None) -> bool:
    """Tell whether the difference of two counts of hits on the same instances exceeds its standard error.

    The difference is a sum of signs, one for each instance that only one of both hits, times its weight. If both were
    equally good, its variance would be the sum of the squared weights of these instances.
    """
    signs = (hits.astype(np.float64) - usual) * (1 if weights is None else weights)
    gain = math.fsum(signs)
    return gain > 0 and gain * gain > math.fsum(signs * signs)
