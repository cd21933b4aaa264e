"""Search a label tree for labels above thresholds, or for the best labels, exactly or by beam
search. Kernels.

`estimate_by_levels` and `rank_by_levels` descend level by level with many instances at once. The
pairs (instance, node) of a level are sorted by node. The search therefore reads the weights of a
node's children only once for a batch of instances. One look-up of a feature serves all children of
a node (masked sparse chunk multiplication, Etter et al., WWW 2022). `rank_best_first` processes one
instance after the other. All searches return bit-identical estimates, whatever the size of the
batches.

All searches sort nodes by a key, an integer that combines a node's estimate and its number. Keys
are computed by `xmlc.kernels.top_k.rank_key`, which also defines the order of equal estimates. If
labels have weights, a key contains the estimate times the node's scale (`scale_of`).
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

ABOVE_ROOT = np.int32(-1)  # node -1 is above the root, and the root is its only child
EVERY_NODE = np.int64(0)  # A beam of width 0 means that a search keeps all nodes.
# This mask selects the fraction bits of a float64, which are zero in a power of two.
FRACTION = np.uint64((1 << 52) - 1)


@njit
def rank_best_first(x, start, end, nodes, link, k, largest, shape):
    """Find the k labels with the largest estimates, best first, for instances ``start .. end - 1``.

    This best-first search is Algorithm 4 of plt2016 with a priority queue (Section 5.2, last
    paragraph but one). No other exact search evaluates fewer node classifiers.

    Parameters
    ----------
    x, start, end, nodes, link, k, largest, shape
        See `rank_by_levels`.

    Returns
    -------
    labels : int32 (end - start, k)
        As for `rank_by_levels`.
    estimates : float32 (end - start, k)
        As for `rank_by_levels`.
    inner_products : int64 (end - start,)
        Number of node classifiers evaluated per instance.
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
                # the estimate of an excluded label is NaN, for which the comparison is false
                if key > best[-1] and own[c] >= np.float32(0):
                    if label[first + c] >= 0:
                        insert_key(best, key)
                    else:
                        heappush(queue, -key)
    labels, estimates = labels_of(leaves, label)
    return labels, estimates, inner_products


