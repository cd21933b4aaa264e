"""Thresholds in one pass over instances whose estimates are not kept: kernels (plt2016, Sections 4.2 and 4.3).

They read an SPE and the truth instance by instance, labels ascending, and change what was counted of the labels that an
instance has or has an estimate of. What they count after some blocks of instances is what they count after one.
"""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit


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
