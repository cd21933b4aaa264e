"""Label trees by hierarchical balanced 2-means over label representations: similar labels side by side."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import run_pieces
from xmlc.kernels.arrays import borrowed, copy_into, kth_smallest
from xmlc.kernels.counter_random import Stream, random_below, stream_key
from xmlc.kernels.csr import KernelCSR, kernel_csr
from xmlc.models.trees.label_tree import LabelTree

LABELS_PER_LEAF = 100  # of Parabel, whose leaves have at most so many; here about so many (`largest_leaf`)
MIN_NONZEROS_TO_SPLIT = 1 << 20  # smaller segments are one piece with all below them
MAX_SEGMENTS_TO_SPLIT = 64  # and so are those below this share of all non-zeros
MIN_GAIN = 1e-4  # rounds go on while the mean similarity gains at least this much (Parabel)
MAX_ROUNDS = 50
NO_SIDE = -1
RESOLUTION = 2.0**20  # differences of cosines are resolved to 1 / this: coarser than the rounding of float32 sums
MIN_SQUARE = 1e-6  # a sum shorter than the root of this is what rounding left of rows that cancel out


def kmeans_tree(
    representations: sparse.csr_array, arity: int, max_leaf: int | None, seed: int, n_jobs: int | None = None
) -> LabelTree:
    """Build a label tree by hierarchical balanced spherical 2-means.

    A node with more than ``max_leaf`` labels is parted into ``arity`` children by log2(arity) rounds of bisection, in
    each of which the sizes of two halves differ by at most one; one with fewer has its labels as leaf children. A
    bisection starts from two random members as centroids, gives the labels with the largest difference of cosines to
    one side and the others to the other, takes each side's mean as its centroid, and ends when the mean cosine gains
    less than 1e-4, or after 50 rounds (Parabel, Prabhu et al. 2018; the trees of oplt2021, Section 5). An arity above
    2 flattens levels of the binary tree into one.

    Parameters
    ----------
    representations : csr_array, shape (m, d)
        One row per label, of unit length or empty, see `xmlc.models.trees.representations.label_representations`.
    arity : int
        Degree b of the inner nodes, a power of two from 2 on.
    max_leaf : int or None
        A node with at most this many labels, at least 1, has them as its children. None: see
        `xmlc.models.trees.kmeans.largest_leaf`.
    seed : int
        Seed of the first centroids: each node has a random stream of its own.
    n_jobs : int or None
        Threads, see `xmlc.core.threads.resolve_threads`; the tree is the same on any number.

    Raises
    ------
    XmlcError
        ``arity`` is not a power of two, ``max_leaf`` is below 1, or there are no labels.
    """
    check_kmeans_shape(arity, max_leaf)
    max_leaf = largest_leaf(arity, max_leaf)
    m, n_features = representations.shape
    if m == 0:
        raise XmlcError("a label tree needs at least one label, found none")
    depth = int(arity).bit_length() - 1
    key = np.uint64(stream_key(np.int64(seed), np.int64(Stream.KMEANS)))
    order = _order_labels(kernel_csr(representations), n_features, depth, max_leaf, key, n_jobs)
    nodes, first_children, labels = [(0, m)], [1], []
    for start, end in nodes:  # which grows: breadth first
        below = []
        if end - start > max_leaf:
            below = [(start, end)]
            for _ in range(depth):
                below = [half for segment in below for half in _halves(*segment)]
        elif end - start > 1:
            below = [(place, place + 1) for place in range(start, end)]
        nodes += below
        first_children.append(len(nodes))
        labels.append(-1 if below else order[start])
    return LabelTree.from_children(np.array(first_children), np.array(labels))


def largest_leaf(arity: int, max_leaf: int | None = None) -> int:
    """Return the number of labels from which on a node is split.

    Without ``max_leaf`` the depth follows from the number of labels: it is that with which the last inner nodes have
    about 100. A node of s labels is split if that brings them nearer to 100, s / 100 > 100 / (s / arity), so that they
    have from 100 / sqrt(arity) to 100 sqrt(arity). A limit of 100 costs a whole level where it is missed by little:
    26,296 labels below 256 nodes are 103 for each.
    """
    return int(LABELS_PER_LEAF * sqrt(arity)) if max_leaf is None else int(max_leaf)


def check_kmeans_shape(arity: int, max_leaf: int | None) -> None:
    """Raise an XmlcError unless `kmeans_tree` can build a tree of this arity and size of leaves."""
    if arity < 2 or int(arity) & (int(arity) - 1):
        raise XmlcError(
            f"arity={arity}: a k-means tree bisects, so its arity must be a power of two: 2, 4, 8, "
            '16, ...; a tree of another kind, such as tree="random", takes any'
        )
    if max_leaf is not None and max_leaf < 1:
        raise XmlcError(f"max_leaf={max_leaf}: expected at least 1")


def _order_labels(
    reps: KernelCSR, n_features: int, depth: int, max_leaf: int, key: np.uint64, n_jobs: int | None
) -> np.ndarray:
    """Return the labels, int64 (m,), as they stand side by side in the tree.

    The sizes of all segments are fixed by the number of labels, so that this order is all that is to be found. Large
    segments are bisected level by level; smaller ones are independent pieces, each with all below it.
    """
    m = reps.indptr.size - 1
    order = np.arange(m, dtype=np.int64)
    limit = max(MIN_NONZEROS_TO_SPLIT, reps.indices.size // MAX_SEGMENTS_TO_SPLIT)
    common = (reps, n_features, order, depth, max_leaf, key, limit)
    level = [(0, m, 1, 0)] if m > max_leaf else []  # else no kernel need be compiled
    while level:
        found = run_pieces(bisect_below, [(*common, segment) for segment in level], n_jobs)
        level = [half for halves in found for half in halves]
    return order


def _halves(start: int, end: int) -> list[tuple[int, int]]:
    """Cut a segment of labels into halves, the first with the odd one; a single label stays as it is."""
    middle = start + (end - start + 1) // 2
    return [(start, middle), (middle, end)] if end - start > 1 else [(start, end)]


@njit(cache=True, nogil=True)
def first_sides(n, key):
    """Choose two of ``n`` members as first centroids by the first two numbers of a stream: sides int8 (n,)."""
    sides = np.full(n, NO_SIDE, dtype=np.int8)
    first = random_below(key, 0, n)
    second = random_below(key, 1, n - 1)
    sides[first] = 0
    sides[second + 1 if second >= first else second] = 1
    return sides


@njit(cache=True, nogil=True)
def move_members(rows, members, before, after, sums):
    """Take each member's row from the sum of its side ``before`` and add it to that of its side ``after``.

    ``sums`` is float32 (d, 2): the two sums lie side by side, so that a feature costs one cache miss. Few members
    change sides after the first round, and only these cost anything.
    """
    for i in range(members.size):
        old, new = before[i], after[i]
        if old == new:
            continue
        start, end = np.uint64(rows.indptr[members[i]]), np.uint64(rows.indptr[members[i] + 1])
        if old == NO_SIDE:
            for k in range(start, end):
                sums[rows.indices[k], new] += rows.data[k]
        else:
            for k in range(start, end):
                sums[rows.indices[k], old] -= rows.data[k]
                sums[rows.indices[k], new] += rows.data[k]


@njit(cache=True, nogil=True)
def clear_members(rows, members, sums):
    """Set the features of all members back to zero, by whichever way touches less."""
    nonzeros = 0
    for member in members:
        nonzeros += rows.indptr[member + 1] - rows.indptr[member]
    if nonzeros > sums.shape[0]:
        sums[:] = np.float32(0.0)
        return
    for member in members:
        for feature in borrowed(rows.indices, rows.indptr[member], rows.indptr[member + 1]):
            sums[feature, 0] = np.float32(0.0)
            sums[feature, 1] = np.float32(0.0)


@njit(cache=True, nogil=True)
def multiply_members(rows, members, sums, products):
    """Write the products of the members with the two sums into ``products``, float64 (n, 2).

    Reads 8 bytes of a row and 8 of the sums per non-zero; the products are added up in float32, in two chains each
    so that one addition need not wait for the one before.
    """
    for i in range(members.size):
        a0, b0, a1, b1 = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        k, last = np.uint64(rows.indptr[members[i]]), np.uint64(rows.indptr[members[i] + 1])
        if (last - k) & np.uint64(1):
            a0 += rows.data[k] * sums[rows.indices[k], 0]
            b0 += rows.data[k] * sums[rows.indices[k], 1]
            k += np.uint64(1)
        while k < last:
            value, feature = rows.data[k], rows.indices[k]
            a0 += value * sums[feature, 0]
            b0 += value * sums[feature, 1]
            k += np.uint64(1)
            value, feature = rows.data[k], rows.indices[k]
            a1 += value * sums[feature, 0]
            b1 += value * sums[feature, 1]
            k += np.uint64(1)
        products[i, 0] = np.float64(a0) + np.float64(a1)
        products[i, 1] = np.float64(b0) + np.float64(b1)


@njit(cache=True, nogil=True)
def halve(products, sides, halves):
    """Give the half of the members that is nearer to side 0's centroid to side 0, and return their mean cosine.

    The squared length of a sum is the sum of its members' products with it, so that no pass over d is needed. A sum
    without length is similar to nothing. Ties go to the smaller member.

    Parameters
    ----------
    products : float64 (n, 2)
        Products of each member with the sums of the two sides.
    sides : int8 (n,)
        The sides that were added up.
    halves : int8 (n,)
        The new sides, written here; side 0 has the odd member.

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
        side = 1 if ranks[i] > middle else 0
        halves[i] = side
        mean += products[i, side] * scales[side]
    return mean / n


