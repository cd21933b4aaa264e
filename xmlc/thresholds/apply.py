"""The one rule by which a threshold becomes a prediction."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np
from scipy import sparse

from xmlc.csr import kernel_csr
from xmlc.errors import InvalidDataError
from xmlc.estimates import as_estimates
from xmlc.estimator import Estimator, not_fitted
from xmlc.thresholds._kernels import copy_above, count_above
from xmlc.thresholds.columns import Columns, columns, per_label


def apply_thresholds(spe: object, thresholds: float | np.ndarray) -> sparse.csr_array:
    """Predict a label where its estimate is strictly greater than its threshold, compared in float32.

    The paper writes ``>=`` for the threshold classifier (Section 3) and ``>`` for SPEs and OFO (Section 4). Where
    estimates are fractions with many ties, as a forest's are, the two differ, so one is used throughout: ``>``,
    which makes a threshold and the floor of an SPE mean the same. STO returns the largest float32 below its
    chosen estimate, so that its ``>=`` is kept too.

    Time is linear in the stored estimates, memory in the instances and the predictions.

    Parameters
    ----------
    spe : csr_array of float32, shape (n, m)
        What is not stored is never predicted, whatever the threshold.
    thresholds : float or ndarray of float32, shape (m,)

    Returns
    -------
    csr_array of bool, shape (n, m)

    Raises
    ------
    XmlcError
        There is not one threshold for each label, one is NaN, or an estimate is no probability.
    """
    spe = as_estimates(spe)
    if thresholds is None or np.asarray(thresholds).dtype.kind not in "biuf":
        raise InvalidDataError(f"thresholds={thresholds!r}: expected a number, or one for each label")
    limits = per_label(thresholds, spe.shape[1], np.float32, "thresholds")
    rows = kernel_csr(spe)
    counts = np.empty(spe.shape[0], dtype=np.int64)
    count_above(*rows, limits, counts)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    kept = np.empty(indptr[-1], dtype=np.uint32)
    copy_above(*rows, limits, kept)
    # With both index arrays of one type scipy keeps them as they are.
    indptr = indptr.astype(np.int32 if indptr[-1] < 2**31 else np.int64)
    predicted = sparse.csr_array((np.ones(kept.size, dtype=bool), kept.view(np.int32), indptr), shape=spe.shape)
    predicted.has_canonical_format = True
    return predicted


class ThresholdMethod(Estimator):
    """Base of the threshold methods: ``fit`` learns one threshold per label, ``predict`` applies them.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    """

    def fit(self, spe: object, Y: object) -> Self:
        """Learn the thresholds.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Estimates of the validation set. Stored zeros are dropped; what exceeds 1 by rounding is 1.
        Y : boolean CSR, shape (n, m)
            Its label sets.

        Raises
        ------
        XmlcError
            The shapes differ, an estimate is no probability, or a hyperparameter is out of its range.
        """
        return self.fit_columns(columns(spe, Y))

    @abstractmethod
    def fit_columns(self, data: Columns) -> Self:
        """Learn the thresholds from what `columns` returned: a sweep over a grid brings it into that form once."""

    def predict(self, spe: object) -> sparse.csr_array:
        """Predict label sets, boolean CSR of shape (n, m), with the learned thresholds (see `apply_thresholds`)."""
        if not hasattr(self, "thresholds_"):
            raise not_fitted(self)
        return apply_thresholds(spe, self.thresholds_)
