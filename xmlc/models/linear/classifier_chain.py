"""Probabilistic classifier chains, which model the joint distribution of labels by the product
rule.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidParameterError
from xmlc.core.kernel_cache import njit
from xmlc.inference.samples import Samples, marginals_of
from xmlc.kernels.arrays import copy_into
from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.kernels.csr import KernelCSR, Matrix, entries_above, stack_estimates
from xmlc.kernels.domains import PASSES, POSITIVE, one_of, whole
from xmlc.kernels.estimator import hyperparameters, param
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.rows import top_k_of_row
from xmlc.kernels.stored import FINITE, Field
from xmlc.models.linear._logistic import Problem
from xmlc.models.linear.label_logistic import LabelLogistic, linear_scores, make_problem

Order = Literal["given", "reversed"]


@hyperparameters
class ProbabilisticClassifierChain(LabelLogistic):
    """Estimate the joint distribution of the labels: a probabilistic classifier chain (PCC) of
    logistic regressions.

    The model is from gfm2011 (Section 4, equation (9)). The classifier of label j estimates P(Y_j =
    1 | x, y_1, ..., y_{j-1}). The classifier of label j uses the labels before label j as
    additional features. Predictions use samples from the joint distribution. The labels of each
    sample are drawn one after another, in the order of the chain.

    Parameters
    ----------
    n_samples : int
        Number of label sets to draw for each instance, 200 in gfm2011.
    order : {"given", "reversed"}
        Order of the labels in the chain, ascending or descending by number. gfm2011 does not
        specify the order.
    label_scale : float
        Labels that are used as features are scaled (see ``standardize``) and then multiplied by
        this factor. The larger ``label_scale``, the less the weights of labels are regularised.
    random_state : int
        Seed of the cross-validation folds and of the samples.
    C, C_grid, folds, common, standardize, n_jobs
        As in `xmlc.models.linear.label_logistic.LabelLogistic`.

    Attributes
    ----------
    influence_ : ndarray of float32, shape (m, m)
        For i < j, entry [i, j] is the weight of the i-th label in the classifier of the j-th label.
        Labels are numbered in the order of the chain.
    weights_, constants_, C_, losses_, decrements_
        As in `xmlc.models.linear.label_logistic.LabelLogistic`, in the order of the chain.

    Examples
    --------
    >>> from xmlc.models import ProbabilisticClassifierChain
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = ProbabilisticClassifierChain().fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[2, 0]], array([[0.96, 0.96]], dtype=float32))
    """

    FIELDS = (
        *LabelLogistic.FIELDS,
        Field("influence_", np.float32, ("n_labels", "n_labels"), within=FINITE),
    )
    # The samples of an instance depend on the row number of the instance in X.
    _BY_INSTANCE = False

    n_samples: int = param(whole(1, PASSES), default=200)
    order: Order = param(one_of(Order), default="given")
    label_scale: float = param(POSITIVE, default=1.0)

    def sample(self, X: Matrix, n_samples: int | None = None) -> sparse.csr_array:
        """Draw label sets from the estimated P(Y | x).

        Parameters
        ----------
        X : CSR, shape (n, d)
            Features of the instances.
        n_samples : int or None
            Number of label sets to draw for each instance. With None, the value of the
            hyperparameter ``n_samples`` is used.

        Returns
        -------
        csr_array of bool, shape (n * n_samples, m)
            The drawn label sets. Rows i * n_samples to (i + 1) * n_samples - 1 belong to instance
            i. The random numbers for instance i depend on ``random_state`` and on i.
        """
        X = self._instances(X)
        if n_samples is None:
            n_samples = self.n_samples
        if n_samples < 1:
            raise InvalidParameterError(f"found n_samples={n_samples}, expected at least 1")
        counts, labels = self._by_blocks(
            X, n_samples * self.n_labels_, partial(self._draw, n_samples)
        )
        return stack_estimates(counts, labels, np.ones(labels.size, dtype=bool), self.n_labels_)

    def _draw(
        self, n_samples: int, scores: np.ndarray, first: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of labels of each drawn set, and the labels of one set after
        another.
        """
        seed = np.int64(self.random_state)
        counts, labels = sample_chain(
            scores.astype(np.float32), self.influence_, int(n_samples), seed, first
        )
        if self.order == "reversed":
            labels = self.n_labels_ - 1 - labels
        return counts, labels

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the share of drawn label sets that contain each label.

        A share is returned only if it is above ``threshold``.

        See `xmlc.models.base.SparseProbabilityEstimator.predict_proba` for the parameters and the
        result.
        """
        thresholds = self._label_thresholds(threshold)
        shares = marginals_of(Samples(self.sample(X), self.n_samples)).astype(np.float32)
        return entries_above(shares, thresholds)

    def _rank_row(
        self, x: KernelCSR, k: int, label_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        scores = linear_scores(*x, self.weights_.T, self.constants_)
        _, drawn = self._draw(self.n_samples, scores, 0)
        counts = np.bincount(drawn, minlength=self.n_labels_)
        labels = np.flatnonzero(counts)
        shares = (counts[labels] / self.n_samples).astype(np.float32)
        return top_k_of_row(labels, shares, k, label_weights)

    def _training_data(self, X: Matrix, Y: Matrix) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Check the training data, and return the data with the labels in the order of the
        chain.
        """
        X, Y = super()._training_data(X, Y)
        if self.order == "reversed":
            Y = Y[:, ::-1]
        return X, Y

    def _problem(self, X: sparse.csr_array, Y: sparse.csr_array, weights: np.ndarray) -> Problem:
        """Return the `Problem` of the chain, with label columns after the feature columns."""
        widths = X.shape[1] + np.arange(Y.shape[1])
        return make_problem(X, Y, self.standardize, self.label_scale, widths, weights)

    def _split_weights(self) -> None:
        """Split the weights of each classifier into feature weights and influences of earlier
        labels.
        """
        influence = self.weights_[:, self.n_features_in_ :].T
        self.influence_ = np.zeros((self.n_labels_, self.n_labels_), dtype=np.float32)
        # ``influence`` has no rows if there is only one label.
        self.influence_[: len(influence)] = influence
        self.weights_ = np.ascontiguousarray(self.weights_[:, : self.n_features_in_])


