"""Thresholds of greatest expected macro F-measure, from the estimates of the instances alone: no label is looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from scipy import sparse

from xmlc.core.kernel_cache import njit
from xmlc.kernels.csr import Matrix, as_estimates, blocks_of_rows, kernel_csr, per_label, release, warn_of_sums
from xmlc.kernels.domains import SHARE, check
from xmlc.kernels.elementwise import exp
from xmlc.kernels.estimator import InvalidParameterError, hyperparameters
from xmlc.kernels.heaps import insert_best
from xmlc.metrics.measure import F1, Overlap, checked_overlap
from xmlc.metrics.ranking import checked_k
from xmlc.thresholds.methods import ThresholdMethod

# Few are needed, some twenty at most; rounding could let two of equal value take turns.
MOST_PASSES = 100
# Factor between sums of estimates and of priors that is warned of. Priors make up for most of what is missing: a half
# costs about a point of micro- or macro-F, four fifths 3 of micro-F.
WRONG = 2.0


@hyperparameters
class ExpectedF(ThresholdMethod):
    """For each label the threshold with the highest expected F-measure on a set of instances without labels.

    Macro-F is a mean over labels, and the label set of highest expected F among instances is of those with the highest
    estimates (Lewis, SIGIR 1995; gfm2011, Theorem 2.1, with the instances of a label in place of the labels of an
    instance). Of the k highest, with sum M_k, the expected F is taken as 2 M_k / (k + T), where T is the sum of all of
    the label's estimates: the ratio of the expectations of 2 TP and k + P. The best ratio is twice the best threshold,
    as for labelled data (plt2016, equation (4)), and so it is a fixed point of OFO's rule (equation (8)) with the
    estimates in place of the labels,

        tau = sum of the estimates above tau / (their number + T),

    which repetition from tau = 0 reaches from below (Dinkelbach, Management Science 1967), without sorting.

    Parameters
    ----------
    overlap : Overlap
        What to maximise in place of the F-measure, such as ``f_beta(2)``. Jaccard has the thresholds of F.
    zero_division : {0, 1}
        F-measure of a label that no instance carries, where none is predicted. With 1 nothing is predicted for a label
        if the probability that no instance carries it is at least the expected F of any other set: as
        ``xmlc.metrics.macro_f(zero_division=1)``, the papers' convention, counts. 0 is also right for the mean over
        the labels that occur.
    prior : ndarray of shape (m,) or None
        Share of the training set that carries each label (`xmlc.thresholds.priors`). If it lets expect more positives
        among these n instances than the estimates do, T is that number, n times the share, as estimates that are
        missing or too low leave some out; for ``zero_division=1`` these others are independent of the estimates
        (Poisson).
    floor : float
        Least threshold, as a share of the mean over the labels that have estimates. 0 for the label sets of these
        instances. 0.25 for other instances, which have labels that these few lack: without it, a label without
        estimates is then predicted wherever it has one. With ``zero_division=1``, any floor puts the threshold of
        a label for which nothing is best predicted at the mean, if that is above its largest estimate.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        For these instances, or for others of the same kind. Of a label for which nothing is best predicted its largest
        estimate, of one without estimates 0, or more with ``floor``.
    expected_ : ndarray of float64, shape (m,)
        The expected measure of each label, in [0, 1]: its mean is the expected macro-F. ``floor`` is not in it.

    Notes
    -----
    The expectation proper, of independent instances, is not the ratio R of a set of k estimates p_i. By the bounds
    of `xmlc.inference.meuf`, with T for the sum of the marginals, it lies between R - R / (k + 1 + T) and
    R + R p_1 / (k + T - p_1), p_1 being the largest estimate: the ratio is exact for labels of many instances, and
    coarse for labels that one instance or none carries. ``meuf`` of the transposed estimates has the exact sets for
    ``zero_division=1``, at some hundred times the cost.

    Where estimates at or below a floor kappa are missing, as many as c of a label, the ratio of the chosen k is at
    least (k + T) / (k + T + c kappa) of the best, if the threshold is at least kappa.

    Time is linear in the stored estimates; memory is that of a block of them. The order of all sums is that of the
    instances.

    Examples
    --------
    >>> from xmlc.thresholds import ExpectedF
    >>> method = ExpectedF().fit([[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]])
    >>> method.expected_.round(3), method.predict([[0.6, 0.3], [0.1, 0.1]]).toarray().astype(int).tolist()
    (array([0.645, 0.385]), [[1, 1], [0, 0]])
    """

    overlap: Overlap = F1
    zero_division: int = 0
    prior: np.ndarray | None = None
    floor: float = 0.0

    def fit(self, spe: Matrix, Y: Matrix | None = None) -> Self:
        """Learn the thresholds.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Estimates of the instances whose label sets are sought, or of others of their kind.
        Y : None
            Not looked at: it is there for scikit-learn.

        Raises
        ------
        XmlcError
            An estimate is no probability, or a hyperparameter is out of its range.
        """
        if self.zero_division not in (0, 1):
            raise InvalidParameterError(f"zero_division={self.zero_division!r}: expected 0 or 1")
        check("floor", self.floor, SHARE)
        given, spe, (gain, recall, shared) = spe, as_estimates(spe, np.float32), checked_overlap(self.overlap)
        mass, absent, largest = np.zeros(spe.shape[1]), np.ones(spe.shape[1]), np.zeros(spe.shape[1], np.float32)
        counts = np.zeros(spe.shape[1], dtype=np.int64)
        blocks = [part for (part,) in blocks_of_rows(spe)]
        for part in blocks:
            sum_up(*kernel_csr(part)[1:], mass, absent, largest, counts)
            release(part)
        prior = per_label(0.0 if self.prior is None else self.prior, mass.size, np.float64, "prior", "share")
        if self.prior is not None:
            expected = spe.shape[0] * math.fsum(prior)
            warn_of_sums(math.fsum(mass), expected / WRONG, expected * WRONG, spe.shape[0])
        others = np.maximum(spe.shape[0] * prior - mass, 0.0)
        ratio = highest_ratios(blocks, mass, counts, recall * (mass + others))
        mean = math.fsum(ratio) / (np.count_nonzero(ratio) or 1)
        self.expected_ = gain * ratio / (1.0 - shared * ratio)
        # An estimate exceeds the ratio exactly if it exceeds the largest float32 that does not.
        below = ratio.astype(np.float32)
        below[below > ratio] = np.nextafter(below[below > ratio], np.float32(0))
        below = np.minimum(below, np.nextafter(largest, np.float32(0)))
        self.thresholds_ = np.maximum(below, np.float32(self.floor * mean))
        if self.zero_division:
            absent *= exp(-others)
            empty = absent >= self.expected_
            self.thresholds_[empty] = np.maximum(largest, np.float32(mean if self.floor else 0))[empty]
            self.expected_[empty] = absent[empty]
        self._remember_names(given)
        return self


def highest_ratios(
    blocks: Sequence[sparse.csr_array], mass: np.ndarray, counts: np.ndarray, base: np.ndarray
) -> np.ndarray:
    """Return each label's highest M / (base + k) over k of its estimates with sum M.

    Parameters
    ----------
    blocks : sequence of csr_array of float32
        The estimates, some instances after the other.
    mass : float64 (m,), counts : int64 (m,)
        The sum of all estimates of each label, and their number.
    base : float64 (m,)
    """
    ratio, entries = np.zeros_like(mass), max(part.nnz for part in blocks)
    kept = np.empty(entries, dtype=np.uint32), np.empty(entries, dtype=np.float32)
    parts = [kernel_csr(part)[1:] for part in blocks]
    while True:
        higher = np.maximum(ratio, mass / np.maximum(base + counts, np.finfo(float).tiny))
        if (higher == ratio).all():
            return ratio
        fit = counts.sum() <= entries  # what is kept, so that no further pass over all is needed
        ratio, mass, n_kept = higher, np.zeros_like(mass), 0
        counts[:] = 0
        for block, part in zip(blocks, parts):
            room = [each[n_kept if fit else 0 :] for each in kept]
            n_kept += keep_above(*part, ratio, *room, mass, counts)
            release(block)
        if fit:
            blocks, parts = blocks[:1], [(kept[0][:n_kept], kept[1][:n_kept])]


def macro_f_at_k(spe: Matrix, k: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Find sets of at most k labels for each instance that have a high expected macro F-measure.

    Expected macro-F is that of `ExpectedF`, whose sets are the first. Then the set of one instance after the other
    becomes the best beside all others as they are, until no set changes: block coordinate ascent (Schultheis et al.,
    *Generalized test utilities for long-tail performance in extreme multi-label classification*, NeurIPS 2023). Where
    it ends no other set of one instance has a higher expectation; sets of several instances together may.

    Parameters
    ----------
    spe : csr_array of float32, shape (n, m)
        Estimates of the instances whose label sets are sought.
    k : int
        At least 1. Fewer labels are predicted where a further one would lower the expectation.

    Returns
    -------
    predicted : csr_array of bool, shape (n, m)
    expected : ndarray of float64, shape (m,)
        The expected F-measure of each label, 0/0 = 0.

    Raises
    ------
    XmlcError
        An estimate is no probability, or k is no whole number of at least 1.

    Examples
    --------
    >>> from xmlc.thresholds import macro_f_at_k
    >>> predicted, expected = macro_f_at_k([[0.6, 0.3], [0.4, 0.3], [0.1, 0.1]], 1)
    >>> predicted.toarray().astype(int).tolist(), expected.round(3)
    ([[1, 0], [0, 1], [0, 0]], array([0.571, 0.353]))
    """
    spe, k = as_estimates(spe, np.float32), checked_k(k)
    indptr, labels, estimates = rows = kernel_csr(spe)
    positives = np.bincount(labels, weights=estimates, minlength=spe.shape[1])
    chosen = estimates > ExpectedF().fit(spe).thresholds_[labels]
    k = min(k, spe.shape[1])
    best = np.empty(k, dtype=np.int32), np.empty(k)
    for _ in range(MOST_PASSES):
        if not ascend(*rows, positives, chosen, *best):
            break
    kept = labels[chosen]
    shares = np.bincount(kept, weights=estimates[chosen], minlength=positives.size)
    sizes = positives + np.bincount(kept, minlength=positives.size)
    ends = np.concatenate(([0], np.cumsum(chosen)))[indptr]
    predicted = sparse.csr_array((np.ones(kept.size, dtype=bool), kept.view(np.int32), ends), shape=spe.shape)
    return predicted, 2 * shares / np.maximum(sizes, np.finfo(float).tiny)


