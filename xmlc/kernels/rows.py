"""Check and rank single rows, for requests with one instance."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit


@njit
def is_canonical(indices, values, n_features):
    """Return whether features ascend from 0 to below ``n_features``, and all values are finite and
    not 0.

    Parameters
    ----------
    indices : int64 (q,)
        Features of an instance.
    values : float32 (q,)
        Value of each feature.
    n_features : int
        Number of features of the model.
    """
    last = np.int64(-1)
    for p in range(indices.size):
        size = abs(values[p])
        if not (last < indices[p] < n_features and np.float32(0) < size < np.float32(np.inf)):
            return False
        last = indices[p]
    return True


def top_k_of_row(
    labels: np.ndarray, scores: np.ndarray, k: int, label_weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rank the labels of one instance as `xmlc.kernels.csr.top_k_of` ranks the labels of many.

    Parameters
    ----------
    labels : ndarray of int32, shape (q,)
        Labels, ascending.
    scores : ndarray of float32, shape (q,)
        Score of each label in ``labels``.
    k : int
    label_weights : ndarray of float64, shape (m,) or (0,)
        Weight of each label. An empty array means that labels have no weights.

    Returns
    -------
    labels : ndarray of int32, shape (1, k)
    scores : ndarray of float32, shape (1, k)
    """
    if label_weights.size:
        scores = (scores * label_weights[labels]).astype(np.float32)
        kept = np.flatnonzero(scores)
        labels = labels[kept]
        scores = scores[kept]
    best = np.argsort(-scores, kind="stable")[:k]
    ranked = np.full((1, k), -1, dtype=np.int32)
    values = np.zeros((1, k), dtype=np.float32)
    ranked[0, : best.size] = labels[best]
    values[0, : best.size] = scores[best]
    return ranked, values
