"""Held-out instances of a training set, and their candidates for the regression of stacking."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from xmlc.kernels import elementwise
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.sums import in_turn
from xmlc.models._stacked import features_of, merge_lists

MOST_PARTS = 5
# With 16 texts, the mean of the members' scores ranks better than the regression, with 60 worse.
FEWEST_INSTANCES = 30
# The labels that M members rank for n instances, best first and then -1, int32 (n, M, K), and their
# scores, float32 (n, M, K).
Lists = tuple[np.ndarray, np.ndarray]


class Pairs(NamedTuple):
    """The pairs of a held-out instance and a candidate to which the regression is fitted.

    Attributes
    ----------
    rows, counts : ndarray of int64, shape (n,)
        Number of each held-out instance in the training set, and of its candidates.
    candidates : ndarray of int32, shape (q,)
    features : ndarray of float64, shape (q, p)
    true : ndarray of bool, shape (q,)
        Whether the instance has the label.
    weights : ndarray of float64, shape (q,)
    """

    rows: np.ndarray
    counts: np.ndarray
    candidates: np.ndarray
    features: np.ndarray
    true: np.ndarray
    weights: np.ndarray


def n_held_out_parts(n: float, n_held_out: float) -> int:
    """Return how many parts, at most five, each of at most a fifth of n, hold out ``n_held_out``.

    There are none for fewer than `FEWEST_INSTANCES` instances.
    """
    if n < FEWEST_INSTANCES:
        return 0
    return min(MOST_PARTS, math.ceil(n_held_out / (n // MOST_PARTS)))


def held_out_parts(n: int, n_held_out: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows that train the members, and the rows that are held out meanwhile: at most a
    fifth at a time, in up to five turns if this is too few.
    """
    order = random_permutation(n, seed, Stream.STACKING)
    n_parts = n_held_out_parts(n, n_held_out)
    if n_parts == 0:
        return
    size = min(n // MOST_PARTS, math.ceil(n_held_out / n_parts))
    for start in range(0, n_parts * size, size):
        end = start + size
        yield np.concatenate((order[:start], order[end:])), order[start:end]


def joined(lists: Sequence[tuple[np.ndarray, np.ndarray]]) -> Lists:
    """Return the members' results of `predict_top_k`, instance by instance."""
    labels, scores = zip(*lists, strict=True)
    return np.ascontiguousarray(np.stack(labels, axis=1)), np.ascontiguousarray(
        np.stack(scores, axis=1)
    )


def log_shares(Y: sparse.csr_array, weights: np.ndarray) -> np.ndarray:
    """Return the log of each label's weighted share of instances, with half an instance added."""
    of_labels = np.repeat(weights.astype(np.float64), np.diff(Y.indptr))
    counts = np.bincount(Y.indices, weights=of_labels, minlength=Y.shape[1])
    return elementwise.log((counts + 0.5) / in_turn(weights.astype(np.float64)))


def pairs_of(
    held_out: np.ndarray, lists: Lists, Y: sparse.csr_array, weights: np.ndarray, shares: np.ndarray
) -> Pairs:
    """Return the candidates of held-out instances.

    ``held_out`` are their numbers in the training set, ``Y`` and ``weights``. The members that rank
    ``lists`` were trained on instances whose `log_shares` are ``shares``.
    """
    counts, candidates, values = merge_lists(*lists)
    rows = np.repeat(held_out, counts)
    true = np.zeros(candidates.size, dtype=bool)
    if candidates.size:  # an empty selection is a sparse array
        true[:] = np.asarray(Y[rows, candidates]).reshape(-1)
    features = features_of(candidates, values, shares)
    return Pairs(held_out, counts, candidates, features, true, weights[rows].astype(np.float64))