@njit(cache=True, nogil=True)
def sum_up(labels, estimates, mass, absent, largest, counts):
    """Collect what is known of each label before the first threshold; reads 8 bytes per stored estimate.

    Parameters
    ----------
    labels : uint32 (nnz,), estimates : float32 (nnz,)
    mass, absent : float64 (m,)
        Sum of the label's estimates, added to, and product of 1 - p, multiplied by them: the probability that no
        instance carries it.
    largest : float32 (m,)
        Raised to the largest estimate.
    counts : int64 (m,)
        Added to: the number of estimates.
    """
    for e in range(labels.size):
        label, p = labels[e], estimates[e]
        mass[label] += p
        absent[label] *= 1.0 - p
        largest[label] = max(largest[label], p)
        counts[label] += 1


@njit(cache=True, nogil=True)
def keep_above(labels, estimates, ratio, kept_labels, kept, mass, counts):
    """Keep the estimates above their label's ratio, in their order, and return their number.

    Parameters
    ----------
    labels : uint32 (nnz,), estimates : float32 (nnz,)
    ratio : float64 (m,)
    kept_labels : uint32 (nnz,), kept : float32 (nnz,)
        Their beginnings are written; they may be ``labels`` and ``estimates``.
    mass : float64 (m,), counts : int64 (m,)
        The sum of the kept estimates of each label and their number, added to.
    """
    n_kept = 0
    for e in range(labels.size):
        label, p = labels[e], estimates[e]
        if p > ratio[label]:
            mass[label] += p
            counts[label] += 1
            kept_labels[n_kept], kept[n_kept] = label, p
            n_kept += 1
    return n_kept