@njit
def sample_chain(scores, influence, n_samples, seed, first):
    """Draw label sets from the chain's conditional distribution, one label after another (gfm2011,
    equation (9)).

    To draw a label set, the kernel computes m logistic functions and m random numbers. Each label i
    in the drawn set takes m - i - 1 additions, which read row i of ``influence`` sequentially.

    Parameters
    ----------
    scores : float32 (n, m)
        Scores that the labels get from the features alone, constants included.
    influence : float32 (m, m)
        If a drawn label set contains label i, the entry [i, j] is added to the score of each later
        label j. Only entries [i, j] with j > i are read.
    n_samples : int64
        Number of label sets to draw for each instance.
    seed : int64
        Seed of the random numbers.
    first : int64
        Number of the first instance. The random numbers for an instance depend only on the seed and
        on the number of the instance.

    Returns
    -------
    counts : int64 (n * n_samples,)
        Number of labels in each drawn set. The label sets of an instance are consecutive.
    labels : int32 (sum of counts,)
        The labels of one drawn set after another, ascending within a set.
    """
    n, m = scores.shape
    counts = np.zeros(n * n_samples, dtype=np.int64)
    labels = np.empty(n * n_samples * m, dtype=np.int32)
    score = np.empty(m, dtype=np.float32)
    found = 0
    for i in range(n):
        key = stream_key(seed, first + i)
        for t in range(n_samples):
            copy_into(score, scores[i])
            for j in range(m):
                if random_unit(key, t * m + j) < sigmoid(score[j]):
                    labels[found] = j
                    found += 1
                    counts[i * n_samples + t] += 1
                    for later in range(j + 1, m):
                        score[later] += influence[j, later]
    return counts, labels[:found].copy()
