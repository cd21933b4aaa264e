"""The prediction rule for thresholds, and the base classes of threshold methods."""

from __future__ import annotations

import numpy as np

from xmlc.core.errors import InvalidDataError
from xmlc.core.kernel_cache import njit
from xmlc.kernels.checks import check_same_shape
from xmlc.kernels.csr import (
    CSR,
    Matrix,
    as_estimates,
    as_labels,
    assembled,
    kernel_csr,
    per_label,
    validated,
)
from xmlc.kernels.estimator import Estimator
from xmlc.kernels.frames import column_names
from xmlc.metrics.classification import Agreement, Blocks, agreement_of_blocks, sets_by_blocks


def apply_thresholds(spe: Matrix, thresholds: float | np.ndarray) -> CSR:
    """Predict each label whose estimate is strictly greater than its threshold.

    Both are rounded to float32, and a threshold below 1 stays below 1. All methods use the same
    comparison when they learn thresholds.

    The paper writes ``>=`` for the threshold classifier (Section 3) and ``>`` for SPEs and OFO
    (Section 4), which differ if many estimates are equal, such as the fractions of a forest. Here
    it is always ``>``, so that a threshold means the same as the minimum probability of an SPE. STO
    has the effect of ``>=``, because it returns the largest number below its chosen estimate.

    Time is linear in the number of stored estimates, and memory in that of instances and
    predictions.

    Parameters
    ----------
    spe : csr_array of float32, shape (n, m)
        Estimates. A label without a stored estimate is never predicted, whatever the threshold.
    thresholds : float or ndarray of float32, shape (m,)

    Returns
    -------
    csr_array of bool, shape (n, m)

    Raises
    ------
    XmlcError
        If the number of thresholds is not m, a threshold is NaN, or an estimate is not in 0 .. 1.

    See Also
    --------
    STO, OFO, FTA, ExpectedF : Methods that learn thresholds.

    Examples
    --------
    >>> from xmlc.thresholds import apply_thresholds
    >>> apply_thresholds([[0.6, 0.3], [0.4, 0.2]], [0.4, 0.25]).toarray().astype(int).tolist()
    [[1, 1], [0, 0]]
    """
    spe = as_estimates(spe, np.float32)
    return _above(spe, per_label(thresholds, spe.shape[1], np.float32, "thresholds"))


def agreement_above(Y: CSR, spe: CSR, thresholds: float | np.ndarray) -> Agreement:
    """Return the `Agreement` of the truth and `apply_thresholds`."""
    return agreement_of_blocks(sets_above(Y, spe, thresholds))


def sets_above(Y: CSR, spe: CSR, thresholds: float | np.ndarray) -> Blocks:
    """Yield blocks of the truth and of `apply_thresholds`, after `checked_pair`."""
    limits = per_label(thresholds, spe.shape[1], np.float32, "thresholds")
    return sets_by_blocks(Y, spe, lambda part: validated(_above(part, limits)))


def _above(spe: CSR, limits: np.ndarray) -> CSR:
    counts = np.empty(spe.shape[0], dtype=np.int64)
    kept = np.empty(spe.nnz, dtype=np.uint32)
    kept = kept[: copy_above(*kernel_csr(spe), limits, counts, kept)].copy()
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return assembled(np.ones(kept.size, dtype=bool), kept.view(np.int32), indptr, spe.shape[1])


class ThresholdMethod(Estimator):
    """A method that learns a threshold per label in ``fit``, and uses it in ``predict``.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    """

    thresholds_: np.ndarray

    def predict(self, spe: Matrix) -> CSR:
        """Predict by the learned thresholds.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)

        Returns
        -------
        csr_array of bool, shape (n, m)

        Raises
        ------
        XmlcError
            As for `xmlc.thresholds.apply_thresholds`.

        See Also
        --------
        xmlc.thresholds.apply_thresholds

        Examples
        --------
        >>> from xmlc.thresholds import FTA
        >>> fta = FTA(grid=[2, 4]).fit([[0.6, 0.3], [0.1, 0.2]], [[1, 1], [0, 0]])
        >>> fta.predict([[0.3, 0.2]]).toarray().astype(int).tolist()
        [[1, 0]]
        """
        self._check_learned("thresholds_")
        self._check_names(spe)
        return apply_thresholds(spe, self.thresholds_)


def checked_pair(spe: Matrix, Y: Matrix) -> tuple[CSR, CSR]:
    """Return an SPE and the truth in canonical form.

    Different shapes, estimates outside of 0 .. 1, and frames with different orders of columns raise
    an `XmlcError`.
    """
    estimated = column_names(spe)
    true = column_names(Y)
    Y = as_labels(Y, "Y", spe, "estimates, then the truth: fit(spe, Y)")
    spe = as_estimates(spe, np.float32)
    check_same_shape(spe, Y)
    if estimated is not None and true is not None and (estimated != true).any():
        found = f"columns {', '.join(estimated)} and {', '.join(true)}"
        raise InvalidDataError(
            f"estimates and Y: found {found}, expected the same order. Reorder the columns."
        )
    return spe, Y


@njit
def copy_above(indptr, labels, estimates, thresholds, counts, kept):
    """Write the labels of each instance that exceed their thresholds, and return how many.

    The kernel reads 8 bytes and one threshold per stored estimate. It writes the number of labels
    of each instance to ``counts``, int64 (n,), and the labels, instance by instance, to ``kept``,
    uint32 (nnz,).
    """
    place = 0
    for i in range(counts.size):
        first = place
        for e in range(indptr[i], indptr[i + 1]):
            kept[place] = labels[e]
            place += estimates[e] > thresholds[labels[e]]
        counts[i] = place - first
    return place
