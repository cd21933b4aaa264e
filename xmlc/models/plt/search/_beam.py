"""Ranking by beam search, and the exact top k that it opens the way to: kernels."""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.kernels.top_k import insert_best
from xmlc.models.plt.search._block_scores import group_estimates, open_block
from xmlc.models.plt.search._levels import (
    DENSE_WEIGHTS,
    ESTIMATES_PER_CHUNK,
    EVERY_NODE,
    NONE,
    children_of,
    descend_to_thresholds,
    empty_frontier,
    group_end,
    root_frontier,
    sorted_by_node,
)
from xmlc.models.plt.search._lookup import clear_features, empty_lookup


@njit(cache=True, nogil=True)
def beam_frontier(beam_nodes, beam_estimates, leaf_estimates):
    """Return the nodes of all beams that may still lead to one of the best leaves, ordered by node."""
    frontier, used = empty_frontier(beam_nodes.size), np.int64(0)
    for row in range(beam_nodes.shape[0]):
        for j in range(beam_nodes.shape[1]):
            if beam_estimates[row, j] <= leaf_estimates[row, -1]:
                break
            frontier.rows[used], frontier.nodes[used] = row, beam_nodes[row, j]
            frontier.estimates[used] = beam_estimates[row, j]
            used += 1
    return sorted_by_node(frontier, used)


@njit(cache=True, nogil=True)
def descend_beam(x, start, end, nodes, link, k, beam, shape):
    """Find k labels with large estimates, best first, for instances ``start .. end - 1`` by beam search.

    Of the inner nodes met on a level the ``beam`` best of each instance are expanded, of all leaves the k best kept.
    Nodes whose estimate is not above that of k leaves are left out, for no leaf below them can be.

    Parameters
    ----------
    x, nodes, link, shape
        As for `descend_to_thresholds`.
    k, beam : int

    Returns
    -------
    leaves : int32 (end - start, k), estimates : float32 (end - start, k)
        -1 and -1 where fewer than k leaves were found.
    inner_products : int64 (end - start,)
    """
    n_features, max_nonzeros, max_degree = shape
    lookup = empty_lookup(n_features, max_nonzeros)
    room = np.empty(max(ESTIMATES_PER_CHUNK, max_degree), dtype=np.float32)
    dense = np.empty(DENSE_WEIGHTS, dtype=np.float32)
    inner_products = np.zeros(end - start, dtype=np.int64)
    nonzeros = (x.indptr[end] - x.indptr[start]) / max(end - start, 1)
    leaves, leaf_estimates = np.full((end - start, k), -1, dtype=np.int32), np.full((end - start, k), NONE)
    beam_nodes, beam_estimates = (
        np.empty((end - start, beam), dtype=np.int32),
        np.empty((end - start, beam), np.float32),
    )
    frontier = root_frontier(end - start)
    while frontier.rows.size > 0:
        beam_estimates[:] = NONE
        begin = np.int64(0)
        while begin < frontier.rows.size:
            stop, node = group_end(frontier, begin), frontier.nodes[begin]
            first, degree = children_of(nodes, node)
            block = open_block(nodes, node + 1, first, degree, stop - begin, nonzeros, lookup, dense)
            step = room.size // degree
            for low in range(begin, stop, step):
                rows, parents = (
                    frontier.rows[low : min(low + step, stop)],
                    frontier.estimates[low : min(low + step, stop)],
                )
                estimates = room[: rows.size * degree].reshape((rows.size, degree))
                group_estimates(x, start + rows, nodes, block, link, lookup, estimates)
                for q in range(rows.size):
                    row = rows[q]
                    inner_products[row] += degree
                    for c in range(degree):
                        product = parents[q] * estimates[q, c]
                        if product > leaf_estimates[row, -1]:
                            if nodes.label[first + c] >= 0:
                                insert_best(leaves[row], leaf_estimates[row], first + c, product)
                            elif product > beam_estimates[row, -1]:
                                insert_best(beam_nodes[row], beam_estimates[row], first + c, product)
            if block.marked:
                clear_features(block.features, lookup)
            begin = stop
        frontier = beam_frontier(beam_nodes, beam_estimates, leaf_estimates)
    return leaves, leaf_estimates, inner_products


@njit(cache=True, nogil=True)
def labels_of(leaves, leaf_estimates, label):
    """Turn leaves into labels, in place; -1 with estimate 0 where there is no leaf."""
    for row in range(leaves.shape[0]):
        for j in range(leaves.shape[1]):
            if leaves[row, j] < 0:
                leaf_estimates[row, j] = 0.0
            else:
                leaves[row, j] = label[leaves[row, j]]


@njit(cache=True, nogil=True)
def rank_by_beam(x, start, end, nodes, link, k, beam, shape):
    """Rank labels by beam search; see `descend_beam`.

    Returns
    -------
    labels : int32 (end - start, k), estimates : float32 (end - start, k)
        -1 and 0 where there are fewer than k labels.
    inner_products : int64 (end - start,)
    """
    leaves, estimates, inner_products = descend_beam(x, start, end, nodes, link, k, beam, shape)
    labels_of(leaves, estimates, nodes.label)
    return leaves, estimates, inner_products


@njit(cache=True, nogil=True)
def rank_by_levels(x, start, end, nodes, link, k, beam, shape):
    """Find the k labels with the largest estimates, best first, level by level; returns as `rank_by_beam`.

    A narrow beam finds k leaves; the estimate of the last is a bound below which no node leads to one of the k best,
    and all others are expanded.
    """
    leaves, estimates, inner_products = descend_beam(x, start, end, nodes, link, k, beam, shape)
    bounds = np.empty(end - start, dtype=np.float32)
    for row in range(end - start):
        bounds[row] = np.nextafter(estimates[row, -1], np.float32(-2.0))
    none = np.full(nodes.label.size, NONE - np.float32(1.0))
    found, more = descend_to_thresholds(x, start, end, nodes, link, none, bounds, EVERY_NODE, shape)
    inner_products += more
    leaves[:], estimates[:] = -1, NONE
    for i in range(found.rows.size):
        row = found.rows[i]
        if found.estimates[i] > estimates[row, -1]:
            insert_best(leaves[row], estimates[row], found.nodes[i], found.estimates[i])
    labels_of(leaves, estimates, nodes.label)
    return leaves, estimates, inner_products