@njit(cache=True, nogil=True)
def ascend(indptr, labels, estimates, positives, chosen, places, gains):
    """Choose for one instance after the other, beside what is chosen for all others; return how many changed.

    Adding p to a label with the sum M of chosen estimates and the size s = k + T gains 2 (M + p) / (s + 1) - 2 M / s,
    which is twice (p s - M) / (s (s + 1)).

    Parameters
    ----------
    indptr : int64 (n + 1,), labels : uint32 (nnz,), estimates : float32 (nnz,)
    positives : float64 (m,)
        Sum T of each label's estimates.
    chosen : bool (nnz,)
        Read and written.
    places : int32 (k,), gains : float64 (k,)
        Scratch: as many as may be chosen. O(nnz k) at worst.
    """
    mass, sizes, n_changed = np.zeros(positives.size), positives.copy(), 0
    for e in range(labels.size):
        if chosen[e]:
            mass[labels[e]] += estimates[e]
            sizes[labels[e]] += 1
    for i in range(indptr.size - 1):
        start, end, n_before, n_same, n_after = indptr[i], indptr[i + 1], 0, 0, 0
        places[:], gains[:] = -1, 0
        for e in range(start, end):
            label, p = labels[e], np.float64(estimates[e])
            if chosen[e]:
                mass[label] -= p
                sizes[label] -= 1
                n_before += 1
            size = max(sizes[label], p)  # which rounding may have left nothing of
            gain = (p * size - mass[label]) / (size * (size + 1))
            if gain > 0:
                insert_best(places, gains, e - start, gain)
        while n_after < places.size and places[n_after] >= 0:
            n_same += chosen[start + places[n_after]]
            n_after += 1
        n_changed += n_same < max(n_before, n_after)
        chosen[start:end] = False
        for place in places[:n_after]:
            e = start + place
            chosen[e] = True
            mass[labels[e]] += estimates[e]
            sizes[labels[e]] += 1
    return n_changed
