"""Probabilistic classifier chains, which model the joint distribution of the labels."""

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
    """A probabilistic classifier chain (PCC) of logistic regressions (gfm2011, Section 4).

    The classifier of label j estimates P(Y_j = 1 | x, y_1, ..., y_{j-1}), with the labels before j
    as additional features. By the product rule, equation (9), the chain thus models the joint
    distribution of the labels, from which predictions draw samples, one label after another.

    Parameters
    ----------
    n_samples : int
        Number of label sets to draw for each instance, 200 in gfm2011.
    order : {"given", "reversed"}
        Labels ascending or descending by number, which gfm2011 does not specify.
    label_scale : float
        Factor of labels as features, after scaling (see ``standardize``). The larger it is, the
        less their weights are regularised.
    random_state : int
        Seed of the folds and of the samples.
    C, C_grid, folds, common, standardize, n_jobs
        As in `xmlc.models.linear.label_logistic.LabelLogistic`.

    Attributes
    ----------
    influence_ : ndarray of float32, shape (m, m)
        Entry [i, j], for i < j, is the weight of the i-th label of the chain in the classifier of
        the j-th.
    weights_, constants_, C_, losses_, decrements_
        As in `xmlc.models.linear.label_logistic.LabelLogistic`, in the order of the chain.

    See Also
    --------
    xmlc.models.BinaryRelevance : Independent labels, without samples.
    xmlc.inference : Label sets from samples of the joint distribution.

    Examples
    --------
    >>> from xmlc.models import ProbabilisticClassifierChain
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = ProbabilisticClassifierChain().fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[2, 0]], array([[0.96, 0.96]], dtype=float32))
    >>> model.sample([[1, 0]], n_samples=3).toarray().astype(int).tolist()
    [[1, 0, 1], [1, 0, 1], [1, 0, 1]]
    """

    FIELDS = (
        *LabelLogistic.FIELDS,
        Field("influence_", np.float32, ("n_labels", "n_labels"), within=FINITE),
    )
    # The samples of an instance depend on its row number in X.
    _BY_INSTANCE = False

    n_samples: int = param(whole(1, PASSES), default=200)
    order: Order = param(one_of(Order), default="given")
    label_scale: float = param(POSITIVE, default=1.0)

    def sample(self, X: Matrix, n_samples: int | None = None) -> sparse.csr_array:
        """Draw label sets from the estimated P(Y | x).

        Parameters
        ----------
        X : CSR, shape (n, d)
        n_samples : int or None
            Number of label sets for each instance, None for the hyperparameter.

        Returns
        -------
        csr_array of bool, shape (n * n_samples, m)
            Rows i * n_samples to (i + 1) * n_samples - 1 belong to instance i. Their random numbers
            depend on ``random_state`` and on i.

        Raises
        ------
        XmlcError
            As for `predict_proba`, or ``n_samples`` is below 1.

        See Also
        --------
        xmlc.inference.Samples
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
        seed = np.int64(self.random_state)
        counts, labels = sample_chain(
            scores.astype(np.float32), self.influence_, int(n_samples), seed, first
        )
        if self.order == "reversed":
            labels = self.n_labels_ - 1 - labels
        return counts, labels

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the shares of drawn label sets that contain a label, if above ``threshold``.

        See `xmlc.models.base.SparseProbabilityEstimator.predict_proba` for parameters and result.
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
        X, Y = super()._training_data(X, Y)
        if self.order == "reversed":
            Y = Y[:, ::-1]
        return X, Y

    def _problem(self, X: sparse.csr_array, Y: sparse.csr_array, weights: np.ndarray) -> Problem:
        widths = X.shape[1] + np.arange(Y.shape[1])
        return make_problem(X, Y, self.standardize, self.label_scale, widths, weights)

    def _split_weights(self) -> None:
        influence = self.weights_[:, self.n_features_in_ :].T
        self.influence_ = np.zeros((self.n_labels_, self.n_labels_), dtype=np.float32)
        # ``influence`` has no rows if there is only one label
        self.influence_[: len(influence)] = influence
        self.weights_ = np.ascontiguousarray(self.weights_[:, : self.n_features_in_])


@njit
def sample_chain(scores, influence, n_samples, seed, first):
    """Draw label sets from the chain, one label after another (gfm2011, equation (9)).

    ``scores``, float32 (n, m), are from the features alone, constants included. A drawn label i
    adds ``influence[i, j]`` to the score of each later label j. Random numbers depend on the number
    ``first`` of the first instance.

    Returns
    -------
    counts : int64 (n * n_samples,)
        Number of labels in each drawn set, with the sets of an instance together.
    labels : int32 (sum of counts,)
        Ascending within a set.
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
