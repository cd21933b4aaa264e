"""Estimates of one block's nodes, for one instance or for a group of them: kernels."""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import overload

from xmlc.models._elementary import CONTRACT, exp_of_negative, sigmoid
from xmlc.models.plt._lookup import find_features, mark_features, marking_pays
from xmlc.models.plt._nodes import match_features
from xmlc.models.plt._vectors import dense_scores

LOGISTIC_LINK, SQUARED_HINGE_LINK = 0, 1


@njit(cache=True, nogil=True, fastmath=CONTRACT)
def estimate_scores(scores, link):
    """Turn linear scores (float32) into probability estimates, in place.

    With link 0 (the logistic loss) an estimate is 1 / (1 + exp(-s)); with link 1 (the squared hinge loss) it is
    exp(-max(0, 1 - s)**2) (Parabel, Prabhu et al., WWW 2018, Section 4).
    """
    if link == LOGISTIC_LINK:
        for c in range(scores.size):
            scores[c] = sigmoid(scores[c])
    else:
        for c in range(scores.size):
            gap = max(np.float32(1.0) - scores[c], np.float32(0.0))
            scores[c] = exp_of_negative(-gap * gap)


@njit(cache=True, nogil=True, fastmath=CONTRACT)
def sparse_child_scores(ids, values, row_starts, siblings, weights, bias, scores):
    """Add up the linear scores of all siblings for one instance, from the sparse rows of a block.

    As `child_scores`, and the same bits where both hold the same weights: a weight that is not stored would add zero.
    """
    scores[:] = bias
    for k in range(ids.size):
        value = values[k]
        start, end = np.uint64(row_starts[ids[k]]), np.uint64(row_starts[ids[k] + np.uint32(1)])
        for entry in range(start, end):
            scores[siblings[entry]] += value * weights[entry]


def row_scores(ids, values, nodes, block, first, scores):
    """Write the linear scores of one block's nodes for features that were found in the block.

    Compiled for `NodeWeights` and `CompactNodeWeights` alike.

    Parameters
    ----------
    ids : uint32, values : float32
        Places within the block's features, and the instance's values there.
    nodes : NodeWeights or CompactNodeWeights
    block, first : int
        The block and the number of its first node.
    scores : float32 (siblings,)
        Overwritten.
    """
    raise TypeError("only kernels call this")


@overload(row_scores)
def _choose_row_scores(ids, values, nodes, block, first, scores):
    if "row_starts" in nodes.fields:

        def implementation(ids, values, nodes, block, first, scores):
            bias = nodes.bias[first : first + scores.size]
            rows = nodes.row_starts[nodes.feature_starts[block] + block : nodes.feature_starts[block + 1] + block + 1]
            start, end = nodes.entry_starts[block], nodes.entry_starts[block + 1]
            sparse_child_scores(ids, values, rows, nodes.siblings[start:end], nodes.weights[start:end], bias, scores)

    else:

        def implementation(ids, values, nodes, block, first, scores):
            bias = nodes.bias[first : first + scores.size]
            weights = nodes.weights[nodes.weight_starts[block] : nodes.weight_starts[block + 1]]
            dense_scores(ids, values, weights, bias, scores)

    return implementation


@njit(cache=True, nogil=True)
def instance_estimates(ids, values, nodes, block, first, link, scratch_ids, scratch_values, estimates):
    """Write the estimates of all nodes of one block for one instance into ``estimates``.

    ``first`` is the number of the block's first node; ``scratch_ids`` (uint32) and ``scratch_values`` (float32) have
    room for the instance.
    """
    features = nodes.features[nodes.feature_starts[block] : nodes.feature_starts[block + 1]]
    count = match_features(ids, values, features, scratch_ids, scratch_values)
    row_scores(scratch_ids[:count], scratch_values[:count], nodes, block, first, estimates)
    estimate_scores(estimates, link)


@njit(cache=True, nogil=True)
def open_block(nodes, block, n_queries, nonzeros, lookup):
    """Prepare ``lookup`` for a block, if that pays; `clear_features` must follow where the answer is yes."""
    features = nodes.features[nodes.feature_starts[block] : nodes.feature_starts[block + 1]]
    marked = marking_pays(features.size, n_queries, nonzeros)
    if marked:
        mark_features(features, lookup)
    return marked, features


@njit(cache=True, nogil=True)
def group_estimates(x, rows, nodes, block, first, features, marked, link, lookup, estimates):
    """Write the estimates of one block's nodes for some instances.

    Per instance and non-zero it takes a look-up, and per non-zero that the block knows one run of weights, which are in
    the cache since the last instance that had the feature.

    Parameters
    ----------
    x : KernelCSR
    rows : int32
        The instances.
    nodes, block, first
        As for `row_scores`.
    features, marked
        What `open_block` said.
    link : int
        See `estimate_scores`.
    lookup : Lookup
    estimates : float32 (rows.size, siblings)
        Overwritten.
    """
    for q in range(rows.size):
        start, end = x.indptr[rows[q]], x.indptr[rows[q] + 1]
        count = find_features(x.indices[start:end], x.data[start:end], features, marked, lookup)
        row_scores(lookup.ids[:count], lookup.values[:count], nodes, block, first, estimates[q])
    estimate_scores(estimates.reshape(estimates.size), link)
