"""Label-wise thresholds for pooled counts: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit
from xmlc.thresholds._kernels import column_of, mark_hits


@njit(cache=True, nogil=True)
def sort_keys(columns, start, end, keys):
    """Write the keys of `best_cut` of the labels ``start .. end - 1``, sorted label by label.

    Parameters
    ----------
    columns : Columns
    keys : uint32 (nnz,)
        Written at the places of these labels' estimates.
    """
    for label in range(start, end):
        rows, estimates, true_rows = column_of(columns, label)
        hits, bits = mark_hits(rows, true_rows), estimates.view(np.uint32)
        own = keys[columns.starts[label] : columns.starts[label + 1]]
        for i in range(hits.size):
            own[i] = bits[i] << np.uint32(1) | np.uint32(hits[i])
        own.sort()


@njit(cache=True, nogil=True)
def priced_cuts(columns, start, end, keys, price, chosen, thresholds):
    """Cut each label's estimates where hits less the price of its predictions are most; of equal cuts the highest.

    Reads 4 bytes per stored estimate.

    Parameters
    ----------
    columns : Columns
    keys : uint32 (nnz,)
        From `sort_keys`.
    price : float64
        Of one prediction, in hits.
    chosen : int64 (m, 2)
        Written in the rows ``start .. end - 1``: hits and predictions of each label's cut.
    thresholds : uint32 (m,)
        Written alike: bits of the thresholds, as of `best_cut`; untouched for a label without estimates.
    """
    for label in range(start, end):
        first, last = columns.starts[label], columns.starts[label + 1]
        chosen[label] = 0
        if first < last:
            thresholds[label] = keys[last - 1] >> np.uint32(1)
        best, h, k = 0.0, 0, 0
        for i in range(last - 1, first - 1, -1):
            bits = keys[i] >> np.uint32(1)
            h += np.int64(keys[i] & np.uint32(1))
            k += 1
            if i > first and keys[i - 1] >> np.uint32(1) == bits:
                continue
            if h - price * k > best:
                best, thresholds[label] = h - price * k, bits - np.uint32(1)
                chosen[label, 0], chosen[label, 1] = h, k
