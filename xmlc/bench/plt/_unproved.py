"""Ranking by beam search without a proof of its answers, to measure what the proof takes: kernels.

They repeat those of `BestInBeam` line by line, but for the proof: any other difference would be measured with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.kernels.arrays import borrowed, row_of
from xmlc.kernels.bits import lowest_bit
from xmlc.kernels.top_k import FREE, insert_key, key_estimate, key_number, rank_key, reaching
from xmlc.models.plt.search import (
    CHILDREN_AT_ONCE,
    empty_frontier,
    labels_of,
    next_level,
    root_frontier,
    sorted_by_node,
    take_estimates,
    walk_levels,
)
from xmlc.runtime.kernel_cache import njit


class UnprovedBeam(NamedTuple):
    """Collector of the best leaves and of a beam of inner nodes, as `BestInBeam` without what the beam missed.

    Attributes
    ----------
    leaves : int64 (rows, k), beams : int64 (rows, beam)
        Keys, see `rank_key`, best first; `FREE` where there are fewer.
    """

    leaves: np.ndarray
    beams: np.ndarray


@njit(cache=True, nogil=True)
def take_unproved(collector, rows, parents, estimates, first, label):
    """Keep the best leaves and inner nodes of each instance; see `take_estimates`."""
    leaves, beams = collector
    for q in range(rows.size):
        row, parent = rows[q], parents[q]
        best, beam, own = row_of(leaves, row), row_of(beams, row), row_of(estimates, q)
        for begin in range(0, own.size, CHILDREN_AT_ONCE):
            some = borrowed(own, begin, min(begin + CHILDREN_AT_ONCE, own.size))
            left = reaching(some, parent, key_estimate(best[-1]))
            while left:
                c = np.int64(lowest_bit(left))
                left &= left - np.uint64(1)
                node = first + begin + c
                key = rank_key(node, parent * some[c])
                if label[node] >= 0:
                    insert_key(best, key)
                else:
                    insert_key(beam, key)
    return UnprovedBeam(leaves, beams)


@njit(cache=True, nogil=True)
def level_unproved(collector):
    """Return the nodes of all beams that may still lead to one of the best leaves; see `next_level`."""
    leaves, beams = collector
    frontier, used = empty_frontier(beams.size), np.int64(0)
    rows, nodes, estimates = frontier
    for row in range(beams.shape[0]):
        worst = key_estimate(leaves[row, -1])
        for key in row_of(beams, row):
            estimate = key_estimate(key)
            if not estimate > worst:
                break
            rows[used], nodes[used], estimates[used] = row, key_number(key), estimate
            used += 1
    beams[:] = FREE
    return sorted_by_node(frontier, used), UnprovedBeam(leaves, beams)


@overload(take_estimates)
def _take_estimates(collector, rows, parents, estimates, first, label):
    return take_unproved.py_func if collector.instance_class is UnprovedBeam else None


@overload(next_level)
def _next_level(collector):
    return level_unproved.py_func if collector.instance_class is UnprovedBeam else None


@njit(cache=True, nogil=True)
def rank_unproved(x, start, end, nodes, link, k, beam, shape):
    """Return the labels, estimates and inner products of `rank_by_beam`, which has these parameters."""
    n = end - start
    collector = UnprovedBeam(np.full((n, k), FREE), np.full((n, beam), FREE))
    found, inner_products = walk_levels(x, start, end, root_frontier(n), nodes, link, collector, shape)
    labels, estimates = labels_of(found.leaves, nodes.label)
    return labels, estimates, inner_products
