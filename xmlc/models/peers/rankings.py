"""What the baselines return for each instance, labels and scores one after another, as estimates and as rankings."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.estimates import stack_estimates


def estimates_above(
    counts: np.ndarray, labels: np.ndarray, scores: np.ndarray, thresholds: np.ndarray
) -> sparse.csr_array:
    """Assemble the estimates that are strictly greater than their label's threshold.

    Parameters
    ----------
    counts : ndarray of int, shape (n,)
        Number of labels of each instance.
    labels : ndarray of int32, scores : ndarray of float32
        Instance after instance, in any order within one.
    thresholds : ndarray of float32, shape (m,)

    Returns
    -------
    csr_array of float32, shape (n, m)
    """
    spe = stack_estimates(counts, labels, scores, thresholds.size)
    spe.data[spe.data <= thresholds[spe.indices]] = 0
    spe.eliminate_zeros()
    return spe


def ranking_of(counts: np.ndarray, labels: np.ndarray, scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first k labels of each instance and their scores.

    Parameters
    ----------
    counts, labels, scores : ndarray
        As of `estimates_above`, but best first within an instance.
    k : int

    Returns
    -------
    labels : ndarray of int32, shape (n, k)
        -1 where an instance has fewer.
    scores : ndarray of float32, shape (n, k)
        0 where there is no label.
    """
    rows = np.repeat(np.arange(counts.size), counts)
    rank = np.arange(labels.size) - np.repeat(np.cumsum(counts) - counts, counts)
    first = rank < k
    ranked = np.full((counts.size, k), -1, dtype=np.int32)
    values = np.zeros((counts.size, k), dtype=np.float32)
    ranked[rows[first], rank[first]], values[rows[first], rank[first]] = labels[first], scores[first]
    return ranked, values
