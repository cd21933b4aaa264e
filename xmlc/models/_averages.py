"""Average each label's shares in the leaves that an instance reaches. Kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import sort, unchecked_view
from xmlc.kernels.heaps import insert_best
from xmlc.kernels.top_k import scaled

SURELY_NORMAL = 1e-30  # Positive float32 numbers above 1e-30 are normal numbers, which have the full precision.


class Histograms(NamedTuple):
    """Hold the number of training instances of each label in each leaf.

    In the result of `xmlc.models.parabel.as_leaves`, estimates replace the numbers of instances.

    Attributes
    ----------
    starts : int64 (n_leaves + 1,)
        Position in ``labels`` of the first label of each leaf.
    labels : uint32, counts : uint32 or float32
        The distinct labels of one leaf after another, and the number of instances with the label in the leaf.
    totals : integers (n_leaves,)
        The share of a label in a leaf is the label's count times 1 / total.
    pooled : bool
        True if all leaves that an instance reaches have the same weight, False if all trees have the same weight.
    """

    starts: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    pooled: bool


class Reached(NamedTuple):
    """Hold the leaves that n instances reach.

    Attributes
    ----------
    starts : int64 (n_trees, n + 1)
        Position in ``leaves`` of the first leaf that each instance reaches in each tree.
    leaves : int32
        Instance i reaches ``leaves[starts[t, i] : starts[t, i + 1]]`` in tree t.
    """

    starts: np.ndarray
    leaves: np.ndarray


@njit
def places_of_row(features, n_features):
    """Return the place of each feature in ``features``, uint32 (q,), or -1 for other features, int32 (n_features,)."""
    places = np.full(n_features, -1, dtype=np.int32)
    for place in range(features.size):
        places[features[place]] = place
    return places


@njit
def list_above(found, sums, n_parts, thresholds, labels, estimates):
    """Write the labels in ``found`` whose mean shares exceed the labels' thresholds, and write these mean shares.

    Parameters
    ----------
    found : uint32 (number found,)
        The labels with a positive sum.
    sums : float64 (m,)
        For each label, the sum of its shares over trees or over leaves. A label's mean share is its sum divided by
        ``n_parts``, rounded once. The function sets the sums of the labels in ``found`` to 0.
    n_parts : int
        Number of trees or leaves in the sums.
    thresholds : float32 (m,)
        Threshold of each label.
    labels : integers, estimates : float32
        The arrays to which the labels and their mean shares are written, from index 0 on.

    Returns
    -------
    int
        Number of labels written.
    """
    written = 0
    for label in found:
        mean = np.float32(sums[label] / n_parts)
        sums[label] = 0.0
        if mean > thresholds[label]:
            labels[written], estimates[written] = label, mean
            written += 1
    return written


@njit
def list_best(found, sums, n_parts, label_weights, labels, scores):
    """Insert the labels in ``found`` into a list of the k best labels, if their scores are above 0.

    The function sets the sums of all labels in ``found`` to 0.

    The score of a label is its mean share, multiplied by the label's weight if there are weights. Without weights, a
    label is skipped if the list is full and the label's mean share is below (1 - 1e-6) times the last score. The
    factor (1 - 1e-6) leaves a margin for the rounding of scores to float32.

    Parameters
    ----------
    found, sums, n_parts
        As for `list_above`.
    label_weights : float64 (m,) or (0,)
        Weight of each label. An empty array means that labels have no weights.
    labels : int32 (k,), scores : float32 (k,)
        The list of the k best labels and their scores, updated in place.
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


@njit
def add_leaves(histograms, reached, i, sums, found):
    """Sum each label's shares over the leaves that an instance reaches, and list the labels with a positive sum.

    If the histograms are not pooled, each tree adds one number: the label's mean share in the leaves that the instance
    reaches in the tree.

    Parameters
    ----------
    histograms : Histograms
        The labels and counts of all leaves.
    reached : Reached
        The leaves that the instances reach.
    i : int
        Number of the instance.
    sums : float64 (m,)
        The sum of each label's shares, 0 before the call. The caller has to reset the sums of the listed labels to 0.
    found : uint32 (m + 1,)
        On return, the labels with a positive sum. The function also overwrites the entry after the last label.

    Returns
    -------
    int
        Number of labels with a positive sum.
    """
    n_found, tree_starts, tree_leaves = 0, reached.starts, reached.leaves
    starts, all_labels, all_counts, totals, _ = histograms
    for tree in range(tree_starts.shape[0]):
        own = unchecked_view(tree_leaves, tree_starts[tree, i], tree_starts[tree, i + 1])
        for leaf in own:
            labels = unchecked_view(all_labels, starts[leaf], starts[leaf + 1])
            counts = unchecked_view(all_counts, starts[leaf], starts[leaf + 1])
            one = 1.0 / totals[leaf] / (1 if histograms.pooled else own.size)
            for k in range(labels.size):
                label = labels[k]
                old = sums[label]
                # every label is written, to avoid a branch: the next label overwrites a label that was already listed
                found[n_found] = label
                n_found += old == 0.0
                sums[label] = old + np.float64(counts[k]) * one
    return n_found


