"""Searches of a label tree for labels above thresholds, or for the best labels, exactly or by beam
search. Kernels.

`estimate_by_levels` and `rank_by_levels` descend level by level with many instances at once. The
pairs (instance, node) of a level are sorted by node, so that the weights of a node's children are
read only once for a batch, and one look-up of a feature serves all of them (masked sparse chunk
multiplication, Etter et al., WWW 2022). `rank_best_first` takes one instance after the other. All
estimates are bit-identical, whatever the search and the size of the batches.

The key of a node (`xmlc.kernels.top_k.rank_key`) combines its estimate, multiplied by `scale_of` if
labels have weights, and its number.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of, unchecked_view, unowned
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.top_k import FREE, insert_key, key_estimate, key_number, rank_key
from xmlc.models.plt.pairs import Pairs, no_pairs, sorted_by, sorted_by_node, with_capacity
from xmlc.models.plt.weights import child_estimates, children_of, scratch_for

ABOVE_ROOT = np.int32(-1)  # above the root, which is its only child
EVERY_NODE = np.int64(0)  # width of a beam that keeps all nodes
# mask of the fraction of a float64, which is zero in a power of two
FRACTION = np.uint64((1 << 52) - 1)


@njit
def rank_best_first(x, start, end, nodes, link, k, largest, shape):
    """Find the k labels with the largest estimates, best first, for instances ``start .. end - 1``.

    Algorithm 4 of plt2016 with a priority queue (Section 5.2, last paragraph but one) evaluates the
    fewest node classifiers of all exact searches. Parameters and results, except for ``by_beam``,
    are as for `rank_by_levels`.
    """
    n_rows = end - start
    x = rows_from(x, start, end)
    nodes = unowned(nodes)
    label = nodes.label
    scratch = scratch_for(np.int64(1), shape)
    leaves = np.full((n_rows, k), FREE, np.int64)
    inner_products = np.zeros(n_rows, np.int64)
    opened = no_pairs(np.int64(1))  # the present instance and the node to expand
    for row in range(n_rows):
        best = row_of(leaves, row)
        # line 1; keys are negated because heapq pops the smallest
        queue = [-rank_key(ABOVE_ROOT, np.float32(1.0))]
        # line 2; tau is the estimate of the k-th best leaf (line 4)
        while len(queue) > 0 and -queue[0] > best[-1]:
            key = -heappop(queue)  # line 3
            if bound_of(key, largest, label) <= best[-1]:
                continue
            opened.rows[0] = row
            opened.keys[0] = key
            first, estimates = expand(
                x, opened, np.int64(0), nodes, link, largest, scratch, inner_products
            )
            own = row_of(estimates, 0)
            for c in range(own.size):  # lines 5 to 9
                key = rank_key(first + c, own[c])
                # false for an excluded label, whose estimate is NaN
                if key > best[-1] and own[c] >= np.float32(0):
                    if label[first + c] >= 0:
                        insert_key(best, key)
                    else:
                        heappush(queue, -key)
    labels, estimates = labels_of(leaves, label)
    return labels, estimates, inner_products


@njit
def estimate_by_levels(x, start, end, nodes, link, thresholds, beam, shape):
    """Find every label in the beam whose estimate exceeds its threshold, by Algorithm 4 of plt2016,
    but level by level.

    Parameters
    ----------
    x : KernelCSR
    start, end : int
        Range of instances.
    nodes : NodeWeights, CompactNodeWeights or HashedWeights
    link : int
        See `xmlc.models.plt.weights.estimate_scores`.
    thresholds : float32 (n_nodes,)
        Estimates above which the search expands an inner node or reports a leaf.
    beam : int
        Most nodes to expand per level and instance, or ``EVERY_NODE``.
    shape : tuple of int
        The number of features, the most non-zeros of an instance, and the most children of a node.

    Returns
    -------
    counts : int64 (end - start,)
        Number of labels per instance.
    labels : int32
        The labels of one instance after another, in the order of the leaves.
    estimates : float32
    inner_products : int64 (end - start,)
        Number of node classifiers evaluated per instance.
    """
    n_rows = end - start
    x = rows_from(x, start, end)
    nodes = unowned(nodes)
    scratch = scratch_for(n_rows, shape)
    label = nodes.label
    inner_products = np.zeros(n_rows, np.int64)
    found = no_pairs(4 * n_rows)
    no_weights = np.zeros(0)
    frontier = root_frontier(n_rows)
    while frontier.rows.size > 0:
        met = no_pairs(4 * n_rows)  # inner nodes of the next level
        # np.int64, because numba would compile the called kernels again for a literal
        begin = np.int64(0)
        while begin < frontier.rows.size:
            first, estimates = expand(
                x, frontier, begin, nodes, link, no_weights, scratch, inner_products
            )
            rows = unchecked_view(frontier.rows, begin, begin + estimates.shape[0])
            found = with_capacity(found, estimates.size)
            met = with_capacity(met, estimates.size)
            # locals, because each read of a tuple's field would update a reference count
            found_rows, found_keys, _ = found
            met_rows, met_keys, _ = met
            n_found = found.size[0]
            n_met = met.size[0]
            for q in range(rows.size):
                own = row_of(estimates, q)
                for c in range(own.size):
                    if own[c] > thresholds[first + c]:
                        key = rank_key(first + c, own[c])
                        if label[first + c] >= 0:
                            found_rows[n_found] = rows[q]
                            found_keys[n_found] = key
                            n_found += 1
                        else:
                            met_rows[n_met] = rows[q]
                            met_keys[n_met] = key
                            n_met += 1
            found.size[0] = n_found
            met.size[0] = n_met
            begin += rows.size
        if beam != EVERY_NODE:
            keep_beams(met, n_rows, beam)
        frontier = sorted_by_node(met)
    found = sorted_by(found.rows[: found.size[0]], found)
    counts = np.zeros(n_rows, dtype=np.int64)
    for row in found.rows:
        counts[row] += 1
    labels, estimates = labels_of(found.keys.reshape((1, -1)), label)
    return counts, labels[0], estimates[0], inner_products


@njit
def rank_by_levels(x, start, end, nodes, link, k, largest, beam, certifies, shape):
    """Rank labels for instances ``start .. end - 1`` by beam search, exactly if ``certifies``.

    The beam search expands the ``beam`` best inner nodes of each instance on each level and keeps
    the k best leaves. It omits nodes whose estimate is at most the estimate of the k-th best leaf,
    because no leaf below them can be better. To certify the ranking, a second search goes through
    the nodes outside the beam, level by level too, and expands those below which a leaf may still
    rank before the k-th best one. No node is expanded twice for the same instance.

    Parameters
    ----------
    x, start, end, nodes, link, shape
        As for `estimate_by_levels`.
    k : int
    largest : float64 (n_nodes,) or (0,)
        From `xmlc.models.trees.LabelTree.largest_below`, empty if labels have no weights.
    beam : int
    certifies : bool

    Returns
    -------
    labels : int32 (end - start, k)
        Labels, best first, then -1 if there are fewer than k.
    estimates : float32 (end - start, k)
        Each estimate times the label's weight, or 0 for a missing label.
    by_beam : bool (end - start,)
        Whether the beam search alone proves the ranking exact.
    inner_products : int64 (end - start,)
        As for `estimate_by_levels`.
    """
    n_rows = end - start
    x = rows_from(x, start, end)
    nodes = unowned(nodes)
    scratch = scratch_for(n_rows, shape)
    leaves = np.full((n_rows, k), FREE, np.int64)
    inner_products = np.zeros(n_rows, np.int64)
    # np.int64, because numba would compile the called kernels again for literals
    left = no_pairs(np.int64(0))
    width = np.int64(beam)
    frontier = root_frontier(n_rows)
    while frontier.rows.size > 0:
        beams = np.full((n_rows, width), FREE, np.int64)
        left = rank_level(
            x, frontier, nodes, link, largest, scratch, leaves, inner_products, beams, left
        )
        left = with_capacity(left, beams.size)
        frontier = nodes_of_beams(beams, leaves, left)
    # An estimate is a product of factors up to 1, so no leaf scores more than a node above it, or
    # with label weights than the node's estimate times the largest weight below.
    by_beam = np.full(n_rows, True)
    for i in range(left.size[0]):
        if key_estimate(left.keys[i]) >= key_estimate(row_of(leaves, left.rows[i])[-1]):
            by_beam[left.rows[i]] = False
    # expand the other nodes that may lead to a better leaf, and their children likewise
    no_beams = np.full((n_rows, 0), FREE, np.int64)
    while certifies:
        frontier = nodes_that_may_win(left, leaves, largest, nodes.label)
        if frontier.rows.size == 0:
            break
        left = rank_level(
            x, frontier, nodes, link, largest, scratch, leaves, inner_products, no_beams, left
        )
    labels, estimates = labels_of(leaves, nodes.label)
    return labels, estimates, by_beam, inner_products


@njit
def rank_level(x, frontier, nodes, link, largest, scratch, leaves, inner_products, beams, left):
    """Expand all nodes of a frontier, and keep the best leaves and inner nodes of each instance.

    Parameters
    ----------
    x : KernelCSR
        The instances of the batch, numbered from 0.
    frontier : Pairs
        The pairs (instance, node) to expand, sorted by node.
    nodes, link, largest
        As for `rank_by_levels`.
    scratch : Scratch
    leaves : int64 (rows, k)
        Keys of each instance's best leaves so far, best first, padded with `FREE`, updated in
        place.
    inner_products
        As for `expand`.
    beams : int64 (rows, beam)
        Keys of the best inner nodes on this level, likewise.
    left : Pairs
        The nodes outside the beam whose estimate is not below the k-th best leaf's. The result is
        this list with further nodes, in larger arrays if it was full.
    """
    label = nodes.label
    begin = np.int64(0)
    while begin < frontier.rows.size:
        first, estimates = expand(x, frontier, begin, nodes, link, largest, scratch, inner_products)
        rows = unchecked_view(frontier.rows, begin, begin + estimates.shape[0])
        left = with_capacity(left, estimates.size)
        # locals, because each read of a tuple's field would update a reference count
        left_rows, left_keys, _ = left
        n = left.size[0]
        for q in range(rows.size):
            row = rows[q]
            own_leaves = row_of(leaves, row)
            beam = row_of(beams, row)
            own = row_of(estimates, q)
            for c in range(own.size):
                if not own[c] >= key_estimate(own_leaves[-1]):
                    continue
                key = rank_key(first + c, own[c])
                if label[first + c] >= 0:
                    insert_key(own_leaves, key)
                    continue
                # the key that no longer fits into the beam
                key = insert_key(beam, key)
                # written in any case, because a branch would be unpredictable
                left_rows[n] = row
                left_keys[n] = key
                n += (key != FREE) & (key_estimate(key) >= key_estimate(own_leaves[-1]))
        left.size[0] = n
        begin += rows.size
    return left


@njit
def rows_from(x, start, end):
    """Return the instances ``start .. end - 1``, numbered from 0, as an `unowned` tuple."""
    return unowned(KernelCSR(x.indptr[start : end + 1], x.indices, x.data))


@njit
def expand(x, frontier, begin, nodes, link, largest, scratch, inner_products):
    """Estimate the probabilities of one node's children for the instances that reach it (plt2016,
    equation (9)), or for as many of them as the scratch memory can take.

    Parameters
    ----------
    x, frontier, nodes, link, largest, scratch
        As for `rank_level`.
    begin : int
        Position in the frontier of the first pair with the node.
    inner_products : int64 (rows,)
        Increased by the number of node classifiers evaluated for each instance.

    Returns
    -------
    first : int
        Number of the first child.
    estimates : float32 (q, siblings)
        For the pairs ``begin .. begin + q - 1`` of the frontier, times the children's scales
        (`scale_of`) if labels have weights. A view of the scratch memory.
    """
    frontier = unowned(frontier)
    scratch = unowned(scratch)
    keys = frontier.keys
    node = key_number(keys[begin])
    first, degree = children_of(nodes, node)
    last = min(begin + scratch.estimates.size // degree, keys.size)
    end = begin + 1
    while end < last and key_number(keys[end]) == node:
        end += 1
    rows = unchecked_view(frontier.rows, begin, end)
    estimates = unchecked_view(scratch.estimates, 0, rows.size * degree)
    child_estimates(x, rows, node, nodes, link, scratch, estimates)
    for q in range(rows.size):
        inner_products[rows[q]] += degree
        own = unchecked_view(estimates, q * degree, (q + 1) * degree)
        parent = key_estimate(keys[begin + q])
        if largest.size == 0:
            for c in range(degree):
                own[c] *= parent
        else:
            if node >= 0:
                parent = np.float32(parent / scale_of(node, largest, nodes.label))
            for c in range(degree):
                own[c] = np.float32(parent * own[c]) * scale_of(first + c, largest, nodes.label)
    return first, estimates.reshape((rows.size, degree))


@njit
def scale_of(node, largest, label):
    """Return the factor of a node's estimate in its key if labels have weights.

    For a leaf, it is the weight of the label, and for an inner node the largest label weight below,
    rounded up to a power of two, because the division by it is then exact. It is NaN, and so never
    becomes a score, if all labels below the node are excluded.
    """
    weight = largest[node]
    if label[node] >= 0 or not weight > 0:
        return weight
    bits = np.float64(weight).view(np.uint64)
    return np.uint64((bits + FRACTION) & ~FRACTION).view(np.float64)


@njit(forceinline=True)
def bound_of(key, largest, label):
    """Return the largest key that a leaf below an inner node may have, at most the node's ``key``.

    It has the largest label weight below the node as its factor, instead of the scale.
    """
    node = key_number(key)
    if node < 0 or largest.size == 0:
        return key
    return rank_key(
        node, np.float32(key_estimate(key) / scale_of(node, largest, label)) * largest[node]
    )


@njit
def keep_beams(met, n_rows, beam):
    """Keep in ``met`` only the ``beam`` best nodes of each instance."""
    beams = np.full((n_rows, beam), FREE, np.int64)
    size = np.int64(0)
    for i in range(met.size[0]):
        insert_key(row_of(beams, met.rows[i]), met.keys[i])
    for row in range(n_rows):
        for key in row_of(beams, row):
            if key != FREE:
                met.rows[size] = row
                met.keys[size] = key
                size += 1
    met.size[0] = size


@njit
def nodes_of_beams(beams, leaves, left):
    """Return the pairs of the beams whose nodes may lead to a best leaf, sorted by node.

    A node that ties with the k-th best leaf goes to ``left`` instead, because a leaf below it may
    still rank before that leaf.
    """
    frontier = no_pairs(beams.size)
    used = np.int64(0)
    n = left.size[0]
    for row in range(beams.shape[0]):
        worst = key_estimate(row_of(leaves, row)[-1])
        for key in row_of(beams, row):
            if key == FREE or key_estimate(key) < worst:
                break
            if key_estimate(key) > worst:
                frontier.rows[used] = row
                frontier.keys[used] = key
                used += 1
            else:
                left.rows[n] = row
                left.keys[n] = key
                n += 1
    frontier.size[0] = used
    left.size[0] = n
    return sorted_by_node(frontier)


@njit
def nodes_that_may_win(left, leaves, largest, label):
    """Empty ``left``, and return its pairs below whose node a leaf may rank before the k-th one.

    A leaf has a smaller key than a node above it with the same estimate, because its number is
    larger.
    """
    used = np.int64(0)
    for i in range(left.size[0]):
        if bound_of(left.keys[i], largest, label) > row_of(leaves, left.rows[i])[-1]:
            left.rows[used] = left.rows[i]
            left.keys[used] = left.keys[i]
            used += 1
    left.size[0] = used
    frontier = sorted_by_node(left)
    left.size[0] = 0
    return frontier


@njit
def labels_of(leaves, label):
    """Return the labels (int32) and estimates (float32) of leaf keys, -1 and 0 for a `FREE` key."""
    labels = np.empty(leaves.shape, dtype=np.int32)
    estimates = np.empty(leaves.shape, dtype=np.float32)
    for row in range(leaves.shape[0]):
        for j in range(leaves.shape[1]):
            key = leaves[row, j]
            if key != FREE:
                labels[row, j] = label[key_number(key)]
            else:
                labels[row, j] = np.int32(-1)
            estimates[row, j] = max(key_estimate(key), np.float32(0.0))
    return labels, estimates


@njit
def root_frontier(n_rows):
    """Return the pairs of each instance with the node above the root, whose estimate is 1."""
    keys = np.full(n_rows, rank_key(ABOVE_ROOT, np.float32(1.0)), dtype=np.int64)
    return Pairs(np.arange(n_rows).astype(np.int32), keys, np.full(1, n_rows, dtype=np.int64))
