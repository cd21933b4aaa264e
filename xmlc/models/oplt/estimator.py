"""The OPLT estimator."""

from __future__ import annotations

from copy import copy
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.growing import Growing
from xmlc.kernels.checks import check_same_instances
from xmlc.kernels.counter_random import random_permutation, stream_key
from xmlc.kernels.csr import KernelCSR, Matrix, as_features, as_labels, kernel_csr, stack_estimates, unit_rows
from xmlc.kernels.domains import LARGE, MANY, POSITIVE, Number, check, whole
from xmlc.kernels.estimator import Hyperparameters, InvalidParameterError, hyperparameters
from xmlc.kernels.frames import check_names, column_names
from xmlc.kernels.stored import Field
from xmlc.kernels.streams import Stream
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.choosing import cross_validated
from xmlc.models.domains import oplt
from xmlc.models.fitting import not_finite
from xmlc.models.oplt.growth import planted
from xmlc.models.oplt.learning import learn
from xmlc.models.oplt.prediction import frozen, label_tree_of
from xmlc.models.oplt.tree import (
    N_COUNTERS,
    N_LEARNED,
    NODE,
    NONE,
    SLOT,
    GrowthSettings,
    OnlineTree,
    trimmed,
    with_labels,
)
from xmlc.models.plt.estimator import PLT
from xmlc.models.plt.solvers import AdaGrad
from xmlc.models.plt.training import train_nodes
from xmlc.models.plt.weights import TreeWeights, weights_from_state
from xmlc.models.trees import LabelTree
from xmlc.models.trees.kmeans import check_kmeans_shape, kmeans_tree
from xmlc.models.trees.representations import label_representations

MOST = 1e37  # of sums that are float32, with room for rounding
NO_THRESHOLD = 1.0  # of new labels as long as no sets are predicted