@njit
def count_parts(histograms, reached, i):
    """Return the number of leaves or trees over which the shares of an instance are averaged.

    If the histograms are pooled, the function counts leaves, and otherwise trees.

    Parameters
    ----------
    histograms, reached, i
        As for `add_leaves`.
    """
    n_trees, n_leaves = reached.starts.shape[0], np.int64(0)
    if not histograms.pooled:
        return n_trees
    for tree in range(n_trees):
        n_leaves += reached.starts[tree, i + 1] - reached.starts[tree, i]
    return n_leaves


@njit
def keep_averages_above(found, sums, n_parts, thresholds):
    """Move labels with mean shares above their thresholds to the front of ``found``, and return their number.

    Parameters
    ----------
    found, sums, n_parts, thresholds
        As for `list_above`.
    """
    kept = 0
    for label in found:
        if np.float32(sums[label] / n_parts) > thresholds[label]:
            found[kept] = label
            kept += 1
        else:
            sums[label] = 0.0
    return kept


@njit
def average_above(histograms, reached, first, last, thresholds):
    """Return the labels whose estimates exceed their thresholds, for the instances ``first .. last - 1``.

    Parameters
    ----------
    histograms : Histograms
        The labels and counts of all leaves.
    reached : Reached
        The leaves that the instances reach.
    first : int
        Number of the first instance.
    last : int
        Number of the last instance plus 1.
    thresholds : float32 (m,)
        Threshold of each label.

    Returns
    -------
    counts : int64 (last - first,)
        Number of labels of each instance.
    labels : uint32, estimates : float32
        The labels of one instance after another, with ascending labels for each instance, and their estimates.

    Notes
    -----
    Shares are summed in float64, and each sum is rounded once. Two estimates that are equal as exact fractions
    therefore have equal float32 values, whichever trees contribute to them.
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
            listed = listed[: keep_averages_above(listed, sums, n_parts, thresholds)]
        # A sort takes about log2(n) steps for each of n found labels. If many labels are found, a scan of all labels is
        # faster than sorting.
        if 16 * listed.size < thresholds.size:
            sort(listed)
        else:
            n_found = 0
            for label in range(sums.size):  # the loop has no branch: the next label overwrites a label whose sum is 0
                found[n_found] = label
                n_found += sums[label] != 0.0
            listed = found[:n_found]
        counts[i - first] = list_above(listed, sums, n_parts, thresholds, labels[used:], estimates[used:])
        used += counts[i - first]
    return counts, labels[:used].copy(), estimates[:used].copy()


@njit
def average_top_k(histograms, reached, first, last, n_labels, k, label_weights):
    """Return the k labels with the largest scores for each of the instances ``first .. last - 1``.

    The score of a label is its estimate, multiplied by the label's weight if there are weights.

    Parameters
    ----------
    histograms, reached, first, last
        As for `average_above`.
    n_labels : int
        Number of labels m.
    k : int
        Number of labels for each instance.
    label_weights : float64 (m,) or (0,)
        Weight of each label. An empty array means that labels have no weights.

    Returns
    -------
    labels : int32 (last - first, k)
        Labels, best first. Ties go to the smaller label. If fewer than k labels have a score above 0, the rest of
        ``labels`` is -1.
    scores : float32 (last - first, k)
        The scores of the labels in ``labels``. A missing label has the score 0.
    """
    sums, found = np.zeros(n_labels, dtype=np.float64), np.empty(n_labels + 1, dtype=np.uint32)
    labels = np.full((last - first, k), -1, dtype=np.int32)
    scores = np.zeros((last - first, k), dtype=np.float32)
    for i in range(first, last):
        listed, n_parts = found[: add_leaves(histograms, reached, i, sums, found)], count_parts(histograms, reached, i)
        list_best(listed, sums, n_parts, label_weights, labels[i - first], scores[i - first])
    return labels, scores
