"""Averages of each label's shares in the leaves that an instance reaches. Kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import sort, unchecked_view
from xmlc.kernels.heaps import insert_best
from xmlc.kernels.top_k import scaled


class Histograms(NamedTuple):
    """The number of training instances of each label in each leaf, or estimates instead.

    Attributes
    ----------
    starts : int64 (n_leaves + 1,)
        Start of each leaf in ``labels``.
    labels : uint32, counts : uint32 or float32
        The distinct labels of each leaf, and their instances in it.
    totals : integers (n_leaves,)
        A label's share in a leaf is its count times 1 / total.
    pooled : bool
        Whether all leaves of an instance, not all trees, have the same weight.
    """

    starts: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    pooled: bool


class Reached(NamedTuple):
    """The leaves that n instances reach.

    Attributes
    ----------
    starts : int64 (n_trees, n + 1)
    leaves : int32
        Instance i reaches ``leaves[starts[t, i] : starts[t, i + 1]]`` in tree t.
    """

    starts: np.ndarray
    leaves: np.ndarray


@njit
def places_of_row(features, n_features):
    """Return the place of each feature in ``features``, or -1 for others, int32 (n_features,)."""
    places = np.full(n_features, -1, dtype=np.int32)
    for place in range(features.size):
        places[features[place]] = place
    return places


@njit
def add_leaves(histograms, reached, i, sums, found):
    """Sum each label's shares over the leaves of an instance, and list the labels with a positive
    sum.

    If the histograms are not pooled, each tree adds the label's mean share in its leaves.

    ``sums``, float64 (m,), are all 0 before the call, and the caller resets the entries of listed
    labels. ``found``, uint32 (m + 1,), receives the labels, whose number is returned, and its entry
    after the last one is overwritten, too.
    """
    n_found = 0
    for tree in range(reached.starts.shape[0]):
        leaves = unchecked_view(
            reached.leaves, reached.starts[tree, i], reached.starts[tree, i + 1]
        )
        for leaf in leaves:
            start = histograms.starts[leaf]
            end = histograms.starts[leaf + 1]
            labels = unchecked_view(histograms.labels, start, end)
            counts = unchecked_view(histograms.counts, start, end)
            one = 1.0 / histograms.totals[leaf]
            if not histograms.pooled:
                one /= leaves.size
            for k in range(labels.size):
                label = labels[k]
                old = sums[label]
                # written to avoid a branch, and overwritten by the next one if already listed
                found[n_found] = label
                n_found += old == 0.0
                sums[label] = old + np.float64(counts[k]) * one
    return n_found


@njit
def count_parts(histograms, reached, i):
    """Return the number of leaves, or of trees if not pooled, over which shares are averaged."""
    n_trees = reached.starts.shape[0]
    if not histograms.pooled:
        return n_trees
    n_leaves = np.int64(0)
    for tree in range(n_trees):
        n_leaves += reached.starts[tree, i + 1] - reached.starts[tree, i]
    return n_leaves


@njit
def count_entries(histograms, reached, i):
    """Return the number of labels, repetitions included, in the leaves of an instance."""
    n_entries = np.int64(0)
    for tree in range(reached.starts.shape[0]):
        for leaf in reached.leaves[reached.starts[tree, i] : reached.starts[tree, i + 1]]:
            n_entries += histograms.starts[leaf + 1] - histograms.starts[leaf]
    return n_entries


@njit
def average_above(histograms, reached, first, last, thresholds):
    """Return the labels of instances ``first .. last - 1`` whose estimates exceed their thresholds.

    Shares are summed in float64, and each sum is rounded once. Estimates that are equal as exact
    fractions thus have equal float32 values, whichever trees contribute to them.

    Returns
    -------
    counts : int64 (last - first,)
    labels : uint32, estimates : float32
        One instance after another, with ascending labels.
    """
    n_labels = thresholds.size
    room = np.int64(0)
    for i in range(first, last):
        room += min(count_entries(histograms, reached, i), n_labels)
    counts = np.zeros(last - first, dtype=np.int64)
    labels = np.empty(room, dtype=np.uint32)
    estimates = np.empty(room, dtype=np.float32)
    sums = np.zeros(n_labels, dtype=np.float64)
    found = np.empty(n_labels + 1, dtype=np.uint32)
    used = 0
    for i in range(first, last):
        n_found = add_leaves(histograms, reached, i, sums, found)
        n_parts = count_parts(histograms, reached, i)
        n_above = 0
        for label in found[:n_found]:
            if np.float32(sums[label] / n_parts) > thresholds[label]:
                found[n_above] = label
                n_above += 1
            else:
                sums[label] = 0.0
        sort_labels(found, n_above, sums)
        for label in found[:n_above]:
            labels[used] = label
            estimates[used] = np.float32(sums[label] / n_parts)
            sums[label] = 0.0
            used += 1
        counts[i - first] = n_above
    return counts, labels[:used].copy(), estimates[:used].copy()


@njit
def sort_labels(found, n, sums):
    """Sort the first ``n`` entries of ``found``, which are the labels whose sum is not 0.

    A sort takes about log2(n) steps per label, so a scan of the sums is faster for many labels.
    """
    if 16 * n < sums.size:
        sort(unchecked_view(found, 0, n))
        return
    n_found = 0
    # no branch: the next label overwrites one whose sum is 0
    for label in range(sums.size):
        found[n_found] = label
        n_found += sums[label] != 0.0


@njit
def average_top_k(histograms, reached, first, last, n_labels, k, label_weights):
    """Return the k labels with the largest scores for each of the instances ``first .. last - 1``.

    A score is the estimate, times the label's weight unless ``label_weights``, float64, is empty.

    Returns
    -------
    labels : int32 (last - first, k)
        Labels with positive scores, best first, then -1. Ties go to the smaller label.
    scores : float32 (last - first, k)
        Their scores, 0 for a missing label.
    """
    labels = np.full((last - first, k), -1, dtype=np.int32)
    scores = np.zeros((last - first, k), dtype=np.float32)
    sums = np.zeros(n_labels, dtype=np.float64)
    found = np.empty(n_labels + 1, dtype=np.uint32)
    for i in range(first, last):
        n_found = add_leaves(histograms, reached, i, sums, found)
        n_parts = count_parts(histograms, reached, i)
        for label in found[:n_found]:
            score = scaled(np.float32(sums[label] / n_parts), label_weights, label)
            sums[label] = 0.0
            if score > 0:
                insert_best(labels[i - first], scores[i - first], np.int32(label), score)
    return labels, scores
