"""How a label tree is searched: for labels above thresholds, for the best ones by beam, for the best ones exactly.

`estimate_by_levels` and `rank_by_levels` descend level by level with many instances at once. The pairs of an instance
and a node to expand are sorted by node, so that a block of weights is read once per batch and a look-up of a feature
serves all siblings (masked sparse chunk multiplication, Etter et al., WWW 2022). `rank_best_first` takes one instance
after the other. Estimates are the same bits in all of them, whatever the batch. Kernels.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from xmlc.csr import KernelCSR
from xmlc.kernels.arrays import borrowed, copy_into, row_of, unowned
from xmlc.kernels.bits import lowest_bit
from xmlc.kernels.top_k import FREE, insert_key, key_estimate, key_number, rank_key, reaching
from xmlc.models.plt._scores import children_of, clear_features, empty_lookup, group_estimates, open_block
from xmlc.runtime.kernel_cache import njit

EVERY_NODE = np.int64(0)  # for a beam that keeps all
CHILDREN_AT_ONCE = 16  # of a node; then the k-th best leaf is looked up again
ESTIMATES_PER_CHUNK = 1 << 16  # 256 kB
DENSE_WEIGHTS = 1 << 22  # of the largest block whose sparse rows are made dense: 16 MB, used as far as needed


@njit(cache=True, nogil=True)
def estimate_by_levels(x, start, end, nodes, link, thresholds, beam, shape):
    """Find every label in the beam whose estimate is above its threshold: Algorithm 4 of plt2016, in another order.

    Parameters
    ----------
    x, start, end, nodes, link, shape
        As for `walk_levels`.
    thresholds : float32 (n_nodes,)
    beam : int
        See `AboveThresholds`.

    Returns
    -------
    counts : int64 (end - start,)
        Labels found per instance.
    labels : int32, estimates : float32
        The labels of all instances, one after the other, by ascending leaf.
    inner_products : int64 (end - start,)
        Node classifiers evaluated per instance.
    """
    n_rows = end - start
    found, fresh = empty_frontier(4 * n_rows), empty_frontier(4 * n_rows)
    collector = AboveThresholds(thresholds, n_rows, np.int64(beam), found, np.int64(0), fresh, np.int64(0))
    collector, inner_products = walk_levels(x, start, end, nodes, link, collector, shape)
    (rows, leaves, products), n_found = collector.found, collector.n_found
    counts = np.zeros(n_rows, dtype=np.int64)
    for row in rows[:n_found]:
        counts[row] += 1
    next_index = np.zeros(n_rows, dtype=np.int64)
    for row in range(1, n_rows):
        next_index[row] = next_index[row - 1] + counts[row - 1]
    labels, estimates = np.empty(n_found, dtype=np.int32), np.empty(n_found, dtype=np.float32)
    for i in range(n_found):
        index = next_index[rows[i]]
        next_index[rows[i]] += 1
        labels[index], estimates[index] = nodes.label[leaves[i]], products[i]
    return counts, labels, estimates, inner_products


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
        As for `walk_levels`.
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
    n_rows = end - start
    leaves, beams, missed = np.full((n_rows, k), FREE), np.full((n_rows, beam), FREE), np.full(n_rows, FREE)
    by_beam, left = np.zeros(n_rows, dtype=np.bool_), empty_frontier(np.int64(0))
    collector = BestLeaves(leaves, beams, missed, by_beam, certifies, left, np.int64(0))
    _, inner_products = walk_levels(x, start, end, nodes, link, collector, shape)
    labels, estimates = labels_of(leaves, nodes.label)
    return labels, estimates, by_beam, inner_products


@njit(cache=True, nogil=True)
def rank_best_first(x, start, end, nodes, link, k, shape):
    """Find the k labels with the largest estimates, best first, for instances ``start .. end - 1``.

    Best-first search (plt2016, Section 5.2, last paragraph but one): the queue of Algorithm 4 becomes a priority queue.
    Ties go to the node with the smaller number. It evaluates the fewest node classifiers.

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
    n_features, max_nonzeros, max_degree = shape
    x, nodes = unowned(x), unowned(nodes)
    leaves, inner_products = np.full((end - start, k), FREE), np.zeros(end - start, dtype=np.int64)
    lookup, out = empty_lookup(n_features, max_nonzeros), np.empty(max_degree, dtype=np.float32)
    label, rows, no_buffer = nodes.label, np.empty(1, dtype=np.int32), np.empty(0, dtype=np.float32)
    for i in range(start, end):
        rows[0], nonzeros, best = i, float(x.indptr[i + 1] - x.indptr[i]), row_of(leaves, i - start)
        queue = [-rank_key(np.int32(-1), np.float32(1.0))]  # of negated keys: the least of a heap is the first
        while len(queue) > 0 and -queue[0] > best[-1]:
            key = -heappop(queue)
            node, parent = key_number(key), key_estimate(key)
            first, degree = children_of(nodes, node)
            block, own = open_block(nodes, node, np.int64(1), nonzeros, lookup, no_buffer), borrowed(out, 0, degree)
            group_estimates(x, rows, block, link, lookup, own)
            if block.marked:
                clear_features(block.features, lookup)
            inner_products[i - start] += degree
            for begin in range(0, degree, CHILDREN_AT_ONCE):
                some = borrowed(own, begin, min(begin + CHILDREN_AT_ONCE, degree))
                reach = reaching(some, parent, key_estimate(best[-1]))
                while reach:
                    c = np.int64(lowest_bit(reach))
                    reach &= reach - np.uint64(1)
                    child = first + begin + c
                    key = rank_key(child, parent * some[c])
                    if label[child] >= 0:
                        insert_key(best, key)
                    else:
                        heappush(queue, -key)
    labels, estimates = labels_of(leaves, label)
    return labels, estimates, inner_products


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
def walk_levels(x, start, end, nodes, link, collector, shape):
    """Estimate nodes level by level for instances ``start .. end - 1``.

    Parameters
    ----------
    x : KernelCSR
    nodes : NodeWeights, CompactNodeWeights or HashedWeights
    link : int
        See `estimate_scores`.
    collector : NamedTuple
        Is handed all estimates and chooses the nodes to expand: `AboveThresholds` or `BestLeaves`.
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
    frontier, nonzeros = root_frontier(end - start), (x.indptr[end] - x.indptr[start]) / max(end - start, 1)
    x = KernelCSR(x.indptr[start:], x.indices, x.data)  # rows count from the first of the batch
    while frontier.rows.size > 0:
        # Here and below np.int64(0): for a plain 0, which has a type of its own, numba compiles what is called twice.
        begin = np.int64(0)
        while begin < frontier.rows.size:
            stop, node = group_end(frontier, begin), frontier.nodes[begin]
            first, degree = children_of(nodes, node)
            block = open_block(nodes, node, stop - begin, nonzeros, lookup, dense)
            step = buffer.size // degree
            for low in range(begin, stop, step):
                high = min(low + step, stop)
                rows, parents = borrowed(frontier.rows, low, high), borrowed(frontier.estimates, low, high)
                estimates = borrowed(buffer, 0, rows.size * degree)
                group_estimates(x, rows, block, link, lookup, estimates)
                for row in rows:
                    inner_products[row] += degree
                estimates_by_row = estimates.reshape((rows.size, degree))
                collector = take_estimates(collector, rows, parents, estimates_by_row, first, nodes.label)
            if block.marked:
                clear_features(block.features, lookup)
            begin = stop
        frontier, collector = next_level(collector)
    return collector, inner_products


def take_estimates(
    collector: Any, rows: np.ndarray, parents: np.ndarray, estimates: np.ndarray, first: int, label: np.ndarray
) -> Any:
    """Take the estimates of the children of one node for some instances.

    One of the functions below, by the type of the collector.

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

    Chosen as `take_estimates` is.
    """
    raise TypeError("only kernels call this")


@overload(take_estimates)
def _choose_take_estimates(collector, rows, parents, estimates, first, label):
    return (take_above if collector.instance_class is AboveThresholds else take_best).py_func


@overload(next_level)
def _choose_next_level(collector):
    return (level_above if collector.instance_class is AboveThresholds else level_of_best).py_func


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
    thresholds, n_rows, beam, found, n_found, fresh, n = collector
    if beam != EVERY_NODE:
        rows, nodes, estimates = fresh
        beams = np.full((n_rows, beam), FREE)
        for i in range(n):
            insert_key(row_of(beams, rows[i]), rank_key(nodes[i], estimates[i]))
        n = np.int64(0)
        for row in range(n_rows):
            for key in row_of(beams, row):
                if key != FREE:
                    rows[n], nodes[n], estimates[n] = row, key_number(key), key_estimate(key)
                    n += 1
    return sorted_by_node(fresh, n), AboveThresholds(thresholds, n_rows, beam, found, n_found, fresh, np.int64(0))


class BestLeaves(NamedTuple):
    """Collector of the best leaves, by a beam of inner nodes first, see `walk_levels`.

    Attributes
    ----------
    leaves : int64 (rows, k)
        Keys of leaves, see `rank_key`, best first; `FREE` where there are fewer.
    beams : int64 (rows, beam)
        Those of the inner nodes of this level. When the beam has come to its end, its width becomes 0.
    missed : int64 (rows,)
        The largest key of an inner node that was met and that the beam does not expand; `FREE` where there is none.
    by_beam : bool (rows,)
        Written when the beam has come to its end: whether no leaf below a node that was missed can be among the k best.
        An estimate is the product of factors of at most 1, so that no leaf has a larger one than a node above it.
    certifies : bool
        Whether nodes that the beam leaves out are listed, and expanded afterwards.
    left : Frontier, n_left : int
        The list and its length. Nodes are not in it that k leaves ranked before when they were left out.
    """

    leaves: np.ndarray
    beams: np.ndarray
    missed: np.ndarray
    by_beam: np.ndarray
    certifies: bool
    left: Frontier
    n_left: int


@njit(cache=True, nogil=True)
def take_best(collector, rows, parents, estimates, first, label):
    """Keep the best leaves and inner nodes of each instance; see `take_estimates`."""
    leaves, beams, missed, by_beam, certifies, left, n = collector
    if certifies:
        left = with_capacity(left, n, estimates.size)
    # Taking a field of a tuple in the loop would count a reference to its array each time.
    left_rows, left_nodes, left_estimates = left
    for q in range(rows.size):
        row, parent = rows[q], parents[q]
        best, beam, own = row_of(leaves, row), row_of(beams, row), row_of(estimates, q)
        for begin in range(0, own.size, CHILDREN_AT_ONCE):
            some = borrowed(own, begin, min(begin + CHILDREN_AT_ONCE, own.size))
            reach = reaching(some, parent, key_estimate(best[-1]))
            while reach:
                c = np.int64(lowest_bit(reach))
                reach &= reach - np.uint64(1)
                node = first + begin + c
                key = rank_key(node, parent * some[c])
                if label[node] >= 0:
                    insert_key(best, key)
                    continue
                key = insert_key(beam, key)  # the last of the beam, if there is one, makes room
                missed[row] = max(missed[row], key)
                if certifies:  # written at all events, because a processor cannot guess which may win
                    left_rows[n], left_nodes[n], left_estimates[n] = row, key_number(key), key_estimate(key)
                    n += key > best[-1]
    return BestLeaves(leaves, beams, missed, by_beam, certifies, left, n)


@njit(cache=True, nogil=True)
def level_of_best(collector):
    """Return the nodes of the beams, or of the list, that may lead to one of the best leaves; see `next_level`.

    Of the others those stay of interest that equal the k-th leaf: a leaf below them may rank before it.
    """
    leaves, beams, missed, by_beam, certifies, left, n = collector
    frontier, used = empty_frontier(beams.size), np.int64(0)
    rows, nodes, estimates = frontier
    if certifies:
        left = with_capacity(left, n, beams.size)
    left_rows, left_nodes, left_estimates = left
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
            if certifies:
                left_rows[n], left_nodes[n], left_estimates[n] = row, key_number(key), estimate
                n += 1
    if used > 0:
        beams[:] = FREE
        return sorted_by_node(frontier, used), BestLeaves(leaves, beams, missed, by_beam, certifies, left, n)
    if beams.shape[1] > 0:
        for row in range(beams.shape[0]):
            by_beam[row] = key_estimate(missed[row]) < key_estimate(leaves[row, -1]) or missed[row] == FREE
        beams = np.empty((beams.shape[0], 0), dtype=np.int64)
    for i in range(
        n
    ):  # a leaf has a larger number than the nodes above it, and of equal estimates the smaller is first
        row, node, estimate = left_rows[i], left_nodes[i], left_estimates[i]
        if rank_key(node, estimate) > leaves[row, -1]:
            left_rows[used], left_nodes[used], left_estimates[used] = row, node, estimate
            used += 1
    return sorted_by_node(left, used), BestLeaves(leaves, beams, missed, by_beam, certifies, left, np.int64(0))


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
    low = high = nodes[0]
    for i in range(1, size):
        low, high = min(low, nodes[i]), max(high, nodes[i])
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
def group_end(frontier, begin):
    """Return where the entries of the node at ``begin`` end in a sorted frontier."""
    nodes, end = frontier.nodes, begin + 1
    while end < nodes.size and nodes[end] == nodes[begin]:
        end += 1
    return end