@njit
def estimate_by_levels(x, start, end, nodes, link, thresholds, beam, shape):
    """Find every label in the beam whose estimate exceeds the label's threshold.

    The kernel is Algorithm 4 of plt2016, but descends level by level.

    Parameters
    ----------
    x : KernelCSR
        Features of all instances.
    start, end : int
        The kernel handles the instances ``start .. end - 1``.
    nodes : NodeWeights, CompactNodeWeights or HashedWeights
        The tree and its weights.
    link : int
        See `xmlc.models.plt.weights.estimate_scores`.
    thresholds : float32 (n_nodes,)
        Threshold of each node. The search expands an inner node, or reports a leaf, if the node's
        estimate exceeds the node's threshold.
    beam : int
        The largest number of nodes to expand per level and instance. With ``EVERY_NODE``, the
        search expands all nodes.
    shape : tuple of int
        The number of features, the largest number of non-zeros in an instance, and the largest
        number of children of a node.

    Returns
    -------
    counts : int64 (end - start,)
        Number of labels found per instance.
    labels : int32
        The found labels of one instance after another. The labels of an instance are in the order
        of the leaves in the tree.
    estimates : float32
        Estimates of the labels in ``labels``.
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
        met = no_pairs(4 * n_rows)  # the inner nodes of the next level
        # A literal 0 would have another type than np.int64, and numba would compile the called
        # kernels twice.
        begin = np.int64(0)
        while begin < frontier.rows.size:
            first, estimates = expand(
                x, frontier, begin, nodes, link, no_weights, scratch, inner_products
            )
            rows = unchecked_view(frontier.rows, begin, begin + estimates.shape[0])
            found = with_capacity(found, estimates.size)
            met = with_capacity(met, estimates.size)
            # The loop reads no fields of tuples, because each read of a field would update a
            # reference count.
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
    """Rank labels for instances ``start .. end - 1`` by beam search.

    If ``certifies`` is true, the result is an exact ranking.

    The beam search expands the ``beam`` best inner nodes of each instance on each level and keeps
    the k best leaves. The search omits a node whose estimate is at most the estimate of the k-th
    best leaf, because no leaf below the node can be better. If ``certifies`` is true, a second
    search expands the omitted nodes whose estimate is at least the estimate of the k-th best leaf.
    The search for omitted nodes goes level by level, like the beam search. No node is expanded
    twice for the same instance.

    Parameters
    ----------
    x, start, end, nodes, link, shape
        As for `estimate_by_levels`.
    k : int
        Number of labels to rank.
    largest : float64 (n_nodes,) or (0,)
        The largest weight of a label below each node (`xmlc.models.trees.LabelTree.largest_below`).
        The array is empty if labels have no weights.
    beam : int
        Number of inner nodes to expand per level and instance.
    certifies : bool
        Whether to make the ranking exact.

    Returns
    -------
    labels : int32 (end - start, k)
        Labels, best first, then -1 if there are fewer than k labels.
    estimates : float32 (end - start, k)
        The estimate of each label times the label's weight, or 0 for a missing label.
    by_beam : bool (end - start,)
        For each instance, whether the beam search alone has provably found the k best labels in the
        right order.
    inner_products : int64 (end - start,)
        Number of node classifiers evaluated per instance.
    """
    n_rows = end - start
    x = rows_from(x, start, end)
    nodes = unowned(nodes)
    scratch = scratch_for(n_rows, shape)
    leaves = np.full((n_rows, k), FREE, np.int64)
    inner_products = np.zeros(n_rows, np.int64)
    # Literals would have other types than np.int64, and numba would compile the called kernels
    # twice.
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
    # An estimate is a product of factors up to 1, so no leaf scores more than a node above the
    # leaf. With label weights, no leaf below a node scores more than the node's estimate times the
    # largest label weight below the node.
    by_beam = np.full(n_rows, True)
    for i in range(left.size[0]):
        if key_estimate(left.keys[i]) >= key_estimate(row_of(leaves, left.rows[i])[-1]):
            by_beam[left.rows[i]] = False
    # To certify the ranking, expand the nodes outside the beam that may lead to a better leaf. The
    # children of expanded nodes are expanded by the same rule.
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
    """Expand all nodes of a frontier, and keep the best leaves and the best inner nodes of each
    instance.

    Parameters
    ----------
    x : KernelCSR
        The instances of the batch, numbered from 0.
    frontier : Pairs
        The pairs (instance, node) to expand, sorted by node.
    nodes, link, largest
        As for `rank_by_levels`.
    scratch : Scratch
        Scratch memory.
    leaves : int64 (rows, k)
        Keys of each instance's best leaves so far, best first, padded with `FREE`, and updated in
        place.
    inner_products
        As for `expand`.
    beams : int64 (rows, beam)
        Keys of each instance's best inner nodes on this level, best first, padded with `FREE`, and
        updated in place.
    left : Pairs
        List of the nodes outside the beam. A node whose estimate is below the estimate of the k-th
        best leaf is not listed.

    Returns
    -------
    Pairs
        The list ``left``, in larger arrays if the old arrays were full.
    """
    label = nodes.label
    begin = np.int64(0)
    while begin < frontier.rows.size:
        first, estimates = expand(x, frontier, begin, nodes, link, largest, scratch, inner_products)
        rows = unchecked_view(frontier.rows, begin, begin + estimates.shape[0])
        left = with_capacity(left, estimates.size)
        # The loop reads no fields of tuples, because each read of a field would update a reference
        # count.
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
                # `insert_key` returns the key that no longer fits into the beam.
                key = insert_key(beam, key)
                # The node is written in any case, and kept only if ``n`` increases: a branch would
                # be unpredictable.
                left_rows[n] = row
                left_keys[n] = key
                n += (key != FREE) & (key_estimate(key) >= key_estimate(own_leaves[-1]))
        left.size[0] = n
        begin += rows.size
    return left


@njit
def rows_from(x, start, end):
    """Return the instances ``start .. end - 1`` as an `unowned` tuple, in which the instances are
    numbered from 0.
    """
    return unowned(KernelCSR(x.indptr[start : end + 1], x.indices, x.data))


@njit
def expand(x, frontier, begin, nodes, link, largest, scratch, inner_products):
    """Estimate the probabilities of one node's children for the instances that reach the node
    (plt2016, equation (9)).

    If the scratch memory is too small for all these instances, the result contains only as many as
    fit.

    Parameters
    ----------
    x : KernelCSR
        The instances of the batch, numbered from 0.
    frontier : Pairs
        The pairs (instance, node) to expand, sorted by node.
    begin : int
        Position in the frontier of the first pair with the node.
    nodes, link, largest
        As for `rank_by_levels`.
    scratch : Scratch
        Scratch memory.
    inner_products : int64 (rows,)
        The function adds the number of evaluated node classifiers to the entry of each instance.

    Returns
    -------
    first : int
        Node number of the first child.
    estimates : float32 (q, siblings)
        Estimates of the children for the pairs ``begin .. begin + q - 1`` of the frontier. If
        labels have weights, the estimates are multiplied by the scales of the children
        (`scale_of`). The array is a view of the scratch memory.
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
    """Return the scale of a node: the factor by which the node's estimate is multiplied in the
    node's key.

    Keys contain scaled estimates only if labels have weights.

    The scale of a leaf is the weight of its label. The scale of an inner node is the largest label
    weight below the node, rounded up to a power of two. A division of a key's estimate by the scale
    is exact, because the scale is a power of two. If all labels below a node are excluded, the
    node's scale is NaN, and NaN never becomes a score.

    Parameters
    ----------
    node : int
        The number of the node in the tree.
    largest : float64 (n_nodes,)
        As for `rank_by_levels`.
    label : int32 (n_nodes,)
        Label of each leaf, -1 for inner nodes.
    """
    weight = largest[node]
    if label[node] >= 0 or not weight > 0:
        return weight
    bits = np.float64(weight).view(np.uint64)
    return np.uint64((bits + FRACTION) & ~FRACTION).view(np.float64)


