"""The instances of one node, its features and labels numbered anew: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.runtime.kernel_cache import njit

NO_PLACE = np.uint32(0xFFFFFFFF)


class NodeData(NamedTuple):
    """Room for the instances of any node of a tree, in the order they are streamed.

    Attributes
    ----------
    starts : int64 (n + 1,), ids : uint32, values : float32
        Features of each instance in CSR form, numbered within the node, the last one constant.
    label_starts : int64 (n + 1,), label_ids : uint32
        Labels of each instance, numbered within the node.
    features : uint32 (d + 1,)
        The node's features; d is the constant one.
    scales, means : float32 (d + 1,)
        A value is (x - mean) / scale.
    places : uint32 (d + 1,), label_places : uint32 (m,)
        Number within the node; all `NO_PLACE` between nodes.
    labels : uint32 (m,)
        The node's labels.
    """

    starts: np.ndarray
    ids: np.ndarray
    values: np.ndarray
    label_starts: np.ndarray
    label_ids: np.ndarray
    features: np.ndarray
    scales: np.ndarray
    means: np.ndarray
    places: np.ndarray
    label_places: np.ndarray
    labels: np.ndarray


@njit(cache=True, nogil=True)
def new_node_data(n, d, m, n_values, n_labels):
    """Return a `NodeData` for n instances with ``n_values`` values and ``n_labels`` labels in all.

    It takes 8 ``n_values`` + 4 ``n_labels`` + 16 n + 16 d + 8 m bytes.
    """
    return NodeData(
        np.zeros(n + 1, dtype=np.int64),
        np.empty(n_values, dtype=np.uint32),
        np.empty(n_values, dtype=np.float32),
        np.zeros(n + 1, dtype=np.int64),
        np.empty(n_labels, dtype=np.uint32),
        np.empty(d + 1, dtype=np.uint32),
        np.empty(d + 1, dtype=np.float32),
        np.empty(d + 1, dtype=np.float32),
        np.full(d + 1, NO_PLACE, dtype=np.uint32),
        np.full(m, NO_PLACE, dtype=np.uint32),
        np.empty(m, dtype=np.uint32),
    )


@njit(cache=True, nogil=True)
def gather_labels(y, node, data):
    """Number the labels of a node in the order they appear and copy its label sets; return how many labels it has."""
    n_found, end, indptr, indices = 0, 0, y.indptr, y.indices
    for i in range(node.size):
        for label in borrowed(indices, indptr[node[i]], indptr[node[i] + 1]):
            if data.label_places[label] == NO_PLACE:
                data.label_places[label] = n_found
                data.labels[n_found] = label
                n_found += 1
            data.label_ids[end] = data.label_places[label]
            end += 1
        data.label_starts[i + 1] = end
    for label in data.labels[:n_found]:
        data.label_places[label] = NO_PLACE
    return n_found


@njit(cache=True, nogil=True)
def gather_scaled(x, node, data):
    """Number the features of a node in the order they appear and copy its instances, each feature scaled.

    The scale is the largest magnitude of the feature at the node, so that values lie in -1 .. 1: the normalisation of
    Ross, Mineiro and Langford (Normalized online learning, 2013), who learn it as the stream goes by and shrink the
    weight when it grows. A node's instances are there to be looked at, so its scales are right from the start.

    Returns
    -------
    int
        Number of features p, the constant one included.

    Notes
    -----
    Per non-zero: 8 bytes read, 12 of scratch updated at random, 8 bytes written, then 8 read and 4 written.
    """
    indptr, indices, values_of = x.indptr, x.indices, x.data
    constant = np.uint32(data.places.size - 1)
    n_found, end = 0, 0
    for i in range(node.size):
        start, stop = indptr[node[i]], indptr[node[i] + 1]
        ids, own = borrowed(indices, start, stop), borrowed(values_of, start, stop)
        for k in range(ids.size):
            place = data.places[ids[k]]
            if place == NO_PLACE:
                place = np.uint32(n_found)
                data.places[ids[k]] = place
                data.features[place] = ids[k]
                data.scales[place] = 0
                n_found += 1
            data.scales[place] = max(data.scales[place], abs(own[k]))
            data.ids[end + k] = place
            data.values[end + k] = own[k]
        end += ids.size + 1
        data.ids[end - 1] = constant
        data.values[end - 1] = 1.0
        data.starts[i + 1] = end
    for j in range(n_found):
        data.places[data.features[j]] = NO_PLACE
        if data.scales[j] == 0:
            data.scales[j] = 1.0
    data.features[n_found], data.scales[n_found] = constant, 1.0
    data.means[: n_found + 1] = 0.0
    ids, values = data.ids[:end], data.values[:end]
    for k in range(end):
        if ids[k] == constant:
            ids[k] = n_found
        else:
            values[k] /= data.scales[ids[k]]
    return n_found + 1


@njit(cache=True, nogil=True)
def gather_standardised(x, node, data):
    """Copy the instances of a node densely, each feature with mean 0 and variance 1 at the node.

    As `gather_scaled`; all features are taken, zeros included, and the constant one stays 1. A feature that does not
    vary is 0.
    """
    n_features = data.places.size
    rows = data.values[: node.size * n_features].reshape(node.size, n_features)
    rows[:] = 0.0
    for i in range(node.size):
        for k in range(x.indptr[node[i]], x.indptr[node[i] + 1]):
            rows[i, x.indices[k]] += x.data[k]
        data.starts[i + 1] = (i + 1) * n_features
    for j in range(n_features - 1):
        mean, square = 0.0, 0.0
        for i in range(node.size):
            mean += rows[i, j]
        mean /= node.size
        for i in range(node.size):
            square += (rows[i, j] - mean) ** 2
        deviation = np.sqrt(square / max(1, node.size - 1))
        data.means[j] = mean
        data.scales[j] = deviation if deviation > 1e-6 * abs(mean) else 1.0
        for i in range(node.size):
            rows[i, j] = (rows[i, j] - data.means[j]) / data.scales[j] if deviation > 1e-6 * abs(mean) else 0.0
    rows[:, n_features - 1] = 1.0
    data.means[n_features - 1], data.scales[n_features - 1] = 0.0, 1.0
    for j in range(n_features):
        data.features[j] = j
    for k in range(node.size * n_features):
        data.ids[k] = k % n_features
    return n_features
