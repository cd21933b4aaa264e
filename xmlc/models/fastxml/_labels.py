"""The labels of one node: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def number_labels(y, node, numbers):
    """Number the labels of a node's instances from 0, ascending.

    Parameters
    ----------
    y : KernelCSR
        All label sets, n x m.
    node : uint32 (k,)
        Instances of the node.
    numbers : uint32 (m,)
        Scratch, all zero before and after.

    Returns
    -------
    starts : int64 (k + 1,), labels : uint32
        The node's label sets in CSR form, by the new numbers.
    found : uint32
        The label of each number.
    """
    indptr, indices = y.indptr, y.indices
    starts = np.empty(node.size + 1, dtype=np.int64)
    starts[0] = 0
    for i in range(node.size):
        starts[i + 1] = starts[i] + indptr[node[i] + 1] - indptr[node[i]]
    labels = np.empty(starts[node.size], dtype=np.uint32)
    found = distinct_labels(y, node, numbers)
    for number in range(found.size):
        numbers[found[number]] = number
    for i in range(node.size):
        own = borrowed(indices, indptr[node[i]], indptr[node[i] + 1])
        numbered = borrowed(labels, starts[i], starts[i + 1])
        for k in range(own.size):
            numbered[k] = numbers[own[k]]
    for label in found:
        numbers[label] = 0
    return starts, labels, found


@njit(cache=True, nogil=True)
def distinct_labels(y, node, counts):
    """Return the labels of a node's instances, ascending, and leave their numbers of instances in ``counts``."""
    indptr, indices, total = y.indptr, y.indices, np.int64(0)
    for i in node:
        total += indptr[i + 1] - indptr[i]
    found = np.empty(min(total, counts.size) + 1, dtype=np.uint32)  # one more, for what is written and not kept
    n_found = 0
    for i in node:
        for label in borrowed(indices, indptr[i], indptr[i + 1]):
            found[n_found] = label
            n_found += counts[label] == 0
            counts[label] += np.uint32(1)
    # Sorting costs some log2(n) steps a label; where many labels are found, looking through all is cheaper.
    if 16 * n_found > counts.size:
        n_found = 0
        for label in range(counts.size):  # without a branch, as above
            found[n_found] = label
            n_found += counts[label] > 0
        return found[:n_found]
    found = found[:n_found]
    found.sort()
    return found


@njit(cache=True, nogil=True)
def count_labels(y, node, label_weights, counts, max_labels):
    """Count the labels of a leaf and keep those with the largest weighted counts, ties to the smaller label.

    Parameters as for `number_labels`; ``label_weights`` is float32 (m,).

    Returns
    -------
    labels, counts : uint32
        At most ``max_labels`` labels, ascending.
    """
    found = distinct_labels(y, node, counts)
    kept = found if found.size <= max_labels else largest_of(found, label_weights, counts, max_labels)
    kept_counts = counts[kept]
    for label in found:
        counts[label] = 0
    return kept.copy(), kept_counts


@njit(cache=True, nogil=True)
def largest_of(labels, label_weights, counts, n_kept):
    """Return the labels with the ``n_kept`` largest weighted counts, fewer than there are, in the order they have.

    The least weighted count that is kept tells which they are, so that no more of the order is needed.
    """
    weighted = np.empty(labels.size, dtype=np.float32)
    for k in range(labels.size):
        weighted[k] = label_weights[labels[k]] * np.float32(counts[labels[k]])
    least = np.partition(weighted, labels.size - n_kept)[labels.size - n_kept]
    n_tied = n_kept
    for k in range(labels.size):
        n_tied -= weighted[k] > least
    kept, end = np.empty(n_kept, dtype=np.uint32), 0
    for k in range(labels.size):
        is_tied = weighted[k] == least and n_tied > 0
        n_tied -= is_tied
        if is_tied or weighted[k] > least:
            kept[end] = labels[k]
            end += 1
    return kept
