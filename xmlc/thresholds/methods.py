"""Define the prediction rule for thresholds, the base class of threshold methods, and STO (plt2016, Section 4.1)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError
from xmlc.core.kernel_cache import njit
from xmlc.kernels.checks import check_same_shape
from xmlc.kernels.csr import CSR, Kind, Matrix, as_estimates, as_labels, kernel_csr, per_label, validated, with_values
from xmlc.kernels.estimator import Estimator, hyperparameters
from xmlc.kernels.frames import column_names
from xmlc.metrics.classification import Agreement, Blocks, agreement_of_blocks, sets_by_blocks
from xmlc.metrics.measure import F1, Overlap, checked_overlap
from xmlc.thresholds.candidates import Candidates, candidates_of


def apply_thresholds(spe: Matrix, thresholds: float | np.ndarray) -> CSR:
    """Predict each label whose estimate is strictly greater than its threshold.

    Estimates and thresholds are rounded to float32 for the comparison, and a threshold below 1 stays below 1. If
    estimates and thresholds are float64 arrays, the comparison is in float64. A single threshold for all labels is
    converted to float32. All threshold methods use the same comparison when they learn thresholds.

    The paper writes ``>=`` for the threshold classifier (Section 3) and ``>`` for SPEs and OFO (Section 4). ``>=`` and
    ``>`` give different results if many estimates are equal, for example the fractions that a forest estimates. This
    package always uses ``>``, so that a threshold and the minimum probability of an SPE have the same meaning. STO has
    the effect of ``>=``, because it returns the largest number below its chosen estimate.

    Time is linear in the number of stored estimates. Memory is linear in the number of instances and predictions.

    Parameters
    ----------
    spe : csr_array of float32 or float64, shape (n, m)
        Estimates. A label without a stored estimate is never predicted, whatever the threshold.
    thresholds : float or ndarray of float32 or float64, shape (m,)

    Returns
    -------
    csr_array of bool, shape (n, m)

    Raises
    ------
    XmlcError
        The number of thresholds is not m, a threshold is NaN, or an estimate is not in 0 .. 1.

    Examples
    --------
    >>> from xmlc.thresholds import apply_thresholds
    >>> apply_thresholds([[0.6, 0.3], [0.4, 0.2]], [0.4, 0.25]).toarray().astype(int).tolist()
    [[1, 1], [0, 0]]
    """
    return _above(*_comparable(as_estimates(spe), thresholds))


def agreement_above(Y: CSR, spe: CSR, thresholds: float | np.ndarray) -> Agreement:
    """Return the `Agreement` of the truth and the label sets of `apply_thresholds`.

    The parameters are the parameters of `sets_above`.
    """
    return agreement_of_blocks(sets_above(Y, spe, thresholds))


def sets_above(Y: CSR, spe: CSR, thresholds: float | np.ndarray) -> Blocks:
    """Yield blocks of the truth together with the label sets that `apply_thresholds` predicts.

    Parameters
    ----------
    Y : boolean csr_array, shape (n, m)
        The truth, as `checked_pair` returns it.
    spe : csr_array of float32 or float64, shape (n, m)
        Estimates, as `checked_pair` returns them.
    thresholds : float or ndarray, shape (m,)
    """
    spe, limits = _comparable(spe, thresholds)
    return sets_by_blocks(Y, spe, lambda part: validated(_above(part, limits)))


def _comparable(spe: CSR, thresholds: float | np.ndarray) -> tuple[CSR, np.ndarray]:
    """Convert estimates and thresholds to float32 without changing the result of their comparison."""
    limits = limits_of(spe, thresholds, "thresholds")
    if limits.dtype == np.float32:
        return spe, limits
    # Kernels accept only float32. Estimates above their threshold are therefore replaced by 1, and all other estimates
    # by 0.
    known = (spe.data > limits[spe.indices]).astype(np.float32)
    return with_values(spe, known), np.full(limits.size, np.float32(0.5))


def _above(spe: CSR, limits: np.ndarray) -> CSR:
    """Predict the labels whose estimates exceed their thresholds ``limits``, with both in float32."""
    counts, kept = np.empty(spe.shape[0], dtype=np.int64), np.empty(spe.nnz, dtype=np.uint32)
    kept = kept[: copy_above(*kernel_csr(spe), limits, counts, kept)].copy()
    indptr = np.concatenate(([0], np.cumsum(counts)))
    # scipy does not copy ``indptr`` and ``indices`` if both have the same type.
    indptr = indptr.astype(np.int32 if indptr[-1] < 2**31 else np.int64)
    predicted = sparse.csr_array((np.ones(kept.size, dtype=bool), kept.view(np.int32), indptr), shape=spe.shape)
    predicted.has_canonical_format = True
    return predicted


def limits_of(spe: CSR, thresholds: float | np.ndarray, name: str, kind: Kind = "number") -> np.ndarray:
    """Return one threshold per label, in the type of the comparison (see `apply_thresholds`)."""
    return per_label(thresholds, spe.shape[1], compared_in(spe.dtype, thresholds), name, kind)


def compared_in(dtype: np.dtype, thresholds: float | np.ndarray) -> type:
    """Return the type for comparing estimates with thresholds (see `apply_thresholds`)."""
    wide = isinstance(thresholds, np.ndarray) and thresholds.ndim > 0 and thresholds.dtype == dtype == np.float64
    return np.float64 if wide else np.float32


class ThresholdMethod(Estimator):
    """Serve as the base class of threshold methods.

    ``fit`` learns a threshold per label, and ``predict`` uses the learned thresholds.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    """

    thresholds_: np.ndarray

    def predict(self, spe: Matrix) -> CSR:
        """Predict label sets by `apply_thresholds` with the learned thresholds, boolean CSR of shape (n, m)."""
        self._check_learned("thresholds_")
        self._check_names(spe)
        return apply_thresholds(spe, self.thresholds_)


class RankingMethod(ThresholdMethod):
    """Serve as the base class of methods that use only the ranking of each label's estimates."""

    def fit(self, spe: Matrix, Y: Matrix) -> Self:
        """Learn the thresholds.

        Parameters
        ----------
        spe : csr_array of float32 or float64, shape (n, m)
            Estimates of the validation set. Stored zeros are dropped. Values that exceed 1 by a rounding error become
            1.
        Y : boolean CSR, shape (n, m)
            Label sets of the validation set.

        Raises
        ------
        XmlcError
            The shapes differ, an estimate is not in 0 .. 1, or a hyperparameter is out of its range.
        """
        pair = checked_pair(spe, Y)
        self._remember_names(spe)
        return self.fit_checked(*pair)

    @abstractmethod
    def fit_checked(self, spe: CSR, Y: CSR) -> Self:
        """Learn the thresholds from the estimates and label sets that `checked_pair` returned."""


