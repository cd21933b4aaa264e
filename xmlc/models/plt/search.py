"""Searches of a label tree: for labels above thresholds, for the best ones by beam, for the best ones exactly.

`estimate_by_levels` and `rank_by_levels` descend level by level with many instances at once. The pairs of an instance
and a node to expand are sorted by node, so that a block of weights is read once per batch and a look-up of a feature
serves all siblings (masked sparse chunk multiplication, Etter et al., WWW 2022). `rank_best_first` takes one instance
after the other. Estimates are the same bits in all of them, whatever the batch. Kernels.

A node stands with its estimate in one number, a key, by which all searches rank: `xmlc.kernels.top_k.rank_key`, which
has the rule for equal estimates. If labels have weights, a key has the estimate times the node's scale (`scale_of`).
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
FRACTION = np.uint64((1 << 52) - 1)  # bits of a float64, all zero in a power of two
ABOVE_ROOT = np.int32(-1)  # the node whose only child is the root
ESTIMATES_AT_ONCE = np.int64(1 << 16)  # 256 kB
DENSE_WEIGHTS = np.int64(1 << 22)  # of the largest block whose sparse rows are made dense: 16 MB, used as far as needed


class Pairs(NamedTuple):
    """Pairs of an instance and a node: nodes to expand, or leaves found. A list in arrays with room for more."""

    #: int32: Instances, counted from the first of the batch.
    rows: np.ndarray
    #: int64: Nodes and their estimates.
    keys: np.ndarray
    #: int64 (1,): How many pairs there are.
    size: np.ndarray


class Best(NamedTuple):
    """The best of each instance so far, where labels are ranked, and what they cost."""

    #: int64 (rows, k): Keys of leaves, best first; `FREE` where there are fewer.
    leaves: np.ndarray
    #: int64 (rows,): The largest key of an inner node that was met and that the beam does not expand, or `FREE`.
    missed: np.ndarray
    #: int64 (rows,): Node classifiers evaluated.
    inner_products: np.ndarray


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
        Of the nodes to expand on a level so many of each instance are, the best; with ``EVERY_NODE`` all.
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
    inner_products, frontier, found = np.zeros(n_rows, np.int64), root_frontier(n_rows), no_pairs(4 * n_rows)
    while frontier.rows.size > 0:
        # np.int64(0): for a plain 0, which has a type of its own, numba compiles what is called twice.
        met, begin = no_pairs(4 * n_rows), np.int64(0)
        while begin < frontier.rows.size:
            first, estimates = expand(x, frontier, begin, nodes, link, scratch, inner_products)
            found, met = with_capacity(found, estimates.size), with_capacity(met, estimates.size)
            take_above(frontier, begin, first, estimates, label, thresholds, found, met)
            begin += estimates.shape[0]
        if beam != EVERY_NODE:
            keep_beams(met, n_rows, beam)
        frontier = sorted_by_node(met)
    found = sorted_by(found.rows[: found.size[0]], found)
    counts, labels = np.zeros(n_rows, dtype=np.int64), np.empty(found.rows.size, dtype=np.int32)
    products = np.empty(found.rows.size, dtype=np.float32)
    for i in range(found.rows.size):
        counts[found.rows[i]] += 1
        labels[i], products[i] = label[key_number(found.keys[i])], key_estimate(found.keys[i])
    return counts, labels, products, inner_products


@njit(cache=True, nogil=True)
def rank_by_levels(x, start, end, nodes, link, k, largest, beam, certifies, shape):
    """Rank labels for instances ``start .. end - 1`` by beam search, and then exactly if ``certifies``.

    Of the inner nodes met on a level the ``beam`` best of each instance are expanded, of all leaves the k best kept.
    Nodes whose estimate is not above that of k leaves are left out, for no leaf below them can be. To certify, the
    nodes that the beam left out and whose estimate is at least that of the k-th leaf are expanded afterwards, level by
    level, and no node twice.

    Parameters
    ----------
    x, start, end, nodes, link, shape
        As for `estimate_by_levels`.
    k : int
    largest : float64 (n_nodes,) or (0,)
        Of each node the largest weight of a label below it (`xmlc.models.trees.LabelTree.largest_below`); none if
        labels have no weights.
    beam : int
    certifies : bool

    Returns
    -------
    labels : int32 (end - start, k), estimates : float32 (end - start, k)
        Best first, the estimates times the weights; -1 and 0 where there are fewer than k labels.
    by_beam : bool (end - start,)
        Whether the beam's labels are provably the k with the largest estimates, in order.
    inner_products : int64 (end - start,)
    """
    n_rows, label = end - start, nodes.label
    x, nodes, scratch = rows_from(x, start, end), unowned(nodes), empty_scratch(shape, DENSE_WEIGHTS, ESTIMATES_AT_ONCE)
    best = Best(free_keys(n_rows, k), np.full(n_rows, FREE, np.int64), np.zeros(n_rows, np.int64))
    left = search_by_beam(x, nodes, link, scratch, largest, np.int64(beam), certifies, best)
    by_beam = proven(best)
    certify(x, nodes, link, scratch, largest, left, best)
    labels, estimates = labels_of(best.leaves, label)
    return labels, estimates, by_beam, best.inner_products


@njit(cache=True, nogil=True)
def search_by_beam(x, nodes, link, scratch, largest, beam, certifies, best):
    """Expand the ``beam`` best inner nodes of each instance on each level; return those left out, if it certifies."""
    n_rows = best.missed.size
    left, frontier = no_pairs(np.int64(0)), root_frontier(n_rows)
    while frontier.rows.size > 0:
        beams = free_keys(n_rows, beam)
        left = rank_level(x, frontier, nodes, link, scratch, largest, best, beams, certifies, left)
        left = with_capacity(left, beams.size if certifies else 0)
        frontier = nodes_of_beams(beams, best, certifies, left)
    return left


@njit(cache=True, nogil=True)
def certify(x, nodes, link, scratch, largest, left, best):
    """Expand the nodes that a beam left out, and what is below them, as long as they may lead to a better leaf."""
    no_beams = free_keys(best.missed.size, np.int64(0))
    frontier = nodes_that_may_win(left, best, largest, nodes.label)
    while frontier.rows.size > 0:
        left = rank_level(x, frontier, nodes, link, scratch, largest, best, no_beams, True, left)
        frontier = nodes_that_may_win(left, best, largest, nodes.label)


@njit(cache=True, nogil=True)
def rank_level(x, frontier, nodes, link, scratch, largest, best, beams, certifies, left):
    """Expand a frontier and keep the best; arguments of `keep_best`, and its list, longer where it had to be."""
    begin, label, weighted = np.int64(0), nodes.label, largest.size > 0
    while begin < frontier.rows.size:
        first, estimates = expand(x, frontier, begin, nodes, link, scratch, best.inner_products)
        left = with_capacity(left, estimates.size if certifies else 0)
        if weighted:
            for q in range(estimates.shape[0]):
                weigh(row_of(estimates, q), frontier.keys[begin + q], largest, label, first)
        keep_best(frontier, begin, first, estimates, label, weighted, best, beams, certifies, left)
        begin += estimates.shape[0]
    return left


@njit(cache=True, nogil=True)
def rank_best_first(x, start, end, nodes, link, k, largest, shape):
    """Find the k labels with the largest estimates, best first, for instances ``start .. end - 1``.

    Best-first search (plt2016, Section 5.2, last paragraph but one): the queue of Algorithm 4 becomes a priority queue.
    It evaluates the fewest node classifiers.

    Parameters
    ----------
    x, start, end, nodes, link, k, largest, shape
        As for `rank_by_levels`.

    Returns
    -------
    labels : int32 (end - start, k), estimates : float32 (end - start, k)
        As of `rank_by_levels`.
    inner_products : int64 (end - start,)
    """
    x, nodes, label, scratch = unowned(x), unowned(nodes), nodes.label, empty_scratch(shape, np.int64(0), np.int64(0))
    weighted = largest.size > 0
    leaves, inner_products = free_keys(end - start, k), np.zeros(end - start, dtype=np.int64)
    rows = np.empty(1, dtype=np.int32)
    for i in range(start, end):
        rows[0], best = i, row_of(leaves, i - start)
        queue = [-rank_key(ABOVE_ROOT, np.float32(1.0))]  # of negated keys: the least of a heap is the first
        while len(queue) > 0 and -queue[0] > best[-1]:
            key = -heappop(queue)
            if weighted and bound_of(key, largest, label) <= best[-1]:
                continue
            node = key_number(key)
            first, degree = children_of(nodes, node)
            estimates = borrowed(scratch.estimates, 0, degree)
            child_estimates(x, rows, node, nodes, link, scratch, estimates)
            if weighted:
                weigh(estimates, key, largest, label, first)
            parent = np.float32(1.0) if weighted else key_estimate(key)
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
def rows_from(x, start, end):
    """Return instances ``start .. end - 1`` counted from 0; see `unowned`."""
    return unowned(KernelCSR(x.indptr[start : end + 1], x.indices, x.data))


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
def weigh(estimates, key, largest, label, first):
    """Multiply estimates of siblings given their parent, whose key this is, with its estimate and with their scales."""
    node, parent = key_number(key), key_estimate(key)
    parent = np.float32(parent / scale_of(node, largest, label)) if node >= 0 else parent
    for c in range(estimates.size):
        estimates[c] = np.float32(parent * estimates[c]) * scale_of(first + c, largest, label)


@njit(cache=True, nogil=True)
def scale_of(node, largest, label):
    """Return what a node's estimate is multiplied with in its key if labels have weights.

    A leaf has its label's weight. An inner node has the least power of two that is no less than any weight below it, so
    that a division recovers its estimate exactly. NaN, if all labels are excluded: no product with it is a score.
    """
    weight = largest[node]
    if label[node] >= 0 or not weight > 0:
        return weight
    bits = np.float64(weight).view(np.uint64)
    return np.uint64((bits + FRACTION) & ~FRACTION).view(np.float64)


@njit(cache=True, nogil=True, forceinline=True)
def bound_of(key, largest, label):
    """Return the key of an inner node if its scale was the largest weight below it, which is no greater than its key.

    No leaf below the node has a greater one.
    """
    node = key_number(key)
    if node < 0 or largest.size == 0:
        return key
    return rank_key(node, np.float32(key_estimate(key) / scale_of(node, largest, label)) * largest[node])


@njit(cache=True, nogil=True)
def take_above(frontier, begin, first, estimates, label, thresholds, found, met):
    """Add the children above their thresholds, leaves to ``found`` and inner nodes to ``met``: both have room."""
    rows, keys, _ = frontier
    found_rows, found_keys, n_found = found.rows, found.keys, found.size[0]
    met_rows, met_keys, n_met = met.rows, met.keys, met.size[0]
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
    found.size[0], met.size[0] = n_found, n_met


@njit(cache=True, nogil=True)
def keep_beams(met, n_rows, beam):
    """Keep the ``beam`` best nodes of each instance."""
    beams, size = free_keys(n_rows, beam), np.int64(0)
    for i in range(met.size[0]):
        insert_key(row_of(beams, met.rows[i]), met.keys[i])
    for row in range(n_rows):
        for key in row_of(beams, row):
            if key != FREE:
                met.rows[size], met.keys[size] = row, key
                size += 1
    met.size[0] = size


@njit(cache=True, nogil=True)
def keep_best(frontier, begin, first, estimates, label, weighted, best, beams, certifies, left):
    """Keep the best leaves and inner nodes of each instance, of the children that `expand` estimated.

    Parameters
    ----------
    best : Best
    beams : int64 (rows, beam)
        Keys of the best inner nodes of this level, best first; `FREE` where there are fewer.
    certifies : bool
        Whether nodes that have no place in a beam are listed, unless k leaves rank before them.
    left : Pairs
        That list, with room for all children.
    """
    rows, keys, _ = frontier
    leaves, missed, _ = best
    left_rows, left_keys, n = left.rows, left.keys, left.size[0]
    # Taking a field of a tuple in the loop would count a reference to it each time.
    for q in range(estimates.shape[0]):
        row, parent = rows[begin + q], np.float32(1.0) if weighted else key_estimate(keys[begin + q])
        own_leaves, beam, own = row_of(leaves, row), row_of(beams, row), row_of(estimates, q)
        for c in range(own.size):
            estimate = parent * own[c]
            if not estimate >= key_estimate(own_leaves[-1]):
                continue
            key = rank_key(first + c, estimate)
            if label[first + c] >= 0:
                insert_key(own_leaves, key)
                continue
            key = insert_key(beam, key)  # the last of the beam, if there is one, makes room
            missed[row] = max(missed[row], key)
            if certifies:  # written at all events, because a processor cannot guess which may win
                left_rows[n], left_keys[n] = row, key
                n += key > own_leaves[-1]
    left.size[0] = n


@njit(cache=True, nogil=True)
def nodes_of_beams(beams, best, certifies, left):
    """Return the nodes of the beams that may lead to one of the best leaves; if it certifies, list the others.

    Of the others those stay of interest that equal the k-th leaf: a leaf below them may rank before it.
    """
    frontier, used, n = no_pairs(beams.size), np.int64(0), left.size[0]
    for row in range(beams.shape[0]):
        worst = key_estimate(row_of(best.leaves, row)[-1])
        for key in row_of(beams, row):
            if key_estimate(key) > worst:
                frontier.rows[used], frontier.keys[used] = row, key
                used += 1
                continue
            best.missed[row] = max(best.missed[row], key)
            if key_estimate(key) < worst or key == FREE:
                break
            if certifies:
                left.rows[n], left.keys[n] = row, key
                n += 1
    frontier.size[0], left.size[0] = used, n
    return sorted_by_node(frontier)


@njit(cache=True, nogil=True)
def proven(best):
    """Tell of each instance whether no leaf below a node that the beam missed can be among the k best.

    An estimate is the product of factors of at most 1, so that no leaf has a larger one than a node above it, nor a
    larger product with its weight than the node's estimate has with the largest weight below it.
    """
    by_beam = np.empty(best.missed.size, dtype=np.bool_)
    for row in range(by_beam.size):
        missed = best.missed[row]
        by_beam[row] = key_estimate(missed) < key_estimate(row_of(best.leaves, row)[-1]) or missed == FREE
    return by_beam


@njit(cache=True, nogil=True)
def nodes_that_may_win(left, best, largest, label):
    """Take all nodes out of a list, and return those of them that rank before the k-th leaf.

    A leaf has a larger number than the nodes above it.
    """
    used = np.int64(0)
    for i in range(left.size[0]):
        if bound_of(left.keys[i], largest, label) > row_of(best.leaves, left.rows[i])[-1]:
            left.rows[used], left.keys[used] = left.rows[i], left.keys[i]
            used += 1
    left.size[0] = used
    frontier = sorted_by_node(left)
    left.size[0] = 0
    return frontier


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


@njit(cache=True, nogil=True)
def root_frontier(n_rows):
    """Return the frontier from which the root is reached: every instance, with estimate 1."""
    frontier = no_pairs(n_rows)
    for row in range(n_rows):
        frontier.rows[row], frontier.keys[row] = row, rank_key(ABOVE_ROOT, np.float32(1.0))
    frontier.size[0] = n_rows
    return frontier


@njit(cache=True, nogil=True)
def no_pairs(capacity):
    """Return an empty list with room for ``capacity`` pairs."""
    return Pairs(np.empty(capacity, np.int32), np.empty(capacity, np.int64), np.zeros(1, np.int64))


@njit(cache=True, nogil=True)
def with_capacity(pairs, more):
    """Return a list with these pairs and room for ``more``: this one if it has it."""
    used = pairs.size[0]
    if used + more <= pairs.rows.size:
        return pairs
    wider = no_pairs(max(used + more, 2 * pairs.rows.size))
    copy_into(wider.rows, pairs.rows[:used])
    copy_into(wider.keys, pairs.keys[:used])
    wider.size[0] = used
    return wider


@njit(cache=True, nogil=True)
def sorted_by_node(pairs):
    """Return the pairs ordered by node, and as before within a node, in arrays without room for more."""
    nodes = np.empty(pairs.size[0], dtype=np.int32)
    for i in range(nodes.size):
        nodes[i] = key_number(pairs.keys[i])
    return sorted_by(nodes, pairs)


@njit(cache=True, nogil=True)
def sorted_by(numbers, pairs):
    """Return pairs ordered by a whole number of each, and as before within a number."""
    rows, keys, _ = pairs
    result = no_pairs(numbers.size)
    result.size[0] = numbers.size
    if numbers.size == 0:
        return result
    sorted_rows, sorted_keys, _ = result
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
