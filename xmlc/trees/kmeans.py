"""Label trees by hierarchical balanced 2-means over label representations: similar labels side by side."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR, as_features, as_labels, kernel_csr, proven, without_zeros
from xmlc.errors import XmlcError
from xmlc.kernels.counter_random import stream_key
from xmlc.kernels.streams import Stream
from xmlc.kernels.sums import scale_rows
from xmlc.runtime.parallel import run_pieces
from xmlc.trees._kmeans import (
    MAX_ROUNDS,
    MIN_GAIN,
    NO_SIDE,
    NONZEROS_PER_COPY,
    bisect_below,
    bisections_left,
    first_sides,
    halve,
    move_members,
    multiply_members,
    place_halves,
)
from xmlc.trees._representations import count_features, fill_representations, keep_heaviest
from xmlc.trees.label_tree import LabelTree

NONZEROS_PER_PIECE = 1 << 18  # of instances, counted once for each of their labels
NONZEROS_PER_BLOCK = 1 << 19  # of the members whose cosines are one piece
MAX_BLOCKS = 32  # of one segment: to hand out more of them costs more than it balances
MIN_NONZEROS_TO_SPLIT = 1 << 20  # smaller segments are one piece with all below them
MAX_SEGMENTS_TO_SPLIT = 64  # and so are those below this share of all non-zeros
MAX_PARTS = 8  # sums of moved members that are made apart, each of them the size of d


def label_representations(
    X: object, Y: object, n_jobs: int | None = None, most_features: int | None = None
) -> sparse.csr_array:
    """Represent each label by its instances: the sum of their unit-length features, scaled to unit length.

    As in Parabel (Prabhu et al., "Parabel: Partitioned label trees for extreme classification with application
    to dynamic search advertising", WWW 2018), where the features of the label's positive instances are averaged.
    Sparse throughout; takes two additions of a bit and one of a value for each pair of a label and a non-zero of one of
    its instances. Beside the result it needs a unit-length copy of X, and 10 bytes per feature and thread.

    Parameters
    ----------
    X : sparse or dense array, shape (n, d)
    Y : sparse or dense boolean array, shape (n, m)
    n_jobs : int or None
        Threads, see `xmlc.runtime.threads.resolve_threads`; the bits do not depend on it.
    most_features : int or None
        A label keeps at most so many features, those with the largest sums in magnitude, of equal ones the smaller
        numbers. A label of many instances has most features of the vocabulary: on the shape of Amazon-3M all of them
        would be 20 GB. None keeps all.

    Returns
    -------
    csr_array of float32, shape (m, d)
        Rows of unit length, sorted indices; the row of a label without instances is empty.

    Raises
    ------
    XmlcError
        X and Y differ in their number of instances, or X holds a value that is not finite.
    """
    X, Y = as_features(X), as_labels(Y)
    if X.shape[0] != Y.shape[0]:
        raise XmlcError(f"X has {X.shape[0]} instances but Y has {Y.shape[0]}")
    by_label = sparse.csr_array(Y.T)
    m, n_features = Y.shape[1], X.shape[1]
    x = kernel_csr(X)
    scaled, rows = np.empty(x.data.size, dtype=np.float32), _blocks(np.diff(x.indptr), NONZEROS_PER_PIECE)
    run_pieces(scale_rows, [(x.indptr, x.data, scaled, *block) for block in rows], n_jobs)
    x = x._replace(data=scaled)
    label_starts, label_rows = by_label.indptr.astype(np.int64), by_label.indices.astype(np.uint32)
    nonzeros = 1 + x.indices.size // max(X.shape[0], 1)  # of an instance
    blocks = _blocks(np.diff(label_starts) * nonzeros, NONZEROS_PER_PIECE)
    counts = np.zeros(m, dtype=np.int64)
    common = (x, label_starts, label_rows, n_features)
    run_pieces(count_features, [(*common, *block, counts) for block in blocks], n_jobs)
    kept = counts if most_features is None else np.minimum(counts, most_features)
    starts = np.concatenate(([0], np.cumsum(kept)))
    indices, data = np.empty(starts[-1], dtype=np.uint32), np.empty(starts[-1], dtype=np.float32)
    if most_features is None:
        run_pieces(fill_representations, [(*common, *block, starts, indices, data) for block in blocks], n_jobs)
    else:
        run_pieces(_fill_heaviest, [(*common, *block, counts, starts, indices, data) for block in blocks], n_jobs)
    if starts[-1] <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)  # scipy wants both index arrays of one type
    result = sparse.csr_array((data, indices.view(np.int32), starts), shape=(m, n_features))
    result.has_sorted_indices = True
    return without_zeros(proven(result))


def _fill_heaviest(
    x: KernelCSR,
    label_starts: np.ndarray,
    label_rows: np.ndarray,
    n_features: int,
    start: int,
    end: int,
    counts: np.ndarray,
    starts: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
) -> None:
    """Represent the labels ``start .. end - 1`` by all their features, and write those that are kept."""
    own_starts = np.concatenate(([0], np.cumsum(counts[start:end])))
    own_indices, own_data = np.empty(own_starts[-1], dtype=np.uint32), np.empty(own_starts[-1], dtype=np.float32)
    rows = (x, label_starts[start : end + 1], label_rows, n_features)
    fill_representations(*rows, 0, end - start, own_starts, own_indices, own_data)
    keep_heaviest(own_starts, own_indices, own_data, starts[start : end + 1], indices, data)


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
        One row per label, of unit length or empty, see `label_representations`.
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
    """What `xmlc.trees._kmeans.bisect` keeps from round to round, for a segment whose rounds are split over threads."""

    def __init__(self, reps: KernelCSR, n_features: int, members: np.ndarray, key: np.uint64):
        n = members.size
        self.members, self.lengths = members, np.diff(reps.indptr)[members]
        self.blocks = _blocks(self.lengths, max(NONZEROS_PER_BLOCK, self.lengths.sum() // MAX_BLOCKS))
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
        parts = [slice(*block) for block in _blocks(costs, per_part)]
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


def _blocks(costs: np.ndarray, cost_per_block: int) -> list[tuple[int, int]]:
    """Cut a row of items into blocks ``(start, end)`` of about equal cost, at least one item each."""
    block = (np.cumsum(costs) - costs) // cost_per_block
    bounds = np.concatenate(([0], np.flatnonzero(np.diff(block)) + 1, [costs.size]))
    return list(pairwise(bounds.tolist()))


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
