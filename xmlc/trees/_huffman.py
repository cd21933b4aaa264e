"""Huffman merging in linear time: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def merge_lightest(order, frequencies, arity):
    """Merge the lightest nodes, ``arity`` at a time, until one is left.

    Merged nodes come into being in ascending weight, so two queues, leaves and merged nodes, take the place of a
    heap. Of equally light nodes the leaf goes first, then the older: this is also what keeps the tree shallow.

    Parameters
    ----------
    order : int64 (m,)
        Labels by ascending frequency, ties to the smaller label; at least two.
    frequencies : float64 (m,)
    arity : int

    Returns
    -------
    taken : int64 (n_nodes - 1,)
        Nodes in the order in which they were merged; label l is node l, the i-th merged node is m + i.
    starts : int64 (n_merged + 1,)
        Where in ``taken`` the nodes of each merge start.
    """
    m = order.size
    n_merged = (m - 1 + arity - 2) // (arity - 1)
    taken = np.empty(m + n_merged - 1, dtype=np.int64)
    starts = np.zeros(n_merged + 1, dtype=np.int64)
    weights = np.zeros(n_merged, dtype=np.float64)
    next_leaf, next_merged = 0, 0
    # Only the first, lightest merge may have fewer than arity nodes: it is the one that stands deepest.
    width = 2 + (m - 2) % (arity - 1)
    for new in range(n_merged):
        for i in range(starts[new], starts[new] + width):
            leaf_first = next_leaf < m and (next_merged == new or frequencies[order[next_leaf]] <= weights[next_merged])
            if leaf_first:
                taken[i] = order[next_leaf]
                weights[new] += frequencies[order[next_leaf]]
                next_leaf += 1
            else:
                taken[i] = m + next_merged
                weights[new] += weights[next_merged]
                next_merged += 1
        starts[new + 1] = starts[new] + width
        width = arity
    return taken, starts


@njit(cache=True, nogil=True)
def number_breadth_first(taken, starts, m):
    """Number the nodes of `merge_lightest` in breadth-first order.

    Returns
    -------
    children : int64 (n_nodes + 1,), label : int32 (n_nodes,)
        The arrays of `LabelTree`.
    """
    n_nodes = taken.size + 1
    children = np.empty(n_nodes + 1, dtype=np.int64)
    label = np.full(n_nodes, -1, dtype=np.int32)
    queue = np.empty(n_nodes, dtype=np.int64)
    queue[0] = n_nodes - 1  # the last merge is the root
    end = 1
    for node in range(n_nodes):
        children[node] = end
        if queue[node] < m:
            label[node] = queue[node]
        else:
            merge = queue[node] - m
            for i in range(starts[merge], starts[merge + 1]):
                queue[end] = taken[i]
                end += 1
    children[n_nodes] = end
    return children, label
