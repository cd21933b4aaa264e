"""Exact node weights, kept block by block, and the estimates they give: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.models.plt._sgd import child_scores, sigmoid


class NodeWeights(NamedTuple):
    """Tree and exact weights in the form that the kernels take.

    The children of node t are trained and stored together as block t + 1; block 0 holds the root alone.

    Attributes
    ----------
    children : int64 (n_nodes + 1,)
        First child of each node.
    label : int32 (n_nodes,)
        Label of each leaf, -1 for inner nodes.
    feature_starts : int64 (n_nodes + 2,)
        Where the features of each block start.
    features : uint32
        Features of each block, ascending.
    weight_starts : int64 (n_nodes + 2,)
        Where the weights of each block start.
    weights : float32
        Weights of each block, feature after feature, siblings side by side.
    bias : float32 (n_nodes,)
        Weight of the constant feature of each node.
    """

    children: np.ndarray
    label: np.ndarray
    feature_starts: np.ndarray
    features: np.ndarray
    weight_starts: np.ndarray
    weights: np.ndarray
    bias: np.ndarray


class CompactNodeWeights(NamedTuple):
    """What `NodeWeights` holds, without the weights that do not matter: the rows of a block are stored sparse.

    A row is the weights of one feature for the siblings of a block; a weight takes 6 bytes here, and a row 8 more.

    Attributes
    ----------
    children : int64 (n_nodes + 1,), label : int32 (n_nodes,)
        As in `NodeWeights`.
    feature_starts : int64 (n_nodes + 2,)
        Where the features of each block start.
    features : uint32
        Features of each block that have a weight there, ascending.
    entry_starts : int64 (n_nodes + 2,)
        Where the weights of each block start.
    row_starts : uint32 (features.size + n_nodes + 1,)
        Where the weights of each feature start, counted from the start of its block's; a block of q features has
        q + 1 of them, so that those of block b stand from ``feature_starts[b] + b`` on.
    siblings : uint16, or uint32 where a node has more than 65,536 children
        The number of the child within its block that a weight belongs to, ascending within a row.
    weights : float32
        The weights, row after row.
    bias : float32 (n_nodes,)
        Weight of the constant feature of each node.
    """

    children: np.ndarray
    label: np.ndarray
    feature_starts: np.ndarray
    features: np.ndarray
    entry_starts: np.ndarray
    row_starts: np.ndarray
    siblings: np.ndarray
    weights: np.ndarray
    bias: np.ndarray


@njit(cache=True, nogil=True)
def match_features(ids, values, features, out_ids, out_values):
    """Find an instance's features among the ascending ``features`` of a block.

    Each search starts where the last one ended and doubles its stride, so that an instance with q features
    costs about q * log2(features.size / q) comparisons.

    Returns
    -------
    int
        How many were found; their places and values stand in ``out_ids`` and ``out_values``.
    """
    count = 0
    low = np.int64(0)
    size = np.int64(features.size)
    for k in range(ids.size):
        wanted = ids[k]
        stride = np.int64(1)
        high = low
        while high < size and features[high] < wanted:
            low = high + 1
            high += stride
            stride *= 2
        high = min(high, size)
        while low < high:
            middle = (low + high) >> 1
            if features[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == size:
            break
        if features[low] == wanted:
            out_ids[count] = low
            out_values[count] = values[k]
            count += 1
    return count


@njit(cache=True, nogil=True)
def exact_block_estimates(ids, values, nodes, block, first, scratch_ids, scratch_values, estimates):
    """Write the probability estimates of all nodes of one block for one instance into ``estimates``.

    ``first`` is the number of the block's first node; ``scratch_ids`` (uint32) and ``scratch_values``
    (float32) have room for the instance.
    """
    features = nodes.features[nodes.feature_starts[block] : nodes.feature_starts[block + 1]]
    weights = nodes.weights[nodes.weight_starts[block] : nodes.weight_starts[block + 1]]
    count = match_features(ids, values, features, scratch_ids, scratch_values)
    bias = nodes.bias[first : first + estimates.size]
    child_scores(scratch_ids[:count], scratch_values[:count], weights, bias, 0, estimates.size, estimates)
    for c in range(estimates.size):
        estimates[c] = sigmoid(estimates[c])
