"""Best-first search for many instances at once, the best node of each in one round: kernels.

An instance opens the nodes that it opens alone (`xmlc.models.plt.search._by_instance.best_first`), in the same order.
But a block of weights is read once a round for all instances that are at it, and its features are found together: half
to a fifth of the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.kernels.arrays import borrowed, copy_into, row_of
from xmlc.kernels.bits import lowest_bit
from xmlc.kernels.heaps import pop_node, push_node
from xmlc.kernels.top_k import FREE, insert_key, key_estimate, rank_key, reaching
from xmlc.models.plt.search._beam import CHILDREN_AT_ONCE, labels_of
from xmlc.models.plt.search._walk import (
    empty_frontier,
    next_level,
    root_frontier,
    sorted_by_node,
    take_estimates,
    walk_levels,
)
from xmlc.runtime.kernel_cache import njit

FIRST_QUEUED = 32  # nodes of an instance that there is space for at first


class Queues(NamedTuple):
    """Collector of the best leaves and of all inner nodes that may have a better one below, see `walk_levels`.

    Attributes
    ----------
    leaves : int64 (rows, k)
        As in `BestInBeam`.
    starts, spaces, sizes : int64 (rows,)
        The nodes that an instance has met and not opened are a heap, see `push_node`: where it starts in the pool,
        how many nodes there is space for, and how many there are.
    nodes : int32 (pool,), estimates : float32 (pool,)
        The pool. A heap that gets longer than its space moves to the pool's end, so that an instance with a long one
        needs no space for the others.
    used : int
        Where the pool's end is.
    """

    leaves: np.ndarray
    starts: np.ndarray
    spaces: np.ndarray
    sizes: np.ndarray
    nodes: np.ndarray
    estimates: np.ndarray
    used: int


@njit(cache=True, nogil=True)
def empty_queues(n_rows, k):
    """Return the `Queues` of instances that have met no node."""
    used = np.int64(n_rows * FIRST_QUEUED)
    starts, spaces = np.arange(0, used, FIRST_QUEUED), np.full(n_rows, np.int64(FIRST_QUEUED))
    nodes, estimates = np.empty(used, dtype=np.int32), np.empty(used, dtype=np.float32)
    return Queues(np.full((n_rows, k), FREE), starts, spaces, np.zeros(n_rows, dtype=np.int64), nodes, estimates, used)


@njit(cache=True, nogil=True)
def with_space(queues, rows, more):
    """Return queues in which each of some instances has space for so many more nodes: these if they have it."""
    leaves, starts, spaces, sizes, nodes, estimates, used = queues
    needed = np.int64(0)
    for row in rows:
        if sizes[row] + more > spaces[row]:
            needed += max(sizes[row] + more, 2 * spaces[row])
    if needed == 0:
        return queues
    if used + needed > nodes.size:
        size = max(used + needed, 2 * nodes.size)
        wider_nodes, wider_estimates = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.float32)
        copy_into(wider_nodes, borrowed(nodes, 0, used))
        copy_into(wider_estimates, borrowed(estimates, 0, used))
        nodes, estimates = wider_nodes, wider_estimates
    for row in rows:
        if sizes[row] + more > spaces[row]:
            start, end = starts[row], starts[row] + sizes[row]
            starts[row], spaces[row] = used, max(sizes[row] + more, 2 * spaces[row])
            used += spaces[row]
            copy_into(borrowed(nodes, starts[row], used), borrowed(nodes, start, end))
            copy_into(borrowed(estimates, starts[row], used), borrowed(estimates, start, end))
    return Queues(leaves, starts, spaces, sizes, nodes, estimates, used)


@njit(cache=True, nogil=True)
def heap_at(nodes, estimates, start, space):
    """Return the nodes and the estimates of a heap in the pool, with all its space."""
    return borrowed(nodes, start, start + space), borrowed(estimates, start, start + space)


@njit(cache=True, nogil=True)
def take_queued(collector, rows, parents, estimates, first, label):
    """Keep the best leaves, and nodes no worse than the last of them; see `take_estimates`."""
    inner = 0
    for node in range(first, first + estimates.shape[1]):
        inner += label[node] < 0
    collector = with_space(collector, rows, inner)
    # Taking a field of a tuple in the loop would count a reference to its array each time.
    leaves, starts, spaces, sizes, queued_nodes, queued_estimates, _ = collector
    for q in range(rows.size):
        row, parent = rows[q], parents[q]
        best, own, size = row_of(leaves, row), row_of(estimates, q), sizes[row]
        heap_nodes, heap_estimates = heap_at(queued_nodes, queued_estimates, starts[row], spaces[row])
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
                    push_node(heap_nodes, heap_estimates, size, node, estimate)
                    size += 1
        sizes[row] = size
    return collector


@njit(cache=True, nogil=True)
def best_queued(collector):
    """Return the best node of each instance that may have one of the best leaves below; see `next_level`."""
    leaves, starts, spaces, sizes, queued_nodes, queued_estimates, _ = collector
    frontier, used = empty_frontier(sizes.size), np.int64(0)
    rows, nodes, estimates = frontier
    for row in range(sizes.size):
        if sizes[row] == 0:
            continue
        heap_nodes, heap_estimates = heap_at(queued_nodes, queued_estimates, starts[row], spaces[row])
        node, estimate = heap_nodes[0], heap_estimates[0]
        if rank_key(node, estimate) < leaves[row, -1]:
            sizes[row] = 0
            continue
        pop_node(heap_nodes, heap_estimates, sizes[row])
        sizes[row] -= 1
        rows[used], nodes[used], estimates[used] = row, node, estimate
        used += 1
    return sorted_by_node(frontier, used), collector


@overload(take_estimates)
def _take_estimates(collector, rows, parents, estimates, first, label):
    return take_queued.py_func if collector.instance_class is Queues else None


@overload(next_level)
def _next_level(collector):
    return best_queued.py_func if collector.instance_class is Queues else None


@njit(cache=True, nogil=True)
def rank_best_first(x, start, end, nodes, link, k, shape):
    """Find the k labels with the largest estimates, best first, for instances ``start .. end - 1``.

    Best-first search (plt2016, Section 5.2), the same bits as `search_top_k`.

    Parameters
    ----------
    x, start, end, nodes, link, shape
        As for `walk_levels`.
    k : int

    Returns
    -------
    labels : int32 (end - start, k), estimates : float32 (end - start, k)
        -1 and 0 where there are fewer than k labels.
    inner_products : int64 (end - start,)
    """
    queues, first = empty_queues(end - start, k), root_frontier(end - start)
    found, inner_products = walk_levels(x, start, end, first, nodes, link, queues, shape)
    labels, estimates = labels_of(found.leaves, nodes.label)
    return labels, estimates, inner_products
