"""Ranking by beam search, and the exact top k for which it finds a bound: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload

from xmlc.kernels.top_k import insert_best
from xmlc.models.plt.search._levels import EVERY_NODE, leaves_above
from xmlc.models.plt.search._walk import (
    NONE,
    empty_frontier,
    next_level,
    sorted_by_node,
    take_estimates,
    walk_levels,
)


class BestInBeam(NamedTuple):
    """Collector of the best leaves and of a beam of inner nodes for each instance, see `walk_levels`.

    Attributes
    ----------
    leaves : int32 (rows, k), leaf_estimates : float32 (rows, k)
        Best first; -1 and `NONE` where there are fewer.
    beam_nodes : int32 (rows, beam), beam_estimates : float32 (rows, beam)
        The inner nodes of this level.
    """

    leaves: np.ndarray
    leaf_estimates: np.ndarray
    beam_nodes: np.ndarray
    beam_estimates: np.ndarray


@njit(cache=True, nogil=True)
def keep_best(first, parent, estimates, label, leaves, leaf_estimates, beam_nodes, beam_estimates):
    """Insert the children of one node into one instance's best leaves, best inner nodes, or neither.

    Parameters
    ----------
    first : int
        Number of the first child.
    parent : float32
        Estimate of the node.
    estimates : float32 (siblings,)
        Of the children, given the node.
    label : int32 (n_nodes,)
        As in `NodeWeights`.
    leaves : int32 (k,), leaf_estimates : float32 (k,)
    beam_nodes : int32 (beam,), beam_estimates : float32 (beam,)
        A row of `BestInBeam`.
    """
    for c in range(estimates.size):
        product = parent * estimates[c]
        if product > leaf_estimates[-1]:
            if label[first + c] >= 0:
                insert_best(leaves, leaf_estimates, first + c, product)
            elif product > beam_estimates[-1]:
                insert_best(beam_nodes, beam_estimates, first + c, product)


@njit(cache=True, nogil=True)
def take_best(collector, rows, parents, estimates, first, label):
    """Keep the best leaves and inner nodes of each instance; see `take_estimates`."""
    leaves, leaf_estimates, beam_nodes, beam_estimates = collector
    for q in range(rows.size):
        row = rows[q]
        keep_best(
            first, parents[q], estimates[q], label,
            leaves[row], leaf_estimates[row], beam_nodes[row], beam_estimates[row],
        )  # fmt: skip
    return collector


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


@overload(take_estimates)
def _take_estimates(collector, rows, parents, estimates, first, label):
    return take_best.py_func if collector.instance_class is BestInBeam else None


@overload(next_level)
def _next_level(collector):
    if collector.instance_class is not BestInBeam:
        return None

    def implementation(collector):
        frontier = beam_frontier(collector.beam_nodes, collector.beam_estimates, collector.leaf_estimates)
        collector.beam_estimates[:] = NONE
        return frontier, collector

    return implementation


@njit(cache=True, nogil=True)
def leaves_in_beam(x, start, end, nodes, link, k, beam, shape):
    """Find k labels with large estimates, best first, for instances ``start .. end - 1`` by beam search.

    Of the inner nodes met on a level the ``beam`` best of each instance are expanded, of all leaves the k best kept.
    Nodes whose estimate is not above that of k leaves are left out, for no leaf below them can be.

    Parameters
    ----------
    x, start, end, nodes, link, shape
        As for `walk_levels`.
    k, beam : int

    Returns
    -------
    leaves : int32 (end - start, k), estimates : float32 (end - start, k)
        -1 and -1 where fewer than k leaves were found.
    inner_products : int64 (end - start,)
    """
    n = end - start
    leaves, leaf_estimates = np.full((n, k), -1, dtype=np.int32), np.full((n, k), NONE)
    beam_nodes, beam_estimates = np.empty((n, beam), dtype=np.int32), np.full((n, beam), NONE)
    collector = BestInBeam(leaves, leaf_estimates, beam_nodes, beam_estimates)
    _, inner_products = walk_levels(x, start, end, nodes, link, collector, shape)
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
    """Rank labels by beam search; see `leaves_in_beam`.

    Returns
    -------
    labels : int32 (end - start, k), estimates : float32 (end - start, k)
        -1 and 0 where there are fewer than k labels.
    inner_products : int64 (end - start,)
    """
    leaves, estimates, inner_products = leaves_in_beam(x, start, end, nodes, link, k, beam, shape)
    labels_of(leaves, estimates, nodes.label)
    return leaves, estimates, inner_products


@njit(cache=True, nogil=True)
def rank_by_levels(x, start, end, nodes, link, k, beam, shape):
    """Find the k labels with the largest estimates, best first, level by level; returns as `rank_by_beam`.

    A narrow beam finds k leaves; the estimate of the last is a bound below which no node leads to one of the k best,
    and all others are expanded.
    """
    leaves, estimates, inner_products = leaves_in_beam(x, start, end, nodes, link, k, beam, shape)
    bounds = np.empty(end - start, dtype=np.float32)
    for row in range(end - start):
        bounds[row] = np.nextafter(estimates[row, -1], np.float32(-2.0))
    none = np.full(nodes.label.size, NONE - np.float32(1.0))
    found, more = leaves_above(x, start, end, nodes, link, none, bounds, EVERY_NODE, shape)
    inner_products += more
    leaves[:], estimates[:] = -1, NONE
    for i in range(found.rows.size):
        row = found.rows[i]
        if found.estimates[i] > estimates[row, -1]:
            insert_best(leaves[row], estimates[row], found.nodes[i], found.estimates[i])
    labels_of(leaves, estimates, nodes.label)
    return leaves, estimates, inner_products
