"""The memory accesses of training an LdSM tree, and hardly anything else: kernel."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed, row_of
from xmlc.models.ldsm._pairs import SLOT, pair_margins, plain_step
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def train_paths(x, y, n_features, n_labels, arity, epochs, paths):
    """Copy the instances of each node, then read them once an epoch, and read and write what they train.

    Per non-zero 8 bytes are read in order, and for two directions 16 bytes of weights and sums of squares, which stand
    side by side, twice, and written once; per label and direction 4 bytes are read and written. Arithmetic is a product
    and a sum for the margin before and after, and for each weight, in whole registers, and a sum for each label.

    Left out: scales of features, the choice of directions, the logistic function, sums of squares and 1 / sqrt of them,
    and where an instance goes.

    Parameters
    ----------
    x, y : KernelCSR
    n_features, n_labels, arity, epochs : int
    paths : xmlc.bench.limits._paths.Paths
        Instances of the tree's nodes.

    Returns
    -------
    float
        The sum of all margins, so that a compiler leaves nothing out.
    """
    total = np.float32(0)
    ids, values = np.empty(x.indices.size, dtype=np.uint32), np.empty(x.indices.size, dtype=np.float32)
    places, found = np.zeros(n_features, dtype=np.uint32), np.empty(n_features + 1, dtype=np.uint32)
    n_pairs = (arity + 1) // 2
    slots = np.zeros((n_pairs, n_features * SLOT), dtype=np.float32)
    sums, label_starts, label_ids = np.zeros((n_pairs, 2 * n_labels), dtype=np.float32), y.indptr, y.indices
    starts = np.zeros(x.indptr.size, dtype=np.int64)
    for k in range(paths.nodes.size):
        node = paths.instances[paths.starts[k] : paths.starts[k + 1]]
        copy_rows(x, node, places, found, starts, ids, values)
        for _ in range(epochs):
            for i in range(node.size):
                row = borrowed(ids, starts[i], starts[i + 1]), borrowed(values, starts[i], starts[i + 1])
                labels = borrowed(label_ids, label_starts[node[i]], label_starts[node[i] + 1])
                for pair in range(n_pairs):
                    total += train_row(*row, row_of(slots, pair), labels, row_of(sums, pair))
    return total


@njit(cache=True, nogil=True)
def copy_rows(x, node, places, found, starts, ids, values):
    """Copy the rows of a node, features numbered in the order they appear; ``places`` is zero before and after."""
    n_found, end, indptr, indices, data = 0, 0, x.indptr, x.indices, x.data
    for i in range(node.size):
        for k in range(indptr[node[i]], indptr[node[i] + 1]):
            feature = indices[k]
            found[n_found] = feature
            n_found += places[feature] == 0
            places[feature] = n_found if places[feature] == 0 else places[feature]
            ids[end], values[end] = places[feature] - 1, data[k]
            end += 1
        starts[i + 1] = end
    for feature in found[:n_found]:
        places[feature] = 0


@njit(cache=True, nogil=True)
def train_row(ids, values, slots, labels, sums):
    """Add up the weights of an instance's features, times its values, then add to them, and to the sums of labels."""
    small = np.float32(1e-9)
    first, second = pair_margins(ids, values, slots)
    first, second = plain_step(ids, values, slots, first * small, second * small, np.float32(-1))
    for label in labels:
        sums[2 * label] += first
        sums[2 * label + 1] += second
    return first + second
