"""Collect the instances of one node feature by feature, and number and count its labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of_csr, sort, unowned
from xmlc.kernels.top_k import key_number, rank_key

MOST_NONZEROS = np.iinfo(np.uint32).max  # `gather_columns` counts a node's non-zeros in uint32


class Workspace(NamedTuple):
    """Hold the scratch memory of a tree, which its nodes use one after the other."""

    order: np.ndarray  # All instances, contiguous for each node, uint32 (n,).
    side: np.ndarray  # Side of each instance of a node, 1 or -1, int8 (n,).
    margins: np.ndarray  # Margin of each instance of a node, float32 (n,).
    moved: np.ndarray  # Scratch for `divide`, uint32 (n,).
    dense: np.ndarray  # Weights of a node's classifier, float32 (d,), all zero between uses.
    # Scratch with one entry per label, uint32 (m,), all zero between uses.
    label_counts: np.ndarray
    # Scratch with one entry per feature, uint32 (d,), all zero between uses.
    feature_counts: np.ndarray
    bounds: np.ndarray  # Bounds of the loss's derivatives, float32 (d, 2), all zero between uses.
    features: np.ndarray  # Feature of each column of a node, uint32 (d + 1,), see `gather_columns`.
    starts: np.ndarray  # Start of each column in ``rows`` and ``values``, int64 (d + 2,).
    rows: np.ndarray  # Instances with a non-zero in each column, uint32 (nnz + n,).
    values: np.ndarray  # Values of the non-zeros in each column, float32 (nnz + n,).


def new_workspace(n: int, m: int, d: int, nnz: int) -> Workspace:
    """Return a `Workspace` of 8 nnz + 21 n + 28 d + 4 m bytes for n instances with nnz
    non-zeros.
    """
    return Workspace(
        np.arange(n, dtype=np.uint32),
        np.empty(n, dtype=np.int8),
        np.empty(n, dtype=np.float32),
        np.empty(n, dtype=np.uint32),
        np.zeros(d, dtype=np.float32),
        np.zeros(m, dtype=np.uint32),
        np.zeros(d, dtype=np.uint32),
        np.zeros((d, 2), dtype=np.float32),
        np.empty(d + 1, dtype=np.uint32),
        np.empty(d + 2, dtype=np.int64),
        np.empty(nnz + n, dtype=np.uint32),
        np.empty(nnz + n, dtype=np.float32),
    )


@njit
def gather_columns(x, node, side, costs, work):
    r"""Transpose the instances of a node and keep only the features whose weight can become
    non-zero.

    A weight stays zero while the derivative of the loss has a magnitude of at most 1, the factor of
    the L1 norm. For each feature, two sums bound the magnitudes of a positive and of a negative
    derivative. Instance i adds its cost times \|x_ij\| to one of the two sums of feature j. The
    sign of x_ij and the class of instance i determine which of the two sums of feature j grows. A
    feature is dropped if neither of its two sums exceeds 1. At a node with few instances, most
    features are dropped.

    Parameters
    ----------
    x : KernelCSR
        All instances.
    node : uint32 (k,)
        Instances of the node.
    side : int8 (k,)
        Class of each instance, 1 or -1.
    costs : (float32, float32)
        Factor of the loss of positive instances, and of negative instances.
    work : Workspace
        Memory that receives the columns.

    Returns
    -------
    int
        Number of columns p. ``work.features[:p]`` contains the features of the columns in the order
        of their first appearance. The last column is the constant feature, which has number d. In
        ``work``, the range ``starts[j] : starts[j + 1]`` of ``rows`` and ``values`` contains the
        instances of column j (as positions in ``node``) and their values.

    Notes
    -----
    The first pass over the instances reads 8 bytes per non-zero, and updates 12 bytes of scratch
    memory at a random address. The second pass over the instances reads 8 bytes per non-zero,
    updates 4 bytes at a random address, and writes 8 bytes.
    """
    x = unowned(x)
    work = unowned(work)
    counts = work.feature_counts
    bounds = work.bounds
    features = work.features
    rows = work.rows
    values = work.values
    zero = np.float32(0)
    n_touched = 0
    for i in range(node.size):
        ids, own = row_of_csr(x, node[i])
        pull = costs[0] if side[i] > 0 else -costs[1]
        for k in range(ids.size):
            feature = ids[k]
            # To avoid a branch, features that are not new are also written. The next feature to be
            # written overwrites a feature that is not new.
            features[n_touched] = feature
            n_touched += counts[feature] == 0
            counts[feature] += np.uint32(1)
            value = own[k] * pull
            bounds[feature, 0] += max(value, zero)
            bounds[feature, 1] -= min(value, zero)
    n_columns = 0
    end = np.uint32(0)
    for i in range(n_touched):
        feature = features[i]
        is_useful = max(bounds[feature, 0], bounds[feature, 1]) > 1.0
        bounds[feature, 0] = 0.0
        bounds[feature, 1] = 0.0
        if is_useful:
            size = counts[feature]
            # From here on, this entry of ``counts`` is the position of the feature's next value.
            counts[feature] = end
            work.starts[n_columns] = end
            end += size
            # Dropped features move behind the kept features. The loop below sets the positions of
            # dropped features to ``end``.
            features[n_columns], features[i] = feature, features[n_columns]
            n_columns += 1
    for feature in features[n_columns:n_touched]:
        counts[feature] = end
    # To avoid a branch, non-zeros of dropped features are also written, behind the columns.
    for i in range(node.size):
        ids, own = row_of_csr(x, node[i])
        for k in range(ids.size):
            place = counts[ids[k]]
            rows[place] = np.uint32(i)
            values[place] = own[k]
            counts[ids[k]] = place + np.uint32(place != end)
    for feature in features[:n_touched]:
        counts[feature] = 0
    work.starts[n_columns] = end
    features[n_columns] = counts.size
    for i in range(node.size):
        rows[end + i] = i
        values[end + i] = 1.0
    work.starts[n_columns + 1] = end + node.size
    return n_columns + 1


@njit
def number_labels(y, node, numbers):
    """Number the labels of a node's instances from 0, in ascending order.

    Parameters
    ----------
    y : KernelCSR
        All label sets, n x m.
    node : uint32 (k,)
        Instances of the node.
    numbers : uint32 (m,)
        Scratch array, all zero before and after the call.

    Returns
    -------
    starts : int64 (k + 1,), labels : uint32
        Label sets of the node's instances in CSR form. In ``labels``, each label is replaced by its
        new number.
    found : uint32
        The original label of each new number.
    """
    y = unowned(y)
    starts = np.zeros(node.size + 1, dtype=np.int64)
    for i in range(node.size):
        starts[i + 1] = starts[i] + y.indptr[node[i] + 1] - y.indptr[node[i]]
    labels = np.empty(starts[node.size], dtype=np.uint32)
    found = distinct_labels(y, node, numbers)
    for number in range(found.size):
        numbers[found[number]] = number
    end = 0
    for i in node:
        for label in row_of_csr(y, i)[0]:
            labels[end] = numbers[label]
            end += 1
    for label in found:
        numbers[label] = 0
    return starts, labels, found


@njit
def distinct_labels(y, node, counts):
    """Return the labels of a node's instances, ascending.

    Write the number of instances per label to ``counts``.
    """
    y = unowned(y)
    total = np.int64(0)
    for i in node:
        total += y.indptr[i + 1] - y.indptr[i]
    # the extra entry receives labels that are not new
    found = np.empty(min(total, counts.size) + 1, dtype=np.uint32)
    n_found = 0
    for i in node:
        for label in row_of_csr(y, i)[0]:
            found[n_found] = label
            n_found += counts[label] == 0
            counts[label] += np.uint32(1)
    # Sorting takes about log2(n) steps per label. If many labels are found, a scan of all labels is
    # faster than sorting.
    if 16 * n_found > counts.size:
        n_found = 0
        # this loop has no branch, because a branch would often be mispredicted
        for label in range(counts.size):
            found[n_found] = label
            n_found += counts[label] > 0
        return found[:n_found]
    found = found[:n_found]
    sort(found)
    return found


@njit
def labels_of_leaf(y, node, label_weights, counts, max_labels):
    """Count the labels of a leaf and keep the labels with the largest weighted counts.

    Among labels with equal weighted counts, labels with smaller numbers are kept first.

    Parameters
    ----------
    y : KernelCSR
        All label sets, n x m.
    node : uint32 (k,)
        Instances of the leaf.
    label_weights : float32 (m,)
        Weight of each label.
    counts : uint32 (m,)
        Scratch array, all zero before and after the call.
    max_labels : int
        Largest number of labels to keep.

    Returns
    -------
    labels, counts : uint32
        At most ``max_labels`` labels, ascending, and the number of instances with each label.
    """
    found = distinct_labels(y, node, counts)
    kept = found
    if found.size > max_labels:
        keys = np.empty(found.size, dtype=np.int64)
        kept = np.empty(max_labels, dtype=np.uint32)
        for k in range(found.size):
            keys[k] = rank_key(found[k], label_weights[found[k]] * np.float32(counts[found[k]]))
        sort(keys)
        for k in range(max_labels):
            kept[k] = key_number(keys[found.size - 1 - k])
        sort(kept)
    kept_counts = counts[kept]
    for label in found:
        counts[label] = 0
    return kept.copy(), kept_counts
