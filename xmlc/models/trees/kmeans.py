"""Build label trees that group similar labels by hierarchical balanced 2-means on label
representations.
"""

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

# In Parabel, the lowest inner nodes have at most 100 labels. In xmlc, the lowest inner nodes have
# about 100 labels (see `largest_leaf`).
LABELS_PER_LEAF = 100
# A segment is a range of labels. If a segment has fewer non-zeros than this number, a single task
# bisects the segment and all its parts.
MIN_NONZEROS_TO_SPLIT = 1 << 20
# A single task bisects a segment with less than 1 / 64 of all non-zeros.
MAX_SEGMENTS_TO_SPLIT = 64
# A bisection continues while the mean cosine increases by at least 1e-4, as in Parabel.
MIN_GAIN = 1e-4
MAX_ROUNDS = 50
NO_SIDE = -1
# Rounding of cosine differences to multiples of 1 / RESOLUTION removes float32 errors.
RESOLUTION = 2.0**20
# If the squared length of a sum of rows is below 1e-6, the rows cancel out, and the length is only
# a rounding error.
MIN_SQUARE = 1e-6


def kmeans_tree(
    representations: sparse.csr_array,
    arity: int,
    max_leaf: int | None,
    seed: int,
    n_jobs: int | None = None,
) -> LabelTree:
    """Build a label tree by hierarchical balanced spherical 2-means.

    A node with more than ``max_leaf`` labels is split into ``arity`` children by log2(arity) rounds
    of bisection. The sizes of the two halves of a bisection differ by at most one. The children of
    a node with at most ``max_leaf`` labels are leaves, one for each label of the node. With an
    arity above 2, several levels of the binary tree are merged into one level.

    The first two centroids of a bisection are the representations of two random labels. Each round
    sorts the labels by the difference of their cosines to the two centroids, and splits the sorted
    labels in half. The means of the two halves are the centroids of the next round. The bisection
    ends after 50 rounds, or when the mean cosine between labels and centroids increases by less
    than 1e-4. Balanced 2-means trees were introduced for Parabel (Prabhu et al. 2018). The paper
    oplt2021 (Section 5) also builds its trees by the method of Parabel.

    Parameters
    ----------
    representations : csr_array, shape (m, d)
        One row per label, see `xmlc.models.trees.representations.label_representations`. Each row
        has unit length or is empty.
    arity : int
        Degree b of the inner nodes, a power of two, at least 2.
    max_leaf : int or None
        The largest number of labels of a node whose children are leaves, at least 1. None selects
        the result of `xmlc.models.trees.kmeans.largest_leaf`.
    seed : int
        Seed of the random first centroids. Each node has a separate random stream.
    n_jobs : int or None
        Number of threads, see `xmlc.core.threads.resolve_threads`. The tree is the same for any
        number of threads.

    Raises
    ------
    XmlcError
        ``arity`` is not a power of two, ``max_leaf`` is below 1, or there are no labels.
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
    # The sizes of all segments follow from the number of labels, so that the order of the labels
    # determines the tree.
    order = np.arange(m, dtype=np.int64)
    segments: list[tuple[int, int, int, int]] = []
    if m > max_leaf:
        segments = [(0, m, 1, 0)]
    while segments:  # Large segments are bisected level by level.
        calls = [
            (rows, n_features, order, depth, max_leaf, key, limit, segment) for segment in segments
        ]
        segments = list(chain.from_iterable(run_tasks(bisect_below, calls, n_jobs)))
    nodes = [(0, m)]
    first_children = [1]
    labels = []
    # the loop appends to ``nodes``, so that nodes are in breadth-first order
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

    If ``max_leaf`` is None, the depth of the tree is chosen so that the lowest inner nodes have
    about 100 labels. A node of s labels is split if the size s / arity of its children is
    relatively nearer to 100 than s: s / 100 > 100 / (s / arity). The lowest inner nodes thus have
    100 / sqrt(arity) to 100 sqrt(arity) labels. With a fixed limit of 100 labels, a few labels more
    could add a whole level to the tree. For example, if 26,296 labels are divided among 256 nodes,
    each node has 103 labels.
    """
    if max_leaf is None:
        return int(LABELS_PER_LEAF * sqrt(arity))
    return int(max_leaf)


