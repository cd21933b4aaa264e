"""Binary relevance: one classifier for each label, independent of the others."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.estimates import stack_estimates
from xmlc.models.linear._relevance import estimates_above
from xmlc.models.linear.label_logistic import LabelLogistic
from xmlc.runtime.parallel import row_blocks, run_pieces

CELLS = 4_000_000  # of instances x labels that are dense at a time: 32 MB


class BinaryRelevance(LabelLogistic):
    """Binary relevance (BR) with regularised logistic regression (gfm2011, Section 4).

    Parameters and attributes are those of `xmlc.models.linear.label_logistic.LabelLogistic`.
    """

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates strictly greater than ``threshold``.

        Parameters and result are those of `xmlc.models.base.SparseProbabilityEstimator.predict_proba`.
        """
        X, thresholds = self._instances(X), self._label_thresholds(threshold)
        self.inner_products_ = np.full(X.shape[0], self.n_labels_, dtype=np.int64)
        blocks = row_blocks(X.shape[0], max(CELLS // self.n_labels_, 1)) or [(0, 0)]
        weights = self._weights_by_feature()
        found = run_pieces(
            lambda start, end: estimates_above(self._scores(X[start:end], weights), thresholds), blocks, self.n_jobs
        )
        counts, labels, estimates = (np.concatenate(part) for part in zip(*found, strict=True))
        return stack_estimates(counts, labels, estimates, self.n_labels_)
