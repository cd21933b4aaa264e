"""The rule by which a threshold becomes a prediction, the base of threshold methods, and STO (plt2016, Section 4.1)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError
from xmlc.core.kernel_cache import njit
from xmlc.kernels.checks import check_same_shape
from xmlc.kernels.csr import Kind, Matrix, as_estimates, as_labels, kernel_csr, per_label, proven, with_values
from xmlc.kernels.estimator import Estimator, hyperparameters, not_fitted
from xmlc.kernels.frames import column_names
from xmlc.metrics.classification import Agreement, Blocks, agreement_of_blocks, sets_by_blocks
from xmlc.metrics.measure import F1, Overlap, checked_overlap
from xmlc.thresholds.cuts import Cuts, cuts_of


def apply_thresholds(spe: Matrix, thresholds: float | np.ndarray) -> sparse.csr_array:
    """Predict a label where its estimate is strictly greater than its threshold.

    Both are compared in float32, and a threshold below 1 stays below 1. They are compared in float64 only if both are
    arrays of float64; a single number is a float32. All methods learn by the same comparison.

    The paper writes ``>=`` for the threshold classifier (Section 3) and ``>`` for SPEs and OFO (Section 4). Where
    estimates are fractions with many ties, as a forest's are, the two differ, so one is used throughout: ``>``,
    which makes a threshold and the floor of an SPE mean the same. STO returns the largest number below its chosen
    estimate, so that its ``>=`` is kept too.

    Time is linear in the stored estimates, memory in the instances and the predictions.

    Parameters
    ----------
    spe : csr_array of float32 or float64, shape (n, m)
        What is not stored is never predicted, whatever the threshold.
    thresholds : float or ndarray of float32 or float64, shape (m,)

    Returns
    -------
    csr_array of bool, shape (n, m)

    Raises
    ------
    XmlcError
        There is not one threshold for each label, one is NaN, or an estimate is no probability.

    Examples
    --------
    >>> from xmlc.thresholds import apply_thresholds
    >>> apply_thresholds([[0.6, 0.3], [0.4, 0.2]], [0.4, 0.25]).toarray().astype(int).tolist()
    [[1, 1], [0, 0]]
    """
    return _above(*_comparable(as_estimates(spe), thresholds))


def agreement_above(Y: sparse.csr_array, spe: sparse.csr_array, thresholds: float | np.ndarray) -> Agreement:
    """Count how the truth and the label sets of `apply_thresholds` agree; parameters are those of `sets_above`."""
    return agreement_of_blocks(sets_above(Y, spe, thresholds))


def sets_above(Y: sparse.csr_array, spe: sparse.csr_array, thresholds: float | np.ndarray) -> Blocks:
    """Yield the truth and the label sets of `apply_thresholds`, which are made block by block.

    Parameters
    ----------
    Y : boolean csr_array, shape (n, m)
        As `checked_pair` returns it, as the next.
    spe : csr_array of float32 or float64, shape (n, m)
    thresholds : float or ndarray, shape (m,)
    """
    spe, limits = _comparable(spe, thresholds)
    return sets_by_blocks(Y, spe, lambda part: proven(_above(part, limits)))


def _comparable(spe: sparse.csr_array, thresholds: float | np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """Return estimates and thresholds of float32 that compare as these do."""
    limits = limits_of(spe, thresholds, "thresholds")
    if limits.dtype == np.float32:
        return spe, limits
    # Kernels take float32: they are given what is known by then.
    known = (spe.data > limits[spe.indices]).astype(np.float32)
    return with_values(spe, known), np.full(limits.size, np.float32(0.5))


def _above(spe: sparse.csr_array, limits: np.ndarray) -> sparse.csr_array:
    """Predict what exceeds its label's limit; both of float32."""
    counts, kept = np.empty(spe.shape[0], dtype=np.int64), np.empty(spe.nnz, dtype=np.uint32)
    kept = kept[: copy_above(*kernel_csr(spe), limits, counts, kept)].copy()
    indptr = np.concatenate(([0], np.cumsum(counts)))
    # With both index arrays of one type scipy keeps them as they are.
    indptr = indptr.astype(np.int32 if indptr[-1] < 2**31 else np.int64)
    predicted = sparse.csr_array((np.ones(kept.size, dtype=bool), kept.view(np.int32), indptr), shape=spe.shape)
    predicted.has_canonical_format = True
    return predicted


def limits_of(spe: sparse.csr_array, thresholds: float | np.ndarray, name: str, kind: Kind = "number") -> np.ndarray:
    """Return the thresholds of the labels in the type in which they are compared (see `apply_thresholds`)."""
    return per_label(thresholds, spe.shape[1], compared_in(spe.dtype, thresholds), name, kind)


def compared_in(dtype: np.dtype, thresholds: float | np.ndarray) -> type:
    """Return the type in which estimates and thresholds are compared (see `apply_thresholds`)."""
    wide = isinstance(thresholds, np.ndarray) and thresholds.ndim > 0 and thresholds.dtype == dtype == np.float64
    return np.float64 if wide else np.float32