@njit(cache=True, nogil=True)
def bisect(rows, members, key, sums):
    """Part the members of one node into two halves by balanced spherical 2-means.

    Parameters
    ----------
    rows : KernelCSR
        Representations, rows of unit length or empty.
    members : int64
        Rows, ascending; at least two.
    key : uint64
        Random stream of the node: its first two numbers choose two members as first centroids.
    sums : float32 (d, 2)
        Scratch, zero on entry and on return.

    Returns
    -------
    int8 (members.size,)
        Side of each member; side 0 has the odd one.
    """
    n = members.size
    sides = first_sides(n, key)
    halves = np.empty(n, dtype=np.int8)
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
    clear_members(rows, members, sums)
    return halves


@njit(cache=True, nogil=True)
def bisections_left(size, left, depth, max_leaf):
    """Return the rounds of bisection that a segment has left.

    ``left`` are those that its node's children are made by; if there are none, the segment is a node itself, and
    is parted in ``depth`` rounds if it is larger than ``max_leaf``.
    """
    if size < 2:
        return 0
    return left if left > 0 or size <= max_leaf else depth


@njit(cache=True, nogil=True)
def bisect_below(rows, n_features, order, depth, max_leaf, key, most_nonzeros, segment):
    """Bisect a segment of ``order`` in place, and unless it is large all below it.

    Parameters
    ----------
    rows : KernelCSR
        Representations (m, n_features), rows of unit length or empty.
    order : int64 (m,)
        Labels, ascending within the segment; kernels that run together have disjoint segments.
    depth, max_leaf : int
        See `bisections_left`.
    key : uint64
    most_nonzeros : int
        A segment with more is large.
    segment : tuple of int
        Its start and end; the number of its node in the binary tree, in which the root is 1, with ``key`` its random
        stream; the bisections left, see `bisections_left`.

    Returns
    -------
    list of tuple
        The halves of a large segment; of others the members are in the tree's order.
    """
    nonzeros, (start, end, _, _) = 0, segment
    for label in order[start:end]:
        nonzeros += rows.indptr[label + 1] - rows.indptr[label]
    sums = np.zeros((n_features, 2), dtype=np.float32)
    segments = [segment]
    while segments:
        start, end, number, left = segments.pop()
        left = bisections_left(end - start, left, depth, max_leaf)
        if left == 0:
            continue
        members = order[start:end].copy()
        halves, middle = bisect(rows, members, stream_key(key, number), sums), start + (members.size + 1) // 2
        places = np.array([start, middle])
        for i in range(members.size):
            order[places[halves[i]]] = members[i]
            places[halves[i]] += 1
        segments.append((start, middle, 2 * number, left - 1))
        segments.append((middle, end, 2 * number + 1, left - 1))
        if nonzeros > most_nonzeros:
            break
    return segments
