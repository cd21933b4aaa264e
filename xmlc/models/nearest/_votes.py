"""From neighbours to labels: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed, row_of
from xmlc.kernels.float64 import power
from xmlc.kernels.top_k import insert_best
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def vote(neighbours, similarities, alpha, label_starts, labels, votes, seen):
    """Add up the votes of one instance's neighbours.

    A vote is relative to that of the nearest, so that none overflows or vanishes; votes are added from the nearest to
    the farthest, in float64.

    Parameters
    ----------
    neighbours : int32 (S,)
        Training instances, nearest first; -1 ends them.
    similarities : float32 (S,)
    alpha : float
    label_starts : int64 (n + 1,)
    labels : uint32 (number of positives of the training set,)
    votes : float64 (m,)
        Written to: all zero before, the votes of the labels seen after.
    seen : uint32 (m + 1,)
        Written to: the labels that have votes.

    Returns
    -------
    n_seen : int
    total : float
        Sum of the neighbours' votes, which is what they are to be divided by (swnn2018, Section 3.5).
    """
    n_seen, total = 0, 0.0
    for r in range(neighbours.size):
        i = neighbours[r]
        if i < 0:
            break
        share = np.float64(similarities[r]) / np.float64(similarities[0])
        weight = share if alpha == 1.0 else (share * share if alpha == 2.0 else power(share, alpha))
        total += weight
        # A weight that underflowed keeps its label among those seen, once.
        weight = max(weight, 1e-300)
        for label in borrowed(labels, label_starts[i], label_starts[i + 1]):
            # Written without a branch, which would be guessed wrong again and again.
            seen[n_seen] = label
            n_seen += votes[label] == 0
            votes[label] += weight
    return n_seen, total


@njit(cache=True, nogil=True)
def labels_above(neighbours, similarities, alpha, label_starts, labels, thresholds):
    """Return the labels whose share of the votes exceeds their threshold.

    Parameters are those of `vote` for n instances: ``neighbours`` and ``similarities`` have shape (n, S);
    ``thresholds`` is float32 (m,).

    Returns
    -------
    counts : int64 (n,)
    found : int32 (sum of counts,)
        In no particular order within an instance.
    estimates : float32 (sum of counts,)
    """
    votes = np.zeros(thresholds.size, dtype=np.float64)
    seen = np.empty(thresholds.size + 1, dtype=np.uint32)
    counts = np.zeros(neighbours.shape[0], dtype=np.int64)
    found = np.empty(1024, dtype=np.int32)
    estimates = np.empty(1024, dtype=np.float32)
    n_found = 0
    for i in range(neighbours.shape[0]):
        n_seen, total = vote(row_of(neighbours, i), row_of(similarities, i), alpha, label_starts, labels, votes, seen)
        if n_found + n_seen > found.size:
            room = np.empty(2 * (n_found + n_seen) - found.size, dtype=np.int32)
            found = np.concatenate((found, room))
            estimates = np.concatenate((estimates, room.astype(np.float32)))
        for label in borrowed(seen, 0, n_seen):
            estimate = np.float32(votes[label] / total)
            votes[label] = 0
            if estimate > thresholds[label]:
                found[n_found] = label
                estimates[n_found] = estimate
                n_found += 1
                counts[i] += 1
    return counts, found[:n_found].copy(), estimates[:n_found].copy()


@njit(cache=True, nogil=True)
def top_labels(neighbours, similarities, alpha, label_starts, labels, n_labels, k):
    """Return the k labels with the largest share of the votes, of equal ones the smaller first.

    Parameters are those of `vote` for n instances: ``neighbours`` and ``similarities`` have shape (n, S).

    Returns
    -------
    best : int32 (n, k)
        -1 where there are fewer.
    estimates : float32 (n, k)
    """
    votes = np.zeros(n_labels, dtype=np.float64)
    seen = np.empty(n_labels + 1, dtype=np.uint32)
    best = np.full((neighbours.shape[0], k), -1, dtype=np.int32)
    estimates = np.zeros((neighbours.shape[0], k), dtype=np.float32)
    for i in range(neighbours.shape[0]):
        n_seen, total = vote(row_of(neighbours, i), row_of(similarities, i), alpha, label_starts, labels, votes, seen)
        for label in borrowed(seen, 0, n_seen):
            estimate = np.float32(votes[label] / total)
            votes[label] = 0
            if estimate > 0:
                insert_best(row_of(best, i), row_of(estimates, i), np.int32(label), estimate)
    return best, estimates