class ThresholdMethod(Estimator):
    """Base of the threshold methods: ``fit`` learns one threshold per label, ``predict`` applies them.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    """

    thresholds_: np.ndarray

    def predict(self, spe: Matrix) -> sparse.csr_array:
        """Predict label sets, boolean CSR of shape (n, m), with the learned thresholds (see `apply_thresholds`)."""
        if not hasattr(self, "thresholds_"):
            raise not_fitted(self)
        self._check_names(spe)
        return apply_thresholds(spe, self.thresholds_)


class RankingMethod(ThresholdMethod):
    """Base of the methods that rank each label's estimates: nothing else of these matters."""

    def fit(self, spe: Matrix, Y: Matrix) -> Self:
        """Learn the thresholds.

        Parameters
        ----------
        spe : csr_array of float32 or float64, shape (n, m)
            Estimates of the validation set. Stored zeros are dropped; what exceeds 1 by rounding is 1.
        Y : boolean CSR, shape (n, m)
            Its label sets.

        Raises
        ------
        XmlcError
            The shapes differ, an estimate is no probability, or a hyperparameter is out of its range.
        """
        pair = checked_pair(spe, Y)
        self._remember_names(spe)
        return self.fit_checked(*pair)

    @abstractmethod
    def fit_checked(self, spe: sparse.csr_array, Y: sparse.csr_array) -> Self:
        """Learn the thresholds from what `checked_pair` returns."""


@hyperparameters
class STO(RankingMethod):
    """For each label the threshold with the highest F-measure on the validation set, found by sorting.

    With ``kappa=0`` and an SPE that holds every estimate this is the exact maximiser of the validation macro-F, of
    estimates of float64 too, however close they are: at a label that is certain many lie within 1e-9 of 1. Of
    thresholds with equal F the highest is taken (fewest predictions). A label for which nothing is best predicted
    gets its largest estimate as threshold, one without estimates above the floor its kappa. Two passes over the
    estimates look each of them up among those of its label's positives; memory is that of a block and 24 bytes for
    each positive.

    Parameters
    ----------
    kappa : float or ndarray of shape (m,)
        Floors kappa_j: only strictly greater estimates are candidates, compared as by `apply_thresholds`.
    overlap : Overlap
        What to maximise in place of the F-measure, such as ``f_beta(2)``. Jaccard has the same best cuts as F, since
        it is F / (2 - F), and so the same thresholds.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        Float64 where float32 cannot tell estimates of float64 apart as these thresholds do.

    Examples
    --------
    >>> from xmlc.thresholds import STO
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> STO().fit(spe, Y).thresholds_
    array([0.39999998, 0.29999998], dtype=float32)
    """

    kappa: float | np.ndarray = 0.0
    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit_checked(self, spe: sparse.csr_array, Y: sparse.csr_array) -> Self:
        """Find the cuts of each label and take the best above its floor."""
        return self.fit_cuts(cuts_of(spe, Y, self.n_jobs))

    def fit_cuts(self, cuts: Cuts) -> Self:
        """Take the best of each label's cuts above its floor: a sweep over floors finds the cuts once."""
        dtype = compared_in(cuts.distinct.dtype if cuts.distinct.size else cuts.ranked.dtype, self.kappa)
        floors = per_label(self.kappa, cuts.largest.size, dtype, "kappa", "probability")
        bits = cuts.best(cuts.bits_of(floors), checked_overlap(self.overlap).recall)
        self.thresholds_ = cuts.numbers_of(bits, floors)
        return self


def checked_pair(spe: Matrix, Y: Matrix) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return an SPE and the truth in canonical form.

    Raises
    ------
    XmlcError
        The shapes differ, or an estimate is no probability.
    """
    names = column_names(spe), column_names(Y)
    Y = as_labels(Y, "Y", spe, "estimates, then the truth: fit(spe, Y)")
    spe = as_estimates(spe)
    check_same_shape(spe, Y)
    if names[0] is not None and names[1] is not None and (names[0] != names[1]).any():
        found = f"columns {', '.join(names[0])} and {', '.join(names[1])}"
        raise InvalidDataError(f"found {found} of the SPE and the truth; expected one order of both")
    return spe, Y


@njit(cache=True, nogil=True)
def copy_above(indptr, labels, estimates, thresholds, counts, kept):
    """Write which labels of each instance have an estimate strictly greater than their threshold; return their number.

    Reads 8 bytes per stored estimate, and its threshold.

    Parameters
    ----------
    indptr : int64 (n + 1,), labels : uint32, estimates : float32
        The SPE, instance by instance.
    thresholds : float32 (m,)
    counts : int64 (n,)
        Written: labels of each instance.
    kept : uint32 (nnz,)
        Written from its start: the labels, instance after instance.
    """
    place = 0
    for i in range(counts.size):
        first = place
        for e in range(indptr[i], indptr[i + 1]):
            kept[place] = labels[e]
            place += estimates[e] > thresholds[labels[e]]
        counts[i] = place - first
    return place
