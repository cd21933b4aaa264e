"""Label trees by hierarchical balanced 2-means over label representations: similar labels side by side."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR, kernel_csr
from xmlc.errors import XmlcError
from xmlc.kernels.arrays import borrowed
from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.kernels.streams import Stream
from xmlc.runtime.kernel_cache import njit
from xmlc.runtime.parallel import run_pieces
from xmlc.trees.label_tree import LabelTree
from xmlc.trees.representations import item_blocks

NONZEROS_PER_BLOCK = 1 << 19  # of the members whose cosines are one piece
MAX_BLOCKS = 32  # of one segment: to hand out more of them costs more than it balances
MIN_NONZEROS_TO_SPLIT = 1 << 20  # smaller segments are one piece with all below them
MAX_SEGMENTS_TO_SPLIT = 64  # and so are those below this share of all non-zeros
MAX_PARTS = 8  # sums of moved members that are made apart, each of them the size of d
MIN_GAIN = 1e-4  # rounds go on while the mean similarity gains at least this much (Parabel)
MAX_ROUNDS = 50
NO_SIDE = -1
RESOLUTION = 2.0**20  # differences of cosines are resolved to 1 / this: coarser than the rounding of float32 sums
MIN_SQUARE = 1e-6  # a sum shorter than the root of this is what rounding left of rows that cancel out
NONZEROS_PER_COPY = 1 << 18  # segments up to this size are bisected in a copy (2 MiB) with features numbered anew
NOT_SEEN = np.uint32(0xFFFFFFFF)


def kmeans_tree(
    representations: sparse.csr_array, arity: int, max_leaf: int, seed: int, n_jobs: int | None = None
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
        One row per label, of unit length or empty, see `xmlc.trees.representations.label_representations`.
    arity : int
        Degree b of the inner nodes, a power of two from 2 on.
    max_leaf : int
        A node with at most this many labels, at least 1, has them as its children.
    seed : int
        Seed of the first centroids: each node has a random stream of its own.
    n_jobs : int or None
        Threads, see `xmlc.runtime.threads.resolve_threads`; the tree is the same on any number.

    Raises
    ------
    XmlcError
        ``arity`` is not a power of two, ``max_leaf`` is below 1, or there are no labels.
    """
    check_kmeans_shape(arity, max_leaf)
    m, n_features = representations.shape
    if m == 0:
        raise XmlcError("a label tree needs at least one label, found none")
    depth = int(arity).bit_length() - 1
    key = np.uint64(stream_key(np.int64(seed), np.int64(Stream.KMEANS)))
    order = _order_labels(kernel_csr(representations), n_features, depth, max_leaf, key, n_jobs)
    starts, ends = np.array([0]), np.array([m])
    degrees, labels = [], []
    while starts.size:
        leaf = ends - starts == 1
        labels.append(np.where(leaf, order[starts], -1))
        degree = np.where(leaf, 0, ends - starts)
        parted = ends - starts > max_leaf
        fans = np.flatnonzero(~parted & ~leaf)
        singles = _ranges(starts[fans], ends[fans])
        children, owner = (starts[parted], ends[parted]), np.flatnonzero(parted)
        for _ in range(depth):
            children, owner = _halves(children, owner)
        degree[parted] = np.bincount(owner, minlength=starts.size)[parted]
        degrees.append(degree)
        starts, ends = (np.concatenate(column) for column in zip((singles, singles + 1), children))
        by_place = np.argsort(starts, kind="stable")
        starts, ends = starts[by_place], ends[by_place]
    first_children = np.concatenate(([1], 1 + np.cumsum(np.concatenate(degrees))))
    return LabelTree.from_children(first_children, np.concatenate(labels))


def check_kmeans_shape(arity: int, max_leaf: int) -> None:
    """Raise an XmlcError unless `kmeans_tree` can build a tree of this arity and size of leaves."""
    if arity < 2 or int(arity) & (int(arity) - 1):
        raise XmlcError(f"arity={arity}: a k-means tree bisects, so its arity must be a power of two: 2, 4, 8, 16, ...")
    if max_leaf < 1:
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
    level, pieces, costs = [(0, m, 1, 0)], [], []
    while level:
        large, bisections = [], []
        for start, end, number, left in level:
            left = bisections_left(end - start, left, depth, max_leaf)
            cost = int(np.diff(reps.indptr)[order[start:end]].sum())
            if left > 0 and cost > limit:
                large.append((start, end, number, left))
                own_key = np.uint64(stream_key(key, np.int64(number)))
                bisections.append(_Bisection(reps, n_features, order[start:end].copy(), own_key))
            elif left > 0:
                pieces.append((reps, n_features, order, start, end, number, left, depth, max_leaf, key))
                costs.append(cost)
        _bisect_together(reps, bisections, n_jobs)
        level = []
        for (start, end, number, left), bisection in zip(large, bisections):
            place_halves(order, start, bisection.members, bisection.halves)
            middle = start + (end - start + 1) // 2
            level += [(start, middle, 2 * number, left - 1), (middle, end, 2 * number + 1, left - 1)]
    costly_first = np.argsort(-np.array(costs, dtype=np.int64), kind="stable")
    run_pieces(bisect_below, [(*pieces[i], NONZEROS_PER_COPY) for i in costly_first], n_jobs)
    return order


