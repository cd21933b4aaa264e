"""One threshold for all labels: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import copy_into
from xmlc.runtime.kernel_cache import njit
from xmlc.thresholds._kernels import column_of, mark_hits

# Values of single instances are summed as whole multiples of this, so that a sum does not depend on the path that
# led to it and cannot drift over billions of updates. Room for 2^23 instances in 63 bits.
UNIT = 2.0**-40


@njit(cache=True, nogil=True)
def mark_column_hits(columns, start, end, hits):
    """Mark the estimates of the labels ``start .. end - 1`` whose instance carries the label.

    Parameters
    ----------
    columns : Columns
    hits : bool (nnz,)
        Written at the places of these labels' estimates.
    """
    for label in range(start, end):
        rows, _, true_rows = column_of(columns, label)
        copy_into(hits[columns.starts[label] :], mark_hits(rows, true_rows))


@njit(cache=True, nogil=True)
def overlap_units(gain, recall, shared, hits, positives, predicted):
    """Return one value of `xmlc.metrics.overlap.Overlap` (0/0 = 1) in multiples of `UNIT`, int64."""
    total = recall * positives + predicted - shared * hits
    value = gain * hits / total if total > 0 else 1.0
    return np.int64(np.rint(value / UNIT))


@njit(cache=True, nogil=True)
def best_instance_cut(keys, positives, gain, recall, shared):
    """Find the estimate at which cutting all labels maximises the mean over instances of an overlap measure.

    Candidates are, as in `best_cut`, the sets {estimate >= v} for each distinct v, and the empty set; of equal ones
    the smallest wins, where means count as equal that differ by no more than `UNIT`, as much as rounding can do. As
    the threshold falls, each label that enters changes the value of its own instance and of no other, so one pass
    over the sorted estimates suffices: it reads 8 bytes each, and 12 of its instance.

    Parameters
    ----------
    keys : uint64, not empty
        Ascending: the bits of the float32 estimate in the upper half; below them its instance, shifted left by one,
        and in the lowest bit whether the instance carries the label.
    positives : int32 (n,)
        Number of labels of each instance.
    gain, recall, shared : float64
        The `Overlap`.

    Returns
    -------
    uint32
        Bits of the threshold, as of `best_cut`.
    """
    hits, predicted = np.zeros_like(positives), np.zeros_like(positives)
    score = np.int64(0)
    for i in range(positives.size):
        score += overlap_units(gain, recall, shared, 0, positives[i], 0)
    best, threshold = score, np.uint32(keys[-1] >> np.uint64(32))
    for e in range(keys.size - 1, -1, -1):
        low = np.uint32(keys[e] & np.uint64(0xFFFFFFFF))
        i = low >> np.uint32(1)
        score -= overlap_units(gain, recall, shared, hits[i], positives[i], predicted[i])
        hits[i] += low & np.uint32(1)
        predicted[i] += 1
        score += overlap_units(gain, recall, shared, hits[i], positives[i], predicted[i])
        bits = np.uint32(keys[e] >> np.uint64(32))
        if e > 0 and np.uint32(keys[e - 1] >> np.uint64(32)) == bits:
            continue  # estimates that are equal enter together
        if score > best + positives.size:
            best, threshold = score, bits - np.uint32(1)
    return threshold
