"""Find the leaves that instances reach, and average what they say: kernels (ldsm2020, Algorithm 5)."""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.kernels.top_k import insert_best
from xmlc.models.ldsm._route import divides, route, sent_to


@njit(cache=True, nogil=True)
def find_leaves(x, first, last, forest, root, d, n_products):
    """Send a block of instances down one tree, each to one leaf or several.

    Parameters
    ----------
    x : KernelCSR
    first, last : int
        The block.
    forest : Forest
    root : int
        The tree's root: an inner node, or ~leaf.
    d : int
        Number of features.
    n_products : int64 (last - first,)
        Overwritten by the number of inner products computed for each instance.

    Returns
    -------
    starts : int64 (last - first + 1,)
    leaves : int32 (starts[-1],)
        Leaves of instance i: ``leaves[starts[i] : starts[i + 1]]``.

    Notes
    -----
    All instances of the block that reach a node are treated together: its weights are laid out densely once.
    """
    arity = forest.biases.shape[1]
    dense = np.zeros(d * arity, dtype=np.float32)
    starts = np.zeros(last - first + 2, dtype=np.int64)
    n_products[:] = 0
    todo = [(np.int64(root), np.arange(first, last).astype(np.uint32))]
    reached = todo[:0]
    while len(todo) > 0:
        node, instances = todo.pop()
        if instances.size == 0:
            continue
        if node < 0:
            reached.append((node, instances))
            for i in instances:
                starts[np.int64(i) - first + 2] += 1
            continue
        own = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
        chosen, sizes = np.empty(instances.size, dtype=np.uint8), np.empty(arity, dtype=np.int64)
        route(x, instances, forest.features[own], forest.weights[own], forest.biases[node], dense, chosen)
        for i in instances:
            n_products[np.int64(i) - first] += arity
        divides(chosen, sizes)
        for j in range(arity):
            sent = np.empty(sizes[j], dtype=np.uint32)
            sent_to(instances, chosen, j, sent)
            todo.append((np.int64(forest.children[node, j]), sent))
    for i in range(1, starts.size):
        starts[i] += starts[i - 1]
    leaves = np.empty(starts[-1], dtype=np.int32)
    for node, instances in reached:
        for i in instances:
            leaves[starts[np.int64(i) - first + 1]] = ~node
            starts[np.int64(i) - first + 1] += 1
    return starts[:-1].copy(), leaves


@njit(cache=True, nogil=True)
def leaf_weights(forest, per_label):
    """Return what one count of each leaf is worth, float64 (n_leaves,): 1 / sum of its histogram, or 1 / its size."""
    weights = np.zeros(forest.sizes.size, dtype=np.float64)
    for leaf in range(weights.size):
        if per_label:
            total = np.float64(forest.counts[forest.leaf_starts[leaf] : forest.leaf_starts[leaf + 1]].sum())
        else:
            total = np.float64(forest.sizes[leaf])
        weights[leaf] = 1.0 / max(1.0, total)
    return weights


@njit(cache=True, nogil=True)
def add_leaves(forest, weights, starts, leaves, i, sums, found):
    """Sum the shares of all labels over the leaves of instance i, the mean for each tree; list the labels.

    Parameters
    ----------
    forest : Forest
    weights : float64 (n_leaves,)
        As from `leaf_weights`.
    starts : int64 (n_trees, n + 1), leaves : int32
        Leaves of instance i in tree t: ``leaves[starts[t, i] : starts[t, i + 1]]``.
    i : int
    sums : float64 (m,)
        Zero before; the caller clears what is listed.
    found : uint32 (m,)
        Room for the labels with a positive sum.

    Returns
    -------
    int
        Their number.
    """
    n_found = 0
    for tree in range(starts.shape[0]):
        own = leaves[starts[tree, i] : starts[tree, i + 1]]
        for leaf in own:
            labels = forest.labels[forest.leaf_starts[leaf] : forest.leaf_starts[leaf + 1]]
            counts = forest.counts[forest.leaf_starts[leaf] : forest.leaf_starts[leaf + 1]]
            one = weights[leaf] / own.size
            for k in range(labels.size):
                if sums[labels[k]] == 0.0:
                    found[n_found] = labels[k]
                    n_found += 1
                sums[labels[k]] += np.float64(counts[k]) * one
    return n_found


@njit(cache=True, nogil=True)
def average_above(forest, weights, starts, leaves, first, last, thresholds):
    """List the labels whose estimates exceed their thresholds, for a block of instances.

    Returns
    -------
    counts : int64 (last - first,)
        Number of labels of each instance.
    labels : uint32, estimates : float32
        The labels, instance after instance.
    """
    sums, found = np.zeros(thresholds.size, dtype=np.float64), np.empty(thresholds.size, dtype=np.uint32)
    room = np.int64(0)
    for i in range(first, last):
        own = np.int64(0)
        for tree in range(starts.shape[0]):
            for leaf in leaves[starts[tree, i] : starts[tree, i + 1]]:
                own += forest.leaf_starts[leaf + 1] - forest.leaf_starts[leaf]
        room += min(own, thresholds.size)
    counts = np.zeros(last - first, dtype=np.int64)
    labels, estimates = np.empty(room, dtype=np.uint32), np.empty(room, dtype=np.float32)
    used = 0
    for i in range(first, last):
        start = used
        for label in found[: add_leaves(forest, weights, starts, leaves, i, sums, found)]:
            estimate = np.float32(sums[label] / starts.shape[0])
            sums[label] = 0.0
            if estimate > thresholds[label]:
                labels[used] = label
                estimates[used] = estimate
                used += 1
        counts[i - first] = used - start
    return counts, labels[:used].copy(), estimates[:used].copy()


@njit(cache=True, nogil=True)
def average_top_k(forest, weights, starts, leaves, first, last, n_labels, k):
    """Find the k labels with the largest estimates, ties to the smaller label, for a block of instances.

    Returns
    -------
    labels : int32 (last - first, k)
        Best first; -1 where there are fewer than k.
    estimates : float32 (last - first, k)
    """
    sums, found = np.zeros(n_labels, dtype=np.float64), np.empty(n_labels, dtype=np.uint32)
    labels = np.full((last - first, k), -1, dtype=np.int32)
    estimates = np.zeros((last - first, k), dtype=np.float32)
    for i in range(first, last):
        best, best_estimates = labels[i - first], estimates[i - first]
        for label in found[: add_leaves(forest, weights, starts, leaves, i, sums, found)]:
            estimate = np.float32(sums[label] / starts.shape[0])
            sums[label] = 0.0
            insert_best(best, best_estimates, np.int32(label), estimate)
    return labels, estimates
