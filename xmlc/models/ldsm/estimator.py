"""Provide the LdSM estimator: training, prediction and storage."""

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

# With 'sgd', the training data may have at most 2**30 values, 8 bytes each.
MOST_DENSE_VALUES = 1 << 30
# If labels have on average fewer than 10 positive instances, the default of lambda_1 is larger.
FEW = 10


Optimizer = Literal["nag", "sgd"]
Ties = Literal["random", "first"]
InitialWeights = Literal["zero", "uniform"]
AverageOver = Literal["trees", "leaves"]
Shares = Literal["instances", "labels"]


@hyperparameters
class LdSM(AveragedForest):
    """Train a forest of M-ary trees that send instances in one or several directions (ldsm2020,
    Sections 2 and 4).

    A node has M linear regressors, one for each direction. In training, a node visits its instances
    one after the other. The directions of each instance are chosen to minimise the objective ::

        J = sum_{j<l} |P_j - P_l|
            - lambda_1 sum_{j<l} sum_i pi_i |P^i_j - P^i_l|
            + lambda_2 |sum_j P_j - 1|.

    The three terms of J are the balance, the class integrity and the multi-way penalty. P_j is the
    probability of direction j. P^i_j is the probability of direction j for the instances of label
    i, and pi_i is the share of label i among all labels of the instances. The regressors learn to
    predict the chosen directions. After training, an instance goes in all directions whose margin
    reaches 1/2. If no margin reaches 1/2, the instance goes in the direction with the largest
    margin. Training always splits the leaf whose label histogram has the largest difference between
    its sum and its maximum. The estimate of a label is the mean of the label's shares in the leaves
    that an instance reaches, averaged over the trees. If there are many labels, almost all
    estimates are 0.

    If the paper and the authors' program differ, a parameter selects one of the two variants.
    ``exceed=True, ties="first", initial_weights="uniform", prune=False, average="leaves",
    shares="labels"`` give Algorithms 1 to 5 as printed, except for the nodes that stay leaves (see
    Notes). Most defaults are the defaults of the authors' program. The defaults of ``epochs``,
    ``learning_rate``, ``max_nodes`` and ``lambda_1`` differ from the authors' program, because the
    new defaults give better rankings on several datasets (docs/models.md). The default of
    ``shares`` also differs from the authors' program.

    Parameters
    ----------
    n_trees : int
        Number of trees. Trees differ only in their random numbers. Random numbers determine the
        order of the instances, the choice among equally good directions, and the initial weights
        (see ``shuffle``, ``ties`` and ``initial_weights``). Tree t does not depend on the number of
        trees.
    arity : int
        M, the number of children of an inner node, from 2 to 8.
    max_nodes : int or None
        T_max, the largest number of nodes of a tree, leaves included. None selects half the number
        of training instances, but at least 1000. After training, ``max_nodes_`` is the selected
        number.
    exceed : bool
        Whether a tree may exceed T_max nodes by its last split. If true, a leaf is split if the
        tree has fewer than T_max nodes, as in the loop of Algorithm 1. With ``exceed``, a tree can
        have up to T_max + M - 1 nodes. If false, a tree has at most T_max nodes, as in the authors'
        program.
    epochs : int
        Number of training passes over the instances of a node.
    learning_rate : float
        Step size of the regressors' gradient steps.
    lambda_1 : float or None
        Weight of class integrity (l2 in the authors' program). None selects 4 if labels have on
        average fewer than 10 positive instances, and 2 otherwise. After training, ``lambda_1_`` is
        the selected weight.
    lambda_2 : float
        Weight of the multi-way penalty (l1 in the authors' program). If lambda_2 > (M - 3)
        lambda_1, only balanced and pure splits minimise J (Lemma 1). Other values of lambda_1 and
        lambda_2 are also accepted. With M = 2 or 3, all positive lambda_1 and lambda_2 meet the
        condition of Lemma 1. With M = 4, the defaults do not meet the condition of Lemma 1. With M
        = 4 and the defaults, splits that send each label in two directions have a smaller J than
        balanced and pure splits.
    optimizer : {'nag', 'sgd'}
        'nag', normalised adaptive gradient, is for sparse data. 'sgd', stochastic gradient descent,
        is for dense data. With 'sgd', features are standardised at each node.
    ties : {'random', 'first'}
        Choice among equally good directions. 'random' chooses at random, as in the authors'
        program, and 'first' chooses the first, as in Algorithm 3.
    initial_weights : {'zero', 'uniform'}
        'uniform' draws weights at random in -1/d .. 1/d, as in Algorithm 2. 'zero' has the same
        effect as the initial weights of the authors' program with NAG, because that program resets
        a weight to 0 at the first value of its feature.
    prune : bool
        Set weights below 1/d in magnitude to 0 after a node's training, as the authors' program
        does.
    shuffle : bool
        If true, training visits the instances in a random order, which is drawn for each tree, as
        in the authors' program. If false, training visits the instances in the order of the rows of
        X. Algorithm 2 specifies no order of the instances. The order of the rows of X is a poor
        choice if the rows are sorted by class.
    average : {'trees', 'leaves'}
        Whether trees or leaves have equal weight in a forest. With 'trees', the leaves that an
        instance reaches are averaged within each tree, and then over the trees, as in the authors'
        program. With 'leaves', a tree in which the instance reaches r leaves adds r histograms, as
        in Algorithm 5. With 'leaves', a tree with r reached leaves has r times the weight of a tree
        with one reached leaf. The sum of the histograms is divided by the number of leaves reached
        in all trees, so that estimates stay within 0 .. 1. This division does not change the
        ranking of the labels.
    shares : {'instances', 'labels'}
        Divisor of a leaf's label histogram. 'instances' divides by the number of the leaf's
        instances. With 'instances', each share estimates a label's probability. 'labels' divides by
        the sum of the histogram, as in Algorithm 5 and the authors' program. With 'labels', the
        shares of all labels sum to 1, and do not estimate probabilities.
    unit_norm : bool
        Whether to scale each instance to Euclidean length 1. The published results of LdSM use
        unscaled features.
    beta, gamma : float
        `predict_top_k` ranks labels with P > 0 by beta * P + (1 - beta) * B. P is the forest's
        estimate for a label. B is the estimate that tail classifiers with steepness gamma give for
        the label (`xmlc.models.tail_classifiers.TailClassifiers`). With beta = 1, no tail
        classifiers are trained.
    random_state : int
        Seed of all random numbers: for the order of the instances, for ties, and for initial
        weights. Each tree uses different random numbers.
    n_jobs : int or None
        Number of threads. The result is bit-identical for any number of threads. None uses numba's
        number of threads, -1 uses all cores. Large trees grow on fewer threads, so that together
        they take at most about 8 GB.

    Attributes
    ----------
    forest_ : MultiwayForest
    tail_ : TailClassifiers or None
    max_nodes_ : int
        The value of ``max_nodes`` that training used, given or selected.
    lambda_1_ : float
        The value of ``lambda_1`` that training used, given or selected.
    inner_products_ : ndarray of int64, shape (n,)
        Number of inner products computed for each instance in the last prediction. There are M
        inner products for each inner node that the instance passed. Thresholds do not change the
        number of inner products.

    Notes
    -----
    As in the authors' program, a node stays a leaf if its regressors leave a child empty or send
    all instances to one child. Every instance gets an additional constant feature. A node is not
    split if all its instances together have only one label. A training thread takes about 8 bytes
    per non-zero of X, plus 16 d M bytes and the memory of the tree that it grows. The data and the
    forest also take memory. With `fit_to_disk`, the forest is written to disk and takes no memory.

    Examples
    --------
    >>> from xmlc.models import LdSM
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = LdSM(n_trees=3).fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 2]], array([[1., 1.]], dtype=float32))
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
        """Return the depth of the deepest leaf of each tree, int64 (n_trees,).

        A root has depth 0.
        """
        return np.array([levels.max(initial=0) for levels, _ in self.objectives_], dtype=np.int64)

    @property
    def n_nodes_(self) -> np.ndarray:
        """Return the number of nodes of each tree, inner nodes and leaves together, int64
        (n_trees,).
        """
        return np.diff(self.forest_.inner_starts) + np.diff(self.forest_.tree_leaves)

    @property
    def objectives_(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for each tree the level (int32) of each inner node, and the node's J (float64)
        after each epoch.
        """
        starts = self.forest_.inner_starts
        parts = [slice(first, last) for first, last in pairwise(starts)]
        return [(self.forest_.levels[part], self.forest_.objectives[part]) for part in parts]

    def _rerank(self, X: sparse.csr_array, estimates: sparse.csr_array) -> sparse.csr_array:
        """Return the scores ``beta * P + (1 - beta) * B``, which blend the forest with the tail
        classifiers.
        """
        assert self.tail_ is not None, "without tail classifiers, labels rank by their estimates"
        log_scores = self.tail_.log_scores(X, estimates, self.gamma, self.unit_norm, self.n_jobs)
        closeness = elementwise.exp(log_scores.data).astype(np.float32)
        estimates.data = (
            np.float32(self.beta) * estimates.data + np.float32(1 - self.beta) * closeness
        )
        return estimates

    def _leaf_totals(self) -> tuple[np.ndarray, bool]:
        """Return the divisor of each leaf's label histogram, and whether leaves instead of trees
        have equal weight.
        """
        forest = self.forest_
        totals = forest.sizes
        if self.shares == "labels":
            labelled = np.flatnonzero(np.diff(forest.leaf_starts))
            totals = np.ones(totals.size, dtype=np.int64)
            totals[labelled] = np.add.reduceat(
                forest.counts, forest.leaf_starts[labelled], dtype=np.int64
            )
        return totals, self.average == "leaves"
