"""Find the leaves that instances reach: kernel."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed, copy_into
from xmlc.kernels.sums import sparse_dot
from xmlc.runtime.kernel_cache import njit


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
    indptr, indices, data, biases, starts = x.indptr, x.indices, x.data, forest.biases, forest.weight_starts
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
        features = forest.features[starts[node] : starts[node + 1]]
        weights = forest.weights[starts[node] : starts[node + 1]]
        for k in range(features.size):
            dense[features[k]] = weights[k]
        middle, n_positive = start, 0
        for place in range(start, end):
            i = order[place]
            ids, values = borrowed(indices, indptr[i], indptr[i + 1]), borrowed(data, indptr[i], indptr[i + 1])
            is_positive = biases[node] + sparse_dot(ids, values, dense) > 0
            # Without a branch, which would be foretold wrongly: what is written to the wrong side is overwritten.
            positive[n_positive] = i
            order[middle] = i
            n_positive += is_positive
            middle += not is_positive
        copy_into(order[middle:], positive[:n_positive])
        for feature in features:
            dense[feature] = 0
        if middle > start:
            todo.append((forest.children[2 * node], start, middle))
        if middle < end:
            todo.append((forest.children[2 * node + 1], middle, end))
