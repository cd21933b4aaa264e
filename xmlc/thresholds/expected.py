"""Choose thresholds with the greatest expected macro F-measure, from estimates alone, without
labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.csr import (
    CSR,
    Matrix,
    as_estimates,
    blocks_of_rows,
    kernel_csr,
    per_label,
    release,
    warn_of_sums,
)
from xmlc.kernels.domains import SHARE, check
from xmlc.kernels.elementwise import exp
from xmlc.kernels.estimator import InvalidParameterError, hyperparameters
from xmlc.metrics.measure import F1, Overlap, checked_overlap
from xmlc.thresholds.methods import ThresholdMethod

# xmlc warns if the sum of the estimates and the sum of the priors differ by more than the factor
# WRONG. If the sum of the estimates is too small, priors compensate for most missing estimates. If
# half of the estimates are missing, micro- or macro-F falls by about a point. If four fifths of the
# estimates are missing, micro-F falls by 3 points.
WRONG = 2.0


def highest_ratios(
    blocks: Sequence[CSR], mass: np.ndarray, counts: np.ndarray, base: np.ndarray
) -> np.ndarray:
    """Return each label's highest ratio M / (base + k) over all sets of k estimates with sum M.

    The ratio of the estimates above a ratio is never lower, and equal only if it is the highest.
    The passes therefore raise the ratio from 0, and end when it no longer rises (Dinkelbach,
    Management Science 1967).

    Parameters
    ----------
    blocks : sequence of csr_array of float32
        The estimates, in consecutive blocks of instances.
    mass : ndarray of float64, shape (m,)
        Sum of all estimates of each label.
    counts : ndarray of int64, shape (m,)
        Number of estimates of each label.
    base : ndarray of float64, shape (m,)
        The constant ``base`` of each label's ratio.

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    ratio = np.zeros_like(mass)
    while True:
        higher = np.maximum(ratio, mass / np.maximum(base + counts, np.finfo(float).tiny))
        if (higher == ratio).all():
            return ratio
        ratio = higher
        mass = np.zeros_like(mass)
        counts = np.zeros_like(counts)
        for block in blocks:
            sum_above(*kernel_csr(block)[1:], ratio, mass, counts)
            release(block)


