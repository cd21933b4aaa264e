"""The LdSM estimator: training, prediction and storage."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError
from xmlc.kernels import elementwise
from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.domains import (
    FLAG,
    MANY,
    N_JOBS,
    NOT_NEGATIVE,
    NOT_NEGATIVE_OR_NONE,
    PASSES,
    POSITIVE,
    SEED,
    SHARE,
    TREES,
    one_of,
    whole,
)
from xmlc.kernels.estimator import hyperparameters, param
from xmlc.kernels.indices import Malformed
from xmlc.models.averaged_forest import AveragedForest, forest_fields
from xmlc.models.ldsm._forest import MultiwayForest, find_leaves, leaves_of_row
from xmlc.models.ldsm._grow import grow_tree
from xmlc.models.ldsm._regressors import TreeSettings

# values, of 8 bytes each, in the training data for 'sgd'
MOST_DENSE_VALUES = 1 << 30
# mean number of a label's positive instances below which lambda_1 is larger by default
FEW = 10


Optimizer = Literal["nag", "sgd"]
Ties = Literal["random", "first"]
InitialWeights = Literal["zero", "uniform"]
AverageOver = Literal["trees", "leaves"]
Shares = Literal["instances", "labels"]


@hyperparameters
class LdSM(AveragedForest):
    """A forest of M-ary trees that send instances in one or several directions (ldsm2020, Sections
    2 and 4).

    A node has M linear regressors, one for each direction. For each training instance in turn, it
    chooses the directions that minimise the objective ::

        J = sum_{j<l} |P_j - P_l|
            - lambda_1 sum_{j<l} sum_i pi_i |P^i_j - P^i_l|
            + lambda_2 |sum_j P_j - 1|

    and lets the regressors learn to predict them. The terms are the balance, the class integrity
    and the multi-way penalty, with the probability P_j of direction j, the same P^i_j for the
    instances of label i, and the share pi_i of label i among all labels. The next leaf to split is
    the one with the largest sum of label counts without the most frequent label.

    After training, an instance goes in all directions whose margin reaches 1/2, or else in the one
    with the largest margin. The estimate of a label is its mean share in the leaves that the
    instance reaches, averaged over the trees, so most estimates are 0.

    Where paper and authors' program differ, a parameter selects one of the two. ``exceed=True,
    ties="first", initial_weights="uniform", prune=False, average="leaves", shares="labels"`` give
    Algorithms 1 to 5 as printed, except for the nodes that stay leaves (see Notes). The defaults
    are the program's, except for ``shares`` and for ``epochs``, ``learning_rate``, ``max_nodes``
    and ``lambda_1``, whose defaults rank better on several datasets.

    Parameters
    ----------
    n_trees : int
        Number of trees, which differ only in their random numbers.
    arity : int
        M, the number of children of an inner node, from 2 to 8.
    max_nodes : int or None
        T_max, the largest number of nodes of a tree, leaves included. None is half the training
        instances, but at least 1000.
    exceed : bool
        Whether the last split may exceed T_max, by up to M - 1 nodes, as in Algorithm 1. The
        authors' program never does.
    epochs : int
        Number of training passes at a node.
    learning_rate : float
        Step size of the regressors.
    lambda_1 : float or None
        Weight of class integrity (l2 in the authors' program). None is 4 if labels have on average
        fewer than 10 positive instances, else 2.
    lambda_2 : float
        Weight of the multi-way penalty (l1 in the authors' program). Only balanced and pure splits
        minimise J if lambda_2 > (M - 3) lambda_1 (Lemma 1), which the defaults violate for M = 4.
    optimizer : {'nag', 'sgd'}
        Normalised adaptive gradient is for sparse data, stochastic gradient descent for dense data.
        The latter standardises features at each node.
    ties : {'random', 'first'}
        Choice among equally good directions: 'first' as in Algorithm 3.
    initial_weights : {'zero', 'uniform'}
        'uniform' draws from -1/d .. 1/d, as in Algorithm 2. 'zero' has the effect of the authors'
        program with NAG, which resets a weight at the first value of its feature.
    prune : bool
        Set weights below 1/d in magnitude to 0 after a node's training.
    shuffle : bool
        Visit the instances in a random order, drawn for each tree, because rows may be sorted by
        class. Algorithm 2 specifies no order.
    average : {'trees', 'leaves'}
        'trees' averages within each tree, and then over the trees. 'leaves' averages over all
        reached leaves, which ranks as their sum in Algorithm 5.
    shares : {'instances', 'labels'}
        Divisor of a leaf's label counts. With the number of its 'instances', a share estimates a
        probability. With the sum of the counts of 'labels', as in Algorithm 5 and the authors'
        program, the shares sum to 1 and estimate none.
    unit_norm : bool
        Scale instances to length 1. The published results of LdSM use unscaled features.
    beta, gamma : float
        `predict_top_k` ranks labels of positive estimate P by beta * P + (1 - beta) * B, with B
        from `xmlc.models.tail_classifiers.TailClassifiers` of steepness gamma. With beta = 1, none
        are trained.
    random_state : int
        Seed, with a separate stream for each tree.
    n_jobs : int or None
        Number of threads (`xmlc.core.threads.resolve_threads`), without effect on the result.
        Fewer grow large trees, which together take at most about 8 GB.

    Attributes
    ----------
    forest_ : MultiwayForest
    tail_ : TailClassifiers or None
    max_nodes_, lambda_1_ : int, float
        Given or selected values of the hyperparameters.
    inner_products_ : ndarray of int64, shape (n,)
        Number of inner products for each instance in the last prediction: M for each inner node
        that it passed, whatever the thresholds.

    See Also
    --------
    FastXML : A forest of binary trees, which averages the label shares of leaves too.

    Notes
    -----
    Every instance gets a constant feature. A node stays a leaf if its instances together have only
    one label or, as in the authors' program, if its regressors leave a child empty or send all
    instances to one child.

    Examples
    --------
    >>> from xmlc.models import LdSM
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = LdSM(n_trees=3).fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 2]], array([[1., 1.]], dtype=float32))
    >>> model.trees(1).predict_proba([[1, 0]]).toarray()
    array([[1., 0., 1.]], dtype=float32)
    """

    MODEL_FORMAT = 2
    FIELDS = forest_fields(MultiwayForest)
    FOREST = MultiwayForest
    _grow_tree = staticmethod(grow_tree)
    _find_leaves = staticmethod(find_leaves)
    _leaves_of_row = staticmethod(leaves_of_row)
    FOREST_WEIGHT = "beta"
    BYTES_PER_NONZERO = 80

    n_trees: int = param(whole(1, TREES), default=10)
    # training evaluates about 2**arity sets of directions per instance
    arity: int = param(whole(2, 8), default=2)
    max_nodes: int | None = param(whole(1, MANY, none=True), default=None)
    exceed: bool = param(FLAG, default=False)
    epochs: int = param(whole(1, PASSES), default=5)
    learning_rate: float = param(POSITIVE, default=0.3)
    lambda_1: float | None = param(NOT_NEGATIVE_OR_NONE, default=None)
    lambda_2: float = param(NOT_NEGATIVE, default=1.0)
    optimizer: Optimizer = param(one_of(Optimizer), default="nag")
    ties: Ties = param(one_of(Ties), default="random")
    initial_weights: InitialWeights = param(one_of(InitialWeights), default="zero")
    prune: bool = param(FLAG, default=True)
    shuffle: bool = param(FLAG, default=True)
    average: AverageOver = param(one_of(AverageOver), default="trees")
    shares: Shares = param(one_of(Shares), default="instances")
    unit_norm: bool = param(FLAG, default=False)
    beta: float = param(SHARE, default=1.0)
    gamma: float = param(NOT_NEGATIVE, default=0.0001)
    random_state: int = param(SEED, default=0)
    n_jobs: int | None = param(N_JOBS, default=None)

    def _prepare(self, X: sparse.csr_array, Y: sparse.csr_array) -> tuple[Any, ...]:
        if self.optimizer == "sgd" and X.shape[0] * (X.shape[1] + 1) > MOST_DENSE_VALUES:
            expected = (
                f"at most {MOST_DENSE_VALUES} values for optimizer='sgd'. Use optimizer='nag'."
            )
            raise InvalidDataError(
                f"LdSM: found {X.shape[0]} instances x {X.shape[1]} features, expected {expected}"
            )
        (n, m) = Y.shape
        d = X.shape[1]
        self.max_nodes_ = max(1000, n // 2) if self.max_nodes is None else int(self.max_nodes)
        usual = 4.0 if Y.nnz < FEW * m else 2.0
        self.lambda_1_ = usual if self.lambda_1 is None else float(self.lambda_1)
        settings = TreeSettings(
            arity=int(self.arity),
            max_nodes=self.max_nodes_ if self.exceed else self.max_nodes_ - int(self.arity) + 1,
            epochs=int(self.epochs),
            learning_rate=float(self.learning_rate),
            lambda_1=self.lambda_1_,
            lambda_2=float(self.lambda_2),
            adaptive=self.optimizer == "nag",
            random_ties=self.ties == "random",
            uniform_start=self.initial_weights == "uniform",
            prune=bool(self.prune),
            shuffled=bool(self.shuffle),
        )
        return self._kernel_form(X), kernel_csr(Y), d, m, settings, int(self.random_state)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        return super()._state()[0], {"max_nodes": self.max_nodes_, "lambda_1": self.lambda_1_}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        super()._restore(arrays, meta)
        if self.forest_.biases.shape[1] != self.arity:
            found = (
                f"found {self.forest_.biases.shape[1]} columns, expected {self.arity}, the arity"
            )
            raise Malformed("biases", found)
        self.max_nodes_ = int(meta["max_nodes"])
        self.lambda_1_ = meta["lambda_1"]

    @property
    def tree_depths_(self) -> np.ndarray:
        """Depth of the deepest leaf of each tree, 0 for a root, int64 (n_trees,)."""
        return np.array([levels.max(initial=0) for levels, _ in self.objectives_], dtype=np.int64)

    @property
    def n_nodes_(self) -> np.ndarray:
        """Number of nodes of each tree, leaves included, int64 (n_trees,)."""
        return np.diff(self.forest_.inner_starts) + np.diff(self.forest_.tree_leaves)

    @property
    def objectives_(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each tree, the level (int32) and, per epoch, J (float64) of each inner node."""
        starts = self.forest_.inner_starts
        parts = [slice(first, last) for first, last in pairwise(starts)]
        return [(self.forest_.levels[part], self.forest_.objectives[part]) for part in parts]

    def _rerank(self, X: sparse.csr_array, estimates: sparse.csr_array) -> sparse.csr_array:
        """Return ``beta * P + (1 - beta) * B``, a blend of the forest and the tail classifiers."""
        assert self.tail_ is not None, "without tail classifiers, labels rank by their estimates"
        log_scores = self.tail_.log_scores(X, estimates, self.gamma, self.unit_norm, self.n_jobs)
        closeness = elementwise.exp(log_scores.data).astype(np.float32)
        estimates.data = (
            np.float32(self.beta) * estimates.data + np.float32(1 - self.beta) * closeness
        )
        return estimates

    def _leaf_totals(self) -> tuple[np.ndarray, bool]:
        """Return each leaf's divisor, and whether leaves instead of trees count alike."""
        forest = self.forest_
        totals = forest.sizes
        if self.shares == "labels":
            labelled = np.flatnonzero(np.diff(forest.leaf_starts))
            totals = np.ones(totals.size, dtype=np.int64)
            totals[labelled] = np.add.reduceat(
                forest.counts, forest.leaf_starts[labelled], dtype=np.int64
            )
        return totals, self.average == "leaves"
