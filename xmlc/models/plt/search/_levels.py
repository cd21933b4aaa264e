"""All labels above a threshold, found level by level for many instances at once: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.kernels.top_k import insert_best
from xmlc.models.plt.search._walk import (
    NONE,
    Frontier,
    empty_frontier,
    next_level,
    root_frontier,
    sorted_by_node,
    take_estimates,
    walk_levels,
    with_capacity,
)
from xmlc.runtime.kernel_cache import njit

EVERY_NODE = np.int64(0)  # for a beam that keeps all


class AboveThresholds(NamedTuple):
    """Collector of the leaves above thresholds, see `walk_levels`.

    Attributes
    ----------
    thresholds : float32 (n_nodes,)
        A node is expanded, a leaf reported, when its estimate is greater.
    n_rows : int
        Instances of the batch.
    beam : int
        Of the nodes to expand on a level so many of each instance are, the best, ties to the smaller number; with
        ``EVERY_NODE`` all.
    found : Frontier, n_found : int
        The leaves so far and their number.
    fresh : Frontier, n_fresh : int
        The inner nodes met on this level and their number.
    """

    thresholds: np.ndarray
    n_rows: int
    beam: int
    found: Frontier
    n_found: int
    fresh: Frontier
    n_fresh: int


@njit(cache=True, nogil=True)
def take_above(collector, rows, parents, estimates, first, label):
    """Keep nodes above the thresholds; see `take_estimates`."""
    thresholds = collector.thresholds
    n_found, n_fresh = collector.n_found, collector.n_fresh
    found = with_capacity(collector.found, n_found, estimates.size)
    fresh = with_capacity(collector.fresh, n_fresh, estimates.size)
    found_rows, found_nodes, found_estimates = found
    fresh_rows, fresh_nodes, fresh_estimates = fresh
    for q in range(rows.size):
        row = rows[q]
        for c in range(estimates.shape[1]):
            product = parents[q] * estimates[q, c]
            if product > thresholds[first + c]:
                if label[first + c] >= 0:
                    found_rows[n_found], found_nodes[n_found] = row, first + c
                    found_estimates[n_found] = product
                    n_found += 1
                else:
                    fresh_rows[n_fresh], fresh_nodes[n_fresh] = row, first + c
                    fresh_estimates[n_fresh] = product
                    n_fresh += 1
    return AboveThresholds(thresholds, collector.n_rows, collector.beam, found, n_found, fresh, n_fresh)


@njit(cache=True, nogil=True)
def level_above(collector):
    """Return the nodes to expand next, all or the best of each instance; see `next_level`."""
    thresholds, n_rows, beam, found, n_found, fresh, n_fresh = collector
    if beam == EVERY_NODE:
        frontier = sorted_by_node(fresh, n_fresh)
    else:
        frontier = sorted_by_node(*best_of_rows(fresh, n_fresh, n_rows, beam))
    return frontier, AboveThresholds(thresholds, n_rows, beam, found, n_found, fresh, np.int64(0))


@overload(take_estimates)
def _take_estimates(collector, rows, parents, estimates, first, label):
    return take_above.py_func if collector.instance_class is AboveThresholds else None


@overload(next_level)
def _next_level(collector):
    return level_above.py_func if collector.instance_class is AboveThresholds else None


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
def leaves_above(x, start, end, nodes, link, thresholds, beam, shape):
    """Find every leaf whose estimate is above its threshold: Algorithm 4 of plt2016, in another order.

    Parameters
    ----------
    x, start, end, nodes, link, shape
        As for `walk_levels`.
    thresholds : float32 (n_nodes,)
    beam : int
        See `AboveThresholds`.

    Returns
    -------
    found : Frontier
        The leaves, those of one instance by ascending node.
    inner_products : int64 (end - start,)
        Node classifiers evaluated per instance.
    """
    found, fresh = empty_frontier(4 * (end - start)), empty_frontier(4 * (end - start))
    collector = AboveThresholds(thresholds, end - start, np.int64(beam), found, np.int64(0), fresh, np.int64(0))
    collector, inner_products = walk_levels(x, start, end, root_frontier(end - start), nodes, link, collector, shape)
    found, n_found = collector.found, collector.n_found
    return Frontier(found.rows[:n_found], found.nodes[:n_found], found.estimates[:n_found]), inner_products


@njit(cache=True, nogil=True)
def estimate_by_levels(x, start, end, nodes, link, thresholds, beam, shape):
    """Find every label in the beam whose estimate is above its threshold; parameters as for `leaves_above`.

    Returns
    -------
    counts : int64 (end - start,)
        Labels found per instance.
    labels : int32, estimates : float32
        The labels of all instances, one after the other, by ascending leaf.
    inner_products : int64 (end - start,)
        Node classifiers evaluated per instance.
    """
    found, inner_products = leaves_above(x, start, end, nodes, link, thresholds, beam, shape)
    counts = np.zeros(end - start, dtype=np.int64)
    for row in found.rows:
        counts[row] += 1
    next_index = np.cumsum(counts) - counts
    labels, estimates = np.empty(found.rows.size, dtype=np.int32), np.empty(found.rows.size, dtype=np.float32)
    for i in range(found.rows.size):
        index = next_index[found.rows[i]]
        next_index[found.rows[i]] += 1
        labels[index], estimates[index] = nodes.label[found.nodes[i]], found.estimates[i]
    return counts, labels, estimates, inner_products
