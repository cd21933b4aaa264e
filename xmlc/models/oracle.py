"""The oracle: true posteriors instead of estimates."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.kernels.csr import as_labels
from xmlc.models.base import SparseProbabilityEstimator


class Oracle(SparseProbabilityEstimator):
    """Gives the true posteriors of a synthetic dataset, as if a perfect model had estimated them.

    Its score with a threshold method is the best that the method can reach: the difference to 1 is due to noise in the
    labels and to the method, and the difference to a trained model's score is due to the model's errors.

    Attributes
    ----------
    inner_products_ : ndarray of int64, shape (n,)
        Zero: nothing is computed.
    """

    posteriors_: sparse.csr_array | None = None

    def fit(self, X: Any, Y: object) -> Self:
        """Remember the number of features and labels."""
        self.n_features_in_, self.n_labels_ = X.shape[1], as_labels(Y).shape[1]
        return self

    def use_posteriors(self, posteriors: sparse.csr_array | None) -> None:
        """Take the posteriors (CSR, shape (n, m)) of the instances that are predicted next."""
        if posteriors is None:
            raise XmlcError("the oracle needs true posteriors, which only a synthetic dataset has")
        self.posteriors_ = posteriors

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the posteriors strictly greater than ``threshold``, float32 CSR of shape (n, m)."""
        P = self._posteriors_of(X)
        rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
        kept = P.data > self._label_thresholds(threshold)[P.indices]
        indptr = np.concatenate(([0], np.cumsum(np.bincount(rows[kept], minlength=P.shape[0]))))
        return sparse.csr_array((P.data[kept], P.indices[kept], indptr), shape=P.shape)

    def _posteriors_of(self, X: Any) -> sparse.csr_array:
        self._check_fitted()
        P = self.posteriors_
        if P is None or P.shape != (X.shape[0], self.n_labels_):
            raise XmlcError(f"the oracle has no posteriors for these {X.shape[0]} instances; call use_posteriors first")
        self.inner_products_ = np.zeros(X.shape[0], dtype=np.int64)
        return P
