"""Ranking by beam search, with a proof of where it is exact: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.kernels.arrays import borrowed, row_of
from xmlc.kernels.bits import lowest_bit
from xmlc.kernels.top_k import FREE, insert_key, key_estimate, key_number, rank_key, reaching
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

CHILDREN_AT_ONCE = 16  # of a node; then the k-th best leaf is looked up again


class BestInBeam(NamedTuple):
    """Collector of the best leaves and of a beam of inner nodes for each instance, see `walk_levels`.

    Attributes
    ----------
    leaves : int64 (rows, k)
        Keys of leaves, see `rank_key`, best first; `FREE` where there are fewer.
    beams : int64 (rows, beam)
        Those of the inner nodes of this level.
    missed : int64 (rows,)
        The largest key of an inner node that was met and is not expanded; `FREE` where there is none.
    lists : bool
        Whether those nodes are listed.
    unopened : Frontier, n_unopened : int
        The list and its length. Nodes are not in it that k leaves ranked before when they were left out.
    """

    leaves: np.ndarray
    beams: np.ndarray
    missed: np.ndarray
    lists: bool
    unopened: Frontier
    n_unopened: int


@njit(cache=True, nogil=True)
def take_best(collector, rows, parents, estimates, first, label):
    """Keep the best leaves and inner nodes of each instance; see `take_estimates`."""
    leaves, beams, missed, lists, unopened, n = collector
    if lists:
        unopened = with_capacity(unopened, n, estimates.size)
    # Taking a field of a tuple in the loop would count a reference to its array each time.
    unopened_rows, unopened_nodes, unopened_estimates = unopened
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
                    continue
                key = insert_key(beam, key)  # the last of the beam, if there is one, makes room
                missed[row] = max(missed[row], key)
                if lists:  # written at all events, because a processor cannot guess which may win
                    unopened_rows[n], unopened_nodes[n], unopened_estimates[n] = row, key_number(key), key_estimate(key)
                    n += key > best[-1]
    return BestInBeam(leaves, beams, missed, lists, unopened, n)


@njit(cache=True, nogil=True)
def level_of_beam(collector):
    """Return the nodes of all beams that may still lead to one of the best leaves; see `next_level`.

    Of the others those stay of interest that equal the k-th leaf: a leaf below them may rank before it.
    """
    leaves, beams, missed, lists, unopened, n = collector
    frontier, used = empty_frontier(beams.size), np.int64(0)
    rows, nodes, estimates = frontier
    if lists:
        unopened = with_capacity(unopened, n, beams.size)
    unopened_rows, unopened_nodes, unopened_estimates = unopened
    for row in range(beams.shape[0]):
        worst = key_estimate(leaves[row, -1])
        for key in row_of(beams, row):
            estimate = key_estimate(key)
            if estimate > worst:
                rows[used], nodes[used], estimates[used] = row, key_number(key), estimate
                used += 1
                continue
            missed[row] = max(missed[row], key)
            if estimate < worst or key == FREE:
                break
            if lists:
                unopened_rows[n], unopened_nodes[n], unopened_estimates[n] = row, key_number(key), estimate
                n += 1
    beams[:] = FREE
    return sorted_by_node(frontier, used), BestInBeam(leaves, beams, missed, lists, unopened, n)


@overload(take_estimates)
def _take_estimates(collector, rows, parents, estimates, first, label):
    return take_best.py_func if collector.instance_class is BestInBeam else None


@overload(next_level)
def _next_level(collector):
    return level_of_beam.py_func if collector.instance_class is BestInBeam else None


@njit(cache=True, nogil=True)
def empty_beams(n_rows, k, beam, lists):
    """Return a `BestInBeam` of instances that have met no node."""
    leaves, beams, missed = np.full((n_rows, k), FREE), np.full((n_rows, beam), FREE), np.full(n_rows, FREE)
    return BestInBeam(leaves, beams, missed, np.bool_(lists), empty_frontier(np.int64(0)), np.int64(0))


@njit(cache=True, nogil=True)
def are_exact(missed, leaves):
    """Tell for each instance whether no leaf below a node that was missed can be among the k best.

    Parameters
    ----------
    missed : int64 (rows,), leaves : int64 (rows, k)
        Of a `BestInBeam` at the end of its search.

    Returns
    -------
    bool (rows,)
        An estimate is the product of factors of at most 1, so that no leaf has a larger one than a node above it.
    """
    exact = np.empty(missed.size, dtype=np.bool_)
    for row in range(missed.size):
        exact[row] = key_estimate(missed[row]) < key_estimate(leaves[row, -1]) or missed[row] == FREE
    return exact


@njit(cache=True, nogil=True)
def labels_of(leaves, label):
    """Return labels (int32) and estimates (float32) of leaves that are given by keys; -1 and 0 where there is none."""
    labels, estimates = np.full(leaves.shape, -1, dtype=np.int32), np.zeros(leaves.shape, dtype=np.float32)
    for row in range(leaves.shape[0]):
        for j in range(leaves.shape[1]):
            if leaves[row, j] != FREE:
                labels[row, j], estimates[row, j] = label[key_number(leaves[row, j])], key_estimate(leaves[row, j])
    return labels, estimates


@njit(cache=True, nogil=True)
def ranked_by_beam(found, label):
    """Return what `rank_by_beam` does of the `BestInBeam` at its end, without the inner products."""
    labels, estimates = labels_of(found.leaves, label)
    return labels, estimates, are_exact(found.missed, found.leaves)


@njit(cache=True, nogil=True)
def rank_by_beam(x, start, end, nodes, link, k, beam, shape):
    """Rank labels for instances ``start .. end - 1`` by beam search.

    Of the inner nodes met on a level the ``beam`` best of each instance are expanded, of all leaves the k best kept.
    Nodes whose estimate is not above that of k leaves are left out, for no leaf below them can be.

    Parameters
    ----------
    x, start, end, nodes, link, shape
        As for `walk_levels`.
    k, beam : int

    Returns
    -------
    labels : int32 (end - start, k), estimates : float32 (end - start, k)
        Best first; -1 and 0 where there are fewer than k labels.
    exact : bool (end - start,)
        Whether these are provably the k labels with the largest estimates, in order; see `are_exact`.
    inner_products : int64 (end - start,)
    """
    collector = empty_beams(end - start, k, beam, False)
    found, inner_products = walk_levels(x, start, end, root_frontier(end - start), nodes, link, collector, shape)
    labels, estimates, exact = ranked_by_beam(found, nodes.label)
    return labels, estimates, exact, inner_products
