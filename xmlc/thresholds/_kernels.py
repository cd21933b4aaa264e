"""Threshold tuning label by label: kernels.

Each works on a range of labels in column form (see `Columns`), reads every stored estimate and every positive
once (8 bytes each), and writes only its own labels' results.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def mark_hits(rows, true_rows):
    """Mark which of the ascending ``rows`` occur in the ascending ``true_rows``; both uint32."""
    hits = np.zeros(rows.size, dtype=np.bool_)
    b = 0
    for a in range(rows.size):
        while b < true_rows.size and true_rows[b] < rows[a]:
            b += 1
        hits[a] = b < true_rows.size and true_rows[b] == rows[a]
    return hits


@njit(cache=True, nogil=True)
def best_cut(estimates, hits, n_positives):
    """Find the estimate at which cutting maximises the label's F-measure (plt2016, Algorithm 1, line 9).

    Candidates are the sets {estimate >= v} for each distinct v, and the empty set. F = 2 h / (P + k) is compared
    in exact integers; of equal ones the smallest set wins.

    Parameters
    ----------
    estimates : float32, hits : bool
        The label's estimates and whether each instance carries the label.
    n_positives : int
        P, the label's positives.

    Returns
    -------
    cut : float32
        The chosen v, or the largest estimate if the empty set is chosen.
    some : bool
        Whether anything is predicted.
    """
    order = np.argsort(-estimates)
    best_h, best_k, h, k = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    cut = estimates[order[0]]
    if n_positives > 0:  # otherwise the empty set has F = 0/0 = 1
        for i in range(order.size):
            h += hits[order[i]]
            k += 1
            if i + 1 < order.size and estimates[order[i + 1]] == estimates[order[i]]:
                continue
            if h * (n_positives + best_k) > best_h * (n_positives + k):
                best_h, best_k, cut = h, k, estimates[order[i]]
    return cut, best_k > 0


@njit(cache=True, nogil=True)
def sto_cuts(columns, start, end, floors, count_hidden):
    """Run `best_cut` for the labels ``start .. end - 1`` on the estimates above their floors.

    Parameters
    ----------
    columns : Columns
    floors : float32 (m,)
        kappa_j.
    count_hidden : bool
        Whether positives without an estimate above the floor count as positives (the paper's F) or not.

    Returns
    -------
    cuts : float32 (end - start,), some : bool (end - start,)
        As from `best_cut`; the floor and False for a label without estimates above it.
    """
    cuts = floors[start:end].copy()
    some = np.zeros(end - start, dtype=np.bool_)
    for label in range(start, end):
        first, last = columns.starts[label], columns.starts[label + 1]
        true_rows = columns.true_rows[columns.true_starts[label] : columns.true_starts[label + 1]]
        above = columns.estimates[first:last] > floors[label]
        estimates = columns.estimates[first:last][above]
        if estimates.size == 0:
            continue
        hits = mark_hits(columns.rows[first:last][above], true_rows)
        n_positives = true_rows.size if count_hidden else hits.sum()
        cuts[label - start], some[label - start] = best_cut(estimates, hits, n_positives)
    return cuts, some


@njit(cache=True, nogil=True)
def fixed_counts(columns, start, end, fixed, lower):
    """Count hits and predictions at every fixed threshold max(fixed[g], lower[j]), in one pass.

    Parameters
    ----------
    columns : Columns
    fixed : float32 (g,)
    lower : float32 (m,)

    Returns
    -------
    hits, predicted : int64 (end - start, g)
    positives : int64 (end - start,)
    """
    hits = np.zeros((end - start, fixed.size), dtype=np.int64)
    predicted = np.zeros((end - start, fixed.size), dtype=np.int64)
    for label in range(start, end):
        first, last = columns.starts[label], columns.starts[label + 1]
        true_rows = columns.true_rows[columns.true_starts[label] : columns.true_starts[label + 1]]
        hit = mark_hits(columns.rows[first:last], true_rows)
        for i in range(last - first):
            estimate = columns.estimates[first + i]
            for g in range(fixed.size):
                if estimate > max(fixed[g], lower[label]):
                    predicted[label - start, g] += 1
                    hits[label - start, g] += hit[i]
    return hits, predicted, columns.true_starts[start + 1 : end + 1] - columns.true_starts[start:end]


@njit(cache=True, nogil=True)
def ofo_thresholds(columns, start, end, a, b, lower):
    """Run online F-measure optimisation for the labels ``start .. end - 1`` (plt2016, Algorithm 2).

    A label's thresholds depend on no other label, so the pass over instances may go label by label: the instances
    that matter are those where it is true or has an estimate.

    Parameters
    ----------
    columns : Columns
    a, b : float
        Initial values of (7).
    lower : float32 (m,)
        Thresholds are kept at or above it.

    Returns
    -------
    float32 (end - start,)
    """
    thresholds = np.empty(end - start, dtype=np.float32)
    for label in range(start, end):
        rows = columns.rows[columns.starts[label] : columns.starts[label + 1]]
        estimates = columns.estimates[columns.starts[label] : columns.starts[label + 1]]
        true_rows = columns.true_rows[columns.true_starts[label] : columns.true_starts[label + 1]]
        a_j, b_j = a, b
        tau = max(np.float32(a_j / b_j), lower[label])
        i = t = 0
        while i < rows.size or t < true_rows.size:
            is_true = t < true_rows.size and (i == rows.size or true_rows[t] <= rows[i])
            has_estimate = i < rows.size and (not is_true or true_rows[t] == rows[i])
            is_predicted = has_estimate and estimates[i] > tau
            if is_true or is_predicted:
                a_j += is_true and is_predicted
                b_j += is_true
                b_j += is_predicted
                tau = max(np.float32(a_j / b_j), lower[label])
            t += is_true
            i += has_estimate
        thresholds[label - start] = tau
    return thresholds
