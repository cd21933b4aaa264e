"""Means over trees of what the leaves say that instances reach: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import borrowed, sort
from xmlc.kernels.heaps import insert_best
from xmlc.kernels.top_k import scaled

SURELY_NORMAL = 1e-30  # of a float32, whose smaller numbers have fewer digits


class Histograms(NamedTuple):
    """How many training instances of each leaf carry which label, or what a tree estimates where it has no leaves.

    Attributes
    ----------
    starts : int64 (n_leaves + 1,)
        Where the labels of each leaf start.
    labels : uint32, counts : uint32 or float32
        No label twice in a leaf; counts are positive.
    weights : float64 (n_leaves,)
        The share of a leaf that one count is.
    pooled : bool
        All leaves that an instance reaches count the same, whatever tree they are of; otherwise all trees do.
    """

    starts: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    pooled: bool


class Reached(NamedTuple):
    """Leaves that n instances reach.

    Attributes
    ----------
    starts : int64 (n_trees, n + 1)
    leaves : int32
        Those of instance i in tree t: ``leaves[starts[t, i] : starts[t, i + 1]]``.
    """

    starts: np.ndarray
    leaves: np.ndarray


@njit(cache=True, nogil=True)
def list_above(found, sums, n_parts, thresholds, labels, estimates):
    """Write the labels found whose means exceed their thresholds, in order, with the means; clear their sums.

    Parameters
    ----------
    found : uint32 (number found,)
    sums : float64 (m,)
        Over the trees, or their leaves; divided by ``n_parts`` and rounded once.
    n_parts : int
    thresholds : float32 (m,)
    labels : integers, estimates : float32
        Written from their start.

    Returns
    -------
    int
        How many were written.
    """
    written = 0
    for label in found:
        mean = np.float32(sums[label] / n_parts)
        sums[label] = 0.0
        if mean > thresholds[label]:
            labels[written], estimates[written] = label, mean
            written += 1
    return written


@njit(cache=True, nogil=True)
def list_best(found, sums, n_parts, label_weights, labels, scores):
    """Insert the labels found whose scores are above 0 into a list of the best; clear their sums; see `list_above`.

    A score is a mean, times the weight of its label if there are weights. Without weights a mean that is smaller by a
    millionth than the last of a full list cannot round to as much, and is not divided.
    """
    least = 0.0
    for label in found:
        own = sums[label]
        sums[label] = 0.0
        if own < least:
            continue
        score = scaled(np.float32(own / n_parts), label_weights, label)
        if score > 0:
            insert_best(labels, scores, np.int32(label), score)
            last = np.float64(scores[-1])
            least = last * n_parts * (1.0 - 1e-6) if last > SURELY_NORMAL and label_weights.size == 0 else 0.0


@njit(cache=True, nogil=True)
def add_leaves(histograms, reached, i, sums, found):
    """Sum the shares of all labels over the leaves, or, unless pooled, the means of the trees; list the labels.

    Parameters
    ----------
    histograms : Histograms
    reached : Reached
    i : int
    sums : float64 (m,)
        Zero before; the caller clears what is listed.
    found : uint32 (m + 1,)
        Room for the labels with a positive sum, and for one more that is written and not kept.

    Returns
    -------
    int
        Their number.
    """
    n_found, tree_starts, tree_leaves = 0, reached.starts, reached.leaves
    starts, all_labels, all_counts, weights = (
        histograms.starts, histograms.labels, histograms.counts, histograms.weights,
    )  # fmt: skip
    for tree in range(tree_starts.shape[0]):
        own = borrowed(tree_leaves, tree_starts[tree, i], tree_starts[tree, i + 1])
        for leaf in own:
            labels = borrowed(all_labels, starts[leaf], starts[leaf + 1])
            counts = borrowed(all_counts, starts[leaf], starts[leaf + 1])
            one = weights[leaf] / (1 if histograms.pooled else own.size)
            for k in range(labels.size):
                label = labels[k]
                old = sums[label]
                found[n_found] = label  # without a branch: overwritten by the next if it is no new one
                n_found += old == 0.0
                sums[label] = old + np.float64(counts[k]) * one
    return n_found


@njit(cache=True, nogil=True)
def count_parts(histograms, reached, i):
    """Return of how many parts `add_leaves` gives the sum: trees, or, if they are pooled, leaves."""
    n_trees, n_leaves = reached.starts.shape[0], np.int64(0)
    if not histograms.pooled:
        return n_trees
    for tree in range(n_trees):
        n_leaves += reached.starts[tree, i + 1] - reached.starts[tree, i]
    return n_leaves


@njit(cache=True, nogil=True)
def keep_above(found, sums, n_parts, thresholds):
    """Move the labels found whose means exceed their thresholds to the front; return their number, clear other sums."""
    kept = 0
    for label in found:
        if np.float32(sums[label] / n_parts) > thresholds[label]:
            found[kept] = label
            kept += 1
        else:
            sums[label] = 0.0
    return kept


@njit(cache=True, nogil=True)
def average_above(histograms, reached, first, last, thresholds):
    """List the labels whose estimates exceed their thresholds, for instances ``first .. last - 1``.

    Returns
    -------
    counts : int64 (last - first,)
        Number of labels of each instance.
    labels : uint32, estimates : float32
        The labels, ascending, instance after instance.

    Notes
    -----
    Shares are summed in float64 and rounded once, so that estimates that are equal as fractions are equal as numbers,
    whatever trees they come from.
    """
    sums, found = np.zeros(thresholds.size, dtype=np.float64), np.empty(thresholds.size + 1, dtype=np.uint32)
    n_trees, room = reached.starts.shape[0], np.int64(0)
    for i in range(first, last):
        own = np.int64(0)
        for tree in range(n_trees):
            for leaf in reached.leaves[reached.starts[tree, i] : reached.starts[tree, i + 1]]:
                own += histograms.starts[leaf + 1] - histograms.starts[leaf]
        room += min(own, thresholds.size)
    selective = False
    for threshold in thresholds:
        selective |= threshold > 0
    counts = np.zeros(last - first, dtype=np.int64)
    labels, estimates = np.empty(room, dtype=np.uint32), np.empty(room, dtype=np.float32)
    used = 0
    for i in range(first, last):
        listed = found[: add_leaves(histograms, reached, i, sums, found)]
        n_parts = count_parts(histograms, reached, i)
        if selective:
            listed = listed[: keep_above(listed, sums, n_parts, thresholds)]
        # Sorting costs some log2(n) steps a label; where many labels are found, looking through all is cheaper.
        if 16 * listed.size < thresholds.size:
            sort(listed)
        else:
            n_found = 0
            for label in range(sums.size):  # without a branch, as in `add_leaves`
                found[n_found] = label
                n_found += sums[label] != 0.0
            listed = found[:n_found]
        counts[i - first] = list_above(listed, sums, n_parts, thresholds, labels[used:], estimates[used:])
        used += counts[i - first]
    return counts, labels[:used].copy(), estimates[:used].copy()


@njit(cache=True, nogil=True)
def average_top_k(histograms, reached, first, last, n_labels, k, label_weights):
    """Find the k labels with the largest estimates, times their weights if there are any; ties to the smaller label.

    Returns
    -------
    labels : int32 (last - first, k)
        Best first; -1 where fewer than k labels have a score above 0.
    scores : float32 (last - first, k)
    """
    sums, found = np.zeros(n_labels, dtype=np.float64), np.empty(n_labels + 1, dtype=np.uint32)
    labels = np.full((last - first, k), -1, dtype=np.int32)
    scores = np.zeros((last - first, k), dtype=np.float32)
    for i in range(first, last):
        listed, n_parts = found[: add_leaves(histograms, reached, i, sums, found)], count_parts(histograms, reached, i)
        list_best(listed, sums, n_parts, label_weights, labels[i - first], scores[i - first])
    return labels, scores
