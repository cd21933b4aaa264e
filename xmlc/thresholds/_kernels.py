"""Thresholds label by label: kernels.

Those that tune work on a range of labels in column form (see `Columns`), read every stored estimate and every
positive once (8 and 4 bytes), and write their own labels' part of the result and nothing else.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import copy_into


@njit(cache=True, nogil=True)
def count_above(indptr, labels, estimates, thresholds, counts):
    """Count the estimates of each instance that are strictly greater than their label's threshold.

    Reads 8 bytes per stored estimate, and its threshold.

    Parameters
    ----------
    indptr : int64 (n + 1,), labels : uint32, estimates : float32
        The SPE, instance by instance.
    thresholds : float32 (m,)
    counts : int64 (n,)
        Written.
    """
    for i in range(counts.size):
        row, values = labels[indptr[i] : indptr[i + 1]], estimates[indptr[i] : indptr[i + 1]]
        count = 0
        for e in range(row.size):
            count += values[e] > thresholds[row[e]]
        counts[i] = count


@njit(cache=True, nogil=True)
def copy_above(indptr, labels, estimates, thresholds, kept):
    """Write the labels that `count_above` counted into ``kept``, uint32, instance after instance."""
    place = 0
    for i in range(indptr.size - 1):
        row, values = labels[indptr[i] : indptr[i + 1]], estimates[indptr[i] : indptr[i + 1]]
        for e in range(row.size):
            if values[e] > thresholds[row[e]]:
                kept[place] = row[e]
                place += 1


@njit(cache=True, nogil=True)
def column_of(columns, label):
    """Return a label's part of `Columns`: rows and values of its estimates, and the rows of its positives."""
    first, last = columns.starts[label], columns.starts[label + 1]
    true_rows = columns.true_rows[columns.true_starts[label] : columns.true_starts[label + 1]]
    return columns.rows[first:last], columns.estimates[first:last], true_rows


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
def best_cut(keys, n_positives):
    """Find the estimate at which cutting maximises the label's F-measure (plt2016, Algorithm 1, line 9).

    Candidates are the sets {estimate >= v} for each distinct v, and the empty set. h / (w P + k), which F_beta grows
    with (w = beta^2), is compared by products, which are exact for w = 1 and below 2^53; of equal ones the
    smallest set wins. Without any hit that is the empty set.

    Parameters
    ----------
    keys : uint32, not empty
        Estimates with their hits, ascending: the bits of the float32 estimate, shifted left by one, and in the
        lowest bit whether the instance carries the label. Positive floats are ordered as their bits are, and those
        up to 1 leave the highest bit free, so that one plain sort orders estimates and hits together.
    n_positives : float
        w P, where P are the label's positives.

    Returns
    -------
    uint32
        Bits of the threshold: of the largest float32 below the chosen v (which is the bits of v less one), so that
        ``>`` on the threshold is ``>=`` on v; or of the largest estimate, if the empty set is chosen.
    """
    threshold = keys[-1] >> np.uint32(1)
    best_h, best_k, h, k = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(keys.size - 1, -1, -1):
        bits = keys[i] >> np.uint32(1)
        h += np.int64(keys[i] & np.uint32(1))
        k += 1
        if i > 0 and keys[i - 1] >> np.uint32(1) == bits:
            continue
        if h * (n_positives + best_k) > best_h * (n_positives + k):
            best_h, best_k, threshold = h, k, bits - np.uint32(1)
    return threshold


@njit(cache=True, nogil=True)
def sto_thresholds(columns, start, end, floors, recall, thresholds):
    """Run `best_cut` for the labels ``start .. end - 1`` on the estimates above their floors.

    Parameters
    ----------
    columns : Columns
    floors : float32 (m,)
        kappa_j.
    recall : float64
        The measure's weight of the positives (see `xmlc.metrics.measure.Overlap`), 1 for F.
    thresholds : float32 (m,)
        Written; the floor for a label without estimates above it.
    """
    as_bits = thresholds.view(np.uint32)
    for label in range(start, end):
        rows, estimates, true_rows = column_of(columns, label)
        bits, hits = estimates.view(np.uint32), mark_hits(rows, true_rows)
        keys = np.empty(estimates.size, dtype=np.uint32)
        n_keys = 0
        for i in range(estimates.size):
            if estimates[i] > floors[label]:
                keys[n_keys] = bits[i] << np.uint32(1) | np.uint32(hits[i])
                n_keys += 1
        if n_keys == 0:
            thresholds[label] = floors[label]
        else:
            as_bits[label] = best_cut(np.sort(keys[:n_keys]), recall * true_rows.size)


