"""The one rule by which a threshold becomes a prediction, and the column view that tuning works on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from xmlc.csr import as_labels
from xmlc.errors import XmlcError


def apply_thresholds(spe: sparse.csr_array, thresholds: np.ndarray) -> sparse.csr_array:
    """Predict a label where its estimate is strictly greater than its threshold, compared in float32.

    The paper writes ``>=`` for the threshold classifier (Section 3) and ``>`` for SPEs and OFO (Section 4). Where
    estimates are fractions with many ties, as a forest's are, the two differ, so one is used throughout: ``>``,
    which makes a threshold and the floor of an SPE mean the same. STO returns the largest float32 below its
    chosen estimate, so that its ``>=`` is kept too.

    Parameters
    ----------
    spe : csr_array of float32, shape (n, m)
    thresholds : ndarray of float32, shape (m,)

    Returns
    -------
    csr_array of bool, shape (n, m)
    """
    kept = spe.data > thresholds.astype(np.float32, copy=False)[spe.indices]
    indptr = np.concatenate(([0], np.cumsum(kept)))[spe.indptr]
    return sparse.csr_array((np.ones(indptr[-1], dtype=bool), spe.indices[kept], indptr), shape=spe.shape)


class Columns(NamedTuple):
    """Estimates and truth, label by label: the form that the kernels take.

    Attributes
    ----------
    starts : int64 (m + 1,), rows : uint32, estimates : float32
        The SPE in CSC form, rows ascending within a label.
    true_starts : int64 (m + 1,), true_rows : uint32
        The truth in CSC form.
    """

    starts: np.ndarray
    rows: np.ndarray
    estimates: np.ndarray
    true_starts: np.ndarray
    true_rows: np.ndarray


def columns(spe: sparse.csr_array, Y: object) -> Columns:
    """Bring an SPE and the truth into column form.

    Raises
    ------
    XmlcError
        The shapes differ, or an estimate is not in (0, 1].
    """
    Y = as_labels(Y)
    if spe.shape != Y.shape:
        raise XmlcError(f"the SPE has shape {spe.shape}, the truth {Y.shape}; they must be the same")
    if spe.nnz and not (spe.data.min() > 0 and spe.data.max() <= 1):
        raise XmlcError(f"estimates must lie in (0, 1], found {spe.data.min()} .. {spe.data.max()}")
    estimates, truth = sparse.csc_array(spe), sparse.csc_array(Y)
    return Columns(
        estimates.indptr.astype(np.int64),
        estimates.indices.astype(np.int32, copy=False).view(np.uint32),
        estimates.data.astype(np.float32, copy=False),
        truth.indptr.astype(np.int64),
        truth.indices.astype(np.int32, copy=False).view(np.uint32),
    )


class ThresholdMethod(BaseEstimator):
    """Base of the threshold methods: ``fit`` learns one threshold per label, ``predict`` applies them.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    """

    def predict(self, spe: sparse.csr_array) -> sparse.csr_array:
        """Predict label sets, boolean CSR of shape (n, m), with the learned thresholds."""
        return apply_thresholds(spe, self.thresholds_)
