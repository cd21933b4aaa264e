"""Find the leaves that instances reach, and average what they say: kernels."""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.kernels.arrays import copy_into
from xmlc.kernels.sums import sparse_dot
from xmlc.kernels.top_k import insert_best


@njit(cache=True, nogil=True)
def find_leaves(x, first, last, root, forest, n_features, leaves):
    """Send a block of instances down one tree.

    Parameters
    ----------
    x : KernelCSR
        Instances.
    first, last : int
        The block.
    root : int
        The tree's root: an inner node, or ~leaf.
    forest : Forest
    n_features : int
    leaves : int32 (last - first,)
        Overwritten by the leaf that each instance reaches.

    Notes
    -----
    All instances of the block that reach a node are treated together: its sparse weights are laid out densely once,
    and each non-zero of an instance then costs one read of 8 bytes and one from the cache.
    """
    order = np.arange(first, last)
    dense = np.zeros(n_features, dtype=np.float32)
    positive = np.empty(order.size, dtype=np.int64)
    todo = [(np.int32(root), np.int64(0), np.int64(order.size))]
    while len(todo) > 0:
        node, start, end = todo.pop()
        if node < 0:
            for i in order[start:end]:
                leaves[i - first] = ~node
            continue
        features = forest.features[forest.weight_starts[node] : forest.weight_starts[node + 1]]
        weights = forest.weights[forest.weight_starts[node] : forest.weight_starts[node + 1]]
        for k in range(features.size):
            dense[features[k]] = weights[k]
        middle, n_positive = start, 0
        for place in range(start, end):
            i = order[place]
            ids = x.indices[x.indptr[i] : x.indptr[i + 1]]
            values = x.data[x.indptr[i] : x.indptr[i + 1]]
            if forest.biases[node] + sparse_dot(ids, values, dense) > 0:
                positive[n_positive] = i
                n_positive += 1
            else:
                order[middle] = i
                middle += 1
        copy_into(order[middle:], positive[:n_positive])
        for feature in features:
            dense[feature] = 0
        if middle > start:
            todo.append((forest.children[2 * node], start, middle))
        if middle < end:
            todo.append((forest.children[2 * node + 1], middle, end))


@njit(cache=True, nogil=True)
def add_leaves(forest, leaves, i, sums, found):
    """Sum the shares of all labels over the leaves that instance i reaches; list the labels.

    Parameters
    ----------
    forest : Forest
    leaves : int32 (n_trees, n)
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
    for tree in range(leaves.shape[0]):
        leaf = leaves[tree, i]
        labels = forest.labels[forest.leaf_starts[leaf] : forest.leaf_starts[leaf + 1]]
        counts = forest.counts[forest.leaf_starts[leaf] : forest.leaf_starts[leaf + 1]]
        one = 1.0 / np.float64(forest.sizes[leaf])
        for k in range(labels.size):
            label = labels[k]
            if sums[label] == 0.0:
                found[n_found] = label
                n_found += 1
            sums[label] += np.float64(counts[k]) * one
    return n_found


@njit(cache=True, nogil=True)
def average_above(forest, leaves, first, last, thresholds):
    """List the labels whose estimates exceed their thresholds, for a block of instances.

    Parameters
    ----------
    forest : Forest
    leaves : int32 (n_trees, n)
        Leaf that each instance reaches in each tree.
    first, last : int
        The block.
    thresholds : float32 (m,)

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
    sums, found = np.zeros(thresholds.size, dtype=np.float64), np.empty(thresholds.size, dtype=np.uint32)
    room = np.int64(0)
    for i in range(first, last):
        own = np.int64(0)
        for tree in range(leaves.shape[0]):
            own += forest.leaf_starts[leaves[tree, i] + 1] - forest.leaf_starts[leaves[tree, i]]
        room += min(own, thresholds.size)
    counts = np.zeros(last - first, dtype=np.int64)
    labels, estimates = np.empty(room, dtype=np.uint32), np.empty(room, dtype=np.float32)
    used = 0
    for i in range(first, last):
        n_found = add_leaves(forest, leaves, i, sums, found)
        listed = found[:n_found]
        # Sorting costs some log2(n) steps a label; where many labels are found, looking through all is cheaper.
        if 16 * n_found < thresholds.size:
            listed.sort()
        else:
            listed = np.flatnonzero(sums).astype(np.uint32)
        start = used
        for label in listed:
            estimate = np.float32(sums[label] / leaves.shape[0])
            sums[label] = 0.0
            if estimate > thresholds[label]:
                labels[used] = label
                estimates[used] = estimate
                used += 1
        counts[i - first] = used - start
    return counts, labels[:used].copy(), estimates[:used].copy()


@njit(cache=True, nogil=True)
def average_top_k(forest, leaves, first, last, n_labels, k):
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
        for label in found[: add_leaves(forest, leaves, i, sums, found)]:
            estimate = np.float32(sums[label] / leaves.shape[0])
            sums[label] = 0.0
            insert_best(best, best_estimates, np.int32(label), estimate)
    return labels, estimates
