"""The FastXML estimator: training, prediction and storage."""

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

# limit of the sum of all gains, so that int64 sums in units of 2**-16 cannot overflow
LARGEST_GAIN = 2.0**46


Objective = Literal["ndcg", "dcg"]


@hyperparameters
class FastXML(AveragedForest):
    """A forest of binary trees whose nodes separate instances by their labels (plt2016, Section
    5.3).

    In training, each node assigns its instances to two sides so that the nDCG of two rankings is
    largest, each of which orders labels by their frequency on its side. Then it learns a sparse
    linear classifier of the sides. A leaf stores the share of its instances that have each
    label, and the estimate of a label is its mean share in the leaves that an instance reaches, so
    most estimates are 0.

    The method is FastXML (Prabhu and Varma, KDD 2014). As in the authors' program, each node
    optimises nDCG only once, from random sides, and fits its classifier only once, by
    L1-regularised logistic regression.

    Parameters
    ----------
    n_trees : int
        Number of trees, which differ only in their random numbers.
    max_leaf : int
        A node is a leaf with at most this number of instances, or if its classifier sends all of
        them to one side.
    labels_per_leaf : int
        Largest number of labels of a leaf.
    objective : {"ndcg", "dcg"}
        Measure that the sides of a node maximise. "dcg" does not divide an instance's DCG by the
        best possible one, so instances with many labels count more, as in the program of PfastreXML
        with ``USE_IDCG`` false.
    unit_norm : bool
        Scale instances to length 1. The published results of FastXML use unscaled features.
    propensity_weighted : bool
        PfastreXML (Jain, Prabhu and Varma, KDD 2016): weight labels by the inverse of their
        propensity in training and in rankings, but not in the estimates of `predict_proba`.
    propensity_a, propensity_b : float
        Parameters A and B of the propensities (`xmlc.metrics.propensity_parameters`).
    alpha : float
        `predict_top_k` ranks labels by P**alpha * B**(1 - alpha), as in PfastreXML, with the score
        P of the forest and B of `xmlc.models.tail_classifiers.TailClassifiers`. With alpha = 1,
        none are trained.
    gamma : float
        Steepness of the tail classifiers, which relate it to the setting of the authors' program.
    random_state : int
        Seed, with a separate stream for each tree.
    n_jobs : int or None
        Number of threads (`xmlc.core.threads.resolve_threads`), without effect on the result.
        Fewer grow large trees, which together take at most about 8 GB.

    Attributes
    ----------
    forest_ : BinaryForest
    tail_ : TailClassifiers or None
    inner_products_ : ndarray of int64, shape (n,)
        Number of inner products for each instance in the last prediction: one for each inner node
        that it passed, whatever the thresholds.

    See Also
    --------
    LdSM : A forest of M-ary trees that send an instance in several directions.

    Notes
    -----
    Each training thread needs 8 bytes per non-zero of X, in addition to the data and the forest.
    Shares are summed in float64 and rounded once to float32. So estimates that are equal fractions
    are equal numbers, and a threshold has the same effect as in exact arithmetic.

    Examples
    --------
    >>> from xmlc.models import FastXML
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = FastXML(n_trees=3).fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 1]], array([[0.5, 0.5]], dtype=float32))
    >>> model.trees(1).predict_proba([[1, 0]]).toarray()
    array([[0.5, 0.5, 0.5]], dtype=float32)
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
        table = dcg_table
        if self.objective == "ndcg":
            table = ideal_table
        ideal = table(int(np.diff(y.indptr).max(initial=0)) + 1)
        settings = TreeSettings(
            self.label_weights_, ideal, discounts, int(self.max_leaf), int(self.labels_per_leaf)
        )
        return x, y, X.shape[1], settings, int(self.random_state)

    def _reranks(self) -> bool:
        return self.propensity_weighted or super()._reranks()

    def _rerank(self, X: sparse.csr_array, estimates: sparse.csr_array) -> sparse.csr_array:
        """Return the scores ``P**alpha * B**(1 - alpha)`` of PfastreXML, with P the estimate times
        the label's weight.

        They rank like ``alpha * log P + (1 - alpha) * log B`` in the paper, but are positive,
        because labels that are no candidates have no stored score. A score too small for float32
        becomes its smallest normal number. The published program scores only the 1000 best labels
        of each instance.
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
