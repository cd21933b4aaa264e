"""Copies of the instances of one node, with features and labels numbered from 0."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of_csr, unowned
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.sibling_rows import aligned_buffer
from xmlc.models.ldsm._pairs import SLOT


class Workspace(NamedTuple):
    """The scratch memory of a tree, which its nodes use one after the other.

    Instances are in the order of training, each with the constant feature last. Features and labels
    are numbered within the node, and a value x of a feature is stored as (x - mean) / scale.
    """

    starts: np.ndarray  # start of each instance in ``ids`` and ``values``, int64 (n + 1,)
    ids: np.ndarray  # features of the instances, uint32
    values: np.ndarray  # float32
    label_starts: np.ndarray  # start of each instance in ``label_ids``, int64 (n + 1,)
    label_ids: np.ndarray  # labels of the instances, uint32
    # original number of each feature, d for the constant feature, uint32 (d + 1,)
    features: np.ndarray
    scales: np.ndarray  # float32 (d + 1,)
    means: np.ndarray  # float32 (d + 1,)
    slots: np.ndarray  # numbers of the regressors, see `SLOT`, float32
    # the rest is all zero between uses
    dense: np.ndarray  # a node's weights, float32 (M d,)
    feature_numbers: np.ndarray  # number of each feature within the node plus 1, uint32 (d,)
    label_numbers: np.ndarray  # number or count of each label within the node, uint32 (m,)


def new_workspace(
    x: KernelCSR, y: KernelCSR, d: int, m: int, arity: int, adaptive: bool
) -> Workspace:
    """Return a `Workspace` of 8 bytes for each value and 4 for each label, plus 16 n + 12 d M."""
    n = x.indptr.size - 1
    n_values = x.indices.size + n if adaptive else n * (d + 1)
    return Workspace(
        np.zeros(n + 1, dtype=np.int64),
        np.empty(n_values, dtype=np.uint32),
        np.empty(n_values, dtype=np.float32),
        np.zeros(n + 1, dtype=np.int64),
        np.empty(y.indices.size, dtype=np.uint32),
        np.empty(d + 1, dtype=np.uint32),
        np.empty(d + 1, dtype=np.float32),
        np.empty(d + 1, dtype=np.float32),
        aligned_buffer((arity + 1) // 2 * SLOT * (d + 1)),
        np.zeros(arity * d, dtype=np.float32),
        np.zeros(d, dtype=np.uint32),
        np.zeros(m, dtype=np.uint32),
    )


@njit
def gather_labels(y, node, work):
    """Copy a node's label sets, numbered by first appearance, and return the number of labels."""
    y = unowned(y)
    work = unowned(work)
    numbers = work.label_numbers
    n_found = 0
    end = 0
    for i in range(node.size):
        for label in row_of_csr(y, node[i])[0]:
            if numbers[label] == 0:
                n_found += 1
                numbers[label] = n_found
            work.label_ids[end] = numbers[label] - np.uint32(1)
            end += 1
        work.label_starts[i + 1] = end
    for i in node:
        for label in row_of_csr(y, i)[0]:
            numbers[label] = 0
    return n_found


@njit
def gather_scaled(x, node, work):
    """Copy a node's instances with scaled features, numbered in order of first appearance.

    The scale of a feature is its largest magnitude at the node, which brings values into -1 .. 1
    (Ross, Mineiro and Langford, Normalized online learning, 2013). Their online algorithm has to
    shrink weights if a scale grows. Here all instances are known, so scales are exact from the
    start. The result is the number of features, including the constant one.
    """
    x = unowned(x)
    work = unowned(work)
    numbers = work.feature_numbers
    scales = work.scales
    n_found = 0
    end = 0
    for i in range(node.size):
        features, values = row_of_csr(x, node[i])
        for k in range(features.size):
            feature = features[k]
            if numbers[feature] == 0:
                work.features[n_found] = feature
                scales[n_found] = 0
                n_found += 1
                numbers[feature] = n_found
            number = numbers[feature] - np.uint32(1)
            scales[number] = max(scales[number], abs(values[k]))
            work.ids[end + k] = number
            work.values[end + k] = values[k]
        end += features.size + 1
        work.starts[i + 1] = end
    for j in range(n_found):
        numbers[work.features[j]] = 0
        work.means[j] = 0.0
        if scales[j] == 0:
            scales[j] = 1.0
    for i in range(node.size):
        constant = work.starts[i + 1] - 1
        for k in range(work.starts[i], constant):
            work.values[k] /= scales[work.ids[k]]
        work.ids[constant] = n_found
        work.values[constant] = 1.0
    work.features[n_found] = numbers.size
    return n_found + 1


@njit
def gather_standardised(x, node, work):
    """Copy a node's instances to dense rows, with features of mean 0 and variance 1 at the node.

    The constant feature stays 1, and other features without variance become 0. Parameters and
    result are as for `gather_scaled`.
    """
    d = work.feature_numbers.size
    rows = work.values[: node.size * (d + 1)].reshape(node.size, d + 1)
    rows[:] = 0.0
    for i in range(node.size):
        for k in range(x.indptr[node[i]], x.indptr[node[i] + 1]):
            rows[i, x.indices[k]] += x.data[k]
        rows[i, d] = 1.0
        work.starts[i + 1] = (i + 1) * (d + 1)
    for j in range(d):
        mean = 0.0
        square = 0.0
        for i in range(node.size):
            mean += rows[i, j]
        mean /= node.size
        for i in range(node.size):
            square += (rows[i, j] - mean) ** 2
        deviation = np.sqrt(square / max(1, node.size - 1))
        varies = deviation > 1e-6 * abs(mean)
        work.means[j] = mean
        work.scales[j] = deviation if varies else 1.0
        for i in range(node.size):
            rows[i, j] = (rows[i, j] - work.means[j]) / work.scales[j] if varies else 0.0
    for j in range(d + 1):
        work.features[j] = j
    for k in range(rows.size):
        work.ids[k] = k % (d + 1)
    return d + 1
