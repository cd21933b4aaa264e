"""Thresholds with the greatest expected macro-F, from estimates alone, without labels."""

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

# A warning appears if the sums of estimates and priors differ by more than this factor. Priors
# compensate for most missing estimates: without half of them, micro- or macro-F falls by about a
# point, and without four fifths, micro-F falls by 3.
WRONG = 2.0


def highest_ratios(
    blocks: Sequence[CSR], mass: np.ndarray, counts: np.ndarray, base: np.ndarray
) -> np.ndarray:
    """Return each label's highest ratio M / (base + k) over all sets of k estimates with sum M.

    The set of the estimates above a ratio has a ratio that is never lower, and equal only at the
    highest. So passes raise the ratio from 0 until it no longer rises (Dinkelbach, Management
    Science 1967). ``mass`` and ``counts`` are the sum and the number of each label's estimates, and
    all arrays have the shape (m,).
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
    """Thresholds with the highest expected F-measure of each label on unlabelled instances.

    Macro-F is a mean over labels, so each label is optimised separately. Its best set consists of
    the instances with its highest estimates (Lewis, SIGIR 1995; Theorem 2.1 of gfm2011 with labels
    and instances exchanged).

    Let M_k be the sum of the k highest estimates of a label and T the sum of all. The expected F is
    approximated by R = 2 M_k / (k + T), the ratio of the expectations of 2 TP and k + P. The best
    ratio is twice the best threshold, as for labelled data (plt2016, equation (4)), which is
    therefore a fixed point of OFO's rule (equation (8)) with estimates instead of labels:

        tau = sum of the estimates above tau / (their number + T)

    Iteration from tau = 0 reaches it from below (Dinkelbach, Management Science 1967), without
    sorting.

    Parameters
    ----------
    overlap : Overlap
        Measure to maximise instead of F, such as ``f_beta(2)``. Jaccard has the same thresholds as
        F.
    zero_division : {0, 1}
        F of a label that no instance carries and that is not predicted. With 1, the papers'
        convention (``xmlc.metrics.macro_f(zero_division=1)``), the expected F of an empty
        prediction is the probability that no instance carries the label, and the empty prediction
        wins ties. 0 suits a macro-F over the labels that occur.
    prior : ndarray of shape (m,) or None
        Share of the training set that carries each label, which corrects missing or low estimates:
        T becomes n times the prior if this is larger. If ``zero_division`` is 1, the added
        positives are assumed to be independent of the estimates (Poisson).
    min_share : float
        Minimum threshold, as a share of the mean threshold over the labels with estimates: 0 to
        predict for the instances of ``fit``, and 0.25 for others. With 0, a label without estimates
        in ``fit`` is predicted wherever it has one. With more and ``zero_division=1``, labels whose
        best prediction is empty get at least the mean threshold.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        The largest estimate of a label whose best prediction is empty, and 0 for a label without
        estimates, unless ``min_share`` raises them.
    expected_ : ndarray of float64, shape (m,)
        Expected measure of each label without the effect of ``min_share``, in [0, 1]. Its mean is
        the expected macro-F.

    See Also
    --------
    STO : Thresholds from labelled instances.
    LabelSets : Chooses the method by the measure.

    Notes
    -----
    For independent instances, the bounds of `xmlc.inference.meuf` hold with T instead of the sum of
    the marginals: with p_1 as the label's largest estimate, the expected F lies between R - R / (k
    + 1 + T) and R + R p_1 / (k + T - p_1). So R is almost exact for labels of many instances, and
    coarse for labels that at most one instance carries. For ``zero_division=1``, ``meuf`` on the
    transposed estimates finds the exact sets, in some hundred times the time.

    Suppose that up to c estimates of a label are missing because they do not exceed a minimum
    probability kappa. If its threshold is at least kappa, the ratio R of the k chosen estimates is
    at least (k + T) / (k + T + c kappa) times the highest ratio with all estimates.

    Time is linear in the number of stored estimates, and memory takes one block of them.

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
            Estimates of the instances to predict, or of similar ones.
        Y : None
            Ignored, but passed by scikit-learn.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            If an estimate is not in 0 .. 1, or a hyperparameter is out of its range.
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
        # An estimate exceeds the ratio if and only if it exceeds the largest float32 up to the
        # ratio
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

    The kernel reads 8 bytes per stored estimate. It updates ``mass`` and ``absent``, float64 (m,),
    ``largest``, float32 (m,), and ``counts``, int64 (m,).
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
    """Add each label's estimates above its ratio to their sum ``mass`` and their number ``counts``.

    These have the shape (m,), float64 and int64.
    """
    for e in range(labels.size):
        label = labels[e]
        p = estimates[e]
        if p > ratio[label]:
            mass[label] += p
            counts[label] += 1
