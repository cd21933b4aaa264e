"""Estimates of one block's nodes, for one instance or for a group of them: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.kernels.arrays import borrowed, copy_into, row_of
from xmlc.kernels.float32 import exp_of_negative, fma, sigmoid
from xmlc.kernels.prefetch import prefetch
from xmlc.kernels.sibling_rows import dense_scores
from xmlc.models.plt.search._lookup import find_marked, mark_features, marking_pays, match_features
from xmlc.runtime.kernel_cache import njit

LOGISTIC_LINK = 0
LOOKUPS_PER_DENSE_ROW = 2  # from so many on it pays to make a sparse row dense


@njit(cache=True, nogil=True)
def estimate_scores(scores, link):
    """Turn linear scores (float32) into probability estimates, in place.

    With link 0 (the logistic loss) an estimate is 1 / (1 + exp(-s)); link p from 1 on, for the squared hinge loss,
    makes it exp(-max(0, 1 - s)**p): p is 2 in Parabel (Prabhu et al., WWW 2018, Section 4).
    """
    if link == LOGISTIC_LINK:
        for c in range(scores.size):
            scores[c] = sigmoid(scores[c])
    else:
        for c in range(scores.size):
            gap = max(np.float32(1.0) - scores[c], np.float32(0.0))
            power = gap
            for _ in range(1, link):
                power *= gap
            scores[c] = exp_of_negative(-power)


@njit(cache=True, nogil=True)
def sparse_child_scores(ids, values, row_starts, siblings, weights, bias, scores):
    """Add up the linear scores of all siblings for one instance, from the sparse rows of a block.

    As `dense_scores`, and the same bits where both hold the same weights: a weight that is not stored would add zero.
    Rows differ in length, so a processor guesses wrong where each ends, and could not read ahead of a row that is not
    in the cache: all are asked for first.
    """
    copy_into(scores, bias)
    for k in range(ids.size):
        start = np.uint64(row_starts[ids[k]])
        prefetch(siblings, start)
        prefetch(weights, start)
    for k in range(ids.size):
        value = values[k]
        start, end = np.uint64(row_starts[ids[k]]), np.uint64(row_starts[ids[k] + np.uint32(1)])
        for entry in range(start, end):
            scores[siblings[entry]] = fma(value, weights[entry], scores[siblings[entry]])


@njit(cache=True, nogil=True)
def sparse_rows(nodes, block):
    """Return row starts, siblings and weights of one block of `CompactNodeWeights`; see `borrowed`."""
    first, end = nodes.feature_starts[block] + block, nodes.feature_starts[block + 1] + block + 1
    low, high = nodes.entry_starts[block], nodes.entry_starts[block + 1]
    return (
        borrowed(nodes.row_starts, first, end),
        borrowed(nodes.siblings, low, high),
        borrowed(nodes.weights, low, high),
    )


@njit(cache=True, nogil=True)
def block_features(nodes, block):
    """Return the features of one block; see `borrowed`."""
    return borrowed(nodes.features, nodes.feature_starts[block], nodes.feature_starts[block + 1])


@njit(cache=True, nogil=True)
def block_weights(nodes, block):
    """Return the weights of one block of `NodeWeights`; see `borrowed`."""
    return borrowed(nodes.weights, nodes.weight_starts[block], nodes.weight_starts[block + 1])


def row_scores(ids, values, nodes, block, first, scores):
    """Write the linear scores of one block's nodes for features that were found in the block.

    Compiled for `NodeWeights` and `CompactNodeWeights` alike.

    Parameters
    ----------
    ids : uint32, values : float32
        Indices within the block's features, and the instance's values there.
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
            row_starts, siblings, weights = sparse_rows(nodes, block)
            bias = borrowed(nodes.bias, first, first + scores.size)
            sparse_child_scores(ids, values, row_starts, siblings, weights, bias, scores)

    else:

        def implementation(ids, values, nodes, block, first, scores):
            bias = borrowed(nodes.bias, first, first + scores.size)
            dense_scores(ids, values, block_weights(nodes, block), scores.size, bias, scores)

    return implementation


@njit(cache=True, nogil=True)
def instance_estimates(ids, values, nodes, block, first, link, scratch_ids, scratch_values, estimates):
    """Write the estimates of all nodes of one block for one instance into ``estimates``.

    ``first`` is the number of the block's first node; ``scratch_ids`` (uint32) and ``scratch_values`` (float32) have
    space for the instance.
    """
    count = match_features(ids, values, block_features(nodes, block), scratch_ids, scratch_values)
    found, found_values = borrowed(scratch_ids, 0, count), borrowed(scratch_values, 0, count)
    row_scores(found, found_values, nodes, block, first, estimates)
    estimate_scores(estimates, link)


