"""Find the leaves that instances reach, and what leaves are worth: kernels (ldsm2020, Algorithm 5)."""

from __future__ import annotations

import numpy as np

from xmlc.models.ldsm._route import divides, route, sent_to
from xmlc.runtime.kernel_cache import njit


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
