"""The two steps of a level whose blocks are shared out among threads, see `xmlc.models.plt.search.sharing`: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.models.plt.search._block_scores import group_estimates, open_block
from xmlc.models.plt.search._lookup import Lookup, clear_features, empty_lookup
from xmlc.models.plt.search._walk import DENSE_WEIGHTS, children_of, group_end, next_level, take_estimates
from xmlc.runtime.kernel_cache import njit


class Scratch(NamedTuple):
    """What a thread needs to estimate: a lookup, and space (float32) for the largest block made dense."""

    lookup: Lookup
    dense: np.ndarray


class Entries(NamedTuple):
    """The nodes to expand on a level: the frontiers of all parts, each sorted by node, one after the other.

    Attributes
    ----------
    rows : int32
        Instances, counted from the first of all parts.
    nodes : int32
    places : int64
        How many estimates the entries before this one have in its part.
    """

    rows: np.ndarray
    nodes: np.ndarray
    places: np.ndarray


@njit(cache=True, nogil=True)
def empty_scratch(shape):
    """Make a `Scratch`; memory that no block needs is never touched."""
    n_features, max_nonzeros, _ = shape
    return Scratch(empty_lookup(n_features, max_nonzeros), np.empty(DENSE_WEIGHTS, dtype=np.float32))


@njit(cache=True, nogil=True)
def places_of(frontier, nodes):
    """Return where the estimates of each entry's children start in those of all, and their number: int64 (n + 1,)."""
    visited = frontier.nodes
    places = np.empty(visited.size + 1, dtype=np.int64)
    places[0] = 0
    for i in range(visited.size):
        _, degree = children_of(nodes, visited[i])
        places[i + 1] = places[i] + degree
    return places


@njit(cache=True, nogil=True)
def smallest_head(visited, heads, ends):
    """Return the part whose next node is the smallest, the first of several; -1 where all are at their ends."""
    best = -1
    for p in range(heads.size):
        if heads[p] < ends[p] and (best < 0 or visited[heads[p]] < visited[heads[best]]):
            best = p
    return best


@njit(cache=True, nogil=True)
def estimate_entries(x, entries, lows, highs, offsets, nodes, link, scratch, estimates):
    """Write the estimates for some entries of each part, opening each block once for all parts.

    Parameters
    ----------
    x : KernelCSR
    entries : Entries
    lows, highs : int64 (parts,)
        The first entry of each part and the last plus one.
    offsets : int64 (parts,)
        Where the estimates of a part would start if all were written.
    nodes, link
        As for `walk_levels`.
    scratch : Scratch
    estimates : float32
        Written at the places of the entries.
    """
    rows, visited, places = entries
    lookup, dense = scratch
    nonzeros = x.indptr[x.indptr.size - 1] / max(x.indptr.size - 1, 1)
    heads, stops = lows.copy(), lows.copy()
    while True:
        least = smallest_head(visited, heads, highs)
        if least < 0:
            return
        node, n_queries = visited[heads[least]], np.int64(0)
        for p in range(heads.size):
            while stops[p] < highs[p] and visited[stops[p]] == node:
                stops[p] += 1
            n_queries += stops[p] - heads[p]
        first, degree = children_of(nodes, node)
        block = open_block(nodes, node + 1, first, degree, n_queries, nonzeros, lookup, dense)
        for p in range(heads.size):
            count = stops[p] - heads[p]
            if count > 0:
                place = offsets[p] + places[heads[p]]
                own = borrowed(estimates, place, place + count * degree).reshape((count, degree))
                group_estimates(x, borrowed(rows, heads[p], stops[p]), block, link, lookup, own)
                heads[p] = stops[p]
        if block.marked:
            clear_features(block.features, lookup)


@njit(cache=True, nogil=True)
def take_entries(collector, inner_products, frontier, low, high, places, offset, nodes, estimates):
    """Hand a part's collector what `estimate_entries` wrote for it, node by node.

    Parameters
    ----------
    collector : NamedTuple
    inner_products : int64 (rows,)
        Increased by the node classifiers evaluated.
    frontier : Frontier
        Of the part; no node has entries both inside and outside of ``low .. high - 1``.
    low, high : int
    places : int64 (n + 1,)
        See `places_of`.
    offset : int
        Of the part.
    nodes, estimates
        As for `estimate_entries`.

    Returns
    -------
    NamedTuple
        The collector.
    """
    rows, visited, parents = frontier
    begin = low
    while begin < high:
        stop, node = group_end(frontier, begin), visited[begin]
        first, degree = children_of(nodes, node)
        own = borrowed(estimates, offset + places[begin], offset + places[stop]).reshape((stop - begin, degree))
        own_rows = borrowed(rows, begin, stop)
        collector = take_estimates(collector, own_rows, borrowed(parents, begin, stop), own, first, nodes.label)
        for row in own_rows:
            inner_products[row] += degree
        begin = stop
    return collector


@njit(cache=True, nogil=True)
def level_after(collector, nodes):
    """Return the nodes that a collector expands next as a `Frontier`, their `places_of`, and the collector."""
    frontier, collector = next_level(collector)
    return frontier, places_of(frontier, nodes), collector
