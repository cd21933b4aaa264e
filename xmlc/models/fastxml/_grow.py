"""Grow one tree of the forest: kernels (Prabhu and Varma, KDD 2014, Algorithms 1-2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.arrays import copy_into, unowned
from xmlc.kernels.counter_random import random_bits, stream_key
from xmlc.kernels.streams import Stream
from xmlc.models.fastxml._columns import gather_columns
from xmlc.models.fastxml._labels import count_labels, number_labels
from xmlc.models.fastxml._logistic import fit_logistic
from xmlc.models.fastxml._partition import partition_by_ndcg
from xmlc.runtime.kernel_cache import njit


class Workspace(NamedTuple):
    """Memory that all nodes of a tree use one after the other; `gather_columns` says what its part is for."""

    order: np.ndarray
    side: np.ndarray
    margins: np.ndarray
    label_counts: np.ndarray
    feature_counts: np.ndarray
    bounds: np.ndarray
    features: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray


class Accesses(NamedTuple):
    """How much of memory a node's training goes through, counted.

    Attributes
    ----------
    labels, rounds : int
        Labels of its instances, and the rounds of `partition_by_ndcg`, each of which reads them.
    columns, entries : int
        Columns of its features that may get a weight, and their non-zeros.
    derivatives, visited, moved : int
        See `fit_logistic`.
    """

    labels: int
    rounds: int
    columns: int
    entries: int
    derivatives: int
    visited: int
    moved: int


@njit(cache=True, nogil=True)
def new_workspace(n, m, d, nnz):
    """Return a `Workspace` for n instances with nnz non-zeros: 8 nnz + 17 n + 24 d + 4 m bytes."""
    return Workspace(
        np.arange(n).astype(np.uint32),
        np.empty(n, dtype=np.int8),
        np.empty(n, dtype=np.float32),
        np.zeros(m, dtype=np.uint32),
        np.zeros(d, dtype=np.uint32),
        np.zeros((d, 2), dtype=np.float32),
        np.empty(d + 1, dtype=np.uint32),
        np.empty(d + 2, dtype=np.int64),
        np.empty(nnz + n, dtype=np.uint32),
        np.empty(nnz + n, dtype=np.float32),
    )


@njit(cache=True, nogil=True)
def grow_tree(x, y, n_features, label_weights, ideal, discounts, seed, tree, cost, max_leaf, labels_per_leaf, limits):
    """Grow a tree, nodes in preorder, the child on the positive side first.

    Parameters
    ----------
    x, y : KernelCSR
        Instances, n x d, and label sets, n x m.
    n_features : int
        d.
    label_weights : float32 (m,)
        Gain of each label in nDCG.
    ideal, discounts : int64, float64
        Tables of `_partition`.
    seed, tree : int
        The random numbers of a node depend on the seed, the number of the tree and the node's place alone.
    cost : float
        C; a positive instance costs C / share of the positive ones, a negative one likewise.
    max_leaf : int
        A node with at most so many instances becomes a leaf.
    labels_per_leaf : int
        At most so many labels are kept in a leaf, those with the largest weighted counts.
    limits : SolverLimits

    Returns
    -------
    children : int32 (2 * n_inner,)
        Child of inner node t on the negative and on the positive side: the number of an inner node, or ~leaf.
    weight_starts : int64 (n_inner + 1,), features : uint32, weights : float32, biases : float32 (n_inner,)
        Sparse weights of each inner node, features ascending.
    leaf_starts : int64 (n_leaves + 1,), labels : uint32, counts : uint32, sizes : uint32 (n_leaves,)
        Labels of each leaf, ascending, with the number of its instances that carry them; its number of instances.
    """
    n = x.indptr.size - 1
    work = new_workspace(n, label_weights.size, n_features, x.indices.size)
    key = stream_key(np.uint64(seed) ^ np.uint64(Stream.FASTXML_TREE.value), tree)
    children, biases, sizes = [np.int32(0)], [np.float32(0)], [np.uint32(0)]
    features, weights = [work.features[:0].copy()], [work.margins[:0].copy()]
    labels, counts = [work.features[:0].copy()], [work.features[:0].copy()]
    todo = [(0, n, 0)]  # first and last place in the order, and where among the children the node is noted
    while len(todo) > 0:
        start, end, place = todo.pop()
        node = work.order[start:end]
        n_negative, own = 0, node[:0]
        if node.size > max_leaf:
            node_key = stream_key(key, len(biases) + len(sizes))
            n_negative, own, own_weights, bias, _ = split_node(
                x, y, node, label_weights, ideal, discounts, node_key, cost, limits, work
            )
        if 0 < n_negative < node.size:
            children[place] = len(biases) - 1
            todo.append((start, start + n_negative, len(children)))
            todo.append((start + n_negative, end, len(children) + 1))
            children.extend([np.int32(0), np.int32(0)])
            biases.append(bias)
            features.append(own)
            weights.append(own_weights)
        else:
            children[place] = ~(len(sizes) - 1)
            own_labels, own_counts = count_labels(y, node, label_weights, work.label_counts, labels_per_leaf)
            sizes.append(np.uint32(node.size))
            labels.append(own_labels)
            counts.append(own_counts)
    return (
        np.array(children)[1:],
        starts_of(features),
        joined(features),
        joined(weights),
        np.array(biases)[1:],
        starts_of(labels),
        joined(labels),
        joined(counts),
        np.array(sizes)[1:],
    )


@njit(cache=True, nogil=True)
def split_node(x, y, node, label_weights, ideal, discounts, key, cost, limits, work):
    """Choose a node's sides by nDCG, separate them by a sparse linear classifier, and order the node by its answer.

    Returns
    -------
    n_negative : int
        ``node[:n_negative]`` go to the negative side; 0 or all where there is no split.
    features : uint32, weights : float32, bias : float32
        The classifier's weights that are not zero, features ascending.
    accesses : Accesses
    """
    x, y, work, nothing = unowned(x), unowned(y), unowned(work), np.empty(0, dtype=np.uint32)
    side, margins = work.side[: node.size], work.margins[: node.size]
    for i in range(node.size):
        side[i] = 1 if random_bits(key, i) & np.uint64(1) else -1
    starts, labels, found = number_labels(y, node, work.label_counts)
    _, n_rounds = partition_by_ndcg(starts, labels, label_weights[found], ideal, discounts, side)
    n_positive = np.sum(side > 0)
    if n_positive == 0 or n_positive == node.size:
        return 0, nothing, np.empty(0, dtype=np.float32), np.float32(0), Accesses(labels.size, n_rounds, 0, 0, 0, 0, 0)
    share = n_positive / node.size
    costs = np.float32(cost / share), np.float32(cost / (1.0 - share))
    n_columns = gather_columns(
        x.indptr, x.indices, x.data, node, side, costs, work.feature_counts, work.bounds,
        work.features, work.starts, work.rows, work.values,
    )  # fmt: skip
    weights = np.empty(n_columns, dtype=np.float32)
    columns = work.starts[: n_columns + 1], work.rows, work.values
    solved = fit_logistic(*columns, side, costs, limits, ~key, weights, margins)
    kept = np.flatnonzero(weights[: n_columns - 1])
    features = work.features[:n_columns][kept]
    ascending = np.argsort(features)
    accesses = Accesses(labels.size, n_rounds, n_columns, work.starts[n_columns], *solved)
    return divide(node, margins), features[ascending], weights[kept][ascending], weights[n_columns - 1], accesses


@njit(cache=True, nogil=True)
def divide(node, margins):
    """Order a node's instances by side, the negative side first, each side in the order it had; return its size."""
    positive = np.empty(node.size, dtype=np.uint32)
    n_negative, n_positive = 0, 0
    for i in range(node.size):  # without a branch: what is written to the wrong side is overwritten
        instance, is_positive = node[i], margins[i] > 0
        positive[n_positive] = instance
        node[n_negative] = instance
        n_positive += is_positive
        n_negative += not is_positive
    copy_into(node[n_negative:], positive[:n_positive])
    return n_negative


@njit(cache=True, nogil=True)
def starts_of(parts):
    """Return where each part but the first, a placeholder, starts in `joined`; int64 (number of parts,)."""
    starts = np.zeros(len(parts), dtype=np.int64)
    for i in range(1, len(parts)):
        starts[i] = starts[i - 1] + parts[i].size
    return starts


@njit(cache=True, nogil=True)
def joined(parts):
    """Concatenate arrays."""
    starts = starts_of(parts)
    whole = np.empty(starts[-1], dtype=parts[0].dtype)
    for i in range(1, len(parts)):
        copy_into(whole[starts[i - 1] :], parts[i])
    return whole