@njit(cache=True, nogil=True)
def fixed_counts(columns, start, end, fixed, lower, hits, predicted):
    """Count hits and predictions at every fixed threshold max(fixed[g], lower[j]), in one pass.

    Parameters
    ----------
    columns : Columns
    fixed : float32 (g,)
        Ascending, so that an estimate need not be compared beyond the first threshold that it does not exceed.
    lower : float32 (m,)
    hits, predicted : int32 (m, g), zeros
        Written in the rows ``start .. end - 1``.
    """
    for label in range(start, end):
        rows, estimates, true_rows = column_of(columns, label)
        hit = mark_hits(rows, true_rows)
        for i in range(estimates.size):
            for g in range(fixed.size):
                if not estimates[i] > max(fixed[g], lower[label]):
                    break
                predicted[label, g] += 1
                hits[label, g] += hit[i]


@njit(cache=True, nogil=True)
def ofo_thresholds(columns, start, end, a, b, lower, thresholds):
    """Run online F-measure optimisation for the labels ``start .. end - 1`` (plt2016, Algorithm 2).

    A label's thresholds depend on no other label, so the pass over instances may go label by label: the instances
    that matter are those where it is true or has an estimate.

    Parameters
    ----------
    columns : Columns
    a, b : float64 (m,)
        Initial values of (7); the last ones on return.
    lower : float32 (m,)
        Thresholds are kept at or above it.
    thresholds : float32 (m,)
        Written.
    """
    for label in range(start, end):
        rows, estimates, true_rows = column_of(columns, label)
        a_j, b_j = a[label], b[label]
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
        a[label], b[label], thresholds[label] = a_j, b_j, tau


# Thresholds in one pass over instances whose estimates are not kept: kernels (plt2016, Sections 4.2 and 4.3).
#
# They read an SPE and the truth instance by instance, labels ascending, and change what was counted of the labels
# that an instance has or has an estimate of. What they count after some blocks of instances is what they count after
# one.


@njit(cache=True, nogil=True)
def count_fixed(spe, truth, fixed, lower, positives, hits, predicted):
    """Count each label's positives, hits and predictions at every fixed threshold max(fixed[g], lower[j]).

    Parameters
    ----------
    spe, truth : KernelCSR
    fixed : float32 (g,)
        Ascending, so that an estimate need not be compared beyond the first threshold that it does not exceed.
    lower : float32 (m,)
    positives : int32 (m,), hits, predicted : int32 (m, g)
        Added to.
    """
    for i in range(spe.indptr.size - 1):
        labels, estimates, true_labels = instance_of(spe, truth, i)
        for label in true_labels:
            positives[label] += 1
        t = 0
        for e in range(labels.size):
            label = labels[e]
            while t < true_labels.size and true_labels[t] < label:
                t += 1
            is_true = t < true_labels.size and true_labels[t] == label
            for g in range(fixed.size):
                if not estimates[e] > max(fixed[g], lower[label]):
                    break
                predicted[label, g] += 1
                hits[label, g] += is_true


@njit(cache=True, nogil=True)
def follow_online_f(spe, truth, a, b, lower, thresholds):
    """Run online F-measure optimisation instance by instance (plt2016, Algorithm 2, as printed).

    Parameters
    ----------
    spe, truth : KernelCSR
    a, b : float64 (m,)
        Sums (7); added to.
    lower : float32 (m,)
        Thresholds are kept at or above it.
    thresholds : float32 (m,)
        tau_j of equation (8) before the first instance; after the last one on return.
    """
    for i in range(spe.indptr.size - 1):
        labels, estimates, true_labels = instance_of(spe, truth, i)
        e = t = 0
        while e < labels.size or t < true_labels.size:
            is_true = t < true_labels.size and (e == labels.size or true_labels[t] <= labels[e])
            has_estimate = e < labels.size and (not is_true or true_labels[t] == labels[e])
            label = true_labels[t] if is_true else labels[e]
            is_predicted = has_estimate and estimates[e] > thresholds[label]
            if is_true or is_predicted:
                a[label] += is_true and is_predicted
                b[label] += is_true
                b[label] += is_predicted
                thresholds[label] = max(np.float32(a[label] / b[label]), lower[label])
            t += is_true
            e += has_estimate


@njit(cache=True, nogil=True)
def instance_of(spe, truth, i):
    """Return the labels with an estimate of an instance, their estimates, and the labels that it has."""
    first, last = spe.indptr[i], spe.indptr[i + 1]
    return spe.indices[first:last], spe.data[first:last], truth.indices[truth.indptr[i] : truth.indptr[i + 1]]


# One threshold for all labels: kernels.


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
    """Return one value of `xmlc.metrics.measure.Overlap` (0/0 = 1) in multiples of `UNIT`, int64."""
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


# Label-wise thresholds for pooled counts: kernels.


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
