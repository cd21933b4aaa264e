"""Choose hyperparameters on the training set, by P@1 on instances that were held out from
training.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
from scipy import sparse

from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.models.base import SparseProbabilityEstimator

# With 4,000 instances, a choice takes at most 4 times as long as the training, and less on large
# data. With 1,000 instances, the chosen C fits to training sets that are smaller than the one that
# is given.
SAMPLE = 4000
FOLDS = 3


def cross_validated(
    make: Callable[[float], SparseProbabilityEstimator],
    usual: float,
    other: float,
    X: sparse.csr_array,
    Y: sparse.csr_array,
    weights: np.ndarray | None = None,
) -> float:
    """Choose one of two values of a hyperparameter by 3-fold cross-validation on a sample of a
    training set.

    Parameters
    ----------
    make : function
        A function that returns an untrained estimator for a value of the hyperparameter.
    usual, other : float
        The two values of the hyperparameter. ``other`` is chosen if its P@1 is better than the P@1
        of ``usual``.
    X : csr_array, shape (n, d)
        Instances.
    Y : csr_array of bool, shape (n, m)
        Label sets of the instances.
    weights : ndarray of float32, shape (n,), optional
        Weights of the instances in ``fit`` and in P@1.
    """
    rows = sample(X.shape[0], SAMPLE)
    labels = np.unique(Y[rows].indices)
    if rows.size < 2 * FOLDS or labels.size == 0:
        return usual
    X = X[rows]
    Y = Y[rows][:, labels]
    if weights is not None:
        weights = weights[rows]
    fold_of = np.arange(rows.size) % FOLDS
    hits = {value: np.zeros(rows.size, dtype=bool) for value in (usual, other)}
    with warnings.catch_warnings():
        # warnings about the temporary models of the cross-validation would confuse the user
        warnings.simplefilter("ignore")
        for value, is_hit in hits.items():
            for fold in range(FOLDS):
                held_out = fold_of == fold
                model = make(value)._fit_rows(X, Y, weights, ~held_out)
                ranked, _ = model.predict_top_k(X[held_out], 1)
                is_hit[held_out] = are_right(ranked, Y[held_out])
    if is_better(hits[other], hits[usual], weights):
        return other
    return usual


def sample(n: int, most: int) -> np.ndarray:
    """Return the row numbers of at most ``most`` of n instances, in random order.

    The sample does not depend on the seeds of estimators.
    """
    return random_permutation(n, 0, Stream.CHOICE)[:most]


def are_right(labels: np.ndarray, Y: sparse.csr_array) -> np.ndarray:
    """Return for each instance whether the top-ranked label, in the first column of ``labels``, is
    correct.
    """
    first = labels[:, 0]
    return (first >= 0) & Y[np.arange(first.size), first]


def is_better(hits: np.ndarray, usual: np.ndarray, weights: np.ndarray | None = None) -> bool:
    """Return whether the total weight of ``hits`` is greater than the total weight of ``usual``.

    Both are arrays of bool, with one entry for each instance. Without ``weights``, each instance
    has the weight 1.
    """
    gains = hits.astype(np.float64) - usual
    if weights is not None:
        gains *= weights
    return math.fsum(gains) > 0