@hyperparameters
class ExpectedF(ThresholdMethod):
    """Find for each label the threshold with the highest expected F-measure on unlabelled
    instances.

    Macro-F is a mean over labels, so each label is optimised separately. The set of instances with
    the highest expected F consists of the instances with the highest estimates of the label (Lewis,
    SIGIR 1995; Theorem 2.1 of gfm2011 with labels and instances exchanged).

    Let M_k be the sum of the k highest estimates of a label and T the sum of all its estimates. The
    method approximates the expected F by 2 M_k / (k + T), the ratio of the expectations of 2 TP and
    k + P. The best ratio is twice the best threshold, as for labelled data (plt2016, equation (4)).
    The best threshold is therefore a fixed point of OFO's rule (equation (8)) with estimates
    instead of labels:

        tau = sum of the estimates above tau / (their number + T)

    Iteration from tau = 0 converges to the best threshold from below (Dinkelbach, Management
    Science 1967), without sorting.

    Parameters
    ----------
    overlap : Overlap
        Measure to maximise instead of F, such as ``f_beta(2)``. Jaccard gives the same thresholds
        as F.
    zero_division : {0, 1}
        F-measure of a label that no instance carries and that is not predicted. 1 is the papers'
        convention, as in ``xmlc.metrics.macro_f(zero_division=1)``. If ``zero_division`` is 1, the
        expected F of the empty prediction is the probability that no instance carries the label.
        The empty prediction is chosen if no other prediction has a greater expected F. Set
        ``zero_division`` to 0 if macro-F is the mean over the labels that occur.
    prior : ndarray of shape (m,) or None
        Share of the training set that carries each label (`xmlc.thresholds.priors`). The prior
        corrects estimates that are missing or too low. T is the sum of the label's estimates for n
        instances, or n times the prior if this product is larger. If ``zero_division`` is 1, the
        positives that the prior adds are assumed to be independent of the estimates (Poisson).
    min_share : float
        Minimum threshold, as a share of the mean threshold over the labels that have estimates. Set
        ``min_share`` to 0 to predict label sets for the instances passed to ``fit``, and to 0.25
        for other instances. If ``min_share`` is 0, a label without estimates in ``fit`` is
        predicted for each instance that has an estimate of the label. With ``zero_division=1`` and
        a ``min_share`` above 0, labels whose best prediction is empty get at least the mean
        threshold.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        Thresholds for the instances passed to ``fit``, or for similar instances. If the empty
        prediction is best for a label, its threshold is its largest estimate. A label without
        estimates has the threshold 0. ``min_share`` may raise the thresholds of labels without
        predictions and of labels without estimates.
    expected_ : ndarray of float64, shape (m,)
        The expected measure of each label, in [0, 1], without the effect of ``min_share``. The mean
        of ``expected_`` is the expected macro-F.

    Notes
    -----
    The ratio R = 2 M_k / (k + T) of a set of k estimates approximates the expected F for
    independent instances. The bounds of `xmlc.inference.meuf` hold if T replaces the sum of the
    marginals. With p_1 as the label's largest estimate, the expected F lies between R - R / (k + 1
    + T) and R + R p_1 / (k + T - p_1). The ratio R is almost exact for labels of many instances,
    and coarse for labels that at most one instance carries. For ``zero_division=1``, ``meuf``
    applied to the transposed estimates finds the exact sets, but takes some hundred times as long.

    Suppose that up to c estimates of a label are missing because they do not exceed a minimum
    probability kappa. If the label's threshold is at least kappa, the ratio R of the k chosen
    estimates is nearly optimal. It is at least (k + T) / (k + T + c kappa) times the highest ratio
    with all estimates.

    Time is linear in the number of stored estimates. The method keeps one block of estimates in
    memory, and sums estimates in the order of the instances.

    Examples
    --------
    >>> from xmlc.thresholds import ExpectedF
    >>> method = ExpectedF().fit([[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]])
    >>> method.expected_.round(3)
    array([0.645, 0.385])
    >>> method.predict([[0.6, 0.3], [0.1, 0.1]]).toarray().astype(int).tolist()
    [[1, 1], [0, 0]]
    """

    overlap: Overlap = F1
    zero_division: int = 0
    prior: np.ndarray | None = None
    min_share: float = 0.0

    def fit(self, spe: Matrix, Y: Matrix | None = None) -> Self:
        """Learn the thresholds.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Estimates of the instances to predict label sets for, or of similar instances.
        Y : None
            Ignored. scikit-learn passes ``Y`` to ``fit``.

        Raises
        ------
        XmlcError
            An estimate is not in 0 .. 1, or a hyperparameter is out of its range.
        """
        if self.zero_division not in (0, 1):
            raise InvalidParameterError(
                f"found zero_division={self.zero_division!r}, expected 0 or 1"
            )
        check("min_share", self.min_share, SHARE)
        gain, recall, shared = checked_overlap(self.overlap)
        given = spe
        spe = as_estimates(spe, np.float32)
        n, m = spe.shape
        mass = np.zeros(m)
        absent = np.ones(m)
        largest = np.zeros(m, dtype=np.float32)
        counts = np.zeros(m, dtype=np.int64)
        blocks = [part for (part,) in blocks_of_rows(spe)]
        for part in blocks:
            sum_up(*kernel_csr(part)[1:], mass, absent, largest, counts)
            release(part)
        others = np.zeros(m)  # expected positives without estimates
        if self.prior is not None:
            prior = per_label(self.prior, m, np.float64, "prior", "share")
            expected = n * math.fsum(prior)
            warn_of_sums(math.fsum(mass), expected / WRONG, expected * WRONG, n)
            others = np.maximum(n * prior - mass, 0.0)
        ratio = highest_ratios(blocks, mass, counts, recall * (mass + others))
        mean = math.fsum(ratio) / max(int(np.count_nonzero(ratio)), 1)
        self.expected_ = gain * ratio / (1.0 - shared * ratio)
        # An estimate exceeds the ratio if and only if it exceeds the largest float32 that is at
        # most the ratio.
        below = ratio.astype(np.float32)
        below[below > ratio] = np.nextafter(below[below > ratio], np.float32(0))
        below = np.minimum(below, np.nextafter(largest, np.float32(0)))
        self.thresholds_ = np.maximum(below, np.float32(self.min_share * mean))
        if self.zero_division:
            absent *= exp(-others)
            empty = absent >= self.expected_
            self.thresholds_[empty] = largest[empty]
            if self.min_share:
                self.thresholds_[empty] = np.maximum(largest[empty], np.float32(mean))
            self.expected_[empty] = absent[empty]
        self._remember_names(given)
        return self


@njit
def sum_up(labels, estimates, mass, absent, largest, counts):
    """Add each label's estimates p to their sum, number and maximum, and to the product of 1 - p.

    The kernel reads 8 bytes per stored estimate.

    Parameters
    ----------
    labels : uint32 (nnz,)
        Label of each estimate.
    estimates : float32 (nnz,)
        The estimates p.
    mass : float64 (m,)
        Sum of the label's estimates, updated in place.
    absent : float64 (m,)
        Product of 1 - p over the label's estimates p, updated in place.
    largest : float32 (m,)
        Largest estimate of the label, updated in place.
    counts : int64 (m,)
        Number of the label's estimates, updated in place.
    """
    for e in range(labels.size):
        label = labels[e]
        p = estimates[e]
        mass[label] += p
        absent[label] *= 1.0 - p
        largest[label] = max(largest[label], p)
        counts[label] += 1


@njit
def sum_above(labels, estimates, ratio, mass, counts):
    """Add each label's estimates above its ratio to their sum and number.

    Parameters
    ----------
    labels : uint32 (nnz,)
        Label of each estimate.
    estimates : float32 (nnz,)
    ratio : float64 (m,)
    mass : float64 (m,)
        Sum of the label's estimates above its ratio, updated in place.
    counts : int64 (m,)
        Number of these estimates, updated in place.
    """
    for e in range(labels.size):
        label = labels[e]
        p = estimates[e]
        if p > ratio[label]:
            mass[label] += p
            counts[label] += 1
