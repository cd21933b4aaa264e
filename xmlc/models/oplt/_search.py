"""Search in an online tree as it stands, for one instance: kernels (plt2016, Algorithm 4 and Section 5.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.heaps import pop_node, push_node
from xmlc.models.oplt._blocks import score_block
from xmlc.models.oplt.tree import ABOVE, NONE, ROOT
from xmlc.runtime.kernel_cache import njit


class Queue(NamedTuple):
    """Room for nodes to expand, as many as there are, and their estimates."""

    nodes: np.ndarray
    estimates: np.ndarray


@njit(cache=True, nogil=True)
def empty_queue(tree):
    """Make a `Queue`; memory that no search reaches is never touched."""
    return Queue(np.empty(tree.nodes.size, dtype=np.int32), np.empty(tree.nodes.size, dtype=np.float32))


@njit(cache=True, nogil=True)
def rank_labels(tree, ids, values, scratch, queue, ranking, estimates):
    """Find the labels with the largest estimates of one instance, best first, ties to the older node.

    Best-first search: a node's estimate is no larger than its parent's, so that the first leaves to be met are the
    best.

    Parameters
    ----------
    ranking : int32 (k,), estimates : float32 (k,)
        Written; NONE and 0 where there are fewer than k labels.
    """
    nodes, found = tree.nodes, 0
    ranking[:], estimates[:] = NONE, 0.0
    if nodes[ROOT].n_leaves == 0:
        return
    queue.nodes[0], queue.estimates[0], size = ABOVE, 1.0, 1
    while size > 0 and found < ranking.size:
        v, estimate = np.int64(queue.nodes[0]), queue.estimates[0]
        pop_node(queue.nodes, queue.estimates, size)
        size -= 1
        if nodes[v].label != NONE:
            ranking[found], estimates[found] = nodes[v].label, estimate
            found += 1
            continue
        scores = score_block(tree, v, ids, values, scratch)
        child = np.int64(nodes[v].first_child)
        while child != NONE:
            push_node(queue.nodes, queue.estimates, size, child, estimate * sigmoid(scores[nodes[child].column]))
            size += 1
            child = np.int64(nodes[child].next_sibling)


@njit(cache=True, nogil=True)
def labels_above(tree, ids, values, scratch, queue, found):
    """Find the labels of one instance whose estimate is greater than their threshold, the node's ``bound``.

    Returns how many; they stand in ``found``, int32, in the order of the search.
    """
    nodes, count = tree.nodes, 0
    if nodes[ROOT].n_leaves == 0:
        return count
    queue.nodes[0], queue.estimates[0], size = ABOVE, 1.0, 1
    while size > 0:
        size -= 1
        v, estimate = np.int64(queue.nodes[size]), queue.estimates[size]
        if nodes[v].label != NONE:
            found[count] = nodes[v].label
            count += 1
            continue
        scores = score_block(tree, v, ids, values, scratch)
        child = np.int64(nodes[v].first_child)
        while child != NONE:
            product = estimate * sigmoid(scores[nodes[child].column])
            if product > nodes[child].bound:
                queue.nodes[size], queue.estimates[size] = child, product
                size += 1
            child = np.int64(nodes[child].next_sibling)
    return count