@hyperparameters
class OPLT(SparseProbabilityEstimator):
    """Online probabilistic label tree (oplt2021): learns from a stream without knowing its labels in advance.

    A label tree that grows with every label that is new. Beside its classifier, a node that may be extended has an
    auxiliary one, which learned the node's positive instances; the classifiers of new nodes start as its copy or its
    inverse. So all node classifiers are at any time those that would have been trained had the tree been known from
    the beginning (Definition 1): the bits of `PLT` with ``solver="adagrad"`` on that tree.

    New features and new labels are taken as they come: `partial_fit` may be called with wider and wider matrices.

    `fit` makes use of Definition 1: first the tree grows with the stream, for which only the classifiers are learned
    that the policy asks, with "random" none; then those of the final tree are trained as in `PLT`, on all threads. What
    `partial_fit` would need to go on is never made, unless ``online`` says so; the bits are the same.

    Parameters
    ----------
    policy : {"best_greedy", "random"}
        How the node that the new labels of an instance extend is found (Algorithm 8): by descending to the child that
        fits the instance and has few leaves, or to any.
    alpha : float
        "best_greedy": between 0, fit alone, and 1, balance alone.
    balance : {"ratio", "printed"}
        "best_greedy": how it is measured for a child c of v. As ``log(|L_v| / (|Ch(v)| |L_c|))``, the difference of two
        logarithms, as the authors' program has it; or as ``log(|L_v| / |Ch(v)|) / |L_c|``, as the paper prints it: with
        many leaves that is close to 0 for all children, and the tree is hardly balanced.
    growth : {"paper", "program"}
        How the tree takes a new label. As Algorithm 8 has it; or as the authors' program (napkinXC 0.7), which makes
        chains with b > 2, see ``xmlc.models.oplt.growth``.
    arity : int
        b, children of an inner node at most.
    max_leaf : int
        b_max, children at most of a node that has leaves only; at least b. The paper has 100, and 10 for few-shot
        multi-class data.
    gamma : float or None
        AdaGrad: a weight's step is gamma / sqrt(eps + its squared derivatives so far). None: 1, as in the paper, or
        in `fit` 0.3 if P@1, cross-validated on up to 1000 training instances, is better by more than a standard error.
    eps : float
        See gamma; the paper has 0.01.
    epochs : int
        `fit`: passes over the training set; the paper has at most three.
    warm_start : float or None
        `fit`: a share of the instances on whose labels a tree of balanced 2-means is built and trained first, before
        the others extend it (OPLT-W of the paper has 0.1). Not with the program's growth.
    weight_cut : float or None
        `fit`: weights of at most this size are dropped as soon as they are trained, and the others stored sparse, as in
        `PLT`. The authors' program does so when it saves a model, with 0.1. None keeps all.
    online : bool
        `fit`: keep what `partial_fit` needs to go on, and learn in one phase, which takes several times the memory.
    unit_norm : bool
        Scale each instance to Euclidean length 1 first.
    random_state : int
        Seed of the order of the instances in `fit`, of the random policy, and of the tree of ``warm_start``.
    n_jobs : int or None
        Threads for prediction and for the second phase of `fit`, see `xmlc.core.threads.resolve_threads`; a stream
        takes one, as each instance changes what the next one meets.

    Attributes
    ----------
    labels_ : ndarray of int64
        The labels seen so far, ascending.
    tree_ : LabelTree
        The tree over them.
    tree_depths_, n_nodes_ : ndarray of int64, shape (1,)
        Depth of its deepest leaf, the root's being 0; number of its nodes, leaves included.
    thresholds_ : ndarray of float32, shape (m,)
        Thresholds of `progressive_sets`; NaN for labels not seen yet.
    n_instances_ : int
        Instances learned so far, each pass counted.
    gamma_ : float
        As given, or as chosen.

    Notes
    -----
    After `fit` a model is as large as a `PLT` of its tree. One that learns a stream takes two to three times as much: 8
    to 12 bytes for each pair of a node and a feature that reached its parent. There the children of a node share one
    row of weights for each feature, found in a hash table of the node's own, so that one look-up serves all of them;
    learning an instance takes, for each positive node, a look-up per non-zero and 24 bytes moved per non-zero and
    child. The first prediction of a batch after learning makes a copy in the form that is searched fastest, which takes
    4 bytes more for each.

    Examples
    --------
    >>> from xmlc.models import OPLT
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = OPLT().fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 2]], array([[0.91, 0.91]], dtype=float32))
    """

    domains = oplt.DOMAINS
    _changeable = ("epochs", "warm_start", "weight_cut", "online", "n_jobs")  # only `fit` uses these, except n_jobs

    policy: oplt.Policy = "best_greedy"
    alpha: float = 0.75
    balance: oplt.Balance = "ratio"
    growth: oplt.Growth = "paper"
    arity: int = 2
    max_leaf: int = 100
    gamma: float | None = None
    eps: float = 0.1
    epochs: int = 3
    warm_start: float | None = None
    weight_cut: float | None = None
    online: bool = False
    unit_norm: bool = True
    random_state: int = 0
    n_jobs: int | None = None

    _tree_only = False  # between the phases of `fit`, and for good: there is no online tree, but a PLT
    _frozen = cast("PLT | None", None)

    MODEL_FORMAT = 3
    FIELDS = (  # of one that can go on learning; others have those of a PLT
        Field("nodes", NODE, ("nodes",)),
        Field("leaves", np.int32, ("n_labels",), least=NONE, below="nodes"),
        Field("rows", np.float32, (f"{SLOT} * slots",)),
        Field("entries", np.uint64, (None,)),
        Field("free_rows", np.uint32, (64,), below="slots"),
        Field("free_tables", np.int64, (64,)),
        Field("counters", np.int64, (N_COUNTERS,)),
        Field("ofo", np.float64, (None, 2), finite=True, optional=True),
    )

    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Forget all instances and learn a training set, in an order drawn once from the seed.

        Afterwards `partial_fit` goes on only if ``online`` is set. Parameters and errors are those of
        `xmlc.models.base.SparseProbabilityEstimator.fit`.
        """
        self._check_hyperparameters()
        features = as_features(X)
        x = self._bounded(features, features.shape[0] * self.epochs)
        X, Y = self._training_data(X, Y)
        order = random_permutation(X.shape[0], self.random_state, Stream.PLT_ORDER)
        chosen = 1.0
        if self.gamma is None:
            chosen = cross_validated(lambda gamma: self.unfitted().set_params(gamma=gamma), chosen, 0.3, X, Y)
        self._start(chosen, tree_only=not self.online and Y.nnz > 0)
        if self.warm_start is not None:
            sample = order[: max(1, round(self.warm_start * order.size))]
            self._start_as_kmeans(X[sample], Y[sample])
        y = kernel_csr(Y)
        if self._tree_only:
            none = KernelCSR(np.zeros_like(x.indptr), x.indices[:0], x.data[:0])
            self._learn(none if self.policy == "random" else x, y, order, "growing the tree")
            tree, solver = label_tree_of(self._online), AdaGrad(self.gamma_, float(self.eps), int(self.epochs))
            del self._online  # before weights are trained
            training = (order, solver, self.weight_cut, self.n_jobs, Growing(self._into))
            nodes = train_nodes(x, y, self.n_features_in_, tree, *training)
            self._frozen, self._n_learned = self._as_plt(nodes), self.epochs * order.size
        else:
            for epoch in range(self.epochs):
                self._learn(x, y, order, f"pass {epoch + 1} of {self.epochs}")
        return self

    def _start(self, chosen: float = 1.0, tree_only: bool = False) -> None:
        """Begin with a root and nothing else, and with a step size where none is given."""
        self.gamma_, self._tree_only = chosen if self.gamma is None else float(self.gamma), tree_only
        self._ofo: tuple[np.ndarray, float, float] | None = None
        self._frozen = None
        self._online = planted(self._settings())
        self._begin_learning()

    def _start_as_kmeans(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Begin with a tree of balanced 2-means over the labels of some instances; one without labels is no start."""
        labels = np.unique(Y.indices)
        if labels.size > 0:
            representations = label_representations(X, Y[:, labels], self.n_jobs)
            tree = kmeans_tree(representations, self.arity, self.max_leaf, self.random_state, self.n_jobs)
            self._online = planted(self._settings(), tree.over(labels))

    def partial_fit(self, X: Matrix, Y: Matrix) -> Self:
        """Learn more instances, in the order of their rows (Algorithm 3).

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        Y : sparse or dense boolean array, shape (n, m)
            Both may have more columns than before, or fewer. A frame must have the features of the first, in their
            order; its labels may be more, behind those of the frames before.

        Raises
        ------
        XmlcError
            The data or a hyperparameter is out of range, a hyperparameter of the tree or of its training has changed
            since learning began, or `fit` has learned without ``online``.
        """
        x, y = self._stream(X, Y)
        self._learn(x, y, np.arange(x.indptr.size - 1))
        return self

    def progressive_top_k(self, X: Matrix, Y: Matrix, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Learn more instances, and rank the labels of each before it is learned: progressive validation.

        Blum, Kalai and Langford (COLT 1999); oplt2021, Section 5.2.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Best first; -1 where fewer than k labels had been seen.
        scores : ndarray of float32, shape (n, k)
            Their estimates.
        """
        check("k", k, whole(1, MANY))
        x, y = self._stream(X, Y)
        ranking, scores, _ = self._learn(x, y, np.arange(x.indptr.size - 1), k=int(k))
        return ranking, scores

    def progressive_sets(self, X: Matrix, Y: Matrix, a: float = 1.0, b: float = 20.0) -> sparse.csr_array:
        """Learn more instances, and predict the label set of each before it is learned, by thresholds that learn too.

        OFO runs simultaneously with training (plt2016, Section 4.3): after each instance the labels that it has or
        that were predicted for it get the threshold a_j / b_j, half the F-measure of the label so far; a label that
        is new begins with a / b.

        Parameters
        ----------
        X, Y
            As for `partial_fit`.
        a, b : float
            Initial a_j and b_j, 0 < a / b <= 0.5; used at the first call; later calls continue with what was learned.

        Returns
        -------
        csr_array of bool, shape (n, m)
            The sets predicted; `thresholds_` has the thresholds that stand at the end.
        """
        check("a", a, POSITIVE)
        check("b", b, Number(2 * a, LARGE), ", twice a, because the initial threshold a/b is at most 0.5")
        x, y = self._stream(X, Y)
        if self._ofo is None:
            self._ofo = (np.zeros((0, 2)), float(a), float(b))
            self._online.nodes["bound"] = np.float32(a / b)
        counted, a, b = self._ofo
        counted = np.concatenate((counted, np.tile([a, b], (self.n_labels_ - counted.shape[0], 1))))
        self._ofo = (counted, a, b)
        sums = np.ascontiguousarray(counted.T)
        *_, sets = self._learn(x, y, np.arange(x.indptr.size - 1), ofo=sums)
        self._ofo = (np.ascontiguousarray(sums.T), a, b)
        return sets

    def _selected(self) -> Hyperparameters:
        return {"gamma": self.gamma_}

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Estimate the probability of every label seen above a threshold (plt2016, Algorithm 4).

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
            Features that no learned instance had are left out.
        threshold : float or ndarray of shape (m,)
            A label is reported when its estimate is strictly greater than its threshold.

        Returns
        -------
        csr_array of float32, shape (n, m)
            The sparse probability estimates, sorted indices. ``inner_products_`` counts what they cost.
        """
        X, thresholds = self._instances(X), self._label_thresholds(threshold)
        if self.labels_.size == 0:
            self.inner_products_ = np.zeros(X.shape[0], dtype=np.int64)
            none = np.zeros(0, dtype=np.int32)
            return stack_estimates(self.inner_products_, none, none.astype(np.float32), self.n_labels_)
        plt = self._scaled_plt()
        spe = plt.predict_proba(X, thresholds)
        self.inner_products_ = plt.inner_products_
        return spe

    def predict_top_k(self, X: Matrix, k: int, label_weights: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of each instance and their estimates, best first; -1 = none.

        Parameters are those of `xmlc.models.base.SparseProbabilityEstimator.predict_top_k`.
        """
        X, k = self._instances(X), self._check_k(k)
        label_weights = None if label_weights is None else self._label_weights(label_weights)
        if self.labels_.size == 0:
            self.inner_products_ = np.zeros(X.shape[0], dtype=np.int64)
            return np.full((X.shape[0], k), -1, dtype=np.int32), np.zeros((X.shape[0], k), dtype=np.float32)
        plt = self._scaled_plt()
        ranking = plt.predict_top_k(X, k, label_weights)
        self.inner_products_ = plt.inner_products_
        return ranking

    def to_plt(self) -> PLT:
        """Return a fitted `PLT` with the tree and weights as they stand.

        Raises
        ------
        XmlcError
            No label was seen yet.
        """
        if self.labels_.size == 0:
            raise XmlcError(
                "no label was seen yet, so there is no tree; call partial_fit with instances that have some"
            )
        return copy(self._scaled_plt()).set_params(unit_norm=self.unit_norm)

    @property
    def labels_(self) -> np.ndarray:
        """The labels seen so far, ascending, int64."""
        self._check_fitted()
        leaves = self._scaled_plt().tree_.leaf if self._tree_only else self._online.leaves
        return np.flatnonzero(leaves != NONE)

    @property
    def tree_(self) -> LabelTree:
        """The tree over ``labels_``."""
        return self.to_plt().tree_

    @property
    def tree_depths_(self) -> np.ndarray:
        """Depth of the deepest leaf, int64, shape (1,); the root has depth 0, and so has a tree without labels."""
        return np.array([self.tree_.depth.max() if self.labels_.size else 0], dtype=np.int64)

    @property
    def n_nodes_(self) -> np.ndarray:
        """Number of nodes, the leaves included, int64, shape (1,)."""
        return np.array([self.tree_.n_nodes if self.labels_.size else 1], dtype=np.int64)

    @property
    def n_instances_(self) -> int:
        """Instances learned so far, each pass counted."""
        self._check_fitted()
        return self._n_learned if self._tree_only else int(self._online.counters[N_LEARNED])

    @property
    def thresholds_(self) -> np.ndarray:
        """Thresholds that OFO learned on the stream, float32, shape (m,); NaN for labels not seen yet."""
        self._check_fitted()
        if self._ofo is None:
            raise XmlcError("no thresholds were learned; call progressive_sets")
        leaves = np.full(self.n_labels_, NONE, dtype=np.int32)
        leaves[: self._online.leaves.size] = self._online.leaves
        return np.where(leaves != NONE, self._online.nodes["bound"][leaves], np.float32(np.nan))

    def _stream(self, X: Matrix, Y: Matrix) -> tuple[KernelCSR, KernelCSR]:
        """Check more of the stream, add capacity for its labels, and return it as kernels take it."""
        self._check_hyperparameters()
        if self._is_fitted() and self._tree_only:
            raise XmlcError(
                "OPLT: fit has kept nothing with which to go on learning; call fit with online=True, or partial_fit "
                "from the start"
            )
        self._go_on_learning()
        given, labels, X = X, column_names(Y), as_features(X)
        Y = as_labels(Y, "Y", X, "OPLT.partial_fit(X, Y)")
        check_same_instances(X.shape[0], Y.shape[0])
        learned = self.n_instances_ if self._is_fitted() else 0
        x, y = self._bounded(X, learned + X.shape[0]), kernel_csr(Y)
        if labels is not None:
            known: np.ndarray = getattr(self, "label_names_in_", labels)
            check_names(known[: labels.size], labels[: known.size], "label")  # those behind them are new labels
        if self._is_fitted():
            self._check_names(given)
        else:
            self._remember_names(given)
            self.n_features_in_, self.n_labels_ = 0, 0
            self._start()
        if labels is not None:
            self.label_names_in_ = known if known.size > labels.size else labels
        self.n_features_in_ = max(self.n_features_in_, X.shape[1])
        self.n_labels_ = max(self.n_labels_, Y.shape[1])
        return x, y

    def _bounded(self, X: sparse.csr_array, steps: int) -> KernelCSR:
        """Return instances to learn as kernels take them; refuse those by which a weight or a sum could overflow.

        A step moves a weight by some five times gamma at most, so that bounds are known from the number of steps before
        anything is learned, and what was learned stays.
        """
        x = self._kernel_form(X)
        largest = max(abs(float(x.data.max(initial=1))), abs(float(x.data.min(initial=1))))
        score = (self.gamma or 1.0) * steps * largest * (np.diff(x.indptr).max(initial=0) + 1)
        if not max(score, steps * largest * largest) < MOST:
            raise not_finite(self, X.data)
        return x

    def _learn(
        self, x: KernelCSR, y: KernelCSR, order: np.ndarray, title: str = "learning", **wanted: Any
    ) -> tuple[np.ndarray, np.ndarray, sparse.csr_array]:
        """Learn some rows one by one; return what `learn` predicts of each before."""
        self._frozen, tree = None, with_labels(self._online, self.n_labels_)
        self._online, ranking, scores, sets = learn(tree, x, y, order, self._settings(), title, **wanted)
        return ranking, scores, sets

    def _settings(self) -> GrowthSettings:
        threshold = NO_THRESHOLD if self._ofo is None else self._ofo[1] / self._ofo[2]
        key = np.uint64(stream_key(np.int64(self.random_state), np.int64(Stream.OPLT_POLICY)))
        return GrowthSettings(
            self.policy == "random",
            self.growth == "program",
            self._tree_only,
            float(self.alpha),
            self.balance == "printed",
            int(self.arity),
            int(self.max_leaf),
            np.float32(self.gamma_ if self.gamma is None else self.gamma),
            np.float32(self.eps),
            key,
            np.float32(threshold),
        )

    def _check_hyperparameters(self) -> None:
        super()._check_hyperparameters()
        if self.arity > self.max_leaf:
            raise InvalidParameterError(f"arity={self.arity}, max_leaf={self.max_leaf}: expected arity <= max_leaf")
        if self.growth == "program" and self.warm_start is not None:
            raise InvalidParameterError(f"growth='program' with warm_start={self.warm_start}: expected None")
        if self.warm_start is not None:
            check_kmeans_shape(self.arity, self.max_leaf)
        if self.online and self.weight_cut is not None:
            raise InvalidParameterError(
                f"online=True with weight_cut={self.weight_cut}: expected None, as all weights go on learning"
            )

    def _scaled_plt(self) -> PLT:
        """Return the tree and weights as a PLT that takes instances scaled already; it stays until more is learned."""
        if self._frozen is None:
            self._frozen = self._as_plt(frozen(self._online))
        return self._frozen.set_params(n_jobs=self.n_jobs)

    def _as_plt(self, nodes: TreeWeights) -> PLT:
        plt = PLT(solver="adagrad", gamma=self.gamma_, eps=self.eps, epochs=1, unit_norm=False)
        plt.tree_, plt.nodes_ = LabelTree.from_children(nodes.children, nodes.label), nodes
        plt.n_features_in_, plt.n_labels_ = self.n_features_in_, self.n_labels_
        return plt

    def _is_fitted(self) -> bool:
        return super()._is_fitted() and not (self._tree_only and self._frozen is None)  # as if `fit` was interrupted

    def _instances(self, X: Matrix) -> sparse.csr_array:
        """Check instances, scale them, and give them as many features as the stream had: others have no weight."""
        self._check_fitted()
        self._check_names(X)
        X = as_features(X)
        X = unit_rows(X) if self.unit_norm else X
        if X.shape[1] > self.n_features_in_:
            return X[:, : self.n_features_in_]
        return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features_in_))

    def _for_requests(self) -> Self:
        if self._is_fitted() and self.labels_.size:
            self._scaled_plt()  # once, and not by each copy
        return super()._for_requests()

    def __getstate__(self) -> dict[str, Any]:
        """Copy the tree without spare capacity; leave out the form for predictions, which is made again."""
        if not self._is_fitted() or self._tree_only:
            return vars(self)
        return vars(self) | {"_online": OnlineTree(*(array.copy() for array in trimmed(self._online))), "_frozen": None}

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        if self._tree_only:
            return self._scaled_plt()._state()[0], {"gamma": self.gamma_, "instances": self._n_learned}
        arrays, meta = trimmed(self._online)._asdict(), {"gamma": self.gamma_}
        if self._ofo is None:
            return arrays, meta
        counted, a, b = self._ofo
        return arrays | {"ofo": counted}, meta | {"a": a, "b": b}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        self.gamma_, self._tree_only = meta["gamma"], "instances" in meta
        self._begin_learning()
        self._ofo = self._frozen = None
        if self._tree_only:
            self._n_learned = int(meta["instances"])
            self._frozen = self._as_plt(weights_from_state(arrays, {}, self.n_features_in_, self.n_labels_))
            return
        self._check_arrays(arrays)
        counted = arrays.pop("ofo", None)
        if counted is not None:
            self._ofo = counted, meta["a"], meta["b"]
        self._online = OnlineTree(**arrays)
