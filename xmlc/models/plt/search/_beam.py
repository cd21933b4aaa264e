"""Ranking by beam search, with a proof of where it is exact: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload

from xmlc.kernels.arrays import row_of
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


class BestInBeam(NamedTuple):
    """Collector of the best leaves and of a beam of inner nodes for each instance, see `walk_levels`.

    Attributes
    ----------
    leaves : int32 (rows, k), leaf_estimates : float32 (rows, k)
        Best first; -1 and `NONE` where there are fewer.
    beam_nodes : int32 (rows, beam), beam_estimates : float32 (rows, beam)
        The inner nodes of this level.
    missed : float32 (rows,)
        The largest estimate of an inner node that was met and is not expanded; `NONE` where there is none.
    lists : bool
        Whether those nodes are listed.
    unopened : Frontier, n_unopened : int
        The list and its length. Nodes are not in it whose estimate was below that of k leaves when they were met.
    """

    leaves: np.ndarray
    leaf_estimates: np.ndarray
    beam_nodes: np.ndarray
    beam_estimates: np.ndarray
    missed: np.ndarray
    lists: bool
    unopened: Frontier
    n_unopened: int


@njit(cache=True, nogil=True)
def take_best(collector, rows, parents, estimates, first, label):
    """Keep the best leaves and inner nodes of each instance; see `take_estimates`."""
    leaves, leaf_estimates, beam_nodes, beam_estimates, missed, lists, unopened, n = collector
    if lists:
        unopened = with_capacity(unopened, n, estimates.size)
    # Taking a field of a tuple in the loop would count a reference to its array each time.
    unopened_rows, unopened_nodes, unopened_estimates = unopened
    for q in range(rows.size):
        row = rows[q]
        best, best_estimates = row_of(leaves, row), row_of(leaf_estimates, row)
        beam, in_beam = row_of(beam_nodes, row), row_of(beam_estimates, row)
        for c in range(estimates.shape[1]):
            product = parents[q] * estimates[q, c]
            if product < best_estimates[-1]:
                continue
            if label[first + c] >= 0:
                insert_best(best, best_estimates, first + c, product)
                continue
            node, estimate = first + c, product
            if product > in_beam[-1]:  # the last of the beam, if there is one, makes room
                node, estimate = beam[-1], in_beam[-1]
                insert_best(beam, in_beam, first + c, product)
            missed[row] = max(missed[row], estimate)
            if lists and estimate != NONE:
                unopened_rows[n], unopened_nodes[n], unopened_estimates[n] = row, node, estimate
                n += 1
    return BestInBeam(leaves, leaf_estimates, beam_nodes, beam_estimates, missed, lists, unopened, n)


@njit(cache=True, nogil=True)
def level_of_beam(collector):
    """Return the nodes of all beams that may still lead to one of the best leaves; see `next_level`.

    Of the others those stay of interest that equal the k-th leaf: a leaf below them may rank before it.
    """
    leaves, leaf_estimates, beam_nodes, beam_estimates, missed, lists, unopened, n = collector
    frontier, used = empty_frontier(beam_nodes.size), np.int64(0)
    rows, nodes, estimates = frontier
    if lists:
        unopened = with_capacity(unopened, n, beam_nodes.size)
    unopened_rows, unopened_nodes, unopened_estimates = unopened
    for row in range(beam_nodes.shape[0]):
        for j in range(beam_nodes.shape[1]):
            node, estimate = beam_nodes[row, j], beam_estimates[row, j]
            if estimate > leaf_estimates[row, -1]:
                rows[used], nodes[used], estimates[used] = row, node, estimate
                used += 1
                continue
            missed[row] = max(missed[row], estimate)
            if estimate < leaf_estimates[row, -1] or estimate == NONE:
                break
            if lists:
                unopened_rows[n], unopened_nodes[n], unopened_estimates[n] = row, node, estimate
                n += 1
    beam_estimates[:] = NONE
    collector = BestInBeam(leaves, leaf_estimates, beam_nodes, beam_estimates, missed, lists, unopened, n)
    return sorted_by_node(frontier, used), collector


@overload(take_estimates)
def _take_estimates(collector, rows, parents, estimates, first, label):
    return take_best.py_func if collector.instance_class is BestInBeam else None


@overload(next_level)
def _next_level(collector):
    return level_of_beam.py_func if collector.instance_class is BestInBeam else None


@njit(cache=True, nogil=True)
def empty_beams(n_rows, k, beam, lists):
    """Return a `BestInBeam` of instances that have met no node."""
    leaves, leaf_estimates = np.full((n_rows, k), -1, dtype=np.int32), np.full((n_rows, k), NONE)
    beam_nodes, beam_estimates = np.full((n_rows, beam), -1, dtype=np.int32), np.full((n_rows, beam), NONE)
    missed, unopened = np.full(n_rows, NONE), empty_frontier(np.int64(0))
    return BestInBeam(
        leaves, leaf_estimates, beam_nodes, beam_estimates, missed, np.bool_(lists), unopened, np.int64(0)
    )


@njit(cache=True, nogil=True)
def are_exact(missed, leaf_estimates):
    """Tell for each instance whether no leaf below a node that was missed can be among the k best.

    Parameters
    ----------
    missed : float32 (rows,), leaf_estimates : float32 (rows, k)
        Of a `BestInBeam` at the end of its search.

    Returns
    -------
    bool (rows,)
        An estimate is the product of factors of at most 1, so that no leaf has a larger one than a node above it.
    """
    exact = np.empty(missed.size, dtype=np.bool_)
    for row in range(missed.size):
        exact[row] = missed[row] < leaf_estimates[row, -1] or missed[row] == NONE
    return exact


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
def ranked_by_beam(found, label):
    """Return what `rank_by_beam` does of the `BestInBeam` at its end, without the inner products."""
    exact = are_exact(found.missed, found.leaf_estimates)
    labels_of(found.leaves, found.leaf_estimates, label)
    return found.leaves, found.leaf_estimates, exact


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
