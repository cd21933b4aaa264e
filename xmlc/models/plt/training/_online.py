"""OFO while a PLT with hashed weights trains: kernels (plt2016, Section 4.3, Algorithm 2 together with Algorithm 3)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR
from xmlc.kernels.arrays import copy_into
from xmlc.models._online_sums import count_sets
from xmlc.models.plt.search._block_scores import LOGISTIC_LINK
from xmlc.models.plt.search._by_instance import search_threshold
from xmlc.models.plt.training._hashed import hashed_instance, untrained
from xmlc.models.plt.training._solvers import Sgd
from xmlc.models.plt.weights import HashedWeights
from xmlc.runtime.kernel_cache import njit
from xmlc.trees import LabelTree


@njit(cache=True, nogil=True)
def set_threshold(node, threshold, children, parent, thresholds):
    """Set a leaf's threshold, and those of the nodes above, the minima of their children's, as far as they change."""
    thresholds[node] = threshold
    node = parent[node]
    while node >= 0:
        smallest = thresholds[children[node] : children[node + 1]].min()
        if smallest == thresholds[node]:
            return
        thresholds[node] = smallest
        node = parent[node]


@njit(cache=True, nogil=True)
def online_pass(x, y, leaf, parent, nodes, steps_done, gamma, lam, stamp, a, b, thresholds, shape, counts):
    """Pass once over a stream: predict each instance's label set, let OFO learn from it, then learn the instance.

    Parameters
    ----------
    x, y : KernelCSR
        The stream, in its order.
    leaf, parent, nodes, steps_done, gamma, lam, stamp
        As for `hashed_pass`.
    a, b : float64 (m,)
        OFO's sums (7); added to.
    thresholds : float32 (n_nodes,)
        Of the leaves tau_j = a_j / b_j, of the others the minimum of their children's; updated.
    shape : tuple of int
        As for `search_threshold`.
    counts : int64 (n,)
        Written: the size of each set.

    Returns
    -------
    int32
        The sets predicted, one after the other.
    """
    positives = np.empty(parent.size, dtype=np.int32)
    sets, size = np.empty(1024, dtype=np.int32), 0
    for row in range(counts.size):
        ids, values = x.indices[x.indptr[row] : x.indptr[row + 1]], x.data[x.indptr[row] : x.indptr[row + 1]]
        labels = y.indices[y.indptr[row] : y.indptr[row + 1]]
        _, predicted, _, _ = search_threshold(x, row, row + 1, nodes, LOGISTIC_LINK, thresholds, shape)
        counts[row] = predicted.size
        while size + predicted.size > sets.size:
            sets = np.concatenate((sets, np.empty_like(sets)))
        copy_into(sets[size:], predicted)
        size += predicted.size
        count_sets(labels, predicted, a, b)
        for label in predicted:
            set_threshold(leaf[label], np.float32(a[label] / b[label]), nodes.children, parent, thresholds)
        for label in labels:
            set_threshold(leaf[label], np.float32(a[label] / b[label]), nodes.children, parent, thresholds)
        hashed_instance(ids, values, labels, leaf, parent, nodes, steps_done, gamma, lam, stamp, row, positives)
    return sets[:size].copy()


def train_hashed_with_thresholds(
    x: KernelCSR,
    y: KernelCSR,
    tree: LabelTree,
    solver: Sgd,
    hash_bits: int,
    random_state: int,
    initial: tuple[float, float],
    shape: tuple[int, int, int],
) -> tuple[HashedWeights, np.ndarray, sparse.csr_array]:
    """Train as `train_hashed` does, in one pass in the order of the rows, with OFO before each instance.

    Parameters
    ----------
    x, y, tree, solver, hash_bits, random_state
        As for `train_hashed`; the solver's passes are left aside.
    initial : tuple of float
        OFO's a and b before the first instance, of every label.
    shape : tuple of int
        As for `search_threshold`.

    Returns
    -------
    nodes : HashedWeights
    thresholds : ndarray of float32, shape (m,)
        Those that stand at the end.
    sets : csr_array of bool, shape (n, m)
        What was predicted for each instance before it was learned.
    """
    nodes, steps_done, stamp = untrained(tree, hash_bits, random_state)
    leaf, n = tree.leaf, x.indptr.size - 1
    a, b = (np.full(leaf.size, value) for value in initial)
    thresholds = np.full(tree.n_nodes, initial[0] / initial[1], dtype=np.float32)
    counts, learning = np.zeros(n, dtype=np.int64), (steps_done, solver.step, solver.lam, stamp)
    found = online_pass(x, y, leaf, tree.parent, nodes, *learning, a, b, thresholds, shape, counts)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    sets = sparse.csr_array((np.ones(found.size, dtype=bool), found, indptr), shape=(n, leaf.size))
    sets.sort_indices()
    return nodes, thresholds[leaf], sets
