"""The kernel of classifier chains: ancestral sampling."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.kernels.float32 import sigmoid
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def sample_chain(scores, influence, n_samples, seed, first):
    """Draw label sets from the chain's conditional distribution, label after label (gfm2011, equation (9)).

    A draw costs m logistic functions and random numbers, and m - i additions for each label i that it contains: what
    a label adds to the later ones is one row of ``influence``, read in order.

    Parameters
    ----------
    scores : float32 (n, m)
        Scores of the labels from the features alone, constants included.
    influence : float32 (m, m)
        [i, j] is what label i adds to the score of the later label j; only j > i is read.
    n_samples : int64
    seed : int64
    first : int64
        Number of the first instance: the random numbers of an instance depend on (seed, its number) alone.

    Returns
    -------
    counts : int64 (n * n_samples,)
        Labels of each draw, the draws of an instance side by side.
    labels : int32
        Ascending within a draw.
    """
    n, m = scores.shape
    counts = np.zeros(n * n_samples, dtype=np.int64)
    labels = np.empty(max(n * n_samples, 16), dtype=np.int32)
    score = np.empty(m, dtype=np.float32)
    found = 0
    for i in range(n):
        key = stream_key(seed, first + i)
        for t in range(n_samples):
            if found + m > labels.size:
                labels = _longer(labels, found + m)
            score[:] = scores[i]
            before = found
            for j in range(m):
                if random_unit(key, t * m + j) < sigmoid(score[j]):
                    labels[found] = j
                    found += 1
                    for later in range(j + 1, m):
                        score[later] += influence[j, later]
            counts[i * n_samples + t] = found - before
    return counts, labels[:found]


@njit(cache=True, nogil=True)
def _longer(labels, needed):
    """Return a copy with at least twice the room."""
    longer = np.empty(max(2 * labels.size, needed), dtype=labels.dtype)
    longer[: labels.size] = labels
    return longer
