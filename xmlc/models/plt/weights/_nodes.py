"""Exact node weights, kept block by block, and where an instance's features stand in a block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


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

    All are searched at once, each halving its range in the same step: no step waits for another's answer and none has
    to be guessed. Measured on an AMD EPYC, a feature takes 0.7 ns for each halving; a search that starts where the last
    one ended has fewer comparisons but takes 8 to 60 ns, because its turns cannot be foreseen.

    Parameters
    ----------
    ids : uint32, values : float32
        The instance.
    features : uint32
    out_ids : uint32, out_values : float32
        As long as the instance at least.

    Returns
    -------
    int
        How many were found; their places and values stand in ``out_ids`` and ``out_values``.
    """
    size = features.size
    if size == 0:
        return 0
    for k in range(ids.size):
        out_ids[k] = 0
    while size > 1:
        half = np.uint32(size >> 1)
        probes = features[half - np.uint32(1) :]
        for k in range(ids.size):
            place = out_ids[k]
            out_ids[k] = place + half * np.uint32(probes[place] < ids[k])
        size -= half
    count = np.uint64(0)
    for k in range(ids.size):
        place = out_ids[k]
        out_ids[count], out_values[count] = place, values[k]
        count += np.uint64(features[place] == ids[k])
    return np.int64(count)
