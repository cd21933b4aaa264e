"""Descent through a label tree level by level, for many instances at once: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.kernels.arrays import copy_into
from xmlc.kernels.top_k import insert_best
from xmlc.models.plt.search._block_scores import group_estimates, open_block
from xmlc.models.plt.search._lookup import clear_features, empty_lookup

ESTIMATES_PER_CHUNK = 1 << 16  # 256 kB
DENSE_WEIGHTS = 1 << 22  # room for the largest block whose sparse rows are made dense: 16 MB, used as far as needed
NONE = np.float32(-1.0)  # below any estimate
EVERY_NODE = np.int64(0)  # for a beam that keeps all


class Frontier(NamedTuple):
    """Nodes to expand, or leaves found: one entry per pair of an instance and a node.

    Attributes
    ----------
    rows : int32
        Instances, counted from the first of the batch.
    nodes : int32
        Nodes; -1 stands for what is above the root.
    estimates : float32
    """

    rows: np.ndarray
    nodes: np.ndarray
    estimates: np.ndarray


@njit(cache=True, nogil=True)
def empty_frontier(size):
    """Make room for ``size`` entries."""
    return Frontier(np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.float32))


@njit(cache=True, nogil=True)
def with_room(frontier, used, more):
    """Return a frontier with the first ``used`` entries of this one and room for ``more``: this one if it has it."""
    if used + more <= frontier.rows.size:
        return frontier
    wider = empty_frontier(max(used + more, 2 * frontier.rows.size))
    copy_into(wider.rows, frontier.rows[:used])
    copy_into(wider.nodes, frontier.nodes[:used])
    copy_into(wider.estimates, frontier.estimates[:used])
    return wider


@njit(cache=True, nogil=True)
def sorted_by_node(frontier, size):
    """Return the first ``size`` entries ordered by node, those of one node in the order they had."""
    if size == 0:
        return empty_frontier(np.int64(0))
    low, high = frontier.nodes[:size].min(), frontier.nodes[:size].max()
    starts = np.zeros(high - low + 2, dtype=np.int64)
    for node in frontier.nodes[:size]:
        starts[node - low + 1] += 1
    for i in range(1, starts.size):
        starts[i] += starts[i - 1]
    result = empty_frontier(size)
    for i in range(size):
        place = starts[frontier.nodes[i] - low]
        starts[frontier.nodes[i] - low] += 1
        result.rows[place], result.nodes[place] = frontier.rows[i], frontier.nodes[i]
        result.estimates[place] = frontier.estimates[i]
    return result


@njit(cache=True, nogil=True)
def root_frontier(n_rows):
    """Return the frontier from which the root is reached: every instance, with estimate 1."""
    result = empty_frontier(n_rows)
    for i in range(n_rows):
        result.rows[i], result.nodes[i], result.estimates[i] = i, -1, 1.0
    return result


@njit(cache=True, nogil=True)
def children_of(nodes, node):
    """Return the first child of a node and their number; node -1 has the root as its child."""
    if node < 0:
        return np.int64(0), np.int64(1)
    return nodes.children[node], nodes.children[node + 1] - nodes.children[node]


@njit(cache=True, nogil=True)
def group_end(frontier, begin):
    """Return where the entries of the node at ``begin`` end in a sorted frontier."""
    end = begin + 1
    while end < frontier.nodes.size and frontier.nodes[end] == frontier.nodes[begin]:
        end += 1
    return end


@njit(cache=True, nogil=True)
def best_of_rows(frontier, size, n_rows, beam):
    """Keep of the first ``size`` entries, those of a row by ascending node, the ``beam`` best of each row.

    Returns
    -------
    kept : Frontier
        Row after row.
    n_kept : int
    """
    best_nodes, best_estimates = np.empty((n_rows, beam), dtype=np.int32), np.full((n_rows, beam), NONE)
    for i in range(size):
        row = frontier.rows[i]
        if frontier.estimates[i] > best_estimates[row, -1]:
            insert_best(best_nodes[row], best_estimates[row], frontier.nodes[i], frontier.estimates[i])
    kept, n_kept = empty_frontier(min(size, n_rows * beam)), np.int64(0)
    for row in range(n_rows):
        for j in range(beam):
            if best_estimates[row, j] == NONE:
                break
            kept.rows[n_kept], kept.nodes[n_kept] = row, best_nodes[row, j]
            kept.estimates[n_kept] = best_estimates[row, j]
            n_kept += 1
    return kept, n_kept


@njit(cache=True, nogil=True)
def descend_to_thresholds(x, start, end, nodes, link, thresholds, bounds, beam, shape):
    """Find every leaf whose estimate is above its threshold, for instances ``start .. end - 1``.

    Algorithm 4 of plt2016, in another order: the pairs of an instance and a node to expand are sorted by node, level by
    level, so that a block of weights is read once per batch and a look-up of a feature serves all siblings (masked
    sparse chunk multiplication, Etter et al., WWW 2022). Estimates are the bits that a search instance by instance
    gives, whatever the batch.

    Parameters
    ----------
    x : KernelCSR
    nodes : NodeWeights or CompactNodeWeights
    link : int
        See `estimate_scores`.
    thresholds : float32 (n_nodes,)
        A node is expanded, a leaf reported, when its estimate is greater.
    bounds : float32 (end - start,)
        The same, for each instance.
    beam : int
        Of the nodes to expand on a level so many of each instance are, the best, ties to the smaller number; with
        ``EVERY_NODE`` all.
    shape : tuple of int
        Number of features, largest number of non-zeros of an instance, largest number of siblings.

    Returns
    -------
    found : Frontier
        The leaves, those of one instance by ascending node.
    inner_products : int64 (end - start,)
        Node classifiers evaluated per instance.
    """
    n_features, max_nonzeros, max_degree = shape
    lookup = empty_lookup(n_features, max_nonzeros)
    room = np.empty(max(ESTIMATES_PER_CHUNK, max_degree), dtype=np.float32)
    dense = np.empty(DENSE_WEIGHTS, dtype=np.float32)
    inner_products = np.zeros(end - start, dtype=np.int64)
    nonzeros = (x.indptr[end] - x.indptr[start]) / max(end - start, 1)
    frontier = root_frontier(end - start)
    # Here and below np.int64(0): for a plain 0, which has a type of its own, numba compiles what is called once more.
    found, n_found = empty_frontier(4 * (end - start)), np.int64(0)
    fresh = empty_frontier(4 * (end - start))
    while frontier.rows.size > 0:
        n_fresh, begin = np.int64(0), np.int64(0)
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
                found = with_room(found, n_found, estimates.size)
                fresh = with_room(fresh, n_fresh, estimates.size)
                for q in range(rows.size):
                    row, bound = rows[q], bounds[rows[q]]
                    inner_products[row] += degree
                    for c in range(degree):
                        product = parents[q] * estimates[q, c]
                        if product > thresholds[first + c] and product > bound:
                            if nodes.label[first + c] >= 0:
                                found.rows[n_found], found.nodes[n_found] = row, first + c
                                found.estimates[n_found] = product
                                n_found += 1
                            else:
                                fresh.rows[n_fresh], fresh.nodes[n_fresh] = row, first + c
                                fresh.estimates[n_fresh] = product
                                n_fresh += 1
            if block.marked:
                clear_features(block.features, lookup)
            begin = stop
        if beam == EVERY_NODE:
            frontier = sorted_by_node(fresh, n_fresh)
        else:
            frontier = sorted_by_node(*best_of_rows(fresh, n_fresh, end - start, beam))
    return Frontier(found.rows[:n_found], found.nodes[:n_found], found.estimates[:n_found]), inner_products


@njit(cache=True, nogil=True)
def estimate_by_levels(x, start, end, nodes, link, thresholds, beam, shape):
    """Find every label in the beam whose estimate is above its threshold; parameters as for `descend_to_thresholds`.

    Returns
    -------
    counts : int64 (end - start,)
        Labels found per instance.
    labels : int32, estimates : float32
        The labels of all instances, one after the other, by ascending leaf.
    inner_products : int64 (end - start,)
        Node classifiers evaluated per instance.
    """
    bounds = np.full(end - start, np.float32(-np.inf))
    found, inner_products = descend_to_thresholds(x, start, end, nodes, link, thresholds, bounds, beam, shape)
    counts = np.zeros(end - start, dtype=np.int64)
    for row in found.rows:
        counts[row] += 1
    places = np.cumsum(counts) - counts
    labels, estimates = np.empty(found.rows.size, dtype=np.int32), np.empty(found.rows.size, dtype=np.float32)
    for i in range(found.rows.size):
        place = places[found.rows[i]]
        places[found.rows[i]] += 1
        labels[place], estimates[place] = nodes.label[found.nodes[i]], found.estimates[i]
    return counts, labels, estimates, inner_products
