"""Hyperparameters that the training set chooses, by P@1 on held-out instances."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
from scipy import sparse

from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.models.base import SparseProbabilityEstimator

# With 4,000 instances, a choice takes at most 4 times as long as training, and less on large data.
# With 1,000, it finds the C of smaller training sets.
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
    """Choose one of two values of a hyperparameter by 3-fold cross-validation on a sample.

    ``make`` returns an untrained estimator for a value. ``other`` is chosen only if its P@1 is
    better. ``weights``, float32 (n,), count in ``fit`` and in P@1.
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
        # warnings about temporary models would confuse the user
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
    """Return at most ``most`` of n rows in random order, the same for all estimators' seeds."""
    return random_permutation(n, 0, Stream.CHOICE)[:most]


def are_right(labels: np.ndarray, Y: sparse.csr_array) -> np.ndarray:
    """Return whether each instance has its top-ranked label, the first column of ``labels``."""
    first = labels[:, 0]
    return (first >= 0) & Y[np.arange(first.size), first]


def is_better(hits: np.ndarray, usual: np.ndarray, weights: np.ndarray | None = None) -> bool:
    """Return whether ``hits`` have a greater total weight, 1 each by default, than ``usual``."""
    gains = hits.astype(np.float64) - usual
    if weights is not None:
        gains *= weights
    return math.fsum(gains) > 0
