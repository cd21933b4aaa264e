"""The walk through a label tree level by level, for many instances at once: kernels.

The pairs of an instance and a node to expand are sorted by node, so that a block of weights is read once per batch and
a look-up of a feature serves all siblings (masked sparse chunk multiplication, Etter et al., WWW 2022). Estimates are
the bits that a search instance by instance gives, whatever the batch. What becomes of the estimates is said by a
collector: a named tuple for whose type `take_estimates` and `next_level` are implemented.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xmlc.kernels.arrays import copy_into
from xmlc.models.plt.search._block_scores import group_estimates, open_block
from xmlc.models.plt.search._lookup import clear_features, empty_lookup
from xmlc.runtime.kernel_cache import njit

ESTIMATES_PER_CHUNK = 1 << 16  # 256 kB
DENSE_WEIGHTS = 1 << 22  # of the largest block whose sparse rows are made dense: 16 MB, used as far as needed
NONE = np.float32(-1.0)  # below any estimate


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
    """Allocate ``size`` entries."""
    return Frontier(np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.float32))


@njit(cache=True, nogil=True)
def with_capacity(frontier, used, more):
    """Return a frontier with the first ``used`` entries of this one and space for ``more``: this one if it has it."""
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
    rows, nodes, estimates = frontier
    low, high = nodes[:size].min(), nodes[:size].max()
    starts = np.zeros(high - low + 2, dtype=np.int64)
    for node in nodes[:size]:
        starts[node - low + 1] += 1
    for i in range(1, starts.size):
        starts[i] += starts[i - 1]
    sorted_rows, sorted_nodes, sorted_estimates = empty_frontier(size)
    for i in range(size):
        node = nodes[i]
        index = starts[node - low]
        starts[node - low] += 1
        sorted_rows[index], sorted_nodes[index], sorted_estimates[index] = rows[i], node, estimates[i]
    return Frontier(sorted_rows, sorted_nodes, sorted_estimates)


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
    nodes, end = frontier.nodes, begin + 1
    while end < nodes.size and nodes[end] == nodes[begin]:
        end += 1
    return end


def take_estimates(
    collector: Any, rows: np.ndarray, parents: np.ndarray, estimates: np.ndarray, first: int, label: np.ndarray
) -> Any:
    """Take the estimates of the children of one node for some instances.

    Implemented for each type of collector with `numba.extending.overload`.

    Parameters
    ----------
    collector : NamedTuple
    rows : int32 (q,)
        Instances, counted from the first of the batch.
    parents : float32 (q,)
        Their estimates of the parent.
    estimates : float32 (q, siblings)
        Of the children, given the parent: an estimate is the product of both.
    first : int
        Number of the first child.
    label : int32 (n_nodes,)
        As in `NodeWeights`.

    Returns
    -------
    NamedTuple
        The collector, with what was taken.
    """
    raise TypeError("only kernels call this")


def next_level(collector: Any) -> tuple[Frontier, Any]:
    """Return the nodes to expand next as a `Frontier` sorted by node, and the collector ready for their children.

    Implemented as `take_estimates` is.
    """
    raise TypeError("only kernels call this")


@njit(cache=True, nogil=True)
def walk_levels(x, start, end, frontier, nodes, link, collector, shape):
    """Estimate nodes level by level for instances ``start .. end - 1``.

    Parameters
    ----------
    x : KernelCSR
    frontier : Frontier
        The nodes to expand first, sorted by node: `root_frontier`.
    nodes : NodeWeights or CompactNodeWeights
    link : int
        See `estimate_scores`.
    collector : NamedTuple
        Is handed all estimates and chooses the nodes to expand.
    shape : tuple of int
        Number of features, largest number of non-zeros of an instance, largest number of siblings.

    Returns
    -------
    collector : NamedTuple
    inner_products : int64 (end - start,)
        Node classifiers evaluated per instance.
    """
    n_features, max_nonzeros, max_degree = shape
    lookup = empty_lookup(n_features, max_nonzeros)
    buffer = np.empty(max(ESTIMATES_PER_CHUNK, max_degree), dtype=np.float32)
    dense = np.empty(DENSE_WEIGHTS, dtype=np.float32)
    inner_products = np.zeros(end - start, dtype=np.int64)
    nonzeros = (x.indptr[end] - x.indptr[start]) / max(end - start, 1)
    while frontier.rows.size > 0:
        # Here and below np.int64(0): for a plain 0, which has a type of its own, numba compiles what is called twice.
        begin = np.int64(0)
        while begin < frontier.rows.size:
            stop, node = group_end(frontier, begin), frontier.nodes[begin]
            first, degree = children_of(nodes, node)
            block = open_block(nodes, node + 1, first, degree, stop - begin, nonzeros, lookup, dense)
            step = buffer.size // degree
            for low in range(begin, stop, step):
                chunk = slice(low, min(low + step, stop))
                rows, parents = frontier.rows[chunk], frontier.estimates[chunk]
                estimates = buffer[: rows.size * degree].reshape((rows.size, degree))
                group_estimates(x, start + rows, block, link, lookup, estimates)
                for row in rows:
                    inner_products[row] += degree
                collector = take_estimates(collector, rows, parents, estimates, first, nodes.label)
            if block.marked:
                clear_features(block.features, lookup)
            begin = stop
        frontier, collector = next_level(collector)
    return collector, inner_products
