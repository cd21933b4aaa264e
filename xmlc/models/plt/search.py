"""Searches of a label tree: for labels above thresholds, for the best ones by beam, for the best ones exactly.

`estimate_by_levels` and `rank_by_levels` descend level by level with many instances at once. The pairs of an instance
and a node to expand are sorted by node, so that a block of weights is read once per batch and a look-up of a feature
serves all siblings (masked sparse chunk multiplication, Etter et al., WWW 2022). `rank_best_first` takes one instance
after the other. Estimates are the same bits in all of them, whatever the batch. Kernels.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import borrowed, copy_into, row_of, unowned
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.top_k import FREE, insert_key, key_estimate, key_number, rank_key
from xmlc.models.plt.weights import child_estimates, children_of, empty_scratch

EVERY_NODE = np.int64(0)  # for a beam that keeps all
ABOVE_ROOT = np.int32(-1)  # the node whose only child is the root
ESTIMATES_AT_ONCE = np.int64(1 << 16)  # 256 kB
DENSE_WEIGHTS = np.int64(1 << 22)  # of the largest block whose sparse rows are made dense: 16 MB, used as far as needed


@njit(cache=True, nogil=True)
def estimate_by_levels(x, start, end, nodes, link, thresholds, beam, shape):
    """Find every label in the beam whose estimate is above its threshold: Algorithm 4 of plt2016, in another order.

    Parameters
    ----------
    x : KernelCSR
    start, end : int
        Instances ``start .. end - 1`` are searched.
    nodes : NodeWeights, CompactNodeWeights or HashedWeights
    link : int
        See `xmlc.models.plt.weights.estimate_scores`.
    thresholds : float32 (n_nodes,)
        A node is expanded, a leaf reported, when its estimate is greater.
    beam : int
        Of the nodes to expand on a level so many of each instance are, the best, ties to the smaller number; with
        ``EVERY_NODE`` all.
    shape : tuple of int
        Number of features, largest number of non-zeros of an instance, largest number of siblings.

    Returns
    -------
    counts : int64 (end - start,)
        Labels found per instance.
    labels : int32, estimates : float32
        The labels of all instances, one after the other, by ascending leaf.
    inner_products : int64 (end - start,)
        Node classifiers evaluated per instance.
    """
    n_rows, label = end - start, nodes.label
    x, nodes, scratch = rows_from(x, start, end), unowned(nodes), empty_scratch(shape, DENSE_WEIGHTS, ESTIMATES_AT_ONCE)
    inner_products, frontier = np.zeros(n_rows, dtype=np.int64), root_frontier(n_rows)
    found, n_found = empty_frontier(4 * n_rows), np.int64(0)
    while frontier.rows.size > 0:
        met, n_met = empty_frontier(4 * n_rows), np.int64(0)
        # np.int64(0): for a plain 0, which has a type of its own, numba compiles what is called twice.
        begin = np.int64(0)
        while begin < frontier.rows.size:
            first, estimates = expand(x, frontier, begin, nodes, link, scratch, inner_products)
            found = with_capacity(found, n_found, estimates.size)
            met = with_capacity(met, n_met, estimates.size)
            n_found, n_met = take_above(
                frontier, begin, first, estimates, label, thresholds, found, n_found, met, n_met
            )
            begin += estimates.shape[0]
        if beam != EVERY_NODE:
            n_met = best_of_level(met, n_met, n_rows, beam)
        frontier = sorted_by_node(met, n_met)
    rows, keys = sorted_by(found.rows[:n_found], found)
    counts, labels = np.zeros(n_rows, dtype=np.int64), np.empty(n_found, dtype=np.int32)
    products = np.empty(n_found, dtype=np.float32)
    for i in range(n_found):
        counts[rows[i]] += 1
        labels[i], products[i] = label[key_number(keys[i])], key_estimate(keys[i])
    return counts, labels, products, inner_products


@njit(cache=True, nogil=True)
def rank_by_levels(x, start, end, nodes, link, k, beam, certifies, shape):
    """Rank labels for instances ``start .. end - 1`` by beam search, and then exactly if ``certifies``.

    Of the inner nodes met on a level the ``beam`` best of each instance are expanded, of all leaves the k best kept.
    Nodes whose estimate is not above that of k leaves are left out, for no leaf below them can be. To certify, the
    nodes that the beam left out and whose estimate is at least that of the k-th leaf are expanded afterwards, level by
    level, and no node twice.

    Parameters
    ----------
    x, start, end, nodes, link, shape
        As for `estimate_by_levels`.
    k, beam : int
    certifies : bool

    Returns
    -------
    labels : int32 (end - start, k), estimates : float32 (end - start, k)
        Best first; -1 and 0 where there are fewer than k labels.
    by_beam : bool (end - start,)
        Whether the beam's labels are provably the k with the largest estimates, in order.
    inner_products : int64 (end - start,)
    """
    n_rows, label = end - start, nodes.label
    x, nodes, scratch = rows_from(x, start, end), unowned(nodes), empty_scratch(shape, DENSE_WEIGHTS, ESTIMATES_AT_ONCE)
    inner_products, frontier = np.zeros(n_rows, dtype=np.int64), root_frontier(n_rows)
    leaves, missed, by_beam = free_keys(n_rows, k), np.full(n_rows, FREE, np.int64), np.zeros(n_rows, dtype=np.bool_)
    left, n_left = empty_frontier(np.int64(0)), np.int64(0)  # where it certifies: what the beam left out
    while frontier.rows.size > 0:
        beams, begin = free_keys(n_rows, beam), np.int64(0)
        while begin < frontier.rows.size:
            first, estimates = expand(x, frontier, begin, nodes, link, scratch, inner_products)
            left = with_capacity(left, n_left, estimates.size if certifies else 0)
            n_left = add_best(frontier, begin, first, estimates, label, leaves, beams, missed, certifies, left, n_left)
            begin += estimates.shape[0]
        left = with_capacity(left, n_left, beams.size if certifies else 0)
        frontier, n_left = nodes_of_beams(beams, leaves, missed, certifies, left, n_left)
        if frontier.rows.size == 0:  # the beam has come to its end, or has no width any more
            if beam > 0:
                prove(by_beam, missed, leaves)
            frontier, n_left, beam = nodes_that_may_win(left, n_left, leaves), np.int64(0), np.int64(0)
    labels, estimates = labels_of(leaves, label)
    return labels, estimates, by_beam, inner_products


@njit(cache=True, nogil=True)
def rank_best_first(x, start, end, nodes, link, k, shape):
    """Find the k labels with the largest estimates, best first, for instances ``start .. end - 1``.

    Best-first search (plt2016, Section 5.2, last paragraph but one): the queue of Algorithm 4 becomes a priority queue.
    Ties go to the node with the smaller number. It evaluates the fewest node classifiers.

    Parameters
    ----------
    x, start, end, nodes, link, shape
        As for `estimate_by_levels`.
    k : int

    Returns
    -------
    labels : int32 (end - start, k), estimates : float32 (end - start, k)
        -1 and 0 where there are fewer than k labels.
    inner_products : int64 (end - start,)
    """
    x, nodes, label, scratch = unowned(x), unowned(nodes), nodes.label, empty_scratch(shape, np.int64(0), np.int64(0))
    leaves, inner_products = free_keys(end - start, k), np.zeros(end - start, dtype=np.int64)
    rows = np.empty(1, dtype=np.int32)
    for i in range(start, end):
        rows[0], best = i, row_of(leaves, i - start)
        queue = [-rank_key(ABOVE_ROOT, np.float32(1.0))]  # of negated keys: the least of a heap is the first
        while len(queue) > 0 and -queue[0] > best[-1]:
            key = -heappop(queue)
            node, parent = key_number(key), key_estimate(key)
            first, degree = children_of(nodes, node)
            estimates = borrowed(scratch.estimates, 0, degree)
            child_estimates(x, rows, node, nodes, link, scratch, estimates)
            inner_products[i - start] += degree
            for c in range(degree):
                estimate = parent * estimates[c]
                key = rank_key(first + c, estimate)
                if key > best[-1] and estimate >= np.float32(0):  # as in the other searches NaN is no estimate
                    if label[first + c] >= 0:
                        insert_key(best, key)
                    else:
                        heappush(queue, -key)
    labels, estimates = labels_of(leaves, label)
    return labels, estimates, inner_products


@njit(cache=True, nogil=True)
def labels_of(leaves, label):
    """Return labels (int32) and estimates (float32) of leaves that are given by keys; -1 and 0 where there is none."""
    labels, estimates = np.empty(leaves.shape, dtype=np.int32), np.empty(leaves.shape, dtype=np.float32)
    for row in range(leaves.shape[0]):
        for j in range(leaves.shape[1]):
            key = leaves[row, j]
            labels[row, j] = label[key_number(key)] if key != FREE else np.int32(-1)
            estimates[row, j] = max(key_estimate(key), np.float32(0.0))
    return labels, estimates


@njit(cache=True, nogil=True)
def free_keys(n_rows, size):
    """Return a table of `FREE`."""
    keys = np.empty((n_rows, size), dtype=np.int64)
    for row in range(n_rows):
        for place in range(size):
            keys[row, place] = FREE
    return keys


class Frontier(NamedTuple):
    """Nodes to expand, or leaves found: one entry per pair of an instance and a node.

    Attributes
    ----------
    rows : int32
        Instances, counted from the first of the batch.
    keys : int64
        The node and its estimate, see `rank_key`.
    """

    rows: np.ndarray
    keys: np.ndarray


@njit(cache=True, nogil=True)
def expand(x, frontier, begin, nodes, link, scratch, inner_products):
    """Estimate the children of the node at ``begin`` of a sorted frontier for its instances, or as many as fit.

    Returns
    -------
    first : int
        The first child.
    estimates : float32 (q, siblings)
        Of the children given their parent, for the instances ``begin .. begin + q - 1`` of the frontier; they stand in
        the scratch.
    """
    keys, node = frontier.keys, key_number(frontier.keys[begin])
    first, degree = children_of(nodes, node)
    end, last = begin + 1, min(begin + scratch.estimates.size // degree, keys.size)
    while end < last and key_number(keys[end]) == node:
        end += 1
    rows = borrowed(frontier.rows, begin, end)
    estimates = borrowed(scratch.estimates, 0, rows.size * degree)
    child_estimates(x, rows, node, nodes, link, scratch, estimates)
    for row in rows:
        inner_products[row] += degree
    return first, estimates.reshape((rows.size, degree))


@njit(cache=True, nogil=True)
def take_above(frontier, begin, first, estimates, label, thresholds, found, n_found, met, n_met):
    """Add the children above their thresholds, leaves to ``found`` and inner nodes to ``met``; return both sizes."""
    rows, keys = frontier
    found_rows, found_keys = found
    met_rows, met_keys = met
    for q in range(estimates.shape[0]):
        row, parent = rows[begin + q], key_estimate(keys[begin + q])
        for c in range(estimates.shape[1]):
            estimate = parent * estimates[q, c]
            if estimate > thresholds[first + c]:
                key = rank_key(first + c, estimate)
                if label[first + c] >= 0:
                    found_rows[n_found], found_keys[n_found] = row, key
                    n_found += 1
                else:
                    met_rows[n_met], met_keys[n_met] = row, key
                    n_met += 1
    return n_found, n_met


@njit(cache=True, nogil=True)
def best_of_level(met, n_met, n_rows, beam):
    """Keep the ``beam`` best nodes of each instance; return how many these are."""
    rows, keys = met
    beams = free_keys(n_rows, beam)
    for i in range(n_met):
        insert_key(row_of(beams, rows[i]), keys[i])
    n_met = np.int64(0)
    for row in range(n_rows):
        for key in row_of(beams, row):
            if key != FREE:
                rows[n_met], keys[n_met] = row, key
                n_met += 1
    return n_met


@njit(cache=True, nogil=True)
def add_best(frontier, begin, first, estimates, label, leaves, beams, missed, certifies, left, n):
    """Keep the best leaves and inner nodes of each instance; return the length of the list of nodes left out.

    Parameters
    ----------
    leaves : int64 (rows, k), beams : int64 (rows, beam)
        Keys of leaves and of the inner nodes of this level, best first; `FREE` where there are fewer.
    missed : int64 (rows,)
        The largest key of an inner node that was met and that the beam does not expand; `FREE` where there is none.
    certifies : bool
        Whether nodes that the beam leaves out are listed, unless k leaves rank before them.
    left : Frontier, n : int
        The list and its length.
    """
    rows, keys = frontier
    left_rows, left_keys = left  # taking a field of a tuple in the loop would count a reference to it each time
    for q in range(estimates.shape[0]):
        row, parent = rows[begin + q], key_estimate(keys[begin + q])
        best, beam, own = row_of(leaves, row), row_of(beams, row), row_of(estimates, q)
        for c in range(own.size):
            estimate = parent * own[c]
            if not estimate >= key_estimate(best[-1]):
                continue
            key = rank_key(first + c, estimate)
            if label[first + c] >= 0:
                insert_key(best, key)
                continue
            key = insert_key(beam, key)  # the last of the beam, if there is one, makes room
            missed[row] = max(missed[row], key)
            if certifies:  # written at all events, because a processor cannot guess which may win
                left_rows[n], left_keys[n] = row, key
                n += key > best[-1]
    return n


@njit(cache=True, nogil=True)
def nodes_of_beams(beams, leaves, missed, certifies, left, n):
    """Return the nodes of the beams that may lead to one of the best leaves, and the length of the list of the others.

    Of the others those stay of interest that equal the k-th leaf: a leaf below them may rank before it.
    """
    frontier, used = empty_frontier(beams.size), np.int64(0)
    rows, keys = frontier
    left_rows, left_keys = left
    for row in range(beams.shape[0]):
        worst = key_estimate(row_of(leaves, row)[-1])
        for key in row_of(beams, row):
            if key_estimate(key) > worst:
                rows[used], keys[used] = row, key
                used += 1
                continue
            missed[row] = max(missed[row], key)
            if key_estimate(key) < worst or key == FREE:
                break
            if certifies:
                left_rows[n], left_keys[n] = row, key
                n += 1
    return sorted_by_node(frontier, used), n


@njit(cache=True, nogil=True)
def prove(by_beam, missed, leaves):
    """Write whether no leaf below a node that the beam missed can be among the k best.

    An estimate is the product of factors of at most 1, so that no leaf has a larger one than a node above it.
    """
    for row in range(by_beam.size):
        by_beam[row] = key_estimate(missed[row]) < key_estimate(row_of(leaves, row)[-1]) or missed[row] == FREE


@njit(cache=True, nogil=True)
def nodes_that_may_win(left, n, leaves):
    """Return the nodes of a list that rank before the k-th leaf.

    A leaf has a larger number than the nodes above it, and of equal estimates the smaller is first.
    """
    rows, keys = left
    used = np.int64(0)
    for i in range(n):
        if keys[i] > row_of(leaves, rows[i])[-1]:
            rows[used], keys[used] = rows[i], keys[i]
            used += 1
    return sorted_by_node(left, used)


@njit(cache=True, nogil=True)
def rows_from(x, start, end):
    """Return instances ``start .. end - 1`` counted from 0; see `unowned`."""
    return unowned(KernelCSR(x.indptr[start : end + 1], x.indices, x.data))


@njit(cache=True, nogil=True)
def root_frontier(n_rows):
    """Return the frontier from which the root is reached: every instance, with estimate 1."""
    frontier = empty_frontier(n_rows)
    for row in range(n_rows):
        frontier.rows[row], frontier.keys[row] = row, rank_key(ABOVE_ROOT, np.float32(1.0))
    return frontier


@njit(cache=True, nogil=True)
def empty_frontier(size):
    """Allocate ``size`` entries."""
    return Frontier(np.empty(size, np.int32), np.empty(size, np.int64))


@njit(cache=True, nogil=True)
def with_capacity(frontier, used, more):
    """Return a frontier with the first ``used`` entries of this one and space for ``more``: this one if it has it."""
    if used + more <= frontier.rows.size:
        return frontier
    wider = empty_frontier(max(used + more, 2 * frontier.rows.size))
    copy_into(wider.rows, frontier.rows[:used])
    copy_into(wider.keys, frontier.keys[:used])
    return wider


@njit(cache=True, nogil=True)
def sorted_by_node(frontier, size):
    """Return the first ``size`` entries ordered by node, and as before within a node."""
    nodes = np.empty(size, dtype=np.int32)
    for i in range(size):
        nodes[i] = key_number(frontier.keys[i])
    return sorted_by(nodes, frontier)


@njit(cache=True, nogil=True)
def sorted_by(numbers, frontier):
    """Return the first entries of a frontier ordered by a whole number of each, and as before within a number."""
    rows, keys = frontier
    result = empty_frontier(numbers.size)
    if numbers.size == 0:
        return result
    sorted_rows, sorted_keys = result
    low = high = numbers[0]
    for number in numbers:
        low, high = min(low, number), max(high, number)
    starts = np.zeros(high - low + 2, dtype=np.int64)
    for number in numbers:
        starts[number - low + 1] += 1
    for i in range(1, starts.size):
        starts[i] += starts[i - 1]
    for i in range(numbers.size):
        index = starts[numbers[i] - low]
        starts[numbers[i] - low] += 1
        sorted_rows[index], sorted_keys[index] = rows[i], keys[i]
    return result
