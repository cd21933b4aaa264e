"""Growth of one tree of a FastXML forest (Prabhu and Varma, KDD 2014, Algorithms 1-2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import stable_order, unowned
from xmlc.kernels.counter_random import Stream, random_bits, stream_key
from xmlc.kernels.csr import KernelCSR
from xmlc.models.averaged_forest import Tree
from xmlc.models.fastxml._forest import divide
from xmlc.models.fastxml._logistic import StoppingCriteria, fit_logistic
from xmlc.models.fastxml._node import gather_columns, labels_of_leaf, new_workspace, number_labels
from xmlc.models.fastxml._partition import partition_by_ndcg


class TreeSettings(NamedTuple):
    """Settings of the growth of a tree."""

    label_weights: np.ndarray  # gain of each label in nDCG, float32 (m,)
    ideal: np.ndarray  # result of `ideal_table` or `dcg_table`, int64
    discounts: np.ndarray  # result of `discount_table`, float64
    max_leaf: int  # a node with at most this number of instances is a leaf
    # a leaf keeps at most this number of labels, with the largest weighted counts
    labels_per_leaf: int
    stopping: StoppingCriteria = StoppingCriteria()


@njit
def build_tree(x, y, work, settings, seed, tree):
    """Grow a binary tree, with nodes in preorder, the positive side before the negative one.

    The random numbers of a node depend only on the seed, the tree's number and the node's number.

    Returns
    -------
    children : list of int32
        The root, then the children of each inner node, the negative side first, as in
        `BinaryForest`.
    inner : list of (uint32, float32, float32 (1,))
        Ascending features, weights and bias of each inner node.
    leaves : list of (uint32, uint32, uint32 (1,))
        Ascending labels of each leaf, their numbers of instances, and its number of instances.
        ``inner`` and ``leaves`` begin with an extra entry without numbers.
    """
    key = stream_key(np.uint64(seed) ^ np.uint64(Stream.FASTXML_TREE.value), tree)
    children = [np.int32(0)]
    none = work.features[:0]
    inner = [(none, work.margins[:0], work.margins[:0])]
    leaves = [(none, none, none)]
    # start and end of each node in ``work.order``, and its index in ``children``
    todo = [(0, x.indptr.size - 1, 0)]
    while len(todo) > 0:
        start, end, place = todo.pop()
        node = work.order[start:end]
        middle = start
        if node.size > settings.max_leaf:
            node_key = stream_key(key, len(inner) + len(leaves))
            n_negative, classifier = split_node(x, y, node, settings, node_key, work)
            middle += n_negative
        if start < middle < end:
            children[place] = len(inner) - 1
            inner.append(classifier)
            todo.append((start, middle, len(children)))
            todo.append((middle, end, len(children) + 1))
            children.extend([np.int32(0), np.int32(0)])
        else:
            children[place] = -len(leaves)
            labels, counts = labels_of_leaf(
                y, node, settings.label_weights, work.label_counts, settings.labels_per_leaf
            )
            leaves.append((labels, counts, np.array([node.size], dtype=np.uint32)))
    return children, inner, leaves


@njit
def split_node(x, y, node, settings, key, work):
    """Assign a node's instances to two sides by nDCG, fit a classifier that separates them, and
    order the instances by the side that it predicts.

    Returns
    -------
    n_negative : int
        The instances ``node[:n_negative]`` go to the negative side. A node with an empty side
        becomes a leaf.
    classifier : (uint32, float32, float32 (1,))
    """
    x = unowned(x)
    y = unowned(y)
    work = unowned(work)
    side = work.side[: node.size]
    for i in range(node.size):
        side[i] = 1 if random_bits(key, i) & np.uint64(1) else -1
    starts, labels, found = number_labels(y, node, work.label_counts)
    partition_by_ndcg(
        starts, labels, settings.label_weights[found], settings.ideal, settings.discounts, side
    )
    n_positive = 0
    for i in range(side.size):
        n_positive += side[i] > 0
    if n_positive == 0 or n_positive == node.size:
        none = np.empty(0, dtype=np.float32)
        return 0, (found[:0], none, none)
    share = n_positive / node.size
    # divided by the share of the instance's side, times C = 1 as in the authors' program
    costs = np.float32(1.0 / share), np.float32(1.0 / (1.0 - share))
    n_columns = gather_columns(x, node, side, costs, work)
    all_weights = np.empty(n_columns, dtype=np.float32)
    columns = KernelCSR(work.starts[: n_columns + 1], work.rows, work.values)
    fit_logistic(
        columns, side, costs, settings.stopping, ~key, all_weights, work.margins[: node.size]
    )
    kept = np.flatnonzero(all_weights[:-1])
    kept = kept[stable_order(work.features[kept])]
    features = work.features[kept]
    weights = all_weights[kept]
    bias = all_weights[-1:].copy()
    return divide(x, node, features, weights, bias[0], work.dense, work.moved), (
        features,
        weights,
        bias,
    )


def grow_tree(
    x: KernelCSR, y: KernelCSR, n_features: int, settings: TreeSettings, seed: int, tree: int
) -> Tree:
    """Grow a tree, and return the arrays of its `BinaryForest`, some of them in parts."""
    work = new_workspace(x.indptr.size - 1, settings.label_weights.size, n_features, x.indices.size)
    children, inner, leaves = build_tree(x, y, work, settings, seed, tree)
    features, weights, biases = map(list, zip(*inner))
    labels, counts, sizes = map(list, zip(*leaves))
    codes = np.array(children, dtype=np.int32)
    return {
        "roots": codes[:1],
        "children": codes[1:],
        "weight_starts": np.cumsum([part.size for part in features]),
        "leaf_starts": np.cumsum([part.size for part in labels]),
        **{"features": features, "weights": weights, "biases": biases},
        **{"labels": labels, "counts": counts, "sizes": sizes},
    }