@hyperparameters
class STO(RankingMethod):
    """Find the threshold of each label with the highest F-measure on the validation set, by sorting.

    With ``kappa=0`` and an SPE that contains every estimate, the thresholds maximise the validation macro-F exactly.
    The thresholds are also optimal if float64 estimates are very close to each other. Many estimates lie within 1e-9 of
    1 if a model is certain of a label.

    * Among thresholds with equal F, the highest is chosen, which predicts the fewest labels.
    * If the empty prediction is best for a label, its threshold is its largest estimate.
    * A label without estimates above kappa_j gets the threshold kappa_j.

    The method reads the estimates twice. The method looks up each estimate among the sorted estimates of its label's
    positives. The method needs memory for one block of estimates and 24 bytes for each positive.

    Parameters
    ----------
    kappa : float or ndarray of shape (m,)
        Minimum thresholds kappa_j. Only estimates that `apply_thresholds` regards as greater than kappa_j are
        candidates.
    overlap : Overlap
        Measure to maximise instead of F, such as ``f_beta(2)``. Jaccard gives the same thresholds as F, because it
        is F / (2 - F).
    n_jobs : int or None
        Number of threads. The result does not depend on the number of threads.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        The thresholds. The dtype is float64 if estimates are float64 and rounding to float32 would change a prediction.

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

    def fit_checked(self, spe: CSR, Y: CSR) -> Self:
        """Find the candidate thresholds of each label, and choose the label's best candidate."""
        return self.fit_candidates(candidates_of(spe, Y, self.n_jobs))

    def fit_candidates(self, candidates: Candidates) -> Self:
        """Choose each label's best candidate. A sweep finds the candidates only once."""
        dtype = compared_in(np.dtype(np.float64 if candidates.distinct.size else np.float32), self.kappa)
        minima = per_label(self.kappa, candidates.largest.size, dtype, "kappa", "probability")
        bits = candidates.best(candidates.bits_of(minima), checked_overlap(self.overlap).recall)
        self.thresholds_ = candidates.numbers_of(bits, minima)
        return self


def checked_pair(spe: Matrix, Y: Matrix) -> tuple[CSR, CSR]:
    """Check an SPE and the truth, and return both in canonical form.

    Raises
    ------
    XmlcError
        The shapes differ, an estimate is not in 0 .. 1, or ``spe`` and ``Y`` are frames whose columns are in different
        orders.
    """
    names = column_names(spe), column_names(Y)
    Y = as_labels(Y, "Y", spe, "estimates, then the truth: fit(spe, Y)")
    spe = as_estimates(spe)
    check_same_shape(spe, Y)
    if names[0] is not None and names[1] is not None and (names[0] != names[1]).any():
        found = f"columns {', '.join(names[0])} and {', '.join(names[1])}"
        raise InvalidDataError(f"estimates and Y: found {found}, expected the same order. Reorder the columns.")
    return spe, Y


@njit
def copy_above(indptr, labels, estimates, thresholds, counts, kept):
    """Write the labels of each instance whose estimates exceed their thresholds, and return the number of labels.

    The kernel reads 8 bytes and one threshold per stored estimate.

    Parameters
    ----------
    indptr : int64 (n + 1,)
        Start of each instance in ``labels``.
    labels : uint32 (nnz,)
        Label of each estimate.
    estimates : float32 (nnz,)
        Estimates, instance by instance.
    thresholds : float32 (m,)
        Threshold of each label. A label is written if its estimate exceeds its threshold.
    counts : int64 (n,)
        Receives the number of written labels of each instance.
    kept : uint32 (nnz,)
        Receives the labels, instance by instance, from index 0 on.
    """
    place = 0
    for i in range(counts.size):
        first = place
        for e in range(indptr[i], indptr[i + 1]):
            kept[place] = labels[e]
            place += estimates[e] > thresholds[labels[e]]
        counts[i] = place - first
    return place
