"""The stream is learned, instance after instance (oplt2021, Algorithms 3 and 7): kernels."""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.models.oplt._blocks import empty_scratch, update_block
from xmlc.models.oplt._extend import add_label, has_capacity
from xmlc.models.oplt._robin_hood import bits_for
from xmlc.models.oplt._rows import slots_of
from xmlc.models.oplt._search import empty_queue, rank_labels
from xmlc.models.oplt.tree import ABOVE, MARK, N_LEARNED, NONE


@njit(cache=True, nogil=True)
def mark_positives(tree, labels, positives):
    """Find the nodes with z_v = 1 (equation (1)) of an instance and chain each one's positive children.

    Returns how many they are, the one above the root included, which is always positive; they stand in ``positives``,
    int32. Costs the lengths of the labels' paths, as far as they are not shared.
    """
    nodes, mark = tree.nodes, tree.counters[MARK] + 1
    tree.counters[MARK] = mark
    nodes[ABOVE].stamp, nodes[ABOVE].head = mark, NONE
    positives[0], count = ABOVE, 1
    for label in labels:
        node, child = np.int64(tree.leaves[label]), np.int64(NONE)
        while nodes[node].stamp != mark:
            nodes[node].stamp, nodes[node].head = mark, child
            if child != NONE:
                nodes[child].next_positive = NONE
            positives[count] = node
            count += 1
            child, node = node, np.int64(nodes[node].parent)
        if child != NONE:
            nodes[child].next_positive = nodes[node].head
            nodes[node].head = child
    return count


@njit(cache=True, nogil=True)
def has_capacity_to_learn(tree, positives, n_features):
    """Tell whether all positive nodes' blocks can take all features of an instance."""
    slots, entries = np.int64(0), np.int64(0)
    for v in positives:
        node = tree.nodes[v]
        if node.padded > 0:
            slots += n_features * (slots_of(node.padded) + 1)
            bits = bits_for(node.n_features + n_features, node.table_bits)
            if bits > node.table_bits:
                entries += np.int64(1) << bits
    return has_capacity(tree, 0, slots, entries)


@njit(cache=True, nogil=True)
def learn_instance(tree, ids, values, labels, scratch, positives, settings):
    """Extend the tree by the labels that are new, then update the classifiers (lines 2-3 of Algorithm 3).

    Returns
    -------
    bool
        False if the arrays were full: once they have grown, the same call goes on where this one stopped.
    """
    for label in labels:
        if tree.leaves[label] == NONE and not add_label(tree, ids, values, label, scratch, settings):
            return False
    found = positives[: mark_positives(tree, labels, positives)]
    if not has_capacity_to_learn(tree, found, ids.size):
        return False
    for v in found:
        if tree.nodes[v].padded > 0:
            update_block(tree, v, ids, values, scratch, settings.rate, settings.eps)
    tree.counters[N_LEARNED] += 1
    return True


@njit(cache=True, nogil=True)
def learn_rows(x, y, order, start, ranked, tree, settings, max_nonzeros, ranking, scores):
    """Learn the rows ``order[start:]`` one by one; before it learns one, rank its k best labels.

    Parameters
    ----------
    x, y : KernelCSR
    order : int64
    start, ranked : int
        First position to learn, and to rank.
    tree : OnlineTree
    settings : Settings
    max_nonzeros : int
        Of an instance.
    ranking : int32 (order.size, k), scores : float32 (order.size, k)
        Written: labels, best first, and their estimates. k may be 0.

    Returns
    -------
    start, ranked : int
        Where to go on: before the end if the tree's arrays are full.
    """
    scratch, queue = empty_scratch(max_nonzeros, tree), empty_queue(tree)
    positives = np.empty(tree.nodes.size, dtype=np.int32)
    for position in range(start, order.size):
        row = order[position]
        ids, values = x.indices[x.indptr[row] : x.indptr[row + 1]], x.data[x.indptr[row] : x.indptr[row + 1]]
        labels = y.indices[y.indptr[row] : y.indptr[row + 1]]
        if position >= ranked and ranking.shape[1] > 0:
            rank_labels(tree, ids, values, scratch, queue, ranking[position], scores[position])
        if not learn_instance(tree, ids, values, labels, scratch, positives, settings):
            return position, position + 1
    return order.size, order.size
