"""Estimates above a threshold from scores: the kernel of binary relevance."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.float64 import sigmoid
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def estimates_above(scores, thresholds):
    """Return the logistic function of scores where, in float32, it is strictly greater than the label's threshold.

    Parameters
    ----------
    scores : float64 (n, m)
    thresholds : float32 (m,)

    Returns
    -------
    counts : int64 (n,)
    labels : int32
        Ascending within an instance.
    estimates : float32
    """
    n, m = scores.shape
    counts = np.zeros(n, dtype=np.int64)
    labels, estimates = np.empty(n * m, dtype=np.int32), np.empty(n * m, dtype=np.float32)
    found = 0
    for i in range(n):
        before = found
        for j in range(m):
            estimate = np.float32(sigmoid(scores[i, j]))
            if estimate > thresholds[j]:
                labels[found], estimates[found] = j, estimate
                found += 1
        counts[i] = found - before
    return counts, labels[:found].copy(), estimates[:found].copy()
