"""Provide the FastXML estimator: training, prediction and storage."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError
from xmlc.core.parallel import row_blocks
from xmlc.kernels import elementwise
from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.domains import (
    FLAG,
    MANY,
    N_JOBS,
    NOT_NEGATIVE,
    POSITIVE,
    SEED,
    SHARE,
    TREES,
    NumberRange,
    one_of,
    whole,
)
from xmlc.kernels.estimator import InvalidParameterError, hyperparameters, param
from xmlc.kernels.stored import FINITE, Field
from xmlc.metrics.propensity import propensities
from xmlc.models.averaged_forest import ROWS_PER_BLOCK, AveragedForest, forest_fields
from xmlc.models.fastxml._forest import BinaryForest, find_leaf, leaves_of_row
from xmlc.models.fastxml._grow import TreeSettings, grow_tree
from xmlc.models.fastxml._node import MOST_NONZEROS
from xmlc.models.fastxml._partition import LABEL_BITS, dcg_table, discount_table, ideal_table

# The sum of all gains stays below this limit, so that int64 sums in units of 2**-16 cannot
# overflow.
LARGEST_GAIN = 2.0**46


Objective = Literal["ndcg", "dcg"]


@hyperparameters
class FastXML(AveragedForest):
    """Train a forest of binary trees whose nodes separate instances by their labels (plt2016,
    Section 5.3).

    In training, each node assigns its instances to two sides. Each side ranks labels by their
    frequency on that side, and the assignment maximises the nDCG of these rankings. The node learns
    a sparse linear classifier that separates the sides. For each label, a leaf stores the share of
    the leaf's instances that have the label. The estimate of a label is the mean of the label's
    shares in the leaves that an instance reaches. Most labels have the estimate 0. The method is
    FastXML (Prabhu and Varma, KDD 2014). As in the authors' program, each node optimises nDCG only
    once, starting from random sides. Each node fits its classifier only once, by L1-regularised
    logistic regression.

    Parameters
    ----------
    n_trees : int
        Number of trees. Trees differ only in their random numbers.
    max_leaf : int
        A node with at most ``max_leaf`` instances is a leaf. A node is also a leaf if its
        classifier sends all instances to one side.
    labels_per_leaf : int
        Largest number of labels kept in a leaf.
    objective : {"ndcg", "dcg"}
        Measure that the sides of a node maximise. "ndcg" divides an instance's DCG by the DCG of
        the best ranking of its labels, as FastXML does. "dcg" uses DCG without this division, as
        the program of PfastreXML does with ``USE_IDCG`` false. With "dcg", instances with many
        labels have more influence than with "ndcg".
    unit_norm : bool
        Whether to scale each instance to Euclidean length 1. The published results of FastXML use
        unscaled features.
    propensity_weighted : bool
        PfastreXML (Jain, Prabhu and Varma, KDD 2016): weight labels by the inverse of their
        propensity, both in training and in rankings. The estimates of `predict_proba` are not
        weighted.
    propensity_a, propensity_b : float
        Parameters A and B of the propensities. The usual pairs A, B are (0.5, 0.4) for Wikipedia,
        (0.6, 2.6) for Amazon, and (0.55, 1.5) for other datasets
        (`xmlc.metrics.propensity_parameters`).
    alpha : float
        `predict_top_k` ranks labels by P**alpha * B**(1 - alpha), as in PfastreXML. P is the
        forest's score of a label. B is the score that the tail classifiers give the label
        (`xmlc.models.tail_classifiers.TailClassifiers`). With alpha 1, no tail classifiers are
        trained.
    gamma : float
        Steepness of the tail classifiers. The docstring of ``TailClassifiers`` relates gamma to the
        corresponding setting of the authors' program.
    random_state : int
        Seed of the initial random sides. Each tree uses different random numbers.
    n_jobs : int or None
        Number of threads. The result is bit-identical for any number of threads. None uses numba's
        number of threads, -1 uses all cores. Large trees grow on fewer threads, so that together
        they take at most about 8 GB.

    Attributes
    ----------
    forest_ : BinaryForest
    tail_ : TailClassifiers or None
    inner_products_ : ndarray of int64, shape (n,)
        Number of inner products computed for each instance in the last prediction. An instance
        needs one inner product at each inner node that it passes in any tree. Thresholds do not
        change the number of inner products.

    Notes
    -----
    Each training thread needs 8 bytes per non-zero of X, in addition to the data and the forest.
    Many estimates are equal. Shares are summed in float64 and rounded once to float32, so that
    equal fractions become equal numbers. Comparing an estimate with a threshold therefore gives the
    same result as in exact arithmetic.

    Examples
    --------
    >>> from xmlc.models import FastXML
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = FastXML(n_trees=3).fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 1]], array([[0.5, 0.5]], dtype=float32))
    """

    FIELDS = (
        *forest_fields(BinaryForest),
        Field("label_weights", np.float32, ("n_labels",), within=(0, FINITE[1])),
    )
    FOREST = BinaryForest
    _grow_tree = staticmethod(grow_tree)
    _find_leaves = staticmethod(find_leaf)
    _leaves_of_row = staticmethod(leaves_of_row)
    FOREST_WEIGHT = "alpha"
    UNIT_TAIL = True
    BYTES_PER_NONZERO = 20

    n_trees: int = param(whole(1, TREES), default=50)
    max_leaf: int = param(whole(1, MANY), default=10)
    labels_per_leaf: int = param(whole(1, MANY), default=100)
    objective: Objective = param(one_of(Objective), default="ndcg")
    unit_norm: bool = param(FLAG, default=False)
    propensity_weighted: bool = param(FLAG, default=False)
    propensity_a: float = param(NumberRange(0, 100.0), default=0.55)
    propensity_b: float = param(POSITIVE, default=1.5)
    alpha: float = param(SHARE, default=1.0)
    gamma: float = param(NOT_NEGATIVE, default=30.0)
    random_state: int = param(SEED, default=0)
    n_jobs: int | None = param(N_JOBS, default=None)

    def _prepare(self, X: sparse.csr_array, Y: sparse.csr_array) -> tuple[Any, ...]:
        if self.n_labels_ > 1 << LABEL_BITS:
            raise InvalidDataError(
                f"Y: found {self.n_labels_} labels, expected at most {1 << LABEL_BITS}"
            )
        if X.nnz > MOST_NONZEROS:
            raise InvalidDataError(f"X: found {X.nnz} non-zeros, expected at most {MOST_NONZEROS}")
        self.label_weights_ = np.ones(self.n_labels_, dtype=np.float32)
        if self.propensity_weighted:
            with np.errstate(all="ignore"):
                self.label_weights_ /= propensities(Y, self.propensity_a, self.propensity_b)
            if not float(self.label_weights_.max()) * self.n_labels_ < LARGEST_GAIN:
                found = f"found label weights up to {self.label_weights_.max():g}"
                expected = f"expected at most {LARGEST_GAIN:g} for all labels together"
                lower = f"propensity_a={self.propensity_a} or propensity_b={self.propensity_b}"
                raise InvalidParameterError(f"FastXML: {found}, {expected}. Lower {lower}.")
        x = self._kernel_form(X)
        y = kernel_csr(Y)
        discounts = discount_table(self.n_labels_)
        ideal = (ideal_table if self.objective == "ndcg" else dcg_table)(
            int(np.diff(y.indptr).max(initial=0)) + 1
        )
        settings = TreeSettings(
            self.label_weights_, ideal, discounts, int(self.max_leaf), int(self.labels_per_leaf)
        )
        return x, y, X.shape[1], settings, int(self.random_state)

    def _reranks(self) -> bool:
        return self.propensity_weighted or super()._reranks()

    def _rerank(self, X: sparse.csr_array, estimates: sparse.csr_array) -> sparse.csr_array:
        """Return PfastreXML's scores ``P**alpha * B**(1 - alpha)``.

        Here P is an estimate times the label's weight.

        In the paper, ``alpha * log P + (1 - alpha) * log B`` gives the same ranking. The scores of
        candidate labels are positive. Labels that are no candidates have no stored score. A
        positive score below the smallest normal float32 number is replaced by this smallest number.
        The published program returns the same scores for the 1000 best labels of each instance.
        """
        estimates.data *= self.label_weights_[estimates.indices]
        if self.tail_ is None:
            return estimates
        scores = self.tail_.log_scores(X, estimates, self.gamma, True, self.n_jobs)
        for first, last in row_blocks(X.shape[0], ROWS_PER_BLOCK):
            part = slice(scores.indptr[first], scores.indptr[last])
            forest = elementwise.log(estimates.data[part])
            tail = scores.data[part].astype(np.float64)
            blend = elementwise.exp(self.alpha * forest + (1 - self.alpha) * tail)
            scores.data[part] = np.maximum(blend, np.finfo(np.float32).tiny)
        return scores

    def _leaf_totals(self) -> tuple[np.ndarray, bool]:
        return self.forest_.sizes, False

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        arrays, meta = super()._state()
        return arrays | {"label_weights": self.label_weights_}, meta

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        super()._restore(arrays, meta)
        self.label_weights_ = arrays["label_weights"]
