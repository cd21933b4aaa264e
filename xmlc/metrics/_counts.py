"""Kernels that count hits and predictions, and read each stored entry once."""

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.counter_random import random_below, stream_key

DRAWS = 0x7E57  # seed of the draws of test instances in every record


@njit
def count_agreement(
    true_indptr, true_indices, predicted_indptr, predicted_indices, times, n_labels
):
    """Count hits, positives and predictions of each label, and hits of each instance, in one merge.

    Labels are sorted within a row, and ``times``, int32 (n,), weights each instance in the counts
    per label. The counts are int64. The kernel reads 4 bytes per stored entry.
    """
    hits = np.zeros(n_labels, dtype=np.int64)
    positives = np.zeros(n_labels, dtype=np.int64)
    predicted = np.zeros(n_labels, dtype=np.int64)
    row_hits = np.zeros(true_indptr.size - 1, dtype=np.int64)
    for i in range(row_hits.size):
        truth = true_indices[true_indptr[i] : true_indptr[i + 1]]
        guess = predicted_indices[predicted_indptr[i] : predicted_indptr[i + 1]]
        for label in truth:
            positives[label] += times[i]
        for label in guess:
            predicted[label] += times[i]
        a = 0
        b = 0
        while a < truth.size and b < guess.size:
            if truth[a] < guess[b]:
                a += 1
            elif truth[a] > guess[b]:
                b += 1
            else:
                hits[truth[a]] += times[i]
                row_hits[i] += 1
                a += 1
                b += 1
    return hits, positives, predicted, row_hits


@njit
def match_ranking(indptr, indices, labels):
    """Return whether each ranked label, int32 (n, k) or -1, is true: bool (n, k).

    True labels are sorted within a row.
    """
    relevant = np.zeros(labels.shape, dtype=np.bool_)
    for i in range(labels.shape[0]):
        truth = indices[indptr[i] : indptr[i + 1]]
        for r in range(labels.shape[1]):
            if labels[i, r] >= 0:
                place = np.searchsorted(truth, np.uint32(labels[i, r]))
                relevant[i, r] = place < truth.size and truth[place] == np.uint32(labels[i, r])
    return relevant


@njit
def count_draws(replicate, times):
    """Draw n of n instances with replacement, and add the draws to ``times``, int32 (n,)."""
    key = stream_key(DRAWS, replicate)
    for i in range(times.size):
        times[random_below(key, i, times.size)] += 1