class OpenBlock(NamedTuple):
    """A block that many instances are about to be looked up in; arrays are views without references, see `borrowed`.

    Attributes
    ----------
    features : uint32
    is_prefix : bool
        Whether they are all features below their number, so that each is its own index.
    marked : bool
        Whether the features are in the lookup; `clear_features` must follow then.
    bias : float32 (siblings,)
    is_dense : bool
        Which of the following two it is that holds the weights.
    dense : float32, flat
        Feature after feature, siblings side by side.
    row_starts : uint32, siblings : uint16 or uint32, weights : float32
        As in `CompactNodeWeights`.
    """

    features: np.ndarray
    is_prefix: bool
    marked: bool
    bias: np.ndarray
    is_dense: bool
    dense: np.ndarray
    row_starts: np.ndarray
    siblings: np.ndarray
    weights: np.ndarray


def open_rows(nodes, block, degree, n_lookups, buffer):
    """Return whether a block's rows are dense; the dense ones; row starts, siblings and weights of the sparse ones.

    Sparse rows are made dense in ``buffer`` (float32) if that pays: if they fit, and ``n_lookups`` look-ups will
    follow, each of which is two to four times quicker with dense rows.
    """
    raise TypeError("only kernels call this")


@overload(open_rows)
def _choose_open_rows(nodes, block, degree, n_lookups, buffer):
    if "row_starts" in nodes.fields:

        def implementation(nodes, block, degree, n_lookups, buffer):
            row_starts, siblings, weights = sparse_rows(nodes, block)
            n_rows = row_starts.size - 1
            if n_lookups < LOOKUPS_PER_DENSE_ROW * n_rows or n_rows * degree > buffer.size:
                return False, borrowed(buffer, 0, 0), row_starts, siblings, weights
            dense = borrowed(buffer, 0, n_rows * degree)
            dense[:] = 0
            for row in range(n_rows):
                for entry in range(np.uint64(row_starts[row]), np.uint64(row_starts[row + 1])):
                    dense[row * degree + siblings[entry]] = weights[entry]
            return True, dense, row_starts, siblings, weights

    else:

        def implementation(nodes, block, degree, n_lookups, buffer):
            weights = block_weights(nodes, block)
            return True, weights, borrowed(nodes.features, 0, 0), borrowed(nodes.features, 0, 0), weights

    return implementation


@njit(cache=True, nogil=True)
def open_block(nodes, block, first, degree, n_queries, nonzeros, lookup, buffer):
    """Prepare for ``n_queries`` instances with ``nonzeros`` features each what of a block it pays to prepare.

    ``lookup`` is an empty `Lookup`, ``buffer`` (float32) scratch that the result may refer to.
    """
    features = block_features(nodes, block)
    is_prefix = features.size > 0 and features[features.size - 1] == features.size - 1
    marked = not is_prefix and marking_pays(features.size, n_queries, nonzeros)
    if marked:
        mark_features(features, lookup)
    bias = borrowed(nodes.bias, first, first + degree)
    rows = open_rows(nodes, block, degree, n_queries * nonzeros, buffer)
    return OpenBlock(features, is_prefix, marked, bias, *rows)


@njit(cache=True, nogil=True)
def group_estimates(x, rows, block, link, lookup, estimates):
    """Write the estimates of one block's nodes for some instances.

    An instance costs a look-up of 1.4 ns per non-zero and 1.4 ns per non-zero that the block knows and 16 siblings
    while the block's rows are in the second-level cache, 2 to 4 ns where they come from the third; opening a block,
    1.3 ns per feature of it. AMD EPYC; a machine's limit for such rows is 1.4 ns (second level) to 6.5 (memory).

    Parameters
    ----------
    x : KernelCSR
    rows : int
        The instances.
    block : OpenBlock
    link : int
        See `estimate_scores`.
    lookup : Lookup
    estimates : float32 (rows.size, siblings)
        Overwritten.
    """
    # Taking a field of a tuple in the loop would count a reference to its array for each instance.
    indptr, indices, data = x
    words, ranks, found, found_values = lookup
    features, is_prefix, marked, bias, is_dense, dense, row_starts, siblings, weights = block
    for q in range(rows.size):
        start, end = indptr[rows[q]], indptr[rows[q] + 1]
        while is_prefix and end > start and indices[end - 1] >= features.size:
            end -= 1
        ids, values, scores = borrowed(indices, start, end), borrowed(data, start, end), row_of(estimates, q)
        if not is_prefix:
            if marked:
                count = find_marked(ids, values, words, ranks, found, found_values)
            else:
                count = match_features(ids, values, features, found, found_values)
            ids, values = borrowed(found, 0, count), borrowed(found_values, 0, count)
        if is_dense:
            dense_scores(ids, values, dense, bias.size, bias, scores)
        else:
            sparse_child_scores(ids, values, row_starts, siblings, weights, bias, scores)
    estimate_scores(estimates.reshape(estimates.size), link)