@njit(forceinline=True)
def bound_of(key, largest, label):
    """Return the largest key that a leaf below an inner node may have.

    The bound is computed like the node's key, but the scale is the largest label weight below the
    node. The bound is at most the node's key.

    Parameters
    ----------
    key : int64
        Key of the node.
    largest, label
        As for `scale_of`. Without label weights, the bound is ``key``.
    """
    node = key_number(key)
    if node < 0 or largest.size == 0:
        return key
    return rank_key(
        node, np.float32(key_estimate(key) / scale_of(node, largest, label)) * largest[node]
    )


@njit
def keep_beams(met, n_rows, beam):
    """Remove all pairs from ``met`` except the ``beam`` best nodes of each of ``n_rows``
    instances.
    """
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
    """Return the pairs (instance, node) of the beams whose nodes may lead to one of the best
    leaves, sorted by node.

    The nodes with the same estimate as the k-th best leaf are appended to ``left`` instead, because
    a leaf below such a node may rank before the k-th best leaf.

    Parameters
    ----------
    beams, leaves, left
        As for `rank_level`.
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
    """Empty the list ``left``, and return its nodes below which a leaf may rank before the k-th
    leaf, sorted.

    Leaves have larger numbers than the nodes above them. If a leaf and a node above the leaf have
    equal estimates, the leaf therefore has the smaller key.

    Parameters
    ----------
    left : Pairs
        The list of nodes outside the beam. On return, the list ``left`` is empty.
    leaves
        As for `rank_level`.
    largest
        As for `rank_by_levels`.
    label : int32 (n_nodes,)
        Label of each leaf, -1 for inner nodes.
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
    """Return the labels (int32) and estimates (float32) of a table of leaf keys.

    A `FREE` key gives the label -1 and the estimate 0.
    """
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
    """Return the first frontier of a search.

    The frontier pairs each instance with the node above the root, whose estimate is 1.
    """
    keys = np.full(n_rows, rank_key(ABOVE_ROOT, np.float32(1.0)), dtype=np.int64)
    return Pairs(np.arange(n_rows).astype(np.int32), keys, np.full(1, n_rows, dtype=np.int64))
