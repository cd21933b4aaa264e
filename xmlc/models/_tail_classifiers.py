"""Kernels of the tail classifiers: centroids of labels, and distances of instances to them.

A block of rows (labels when fitting, instances when scoring) is one piece of work with scratch of its own, and writes
its own part of the result.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels.float64 import exp, log1p
from xmlc.runtime.kernel_cache import njit

# A non-zero of a centroid that is read costs about 1.2 ns, a step of a binary search two to three times that; on
# delicious and tib-core-26k 3 was the fastest of 0.3 .. 5.
SEARCH_STEP_COST = 3


@njit(cache=True, nogil=True)
def count_features(first, last, y_indptr, y_instances, x_indptr, x_features, n_features, counts):
    """Count the features that occur in any instance of a label, for labels ``first .. last - 1``.

    Parameters
    ----------
    first, last : int
    y_indptr : int64 (m + 1,), y_instances : uint32
        The instances of each label.
    x_indptr : int64 (n + 1,), x_features : uint32
        The features of each instance.
    n_features : int
    counts : int64 (m,)
        Written for the labels of this block.
    """
    seen = np.full(n_features, -1, dtype=np.int32)
    for label in range(first, last):
        count = 0
        for position in range(y_indptr[label], y_indptr[label + 1]):
            instance = y_instances[position]
            for feature in x_features[x_indptr[instance] : x_indptr[instance + 1]]:
                if seen[feature] != label:
                    seen[feature] = label
                    count += 1
        counts[label] = count


@njit(cache=True, nogil=True)
def fill_centroids(
    first, last, y_indptr, y_instances, x_indptr, x_features, x_values, n_features, indptr, features, weights, squares
):
    """Write the mean instance and its squared length, for labels ``first .. last - 1``.

    Sums are float64, in the order of the instances; squares are those of the rounded weights, in the order of the
    features. Scratch: 12 bytes per feature. Moves 8 bytes per non-zero of an instance of a label, and 8 per non-zero
    of a centroid.

    Parameters
    ----------
    first, last : int
    y_indptr : int64 (m + 1,), y_instances : uint32
    x_indptr : int64 (n + 1,), x_features : uint32, x_values : float32
    n_features : int
    indptr : int64 (m + 1,)
        Where each centroid starts, from `count_features`.
    features : uint32 (nnz,), weights : float32 (nnz,), squares : float64 (m,)
        Written for the labels of this block.
    """
    seen = np.full(n_features, -1, dtype=np.int32)
    sums = np.zeros(n_features, dtype=np.float64)
    for label in range(first, last):
        start, stop = indptr[label], indptr[label + 1]
        found = start
        for position in range(y_indptr[label], y_indptr[label + 1]):
            instance = y_instances[position]
            for k in range(x_indptr[instance], x_indptr[instance + 1]):
                feature = x_features[k]
                if seen[feature] != label:
                    seen[feature] = label
                    features[found] = feature
                    found += 1
                sums[feature] += x_values[k]
        features[start:stop].sort()
        n_instances = y_indptr[label + 1] - y_indptr[label]
        square = 0.0
        for k in range(start, stop):
            weights[k] = sums[features[k]] / n_instances
            sums[features[k]] = 0.0
            square += np.float64(weights[k]) * np.float64(weights[k])
        squares[label] = square


@njit(cache=True, nogil=True)
def searching_is_cheaper(n_instance, n_centroid):
    """Tell whether to look the instance's features up in the centroid instead of reading all of the centroid."""
    steps, size = 1, n_centroid
    while size > 1:
        size >>= 1
        steps += 1
    return SEARCH_STEP_COST * steps * n_instance < n_centroid


@njit(cache=True, nogil=True)
def gathered_product(dense_instance, features, weights):
    """Inner product of a dense instance (float32, (d,)) and a centroid, all of which is read."""
    product = 0.0
    for k in range(features.size):
        product += np.float64(dense_instance[features[k]]) * np.float64(weights[k])
    return product


@njit(cache=True, nogil=True)
def searched_product(ids, values, features, weights):
    """Inner product of a sparse instance and a centroid, in which each feature is searched.

    The same bits as `gathered_product`: both add in the order of the features, products of two float32 are exact in
    float64, and the zeros that only the other one adds change nothing.
    """
    product = 0.0
    low = 0
    for j in range(ids.size):
        wanted = ids[j]
        high = features.size
        while low < high:
            middle = (low + high) >> 1
            if features[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == features.size:
            break
        if features[low] == wanted:
            product += np.float64(values[j]) * np.float64(weights[low])
    return product


@njit(cache=True, nogil=True)
def log_scores_of_rows(
    first, last, x_indptr, x_features, x_values, c_indptr, c_labels, indptr, features, weights, squares, gamma,
    n_features, scores
):  # fmt: skip
    """Write log B of every candidate label of the instances ``first .. last - 1``.

    log B = -log(1 + exp(z)) with z = gamma / 2 * ||x - mu||^2 >= 0, written so that no exponential overflows.
    Scratch: 4 bytes per feature. Moves, per candidate, the smaller of 12 bytes per non-zero of the centroid and a
    binary search per non-zero of the instance.

    Parameters
    ----------
    first, last : int
    x_indptr : int64 (n + 1,), x_features : uint32, x_values : float32
        Instances.
    c_indptr : int64 (n + 1,), c_labels : uint32
        Their candidate labels.
    indptr : int64 (m + 1,), features : uint32, weights : float32, squares : float64 (m,)
        Centroids and their squared lengths.
    gamma : float
    n_features : int
    scores : float32
        One per candidate, written for the instances of this block.
    """
    dense = np.zeros(n_features, dtype=np.float32)
    for i in range(first, last):
        ids = x_features[x_indptr[i] : x_indptr[i + 1]]
        values = x_values[x_indptr[i] : x_indptr[i + 1]]
        square = 0.0
        for j in range(ids.size):
            dense[ids[j]] = values[j]
            square += np.float64(values[j]) * np.float64(values[j])
        for c in range(c_indptr[i], c_indptr[i + 1]):
            label = c_labels[c]
            start, stop = indptr[label], indptr[label + 1]
            if searching_is_cheaper(ids.size, stop - start):
                product = searched_product(ids, values, features[start:stop], weights[start:stop])
            else:
                product = gathered_product(dense, features[start:stop], weights[start:stop])
            # Rounding can push the square of a distance of 0 just below 0.
            z = 0.5 * gamma * max(0.0, square + squares[label] - 2.0 * product)
            scores[c] = -(z + log1p(exp(-z)))
        for feature in ids:
            dense[feature] = 0.0
