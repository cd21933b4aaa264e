"""Count true positives and predictions for F-measures, with kernels that read each stored entry
once.
"""

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.counter_random import random_below, stream_key

DRAWS = 0x7E57  # Every record uses this seed to draw test instances.


@njit
def count_agreement(
    true_indptr, true_indices, predicted_indptr, predicted_indices, times, n_labels
):
    """Count true positives, positives and predicted positives per label, and true positives per
    instance.

    True and predicted labels are sorted within a row, so one merge per row suffices. The kernel
    reads 4 bytes per stored entry.

    Parameters
    ----------
    true_indptr, predicted_indptr : int64 (n + 1,)
        Row pointers of the true and the predicted label sets.
    true_indices, predicted_indices : uint32
        Labels, sorted within a row.
    times : int32 (n,)
        Weight of each instance in the counts per label.
    n_labels : int
        The number of labels m.

    Returns
    -------
    hits, positives, predicted : int64 (m,)
    row_hits : int64 (n,)
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
    """Return whether each ranked label is true.

    Parameters
    ----------
    indptr : int64 (n + 1,)
        Row pointers of the true label sets.
    indices : uint32
        True labels, sorted within a row.
    labels : int32 (n, k)
        Ranked labels. -1 means no label.

    Returns
    -------
    bool (n, k)
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
    """Draw n of n instances with replacement, and count how often each instance is drawn.

    Parameters
    ----------
    replicate : int
        Number of the replicate, which selects the stream of random numbers.
    times : int32 (n,)
        Number of draws of each instance, updated in place.
    """
    key = stream_key(DRAWS, replicate)
    for i in range(times.size):
        times[random_below(key, i, times.size)] += 1
