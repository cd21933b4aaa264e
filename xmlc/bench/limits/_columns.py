"""The memory accesses of training a FastXML tree, and hardly anything else: kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.kernels.sums import sparse_dot, sparse_dots
from xmlc.runtime.kernel_cache import njit


class Tape(NamedTuple):
    """What the nodes of a tree read, node after node.

    Attributes
    ----------
    starts : int64 (n_nodes + 1,), instances : uint32
        Instances of each node.
    feature_starts : int64 (n_nodes + 1,), features : uint32
        Features that get a column, in its order.
    accesses : int64 (n_nodes, 7)
        See `xmlc.models.fastxml._grow.Accesses`.
    """

    starts: np.ndarray
    instances: np.ndarray
    feature_starts: np.ndarray
    features: np.ndarray
    accesses: np.ndarray


@njit(cache=True, nogil=True)
def read_nodes(x, y, n_features, n_labels, tape):
    """Read and write what the training of a tree must, node by node.

    The labels of a node are copied and read once a round, with 8 bytes for each. Its rows are counted by feature, then
    written as columns. These are read once for each time that derivatives are taken, with 8 bytes of each instance,
    and as often as coordinate descent visits and moves, with 4 and 8 bytes.

    Left out: the ranking of labels, the sides and the moves between them, which features need no column, loss and
    derivatives of an instance, the steps of coordinates, and step sizes. Coordinates are visited in the order of their
    columns.

    Parameters
    ----------
    x, y : KernelCSR
    n_features, n_labels : int
    tape : Tape

    Returns
    -------
    float
        A sum of all that is read, so that a compiler leaves nothing out.
    """
    n, total = x.indptr.size - 1, 0.0
    numbers, gains = np.arange(n_labels).astype(np.uint32), np.ones(n_labels, dtype=np.int64)
    own_labels = np.empty(y.indices.size, dtype=np.uint32)
    places, found = np.zeros(n_features, dtype=np.uint32), np.empty(n_features + 1, dtype=np.uint32)
    rows, values = np.empty(x.indices.size + n + 1, np.uint32), np.empty(x.indices.size + n + 1, np.float32)
    starts, by_row = np.empty(n_features + 2, dtype=np.int64), np.ones((3, n), dtype=np.float32)
    gradient, curvature = by_row[0], by_row[1]
    for k in range(tape.starts.size - 1):
        node = tape.instances[tape.starts[k] : tape.starts[k + 1]]
        features = tape.features[tape.feature_starts[k] : tape.feature_starts[k + 1]]
        _, n_rounds, _, _, n_derivatives, n_visited, n_moved = tape.accesses[k]
        total += read_labels(y, node, numbers, gains, own_labels, n_rounds)
        write_columns(x, node, features, places, found, starts, rows, values)
        columns = starts[: features.size + 2]
        for _ in range(n_derivatives):
            for j in range(columns.size - 1):
                ids, own = borrowed(rows, columns[j], columns[j + 1]), borrowed(values, columns[j], columns[j + 1])
                first, second = sparse_dots(ids, own, gradient, curvature)
                total += first + second
        total += walk_columns(columns, rows, values, by_row, n_visited, n_moved)
    return total


@njit(cache=True, nogil=True)
def read_labels(y, node, numbers, gains, labels, n_rounds):
    """Copy the label sets of a node, then add up what each set gains, once a round."""
    end, total, indptr, indices = 0, np.int64(0), y.indptr, y.indices
    for i in node:
        for label in borrowed(indices, indptr[i], indptr[i + 1]):
            labels[end] = numbers[label]
            end += 1
    for _ in range(n_rounds):
        end = 0
        for i in node:
            gained = np.int64(0)
            size = indptr[i + 1] - indptr[i]
            for label in borrowed(labels, end, end + size):
                gained += gains[label]
            end += size
            total ^= gained
    return total


@njit(cache=True, nogil=True)
def write_columns(x, node, features, places, found, starts, rows, values):
    """Count the features of a node's rows, then write the rows as the columns of some features, a constant one last."""
    n_found, end, indptr, indices, data = 0, np.uint32(0), x.indptr, x.indices, x.data
    for i in node:
        for feature in borrowed(indices, indptr[i], indptr[i + 1]):
            found[n_found] = feature
            n_found += places[feature] == 0
            places[feature] += np.uint32(1)
    for j in range(features.size):
        starts[j] = end
        end += places[features[j]]
    starts[features.size], starts[features.size + 1] = end, end + node.size
    for feature in found[:n_found]:
        places[feature] = end  # where what has no column is written, over and over
    for j in range(features.size):
        places[features[j]] = starts[j]
    for i in range(node.size):
        for k in range(indptr[node[i]], indptr[node[i] + 1]):
            place = places[indices[k]]
            rows[place], values[place] = np.uint32(i), data[k]
            places[indices[k]] = place + np.uint32(place != end)
    for feature in found[:n_found]:
        places[feature] = 0
    for i in range(node.size):
        rows[end + i], values[end + i] = np.uint32(i), np.float32(1)


@njit(cache=True, nogil=True)
def walk_columns(starts, rows, values, by_row, n_visited, n_moved):
    """Read columns until so many non-zeros are read, and then change what belongs to their rows for so many."""
    total, j, seen, changed = np.float32(0), 0, 0, by_row[2]
    while seen < n_visited:
        ids, own = borrowed(rows, starts[j], starts[j + 1]), borrowed(values, starts[j], starts[j + 1])
        total += sparse_dot(ids, own, changed)
        seen += ids.size
        j = (j + 1) % (starts.size - 1)
    seen = 0
    while seen < n_moved:
        for i in range(starts[j], starts[j + 1]):
            changed[rows[i]] += values[i] * by_row[1, rows[i]]
        seen += starts[j + 1] - starts[j]
        j = (j + 1) % (starts.size - 1)
    return total