class _Bisection:
    """What `bisect` keeps from round to round, for a segment whose rounds are split over threads."""

    def __init__(self, reps: KernelCSR, n_features: int, members: np.ndarray, key: np.uint64):
        n = members.size
        self.members, self.lengths = members, np.diff(reps.indptr)[members]
        self.blocks = item_blocks(self.lengths, max(NONZEROS_PER_BLOCK, self.lengths.sum() // MAX_BLOCKS))
        self.sides, self.halves = first_sides(n, key), np.empty(n, dtype=np.int8)
        self.products, self.sums = np.empty((n, 2)), np.zeros((n_features, 2), dtype=np.float32)
        self.mean = -np.inf
        move_members(reps, members, np.full(n, NO_SIDE, dtype=np.int8), self.sides, self.sums)

    def moves(self) -> list[tuple[np.ndarray, ...]]:
        """Return members, their sides before and after, and the sums they move in: parts that are worth a pass over d.

        The first part moves in the sums themselves, the others from zero, to be added in their order.
        """
        costs = np.where(self.sides != self.halves, self.lengths, 0)
        per_part = max(2 * self.sums.shape[0], -(-costs.sum() // MAX_PARTS))
        parts = [slice(*block) for block in item_blocks(costs, per_part)]
        sums = [self.sums] + [np.zeros_like(self.sums) for _ in parts[1:]]
        return [(self.members[p], self.sides[p], self.halves[p], own) for p, own in zip(parts, sums)]


def _bisect_together(reps: KernelCSR, bisections: list[_Bisection], n_jobs: int | None) -> None:
    """Find the halves of each of some large segments, all of them a round at a time."""
    for _ in range(MAX_ROUNDS):
        if not bisections:
            return
        products = [(reps, b.members, b.sums, *block, b.products) for b in bisections for block in b.blocks]
        run_pieces(multiply_members, products, n_jobs)
        means = run_pieces(halve, [(b.products, b.sides, b.halves) for b in bisections], n_jobs)
        gaining = [mean - b.mean >= MIN_GAIN for b, mean in zip(bisections, means)]
        bisections = [b for b, gains in zip(bisections, gaining) if gains]
        moves = [b.moves() for b in bisections]
        run_pieces(move_members, [(reps, *part) for parts in moves for part in parts], n_jobs)
        for b, parts, mean in zip(bisections, moves, (mean for mean, gains in zip(means, gaining) if gains)):
            for part in parts[1:]:
                b.sums += part[-1]
            b.sides, b.mean = b.halves.copy(), mean


def _halves(
    segments: tuple[np.ndarray, np.ndarray], owner: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Cut each segment ``starts, ends`` of two or more labels into halves; ``owner`` follows."""
    starts, ends = segments
    count = np.where(ends - starts > 1, 2, 1)
    source = np.repeat(np.arange(starts.size), count)
    second = np.concatenate(([False], source[1:] == source[:-1])) if source.size else np.zeros(0, dtype=bool)
    two = count[source] == 2
    middle = starts[source] + (ends[source] - starts[source] + 1) // 2
    halves = np.where(second, middle, starts[source]), np.where(two & ~second, middle, ends[source])
    return halves, owner[source]


def _ranges(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return all numbers ``starts[i] .. ends[i] - 1``, range after range."""
    sizes = ends - starts
    return np.arange(sizes.sum()) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)


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
def multiply_members(rows, members, sums, start, end, products):
    """Write the products of members ``start .. end - 1`` with the two sums into ``products``, float64 (n, 2).

    Reads 8 bytes of a row and 8 of the sums per non-zero; the products are added up in float32, in two chains each
    so that one addition need not wait for the one before.
    """
    for i in range(start, end):
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
    middle = np.partition(ranks, last)[last]
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
        multiply_members(rows, members, sums, np.int64(0), n, products)
        mean = halve(products, sides, halves)
        if mean - before < MIN_GAIN:
            break
        move_members(rows, members, sides, halves, sums)
        sides[:] = halves
        before = mean
    clear_members(rows, members, sums)
    return halves


@njit(cache=True, nogil=True)
def place_halves(order, start, members, halves):
    """Write the members of side 0, then those of side 1, to ``order[start:]``, each as they were."""
    places = np.array([start, start + (members.size + 1) // 2])
    for i in range(members.size):
        order[places[halves[i]]] = members[i]
        places[halves[i]] += 1


@njit(cache=True, nogil=True)
def copy_rows(rows, members, numbers):
    """Copy the members' rows side by side, their features numbered as they come.

    ``numbers`` is scratch, uint32 (d,), all `NOT_SEEN` on entry and on return. Returns the rows and how many features
    they have.
    """
    starts = np.zeros(members.size + 1, dtype=np.int64)
    for i in range(members.size):
        starts[i + 1] = starts[i] + rows.indptr[members[i] + 1] - rows.indptr[members[i]]
    indices = np.empty(starts[-1], dtype=np.uint32)
    data = np.empty(starts[-1], dtype=np.float32)
    count = np.uint32(0)
    for i in range(members.size):
        place = np.uint64(starts[i])
        for k in range(np.uint64(rows.indptr[members[i]]), np.uint64(rows.indptr[members[i] + 1])):
            feature = rows.indices[k]
            if numbers[feature] == NOT_SEEN:
                numbers[feature] = count
                count += np.uint32(1)
            indices[place] = numbers[feature]
            data[place] = rows.data[k]
            place += np.uint64(1)
    for member in members:
        for feature in borrowed(rows.indices, rows.indptr[member], rows.indptr[member + 1]):
            numbers[feature] = NOT_SEEN
    return KernelCSR(starts, indices, data), np.int64(count)


@njit(cache=True, nogil=True)
def bisections_left(size, left, depth, max_leaf):
    """Return how many rounds of bisection a segment still has to go through.

    ``left`` are those that its node's children are made by; if there are none, the segment is a node itself, and
    is parted in ``depth`` rounds if it is larger than ``max_leaf``.
    """
    if size < 2:
        return 0
    return left if left > 0 or size <= max_leaf else depth


@njit(cache=True, nogil=True)
def bisect_segment(rows, order, segment, key, sums, stack):
    """Bisect one segment of ``order`` in place and put its halves, with their numbers, on the stack."""
    start, end, number, left = segment
    members = order[start:end].copy()
    place_halves(order, start, members, bisect(rows, members, stream_key(key, number), sums))
    middle = start + (members.size + 1) // 2
    stack.append((middle, end, 2 * number + 1, left - 1))
    stack.append((start, middle, 2 * number, left - 1))


@njit(cache=True, nogil=True)
def bisect_copy(rows, members, number, left, depth, max_leaf, key, numbers):
    """Bring the members of one node into the tree's order in a copy of their rows; arguments as in `bisect_below`."""
    own, n_own = copy_rows(rows, members, numbers)
    sums = np.zeros((n_own, 2), dtype=np.float32)
    order = np.arange(members.size)
    stack = [(0, members.size, number, left)]
    while stack:
        start, end, number, left = stack.pop()
        left = bisections_left(end - start, left, depth, max_leaf)
        if left > 0:
            bisect_segment(own, order, (start, end, number, left), key, sums, stack)
    return members[order]


@njit(cache=True, nogil=True)
def bisect_below(rows, n_features, order, start, end, number, left, depth, max_leaf, key, nonzeros_per_copy):
    """Bisect a segment of ``order`` and all below it in place: afterwards its members are in the tree's order.

    Parameters
    ----------
    rows : KernelCSR
        Representations (m, n_features), rows of unit length or empty.
    order : int64 (m,)
        Labels, ascending within the segment; kernels that run together have disjoint segments.
    start, end : int
        The segment.
    number : int
        Number of its node in the binary tree, in which the root is 1; with ``key`` (uint64) its random stream.
    left, depth, max_leaf : int
        See `bisections_left`.
    key : uint64
    nonzeros_per_copy : int
        A segment with at most so many non-zeros is copied, see `copy_rows`, and with it all below.
    """
    sums = np.zeros((n_features, 2), dtype=np.float32)
    numbers = np.full(n_features, NOT_SEEN, dtype=np.uint32)
    stack = [(start, end, number, left)]
    while stack:
        start, end, number, left = stack.pop()
        left = bisections_left(end - start, left, depth, max_leaf)
        if left == 0:
            continue
        nonzeros = 0
        for label in order[start:end]:
            nonzeros += rows.indptr[label + 1] - rows.indptr[label]
        if nonzeros > nonzeros_per_copy:
            bisect_segment(rows, order, (start, end, number, left), key, sums, stack)
        else:
            members = order[start:end].copy()
            order[start:end] = bisect_copy(rows, members, number, left, depth, max_leaf, key, numbers)
