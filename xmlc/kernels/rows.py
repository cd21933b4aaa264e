"""Check and rank single rows, for requests with one instance."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit


@njit
def is_canonical(indices, values, n_features):
    """Return whether int64 features ascend from 0 to below ``n_features``, without float32 zeros.

    The values must also be finite.
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
    """Rank the labels of one instance, which ascend, as `xmlc.kernels.csr.top_k_of` ranks many.

    ``labels`` are int32 and ``scores`` float32. The float64 ``label_weights`` are empty if labels
    have none.
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