def _halves(segment: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the start and end of each half of a segment of labels.

    If the sizes of the halves differ, the first half is larger. A single label is not split.
    """
    start, end = segment
    middle = start + (end - start + 1) // 2
    if end - start > 1:
        return [(start, middle), (middle, end)]
    return [segment]


@njit
def move_members(rows, members, before, after, sums):
    """Subtract each member's row from the sum of its old side, and add the row to the sum of its
    new side.

    The running time depends only on the number of members that change sides. After the first round,
    few members change sides.

    Parameters
    ----------
    rows : KernelCSR
        Representations of the labels.
    members : int64
        Row numbers of the node's labels.
    before, after : int8 (members.size,)
        Old and new side of each member. The old side may be `NO_SIDE`.
    sums : float32 (d, 2)
        The sum of the rows on each side, updated in place. The two sums of a feature are adjacent
        in memory, so that they cost only one cache miss.
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
    """Compute the inner products of each member's row with the sums of both sides.

    For each non-zero, the kernel reads 8 bytes of the row and 8 bytes of the sums. Each inner
    product is accumulated in two float32 sums, so that an addition need not wait for the previous
    addition.

    Parameters
    ----------
    rows, members, sums
        See `move_members`.
    products : float64 (n, 2)
        Overwritten with the inner products.
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
    other half to side 1.

    The squared length of a side's sum equals the total of the inner products of this sum with the
    side's members. The squared lengths are therefore computed without a pass over all d features. A
    sum of length zero has cosine 0 with every member. If two members are equally near, the member
    with the smaller number is assigned to side 0 first.

    Parameters
    ----------
    products : float64 (n, 2)
        Inner products of each member with the sums of the two sides.
    sides : int8 (n,)
        The side to whose sum each member contributes. `NO_SIDE` marks a member that contributes to
        no sum.
    halves : int8 (n,)
        Overwritten with the new side of each member. If the number of members is odd, side 0 is
        larger.

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
    """Split the members of one node into two halves by balanced spherical 2-means.

    Parameters
    ----------
    rows : KernelCSR
        Representations of the labels. Each row has unit length or is empty.
    members : int64
        Row numbers of the node's labels in ascending order, at least two.
    key : uint64
        Random stream of the node. The first two numbers of the stream select the two members that
        are the first centroids.
    sums : float32 (d, 2)
        Scratch array, all zero before and after the call.

    Returns
    -------
    int8 (members.size,)
        Side of each member. If the number of members is odd, side 0 is larger.
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
    """Bisect a segment of ``order`` in place.

    If the segment is not large, also bisect all its parts.

    Parameters
    ----------
    rows : KernelCSR
        Representations of the labels (m, n_features). Each row has unit length or is empty.
    n_features : int
        Number of features.
    order : int64 (m,)
        Labels, ascending within the segment. Concurrent calls must have disjoint segments.
    depth : int
        Number of rounds of bisection that split a node with more than ``max_leaf`` labels.
    max_leaf : int
        The largest number of labels of a node that is not bisected.
    key : uint64
        Random stream of the tree.
    most_nonzeros : int
        A segment with more than this number of non-zeros is large.
    segment : tuple of int
        Four properties of the segment. These are its start, its end, its number in the binary tree,
        and the number of rounds that remain until the children of the segment's node are complete.
        If no rounds remain, the segment is a node. The root of the binary tree has number 1. The
        segment's number and ``key`` define the random stream of the segment.

    Returns
    -------
    list of tuple
        The two halves of the segment if the segment is large, and an empty list otherwise.
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
    """Raise an InvalidParameterError if a k-means tree cannot have this ``arity`` and
    ``max_leaf``.
    """
    if arity < 2 or int(arity) & (int(arity) - 1):
        expected = "expected a power of two for a k-means tree (2, 4, 8, 16, ...)"
        raise InvalidParameterError(
            f"found arity={arity}, {expected}. Use tree='random' for another arity"
        )
    if max_leaf is not None and max_leaf < 1:
        raise InvalidParameterError(f"found max_leaf={max_leaf}, expected at least 1")
