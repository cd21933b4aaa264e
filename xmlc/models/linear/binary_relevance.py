"""Binary relevance, which trains an independent classifier for each label."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.core.kernel_cache import njit
from xmlc.kernels.csr import KernelCSR, Matrix, stack_estimates
from xmlc.kernels.float64 import sigmoid
from xmlc.kernels.rows import top_k_of_row
from xmlc.models.linear.label_logistic import LabelLogistic, linear_scores


class BinaryRelevance(LabelLogistic):
    """Binary relevance: one regularised logistic regression for each label (gfm2011, Section 4).

    Parameters
    ----------
    C, C_grid, folds, common, standardize, random_state, n_jobs
        As in `xmlc.models.linear.label_logistic.LabelLogistic`, which also has the attributes.

    See Also
    --------
    xmlc.models.ProbabilisticClassifierChain : The same regressions, but of dependent labels.

    Examples
    --------
    >>> from xmlc.models import BinaryRelevance
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = BinaryRelevance().fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 2]], array([[0.94, 0.94]], dtype=float32))
    """

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the probability estimates that are strictly greater than ``threshold``.

        See `xmlc.models.base.SparseProbabilityEstimator.predict_proba` for parameters and result.
        """
        X = self._instances(X)
        thresholds = self._label_thresholds(threshold)
        above = self._by_blocks(
            X, self.n_labels_, lambda scores, first: sigmoids_above(scores, thresholds)
        )
        counts, labels, estimates = above
        return stack_estimates(counts, labels, estimates, self.n_labels_)

    def _rank_row(
        self, x: KernelCSR, k: int, label_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        scores = linear_scores(*x, self.weights_.T, self.constants_)
        _, labels, estimates = sigmoids_above(scores, self._label_thresholds(0.0))
        return top_k_of_row(labels, estimates, k, label_weights)


@njit
def sigmoids_above(scores, thresholds):
    """Return the estimates sigmoid(score), in float32, that exceed their labels' thresholds.

    Parameters
    ----------
    scores : float64 (n, m)
    thresholds : float32 (m,)

    Returns
    -------
    counts : int64 (n,)
    labels : int32 (nnz,), estimates : float32 (nnz,)
        One instance after another, with ascending labels.
    """
    n, m = scores.shape
    counts = np.zeros(n, dtype=np.int64)
    labels = np.empty(n * m, dtype=np.int32)
    estimates = np.empty(n * m, dtype=np.float32)
    found = 0
    for i in range(n):
        for j in range(m):
            estimate = np.float32(sigmoid(scores[i, j]))
            if estimate > thresholds[j]:
                labels[found] = j
                estimates[found] = estimate
                found += 1
                counts[i] += 1
    return counts, labels[:found].copy(), estimates[:found].copy()
