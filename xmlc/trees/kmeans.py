"""Label trees by hierarchical balanced 2-means over label representations: similar labels side by side."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.counter_random import stream_key
from xmlc.csr import KernelCSR, as_features, as_labels, kernel_csr, unit_rows
from xmlc.errors import XmlcError
from xmlc.parallel import run_pieces
from xmlc.trees._kmeans import bisect_segments
from xmlc.trees.label_tree import LabelTree

KMEANS_STREAM = 0x2EA  # keeps the first centroids apart from other random numbers
NONZEROS_PER_PIECE = 1 << 18  # small segments are bisected in groups of about this much work


def label_representations(X: object, Y: object) -> sparse.csr_array:
    """Represent each label by its instances: the sum of their unit-length features, scaled to unit length.

    As in Parabel (Prabhu et al., "Parabel: Partitioned label trees for extreme classification with application
    to dynamic search advertising", WWW 2018), where the features of the label's positive instances are averaged.
    Sparse throughout; takes one multiplication for each pair of a label and a non-zero of one of its instances.

    Parameters
    ----------
    X : sparse or dense array, shape (n, d)
    Y : sparse or dense boolean array, shape (n, m)

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
    memberships = sparse.csr_array(Y.T, dtype=np.float32)
    representations = unit_rows(sparse.csr_array(memberships @ unit_rows(X)))
    representations.eliminate_zeros()
    representations.sort_indices()
    return representations


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
        Threads, see `xmlc.threads.resolve_threads`; the tree is the same on any number.

    Raises
    ------
    XmlcError
        ``arity`` is not a power of two, ``max_leaf`` is below 1, or there are no labels.
    """
    check_kmeans_shape(arity, max_leaf)
    m, n_features = representations.shape
    if m == 0:
        raise XmlcError("a label tree needs at least one label, found none")
    reps = kernel_csr(representations)
    key = np.uint64(stream_key(np.int64(seed), np.int64(KMEANS_STREAM)))
    order = np.arange(m, dtype=np.int64)
    starts, ends, ids = np.array([0]), np.array([m]), np.array([1])
    degrees, labels = [], []
    while starts.size:
        leaf = ends - starts == 1
        # `order` is final where a leaf stands, so its label is known here.
        labels.append(np.where(leaf, order[starts], -1))
        degree = np.where(leaf, 0, ends - starts)
        parted = ends - starts > max_leaf
        fans = np.flatnonzero(~parted & ~leaf)
        singles = _ranges(starts[fans], ends[fans])
        children = (starts[parted], ends[parted], ids[parted])
        owner = np.flatnonzero(parted)
        for _ in range(int(arity).bit_length() - 1):
            _bisect_all(reps, n_features, order, children, key, n_jobs)
            children, owner = _halves(children, owner)
        degree[parted] = np.bincount(owner, minlength=starts.size)[parted]
        degrees.append(degree)
        columns = ((singles, singles + 1, np.zeros_like(singles)), children)
        starts, ends, ids = (np.concatenate(column) for column in zip(*columns))
        by_place = np.argsort(starts)
        starts, ends, ids = starts[by_place], ends[by_place], ids[by_place]
    first_children = np.concatenate(([1], 1 + np.cumsum(np.concatenate(degrees))))
    return LabelTree.from_children(first_children, np.concatenate(labels))


def check_kmeans_shape(arity: int, max_leaf: int) -> None:
    """Raise an XmlcError unless `kmeans_tree` can build a tree of this arity and size of leaves."""
    if arity < 2 or int(arity) & (int(arity) - 1):
        raise XmlcError(f"arity={arity}: a k-means tree bisects, so its arity must be a power of two: 2, 4, 8, 16, ...")
    if max_leaf < 1:
        raise XmlcError(f"max_leaf={max_leaf}: expected at least 1")


Segments = tuple[np.ndarray, np.ndarray, np.ndarray]  # starts, ends, numbers in the binary tree (the root is 1)


def _bisect_all(
    reps: KernelCSR, n_features: int, order: np.ndarray, segments: Segments, key: np.uint64, n_jobs: int | None
) -> None:
    """Bisect every segment of two or more labels, in place."""
    starts, ends, ids = segments
    chosen = np.flatnonzero(ends - starts > 1)
    if chosen.size == 0:
        return
    lengths = np.concatenate(([0], np.cumsum(np.diff(reps.indptr)[order])))
    cost = lengths[ends[chosen]] - lengths[starts[chosen]]
    piece = np.cumsum(cost) // NONZEROS_PER_PIECE
    groups = np.split(chosen, np.flatnonzero(np.diff(piece)) + 1)
    pieces = [(reps, n_features, order, starts[group], ends[group], ids[group], key) for group in groups]
    run_pieces(bisect_segments, pieces, n_jobs)


def _halves(segments: Segments, owner: np.ndarray) -> tuple[Segments, np.ndarray]:
    """Cut each segment of two or more labels into the halves that `_bisect_all` made; ``owner`` follows."""
    starts, ends, ids = segments
    count = np.where(ends - starts > 1, 2, 1)
    source = np.repeat(np.arange(starts.size), count)
    second = np.concatenate(([False], source[1:] == source[:-1])) if source.size else np.zeros(0, dtype=bool)
    two = count[source] == 2
    middle = starts[source] + (ends[source] - starts[source] + 1) // 2
    halves = (
        np.where(second, middle, starts[source]),
        np.where(two & ~second, middle, ends[source]),
        2 * ids[source] + second,
    )
    return halves, owner[source]


def _ranges(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return all numbers ``starts[i] .. ends[i] - 1``, range after range."""
    sizes = ends - starts
    return np.arange(sizes.sum()) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
