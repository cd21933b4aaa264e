"""Growth of one tree of an LdSM forest (ldsm2020, Algorithm 1)."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of_csr, unowned
from xmlc.kernels.counter_random import Stream, shuffle_stream, stream_key
from xmlc.kernels.csr import KernelCSR
from xmlc.models.averaged_forest import LEAF, Tree
from xmlc.models.ldsm._forest import create_children
from xmlc.models.ldsm._node import new_workspace
from xmlc.models.ldsm._regressors import TreeSettings, train_regressors


@njit
def build_tree(x, y, settings, key, work):
    """Grow a tree by Algorithm 1: split the leaf with the highest priority, the newest if tied.

    Unlike in the paper, a node stays a leaf if it has no two labels, or if its children do not
    divide it. Its random numbers depend only on the tree's stream ``key`` and on the node.

    Returns
    -------
    codes : list of int32
        Each node in the order of creation: its position in ``inner``, or ~l for position l in
        ``leaves``. Both lists begin with an extra entry without rows.
    children : list of int64
        M numbers for each inner node.
    levels : list of int32
    inner : list of tuple
        The result of `train_regressors`, in the order of the splits.
    leaves : list of tuple
        The labels of each leaf, their numbers of instances, and its number of instances.
    """
    root = np.arange(x.indptr.size - 1).astype(np.uint32)
    if settings.shuffled:
        shuffle_stream(root, key, Stream.LDSM_ORDER.value)
    nodes = [root]  # the list v.I of each node v, t of them
    codes = [np.int32(LEAF)]
    levels_of_nodes = [np.int32(1)]
    children = []
    levels = []
    none = np.zeros((0, settings.arity), dtype=np.float32)
    inner = [(root[:0], none, none, np.zeros((0, settings.epochs), dtype=np.float64))]
    leaves = [(root[:0], root[:0], root[:0])]
    queue = [(-priority_of(y, root, work), 0)]
    # "while Q is not empty and t < T_max"
    while len(queue) > 0 and len(nodes) < settings.max_nodes:
        priority, v = heappop(queue)  # "v <- Q.pop()"
        v = -v
        if priority == 0 or nodes[v].size < 2:
            continue
        # Algorithm 2
        regressors = train_regressors(x, y, nodes[v], settings, stream_key(key, v), work)
        features, weights, biases, _ = regressors
        # Algorithm 4
        sent, starts = create_children(x, nodes[v], features, weights, biases[0], work.dense)
        if not divides(starts, nodes[v].size):
            continue
        codes[v] = len(levels)
        levels.append(levels_of_nodes[v])
        inner.append(regressors)
        for m in range(settings.arity):  # "for m in ch"
            child = sent[starts[m] : starts[m + 1]].copy()
            # "Q.push(ch[m], priority)"
            heappush(queue, (-priority_of(y, child, work), -len(nodes)))
            children.append(len(nodes))
            nodes.append(child)
            codes.append(np.int32(LEAF))
            levels_of_nodes.append(levels_of_nodes[v] + np.int32(1))
        nodes[v] = root[:0]
    for v in range(len(nodes)):
        if codes[v] < 0:
            codes[v] = -len(leaves)
            labels, counts = label_histogram(y, nodes[v], work)
            leaves.append((labels, counts, np.full(1, nodes[v].size, dtype=np.uint32)))
    return codes, children, levels, inner, leaves


def grow_tree(
    x: KernelCSR, y: KernelCSR, d: int, m: int, settings: TreeSettings, seed: int, tree: int
) -> Tree:
    """Grow one tree, and return the arrays of its `MultiwayForest`, some of them in parts.

    Besides the `Workspace`, this takes 4 bytes for each pair of a leaf and one of its instances.
    """
    key = stream_key(np.int64(seed ^ Stream.LDSM_TREE), np.int64(tree))
    work = new_workspace(x, y, d, m, settings.arity, settings.adaptive)
    codes, children, levels, inner, leaves = build_tree(x, y, settings, np.uint64(key), work)
    features, weights, biases, objectives = map(list, zip(*inner))
    labels, counts, sizes = map(list, zip(*leaves))
    return {
        "inner_starts": np.array([0, len(levels)]),
        "tree_leaves": np.array([0, len(leaves) - 1]),
        "children": np.array(codes, dtype=np.int32)[
            np.array(children, dtype=np.int64).reshape(-1, settings.arity)
        ],
        "levels": np.array(levels, dtype=np.int32),
        "weight_starts": np.cumsum([part.size for part in features]),
        "leaf_starts": np.cumsum([part.size for part in labels]),
        **{"features": features, "weights": weights, "biases": biases, "objectives": objectives},
        **{"labels": labels, "counts": counts, "sizes": sizes},
    }


@njit
def divides(starts, n):
    for child in range(starts.size - 1):
        if not 0 < starts[child + 1] - starts[child] < n:
            return False
    return True


@njit
def priority_of(y, node, work):
    """Return the sum of a node's label histogram minus its maximum (Algorithm 1)."""
    total = np.int64(0)
    largest = np.int64(0)
    for count in label_histogram(y, node, work)[1]:
        total += np.int64(count)
        largest = max(largest, np.int64(count))
    return total - largest


@njit
def label_histogram(y, node, work):
    """Return a node's labels, by first appearance, and their numbers of instances, uint32."""
    n_found = 0
    y = unowned(y)
    counts_of_labels = unowned(work).label_numbers
    for i in node:
        for label in row_of_csr(y, i)[0]:
            n_found += counts_of_labels[label] == 0
            counts_of_labels[label] += np.uint32(1)
    labels = np.empty(n_found, dtype=np.uint32)
    counts = np.empty(n_found, dtype=np.uint32)
    n_found = 0
    for i in node:
        for label in row_of_csr(y, i)[0]:
            if counts_of_labels[label] > 0:
                labels[n_found] = label
                counts[n_found] = counts_of_labels[label]
                counts_of_labels[label] = 0
                n_found += 1
    return labels, counts
