"""Conversion of an online tree to a PLT, and rankings of one instance of a stream. Kernels."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import sort
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.top_k import key_estimate, key_number, rank_key
from xmlc.models.oplt.rows import hash_table_of, score_block
from xmlc.models.oplt.tree import ABOVE, N_NODES, NONE, ROOT, SLOT, OnlineTree
from xmlc.models.plt.compact import starts_of
from xmlc.models.plt.weights import NodeWeights


def frozen(tree: OnlineTree) -> NodeWeights:
    """Return the weights of a tree with labels in the format of `PLT`, without auxiliary ones."""
    nodes, children = breadth_first(tree)
    parents = np.append(np.int32(ABOVE), nodes)
    degrees = tree.nodes["degree"][parents].astype(np.int64)
    n_features = np.where(degrees > 0, tree.nodes["n_features"][parents], 0).astype(np.int64)
    feature_starts = starts_of(n_features)
    weight_starts = starts_of(n_features * degrees)
    weights = NodeWeights(
        children=children,
        label=tree.nodes["label"][nodes],
        feature_starts=feature_starts,
        features=np.empty(feature_starts[-1], dtype=np.uint32),
        weight_starts=weight_starts,
        weights=np.empty(weight_starts[-1], dtype=np.float32),
        bias=np.empty(nodes.size, dtype=np.float32),
    )
    fill_weights(tree, parents, weights)
    return weights


@njit
def breadth_first(tree):
    """Return the nodes of an online tree in breadth-first order, int32, and the array ``children``
    of their `LabelTree`.
    """
    n_nodes = tree.counters[N_NODES] - 1  # without the node above the root
    nodes = np.empty(n_nodes, dtype=np.int32)
    children = np.empty(n_nodes + 1, dtype=np.int64)
    nodes[0] = ROOT
    end = 1
    for t in range(n_nodes):
        children[t] = end
        child = tree.nodes[nodes[t]].first_child
        while child != NONE:
            nodes[end] = child
            end += 1
            child = tree.nodes[child].next_sibling
    children[n_nodes] = end
    return nodes, children


@njit
def fill_weights(tree, parents, plt):
    """Write the features, weights and biases of all blocks to ``plt``.

    The children of ``parents``, int32 (n_nodes + 1,), form the blocks, in this order.
    """
    first = 0
    for b in range(parents.size):
        v = np.int64(parents[b])
        node = tree.nodes[v]
        if node.degree == 0:
            continue
        columns = np.empty(node.degree, dtype=np.int64)
        child = np.int64(node.first_child)
        for c in range(columns.size):
            columns[c] = tree.nodes[child].column
            plt.bias[first + c] = tree.rows[node.bias * SLOT + columns[c]]
            child = np.int64(tree.nodes[child].next_sibling)
        first += columns.size
        entries = hash_table_of(tree, v)
        entries = entries[entries != 0]
        sort(entries)  # by feature, which is the upper half of an entry
        place = plt.weight_starts[b]
        for f in range(entries.size):
            plt.features[plt.feature_starts[b] + f] = entries[f] >> np.uint64(32)
            row = np.int64(entries[f] & np.uint64(0xFFFFFFFF)) * SLOT
            for column in columns:
                plt.weights[place] = tree.rows[row + column]
                place += 1


@njit
def rank_labels(tree, ids, values, scratch, ranking, estimates):
    """Write the labels with the largest estimates for one instance to ``ranking``, int32 (k,).

    The search is best-first, and reaches the best leaves first because no node has a larger
    estimate than its parent. If there are fewer than k labels, ``ranking`` ends with NONE, and
    ``estimates``, float32 (k,), with 0.
    """
    nodes = tree.nodes
    n_found = 0
    ranking[:] = NONE
    estimates[:] = 0.0
    if nodes[ROOT].n_leaves == 0:
        return
    # keys are negated because heapq pops the smallest
    queue = [-rank_key(np.int32(ABOVE), np.float32(1.0))]
    while len(queue) > 0 and n_found < ranking.size:
        key = -heappop(queue)
        v = np.int64(key_number(key))
        estimate = key_estimate(key)
        if nodes[v].label != NONE:
            ranking[n_found] = nodes[v].label
            estimates[n_found] = estimate
            n_found += 1
            continue
        scores = score_block(tree, v, ids, values, scratch)
        child = np.int64(nodes[v].first_child)
        while child != NONE:
            heappush(queue, -rank_key(child, estimate * sigmoid(scores[nodes[child].column])))
            child = np.int64(nodes[child].next_sibling)
