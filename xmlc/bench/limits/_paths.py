"""The memory accesses of ranking by a forest, and hardly anything else: kernels, and the paths that they follow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.kernels.sums import sparse_dot
from xmlc.runtime.kernel_cache import njit


class Paths(NamedTuple):
    """Which instances pass which inner nodes.

    Attributes
    ----------
    nodes : int64 (n_passed,)
        Inner nodes that are passed, ascending.
    starts : int64 (n_passed + 1,), instances : uint32
        Those that pass the k-th of them, ascending: ``instances[starts[k] : starts[k + 1]]``.
    """

    nodes: np.ndarray
    starts: np.ndarray
    instances: np.ndarray

    def of(self, first: int, last: int, /) -> Paths:
        """Return the paths through the nodes ``first .. last - 1``."""
        own = slice(*np.searchsorted(self.nodes, [first, last]))
        return Paths(self.nodes[own], self.starts[own.start : own.stop + 1], self.instances)


def paths_to(leaves: np.ndarray, instances: np.ndarray, children: np.ndarray) -> Paths:
    """Walk up from the leaves that instances reach.

    Parameters
    ----------
    leaves : ndarray of int, shape (n_reached,), instances : ndarray of int, shape (n_reached,)
        Pairs of a leaf and an instance that reaches it.
    children : ndarray of int32, shape (n_inner, M)
        Of each inner node: an inner node, or ~leaf.
    """
    inner, leaf = np.argwhere(children >= 0), np.argwhere(children < 0)
    n_leaves = max(leaves.max(initial=0), (~children).max(initial=0)) + 1  # a root may be a leaf
    above, above_leaf = np.full(len(children), -1), np.full(n_leaves, -1)
    above[children[tuple(inner.T)]] = inner[:, 0]
    above_leaf[~children[tuple(leaf.T)]] = leaf[:, 0]
    nodes, n = above_leaf[leaves], int(instances.max(initial=0)) + 1
    passed: list[np.ndarray] = []
    while nodes.size:
        nodes, instances = nodes[nodes >= 0], instances[nodes >= 0]
        passed.append(nodes * n + instances)
        nodes = above[nodes]
    pairs = np.unique(np.concatenate(passed))
    found, starts = np.unique(pairs // n, return_index=True)
    return Paths(found, np.append(starts, pairs.size), (pairs % n).astype(np.uint32))


@njit(cache=True, nogil=True)
def read_paths(x, paths, weight_starts, features, weights, dense):
    """Lay out the weights of each node and read those of each instance that passes it.

    Per non-zero and direction 8 bytes are read in order and 4 from ``dense``. Left out: biases, where an instance goes,
    and putting it there.

    Parameters
    ----------
    x : KernelCSR
    paths : Paths
    weight_starts : int64, features : uint32, weights : float32 (n_weights, M)
        Sparse weights of the nodes, as in a forest.
    dense : float32 (d * M,)
        Scratch, all zero before and after.

    Returns
    -------
    float
        The sum of all margins, so that a compiler leaves nothing out.
    """
    arity, total, indptr, indices, data = weights.shape[1], np.float32(0), x.indptr, x.indices, x.data
    for k in range(paths.nodes.size):
        first, last = weight_starts[paths.nodes[k]], weight_starts[paths.nodes[k] + 1]
        for w in range(first, last):
            for j in range(arity):
                dense[np.int64(features[w]) * arity + j] = weights[w, j]
        for i in paths.instances[paths.starts[k] : paths.starts[k + 1]]:
            ids, values = borrowed(indices, indptr[i], indptr[i + 1]), borrowed(data, indptr[i], indptr[i + 1])
            for j in range(arity):
                total += sparse_dot(ids, values, dense[j::arity])
        for w in range(first, last):
            for j in range(arity):
                dense[np.int64(features[w]) * arity + j] = 0
    return total


@njit(cache=True, nogil=True)
def read_leaves(starts, leaves, leaf_starts, labels, counts, first, last, sums):
    """Add up the labels of the leaves that the instances ``first .. last - 1`` reach.

    8 bytes of a leaf are read per label, and 8 of ``sums`` read and written twice, to add and to clear. Left out: which
    labels are found, the means, and the choice of the best.

    Parameters
    ----------
    starts : int64 (n_trees, n + 1), leaves : int32
        As in `xmlc.models._leaf_averages.Reached`.
    leaf_starts : int64, labels : uint32, counts : uint32
        As in a forest.
    first, last : int
    sums : float64 (m,)
        Scratch, all zero before and after.

    Returns
    -------
    float
        The sum of all sums, so that a compiler leaves nothing out.
    """
    total = 0.0
    for i in range(first, last):
        for tree in range(starts.shape[0]):
            for leaf in borrowed(leaves, starts[tree, i], starts[tree, i + 1]):
                for k in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
                    sums[labels[k]] += counts[k]
        for tree in range(starts.shape[0]):
            for leaf in borrowed(leaves, starts[tree, i], starts[tree, i + 1]):
                for k in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
                    total += sums[labels[k]]
                    sums[labels[k]] = 0.0
    return total
