"""Label trees that group similar labels by hierarchical balanced 2-means."""

from __future__ import annotations

from itertools import chain
from math import sqrt

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, InvalidParameterError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import run_tasks
from xmlc.kernels.arrays import copy_into, kth_smallest, row_of_csr
from xmlc.kernels.counter_random import Stream, random_below, stream_key
from xmlc.kernels.csr import kernel_csr
from xmlc.models.trees.label_tree import LabelTree

# Parabel's limit for the lowest inner nodes, and in xmlc about their mean size (`largest_leaf`).
LABELS_PER_LEAF = 100
# one task bisects a segment, a range of labels, down to its last part if it has fewer non-zeros, or
# less than 1 / 64 of all non-zeros
MIN_NONZEROS_TO_SPLIT = 1 << 20
MAX_SEGMENTS_TO_SPLIT = 64
MIN_GAIN = 1e-4  # in mean cosine, as in Parabel
MAX_ROUNDS = 50
NO_SIDE = -1
# rounding cosine differences to multiples of 1 / RESOLUTION hides float32 errors
RESOLUTION = 2.0**20
# a smaller squared length of a sum is only a rounding error
MIN_SQUARE = 1e-6


def kmeans_tree(
    representations: sparse.csr_array,
    arity: int,
    max_leaf: int | None,
    seed: int,
    n_jobs: int | None = None,
) -> LabelTree:
    """Build a label tree by hierarchical balanced spherical 2-means.

    A node with more than ``max_leaf`` labels is bisected log2(arity) times, so that it has
    ``arity`` children whose sizes differ by at most one. The labels of a smaller node become its
    children.

    A bisection begins with the representations of two random labels as centroids. Each round sorts
    the labels by the difference of their cosines to the two centroids, cuts them in the middle, and
    makes the means of the halves the new centroids. It ends after 50 rounds, or as soon as the mean
    cosine between labels and centroids grows by less than 1e-4. Such trees were introduced for
    Parabel (Prabhu et al., WWW 2018), and oplt2021 has them too (Section 5).

    Parameters
    ----------
    representations : csr_array, shape (m, d)
        One row per label, of unit length or empty, from
        `xmlc.models.trees.representations.label_representations`.
    arity : int
        Degree b of the inner nodes, a power of two.
    max_leaf : int or None
        Largest number of labels of a node whose children are leaves. None takes it from
        `xmlc.models.trees.kmeans.largest_leaf`.
    seed : int
        Seed of the first centroids.
    n_jobs : int or None
        Number of threads, on which the tree does not depend.

    Returns
    -------
    LabelTree

    Raises
    ------
    XmlcError
        ``arity`` is not a power of two, ``max_leaf`` is below 1, or there are no labels.

    See Also
    --------
    xmlc.models.trees.random_complete_tree, xmlc.models.PLT

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from xmlc.models.trees.kmeans import kmeans_tree
    >>> rows = csr_array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> tree = kmeans_tree(rows, arity=2, max_leaf=2, seed=0)
    >>> sorted(sorted(tree.label[tree.parent == node].tolist()) for node in (1, 2))
    [[0, 2], [1, 3]]
    """
    check_kmeans_shape(arity, max_leaf)
    max_leaf = largest_leaf(arity, max_leaf)
    m, n_features = representations.shape
    if m == 0:
        raise InvalidDataError("label tree: found no labels, expected at least one")
    rows = kernel_csr(representations)
    key = np.uint64(stream_key(np.int64(seed), np.int64(Stream.KMEANS)))
    depth = int(arity).bit_length() - 1
    limit = max(MIN_NONZEROS_TO_SPLIT, representations.nnz // MAX_SEGMENTS_TO_SPLIT)
    # segments have fixed sizes, so the order of the labels defines the tree
    order = np.arange(m, dtype=np.int64)
    segments: list[tuple[int, int, int, int]] = []
    if m > max_leaf:
        segments = [(0, m, 1, 0)]
    while segments:  # large segments, level by level
        calls = [
            (rows, n_features, order, depth, max_leaf, key, limit, segment) for segment in segments
        ]
        segments = list(chain.from_iterable(run_tasks(bisect_below, calls, n_jobs)))
    nodes = [(0, m)]
    first_children = [1]
    labels = []
    # the loop appends to ``nodes``, which are therefore in breadth-first order
    for start, end in nodes:
        below = []
        if end - start > max_leaf:
            below = [(start, end)]
            for _ in range(depth):
                below = list(chain.from_iterable(map(_halves, below)))
        elif end - start > 1:
            below = [(place, place + 1) for place in range(start, end)]
        nodes += below
        first_children.append(len(nodes))
        labels.append(-1 if below else order[start])
    return LabelTree.from_children(np.array(first_children), np.array(labels))


def largest_leaf(arity: int, max_leaf: int | None = None) -> int:
    """Return the largest number of labels of a node whose children are leaves.

    With ``max_leaf=None``, a node of s labels is split if the size of its children, s / arity, is
    relatively nearer to 100 than s is. So the lowest inner nodes have between 100 / sqrt(arity) and
    100 sqrt(arity) labels. A fixed limit of 100 would let a few labels add a whole level: 26,296
    labels in 256 nodes are 103 per node.

    Parameters
    ----------
    arity : int
        Degree of the inner nodes.
    max_leaf : int or None

    Returns
    -------
    int
        ``max_leaf`` if it is given.

    See Also
    --------
    kmeans_tree

    Examples
    --------
    >>> from xmlc.models.trees.kmeans import largest_leaf
    >>> largest_leaf(2), largest_leaf(16)
    (141, 400)
    """
    if max_leaf is None:
        return int(LABELS_PER_LEAF * sqrt(arity))
    return int(max_leaf)


def _halves(segment: tuple[int, int]) -> list[tuple[int, int]]:
    """Return both halves of a segment, of which the first may be larger by one."""
    start, end = segment
    middle = start + (end - start + 1) // 2
    if end - start > 1:
        return [(start, middle), (middle, end)]
    return [segment]


@njit
def move_members(rows, members, before, after, sums):
    """Move the rows of members that change sides from the old side's sum to the new one's.

    After the first round, few members do. ``before``, which may be `NO_SIDE`, and ``after`` are
    int8. In ``sums``, float32 (d, 2), both sums of a feature share a cache miss.
    """
    for i in range(members.size):
        old = before[i]
        new = after[i]
        if old == new:
            continue
        features, values = row_of_csr(rows, members[i])
        for k in range(np.uint64(features.size)):
            if old != NO_SIDE:
                sums[features[k], old] -= values[k]
            sums[features[k], new] += values[k]


@njit
def multiply_members(rows, members, sums, products):
    """Compute the inner products, float64 (n, 2), of each member's row with the sums of both sides.

    Each is accumulated in two float32 sums, because an addition would otherwise wait for the one
    before. The kernel reads 16 bytes per non-zero, half of them from ``sums``.
    """
    for i in range(members.size):
        features, values = row_of_csr(rows, members[i])
        a0 = a1 = b0 = b1 = np.float32(0.0)
        k = np.uint64(0)
        if features.size % 2 == 1:
            a0 += values[k] * sums[features[k], 0]
            b0 += values[k] * sums[features[k], 1]
            k += np.uint64(1)
        while k < np.uint64(features.size):
            a0 += values[k] * sums[features[k], 0]
            b0 += values[k] * sums[features[k], 1]
            k += np.uint64(1)
            a1 += values[k] * sums[features[k], 0]
            b1 += values[k] * sums[features[k], 1]
            k += np.uint64(1)
        products[i, 0] = np.float64(a0) + np.float64(a1)
        products[i, 1] = np.float64(b0) + np.float64(b1)


@njit
def halve(products, sides, halves):
    """Assign the half of the members that is nearer to the centroid of side 0 to side 0, and the
    others to side 1.

    The squared length of a side's sum is the total of its inner products with the side's members,
    so no pass over all d features is needed. Of two members that are equally near, the one with the
    smaller number goes to side 0 first.

    Parameters
    ----------
    products : float64 (n, 2)
        From `multiply_members`.
    sides : int8 (n,)
        The side to whose sum each member contributes, or `NO_SIDE`.
    halves : int8 (n,)
        Overwritten with the new sides. Side 0 is the larger one of an odd number of members.

    Returns
    -------
    float64
        Mean cosine between the members and the centroids of their new sides.
    """
    n = sides.size
    squares = np.zeros(2, dtype=np.float64)
    for i in range(n):
        if sides[i] != NO_SIDE:
            squares[sides[i]] += products[i, sides[i]]
    scales = np.zeros(2, dtype=np.float64)
    for side in range(2):
        if squares[side] > MIN_SQUARE:
            scales[side] = 1.0 / np.sqrt(squares[side])
    ranks = np.empty(n, dtype=np.int64)
    for i in range(n):
        difference = products[i, 1] * scales[1] - products[i, 0] * scales[0]
        ranks[i] = np.int64(np.rint(difference * RESOLUTION)) * (1 << 32) + i
    last = (n - 1) // 2
    middle = kth_smallest(ranks.copy(), last)
    mean = 0.0
    for i in range(n):
        side = 0
        if ranks[i] > middle:
            side = 1
        halves[i] = side
        mean += products[i, side] * scales[side]
    return mean / n


@njit
def bisect(rows, members, key, sums):
    """Split the members of one node, at least two and ascending, by balanced spherical 2-means.

    The result is the side of each member, int8. ``sums``, float32 (d, 2), is a scratch array, all
    zero before and after the call.
    """
    n = members.size
    sides = np.full(n, NO_SIDE, dtype=np.int8)
    halves = np.empty(n, dtype=np.int8)
    first = random_below(key, 0, n)
    second = random_below(key, 1, n - 1)
    sides[first] = 0
    sides[second + 1 if second >= first else second] = 1
    products = np.empty((n, 2), dtype=np.float64)
    move_members(rows, members, np.full(n, NO_SIDE, dtype=np.int8), sides, sums)
    before = -np.inf
    for _ in range(MAX_ROUNDS):
        multiply_members(rows, members, sums, products)
        mean = halve(products, sides, halves)
        if mean - before < MIN_GAIN:
            break
        move_members(rows, members, sides, halves, sums)
        copy_into(sides, halves)
        before = mean
    for member in members:
        for feature in row_of_csr(rows, member)[0]:
            sums[feature, 0] = np.float32(0.0)
            sums[feature, 1] = np.float32(0.0)
    return halves


@njit
def bisect_below(rows, n_features, order, depth, max_leaf, key, most_nonzeros, segment):
    """Bisect a segment of ``order`` in place and, unless it is large, all its parts.

    Parameters
    ----------
    rows : KernelCSR
        Representations of the labels (m, n_features).
    order : int64 (m,)
        Labels, ascending within the segment. Concurrent calls need disjoint segments.
    depth : int
        Number of bisections, one below the other, that give a node its children.
    max_leaf : int
        Largest number of labels of a node that is not bisected.
    key : uint64
        Random stream of the tree.
    most_nonzeros : int
        A segment with more non-zeros is large.
    segment : tuple of int
        Start, end, number in the binary tree (1 for the root), and bisections that remain until the
        children of the segment's node are complete, or 0 for a node itself. The number and ``key``
        define the random stream of the segment.

    Returns
    -------
    list of tuple
        The two halves of a large segment, else an empty list.
    """
    nonzeros = 0
    for label in order[segment[0] : segment[1]]:
        nonzeros += rows.indptr[label + 1] - rows.indptr[label]
    sums = np.zeros((n_features, 2), dtype=np.float32)
    segments = [segment]
    while segments:
        start, end, number, left = segments.pop()
        members = order[start:end].copy()
        if left == 0 and members.size > max_leaf:
            left = depth
        if left == 0 or members.size < 2:
            continue
        halves = bisect(rows, members, stream_key(key, number), sums)
        middle = start + (members.size + 1) // 2
        places = np.array([start, middle])
        for i in range(members.size):
            order[places[halves[i]]] = members[i]
            places[halves[i]] += 1
        segments.append((start, middle, 2 * number, left - 1))
        segments.append((middle, end, 2 * number + 1, left - 1))
        if nonzeros > most_nonzeros:
            break
    return segments


def check_kmeans_shape(arity: int, max_leaf: int | None) -> None:
    """Raise an InvalidParameterError if no k-means tree has this shape."""
    if arity < 2 or int(arity) & (int(arity) - 1):
        expected = "expected a power of two for a k-means tree (2, 4, 8, 16, ...)"
        raise InvalidParameterError(
            f"found arity={arity}, {expected}. Use tree='random' for another arity"
        )
    if max_leaf is not None and max_leaf < 1:
        raise InvalidParameterError(f"found max_leaf={max_leaf}, expected at least 1")
