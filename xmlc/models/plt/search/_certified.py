"""The exact top k: beam search, and then only what it missed and could matter: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.kernels.arrays import borrowed, row_of
from xmlc.kernels.bits import lowest_bit
from xmlc.kernels.top_k import insert_key, key_estimate, rank_key, reaching
from xmlc.models.plt.search._beam import CHILDREN_AT_ONCE, are_exact, empty_beams, labels_of
from xmlc.models.plt.search._walk import (
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


class MayWin(NamedTuple):
    """Collector of the best leaves and of all inner nodes that may have a better one below, see `walk_levels`.

    Attributes
    ----------
    leaves : int64 (rows, k)
        As in `BestInBeam`.
    fresh : Frontier, n_fresh : int
        The inner nodes met on this level and their number.
    """

    leaves: np.ndarray
    fresh: Frontier
    n_fresh: int


@njit(cache=True, nogil=True)
def take_winners(collector, rows, parents, estimates, first, label):
    """Keep the best leaves, and nodes no worse than the last of them; see `take_estimates`."""
    leaves, fresh, n = collector
    fresh = with_capacity(fresh, n, estimates.size)
    fresh_rows, fresh_nodes, fresh_estimates = fresh
    for q in range(rows.size):
        row, parent = rows[q], parents[q]
        best, own = row_of(leaves, row), row_of(estimates, q)
        for begin in range(0, own.size, CHILDREN_AT_ONCE):
            some = borrowed(own, begin, min(begin + CHILDREN_AT_ONCE, own.size))
            left = reaching(some, parent, key_estimate(best[-1]))
            while left:
                c = np.int64(lowest_bit(left))
                left &= left - np.uint64(1)
                node, estimate = first + begin + c, parent * some[c]
                if label[node] >= 0:
                    insert_key(best, rank_key(node, estimate))
                else:
                    fresh_rows[n], fresh_nodes[n], fresh_estimates[n] = row, node, estimate
                    n += 1
    return MayWin(leaves, fresh, n)


@njit(cache=True, nogil=True)
def those_that_may_win(met, size, leaves):
    """Return, ordered by node, the first ``size`` nodes of a frontier without those below which no leaf can matter.

    A leaf has a larger number than the nodes above it, and of equal estimates the smaller number ranks first.
    """
    kept = np.int64(0)
    rows, nodes, estimates = met
    for i in range(size):
        row, node, estimate = rows[i], nodes[i], estimates[i]
        if rank_key(node, estimate) > leaves[row, -1]:
            rows[kept], nodes[kept], estimates[kept] = row, node, estimate
            kept += 1
    return sorted_by_node(met, kept)


@njit(cache=True, nogil=True)
def level_of_winners(collector):
    """Return the nodes that may still win; see `next_level`."""
    leaves, fresh, n = collector
    return those_that_may_win(fresh, n, leaves), MayWin(leaves, fresh, np.int64(0))


@overload(take_estimates)
def _take_estimates(collector, rows, parents, estimates, first, label):
    return take_winners.py_func if collector.instance_class is MayWin else None


@overload(next_level)
def _next_level(collector):
    return level_of_winners.py_func if collector.instance_class is MayWin else None


@njit(cache=True, nogil=True)
def what_beams_missed(found):
    """Return the nodes that a `BestInBeam` lists and that may win, a collector for what is below, and `are_exact`."""
    leaves = found.leaves
    exact = are_exact(found.missed, leaves)
    frontier = those_that_may_win(found.unopened, found.n_unopened, leaves)
    return frontier, MayWin(leaves, empty_frontier(4 * leaves.shape[0]), np.int64(0)), exact


@njit(cache=True, nogil=True)
def ranked_winners(found, label):
    """Return labels and estimates of a `MayWin` at the end of its search."""
    return labels_of(found.leaves, label)


@njit(cache=True, nogil=True)
def rank_certified(x, start, end, nodes, link, k, beam, shape):
    """Find the k labels with the largest estimates, best first, for instances ``start .. end - 1``.

    A beam finds k leaves and lists the nodes that it did not expand. Those whose estimate is at least that of the k-th
    leaf are expanded then, level by level, and no node twice: beside the beam's, no node is opened whose estimate is
    below the k-th of the leaves in the beam.

    Parameters
    ----------
    x, start, end, nodes, link, k, beam, shape
        As for `rank_by_beam`.

    Returns
    -------
    labels : int32 (end - start, k), estimates : float32 (end - start, k)
        -1 and 0 where there are fewer than k labels.
    by_beam : bool (end - start,)
        Whether the beam's answer was the exact one, provably.
    inner_products : int64 (end - start,)
    """
    beams = empty_beams(end - start, k, beam, True)
    found, inner_products = walk_levels(x, start, end, root_frontier(end - start), nodes, link, beams, shape)
    frontier, collector, by_beam = what_beams_missed(found)
    winners, more = walk_levels(x, start, end, frontier, nodes, link, collector, shape)
    labels, estimates = ranked_winners(winners, nodes.label)
    return labels, estimates, by_beam, inner_products + more
