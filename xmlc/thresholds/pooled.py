"""Cuts that are exact on the validation set for measures of pooled counts or of instances: common, or one per label."""

from __future__ import annotations

from typing import Self

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import copy_into, sort
from xmlc.kernels.estimator import hyperparameters
from xmlc.metrics.measure import F1, Overlap
from xmlc.thresholds.methods import Columns, RankingMethod, best_cut, column_of, mark_hits, run_by_label


@hyperparameters
class CommonThreshold(RankingMethod):
    """The common threshold with the highest micro- or instance-averaged measure on the validation set.

    Every cut between two different estimates is tried, in one pass over the sorted estimates; of equal ones the
    highest threshold wins (fewest predictions). If nothing is best predicted, the threshold is the largest estimate.
    Time is O(e log e) for e stored estimates, memory 8 bytes (micro) or 16 (instance) for each besides the SPE.

    Parameters
    ----------
    average : {"micro", "instance"}
        Counts summed over all pairs of instance and label, or the mean over instances (0/0 = 1).
    overlap : Overlap
        The measure: `xmlc.metrics.measure.f_beta` or ``JACCARD``.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        The same number m times; of float64 as of `STO`.

    Notes
    -----
    With the true probabilities the best prediction for a micro-averaged measure is one common threshold (Koyejo et
    al., NIPS 2015), so a threshold for each label could only fit the validation set more closely; where a model's
    estimates are not as good, see `MicroLabelWise`. For an instance-averaged measure a common threshold is a
    heuristic: there the best one differs from instance to instance.

    Examples
    --------
    >>> from xmlc.thresholds import CommonThreshold
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> method = CommonThreshold(average="micro").fit(spe, Y)
    >>> method.predict(spe).toarray().astype(int).tolist()
    [[1, 1], [1, 0], [0, 0]]
    """

    average: str = "micro"
    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Sort all estimates and take the best cut."""
        if self.average not in ("micro", "instance"):
            raise XmlcError(f"average={self.average!r}: expected 'micro' or 'instance'; STO is for 'macro'")
        self.thresholds_ = floors = np.zeros(data.n_labels, dtype=np.float32)
        if data.estimates.size:
            hits = np.empty(data.estimates.size, dtype=bool)
            run_by_label(mark_column_hits, data, self.n_jobs, hits)
            cut = self._micro_cut if self.average == "micro" else self._instance_cut
            bits = np.full(data.n_labels, cut(data, hits), dtype=np.uint32)
            self.thresholds_ = data.in_numbers(bits.view(np.float32), floors, common=True)
        return self

    def _micro_cut(self, data: Columns, hits: np.ndarray) -> np.uint32:
        # All pairs are one set, as those of one label are for STO.
        keys = data.estimates.view(np.uint32) << np.uint32(1) | hits
        keys.sort()
        return best_cut(keys, self.overlap.recall * data.true_rows.size)

    def _instance_cut(self, data: Columns, hits: np.ndarray) -> np.uint32:
        keys = data.estimates.view(np.uint32).astype(np.uint64)
        keys <<= np.uint64(32)
        keys |= data.rows << np.uint32(1) | hits
        keys.sort()
        # Instances behind the last that has an estimate or a label change nothing.
        n_instances = int(data.rows.max()) + 1
        positives = np.bincount(data.true_rows, minlength=n_instances).astype(np.int32)
        return best_instance_cut(keys, positives, *self.overlap)


@hyperparameters
class MicroLabelWise(RankingMethod):
    """The thresholds, one for each label, with the highest micro-averaged measure on the validation set.

    The measure grows with r = TP / (w P + predicted) of the pooled counts, where w is its weight of the positives. At
    the best r every label is cut where TP - r * predicted is most, and r follows from the cuts: a fixed point, reached
    from below in a few rounds (Dinkelbach, Management Science 1967). It is the plug-in rule of Koyejo et al. (NIPS
    2015), which predicts what is more probable than r, but it takes a label's estimates as a ranking only.

    With the true probabilities one common threshold is as good, and `CommonThreshold`, which chooses one number
    instead of m, fits the validation set less closely; where a model's estimates are too high for some labels and too
    low for others, this method makes up for it. Time is O(e log e) for e stored estimates, memory 4 bytes for each.

    Parameters
    ----------
    overlap, n_jobs
        The measure and the threads, as of `CommonThreshold`.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        Of a label without estimates 0, of one for which nothing is best predicted its largest estimate; of float64 as
        of `STO`.

    Examples
    --------
    >>> from xmlc.thresholds import MicroLabelWise
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> MicroLabelWise().fit(spe, Y).thresholds_
    array([0.39999998, 0.29999998], dtype=float32)
    """

    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Sort each label's estimates once, then cut at a rising price until the cuts reach no more."""
        keys = np.empty(data.estimates.size, dtype=np.uint32)
        run_by_label(sort_keys, data, self.n_jobs, keys)
        thresholds = np.zeros(data.n_labels, dtype=np.float32)
        chosen = np.zeros((data.n_labels, 2), dtype=np.int64)
        price, reached = -1.0, 0.0
        while reached > price:
            price = reached
            run_by_label(priced_cuts, data, self.n_jobs, keys, price, chosen, thresholds.view(np.uint32))
            hits, predicted = chosen.sum(axis=0)
            reached = hits / max(self.overlap.recall * data.true_rows.size + predicted, 1)
        self.thresholds_ = data.in_numbers(thresholds, np.zeros_like(thresholds))
        return self


# Values of single instances are summed as whole multiples of this, so that a sum does not depend on the path that
# led to it and cannot drift over billions of updates. Room for 2^23 instances in 63 bits; of more, twice as much for
# each doubling.
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
def overlap_units(unit, gain, recall, shared, hits, positives, predicted):
    """Return one value of `xmlc.metrics.measure.Overlap` (0/0 = 1) in multiples of ``unit``, int64."""
    total = recall * positives + predicted - shared * hits
    value = gain * hits / total if total > 0 else 1.0
    return np.int64(np.rint(value / unit))


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
    score, unit, many = np.int64(0), UNIT, positives.size >> 23
    while many > 0:
        unit, many = 2 * unit, many >> 1
    for i in range(positives.size):
        score += overlap_units(unit, gain, recall, shared, 0, positives[i], 0)
    best, threshold = score, np.uint32(keys[-1] >> np.uint64(32))
    for e in range(keys.size - 1, -1, -1):
        low = np.uint32(keys[e] & np.uint64(0xFFFFFFFF))
        i = low >> np.uint32(1)
        score -= overlap_units(unit, gain, recall, shared, hits[i], positives[i], predicted[i])
        hits[i] += low & np.uint32(1)
        predicted[i] += 1
        score += overlap_units(unit, gain, recall, shared, hits[i], positives[i], predicted[i])
        bits = np.uint32(keys[e] >> np.uint64(32))
        if e > 0 and np.uint32(keys[e - 1] >> np.uint64(32)) == bits:
            continue  # estimates that are equal enter together
        if score > best + positives.size:
            best, threshold = score, bits - np.uint32(1)
    return threshold


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
        sort(own)


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
