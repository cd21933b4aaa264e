"""The instances of one node feature by feature, and its labels, numbered and counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of_csr, sort, unowned
from xmlc.kernels.top_k import key_number, rank_key

MOST_NONZEROS = np.iinfo(np.uint32).max  # `gather_columns` counts in uint32


class Workspace(NamedTuple):
    """The scratch memory of a tree, which its nodes use one after the other."""

    order: np.ndarray  # all instances, contiguous for each node, uint32 (n,)
    side: np.ndarray  # side of each instance of a node, 1 or -1, int8 (n,)
    margins: np.ndarray  # margin of each instance of a node, float32 (n,)
    moved: np.ndarray  # for `divide`, uint32 (n,)
    # the next four are all zero between uses
    dense: np.ndarray  # weights of a node's classifier, float32 (d,)
    label_counts: np.ndarray  # uint32 (m,)
    feature_counts: np.ndarray  # uint32 (d,)
    bounds: np.ndarray  # bounds of derivatives, float32 (d, 2)
    features: np.ndarray  # feature of each column of a node, uint32 (d + 1,), see `gather_columns`
    starts: np.ndarray  # start of each column in ``rows`` and ``values``, int64 (d + 2,)
    rows: np.ndarray  # instances with a non-zero in each column, uint32 (nnz + n,)
    values: np.ndarray  # values of these non-zeros, float32 (nnz + n,)


def new_workspace(n: int, m: int, d: int, nnz: int) -> Workspace:
    """Return a `Workspace` of 8 nnz + 21 n + 28 d + 4 m bytes."""
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
    """Transpose the instances of a node, with only the features whose weight can become non-zero.

    A weight stays zero while the derivative of the loss is at most 1, the factor of the L1 norm, in
    magnitude. Two sums for each feature bound this for a positive and for a negative derivative:
    instance i adds its cost times abs(x_ij) to one of them, by the sign of x_ij and its class. If
    neither sum exceeds 1, the feature is dropped, as happens to most at a node with few instances.

    ``side`` and ``costs`` are as in `Sides`, and ``work`` receives the columns.

    Returns
    -------
    int
        Number of columns p. ``work.features[:p]`` are their features by first appearance, with the
        constant feature, number d, last. In ``work``, the range ``starts[j] : starts[j + 1]`` of
        ``rows`` and ``values`` has column j, with positions in ``node`` as rows.
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
            # written even if not new, to avoid a branch, and then overwritten by the next one
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
            # from here on, the position of the feature's next value
            counts[feature] = end
            work.starts[n_columns] = end
            end += size
            # dropped features move behind the kept ones, and the loop below sets their positions
            # to ``end``
            features[n_columns], features[i] = feature, features[n_columns]
            n_columns += 1
    for feature in features[n_columns:n_touched]:
        counts[feature] = end
    # non-zeros of dropped features are written too, behind the columns, to avoid a branch
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

    ``numbers``, uint32 (m,), is scratch, all zero before and after the call.

    Returns
    -------
    starts : int64 (k + 1,), labels : uint32
        Label sets of the node's k instances in CSR form, with the new numbers.
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
    """Return the ascending labels of a node, with their numbers of instances in ``counts``."""
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
    # a sort takes about log2(n) steps per label, so a scan is faster if many are found
    if 16 * n_found > counts.size:
        n_found = 0
        # no branch, because it would often be mispredicted
        for label in range(counts.size):
            found[n_found] = label
            n_found += counts[label] > 0
        return found[:n_found]
    found = found[:n_found]
    sort(found)
    return found


@njit
def labels_of_leaf(y, node, label_weights, counts, max_labels):
    """Return at most ``max_labels`` labels of a leaf with the largest weighted counts, and the
    counts.

    The labels are ascending, uint32, and smaller ones are kept first if tied. ``counts``, uint32
    (m,), is scratch, all zero before and after the call.
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
