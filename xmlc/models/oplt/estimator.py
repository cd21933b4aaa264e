"""The OPLT estimator."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.growing import Growing
from xmlc.kernels.checks import check_same_instances
from xmlc.kernels.counter_random import Stream, random_permutation, stream_key
from xmlc.kernels.csr import KernelCSR, Matrix, as_features, as_labels, kernel_csr, stack_estimates, unit_rows
from xmlc.kernels.domains import MANY, check, whole
from xmlc.kernels.estimator import Hyperparameters, InvalidParameterError, hyperparameters
from xmlc.kernels.frames import check_names, column_names
from xmlc.kernels.stored import Field
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


class OnlineModel(NamedTuple):
    """An OPLT that goes on learning: its tree as it stands."""

    tree: OnlineTree

    @property
    def labels(self) -> np.ndarray:
        """The labels seen so far, ascending, int64."""
        return np.flatnonzero(self.tree.leaves != NONE)

    @property
    def n_instances(self) -> int:
        """Instances learned so far, each pass counted."""
        return int(self.tree.counters[N_LEARNED])

    def weights(self) -> TreeWeights:
        """Return the weights in the form for predictions."""
        return frozen(self.tree)

    def stored(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Return the arrays without spare capacity, and numbers."""
        return trimmed(self.tree)._asdict(), {}

    def copied(self) -> OnlineModel:
        """Return a copy that stays as it is when this one learns more."""
        return OnlineModel(OnlineTree(*(array.copy() for array in trimmed(self.tree))))


class FinishedModel(NamedTuple):
    """An OPLT whose `fit` kept the weights that predictions need, and nothing with which to go on learning."""

    nodes: TreeWeights
    n_instances: int

    @property
    def labels(self) -> np.ndarray:
        """The labels seen, ascending, int64."""
        return np.sort(self.nodes.label[self.nodes.label != NONE]).astype(np.int64)

    def weights(self) -> TreeWeights:
        """Return the weights."""
        return self.nodes

    def stored(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Return the arrays, and numbers."""
        return self.nodes._asdict(), {"instances": self.n_instances}

    def copied(self) -> FinishedModel:
        """Return the model itself, because nothing changes it."""
        return self


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

    _model = cast("OnlineModel | FinishedModel", None)
    _plt = cast("PLT | None", None)  # as which the model predicts, until it learns more

    MODEL_FORMAT = 4
    FIELDS = (  # of an `OnlineModel`; a `FinishedModel` has those of a PLT
        Field("nodes", NODE, ("nodes",)),
        Field("leaves", np.int32, ("n_labels",), least=NONE, below="nodes"),
        Field("rows", np.float32, (f"{SLOT} * slots",)),
        Field("entries", np.uint64, (None,)),
        Field("free_rows", np.uint32, (64,), below="slots"),
        Field("free_tables", np.int64, (64,)),
        Field("counters", np.int64, (N_COUNTERS,)),
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
        y, tree_only = kernel_csr(Y), not self.online and Y.nnz > 0
        self._start(chosen)
        settings = self._settings(tree_only)
        tree = with_labels(planted(settings, self._first_tree(X, Y, order)), self.n_labels_)
        if not tree_only:
            self._model = OnlineModel(tree)
            for epoch in range(self.epochs):
                self._learn(x, y, order, f"pass {epoch + 1} of {self.epochs}")
            return self
        seen = KernelCSR(np.zeros_like(x.indptr), x.indices[:0], x.data[:0]) if self.policy == "random" else x
        tree, *_ = learn(tree, seen, y, order, settings, "growing the tree")
        shape, solver = label_tree_of(tree), AdaGrad(self.gamma_, float(self.eps), int(self.epochs))
        del tree  # before weights are trained
        training = (order, solver, self.weight_cut, self.n_jobs, Growing(self._into))
        nodes = train_nodes(x, y, self.n_features_in_, shape, *training)
        self._model = FinishedModel(nodes, self.epochs * order.size)
        return self

    def _start(self, chosen: float = 1.0) -> None:
        """Begin to learn, with a step size where none is given."""
        self.gamma_, self._plt = chosen if self.gamma is None else float(self.gamma), None
        self._begin_learning()

    def _first_tree(self, X: sparse.csr_array, Y: sparse.csr_array, order: np.ndarray) -> LabelTree | None:
        """Return a tree of balanced 2-means over the labels of ``warm_start``; None without, or if there is none."""
        sample = order[: max(1, round((self.warm_start or 0) * order.size))]
        labels = np.unique(Y[sample].indices)
        if self.warm_start is None or labels.size == 0:
            return None
        representations = label_representations(X[sample], Y[sample][:, labels], self.n_jobs)
        return kmeans_tree(representations, self.arity, self.max_leaf, self.random_state, self.n_jobs).over(labels)

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
        return self._learn(x, y, np.arange(x.indptr.size - 1), k=int(k))

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
        return self._model.labels

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
        return self._model.n_instances

    def _stream(self, X: Matrix, Y: Matrix) -> tuple[KernelCSR, KernelCSR]:
        """Check more of the stream, add capacity for its labels, and return it as kernels take it."""
        self._check_hyperparameters()
        if self._is_fitted() and isinstance(self._model, FinishedModel):
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
            self._model = OnlineModel(planted(self._settings()))
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
        self, x: KernelCSR, y: KernelCSR, order: np.ndarray, title: str = "learning", k: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Learn some rows one by one; return the k labels ranked for each before, and their estimates."""
        assert isinstance(self._model, OnlineModel), "a finished model learns no more"
        self._plt, tree = None, with_labels(self._model.tree, self.n_labels_)
        tree, ranking, scores = learn(tree, x, y, order, self._settings(), title, k)
        self._model = OnlineModel(tree)
        return ranking, scores

    def _settings(self, tree_only: bool = False) -> GrowthSettings:
        key = np.uint64(stream_key(np.int64(self.random_state), np.int64(Stream.OPLT_POLICY)))
        return GrowthSettings(
            self.policy == "random",
            self.growth == "program",
            tree_only,
            float(self.alpha),
            self.balance == "printed",
            int(self.arity),
            int(self.max_leaf),
            np.float32(self.gamma_ if self.gamma is None else self.gamma),
            np.float32(self.eps),
            key,
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
        if self._plt is None:
            self._plt = self._as_plt(self._model.weights())
        return self._plt.set_params(n_jobs=self.n_jobs)

    def _as_plt(self, nodes: TreeWeights) -> PLT:
        plt = PLT(solver="adagrad", gamma=self.gamma_, eps=self.eps, epochs=1, unit_norm=False)
        plt.tree_, plt.nodes_ = LabelTree.from_children(nodes.children, nodes.label), nodes
        plt.n_features_in_, plt.n_labels_ = self.n_features_in_, self.n_labels_
        return plt

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
        """Copy what changes when the model learns more; leave out the form for predictions, which is made again."""
        return vars(self) | ({"_model": self._model.copied(), "_plt": None} if self._is_fitted() else {})

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        arrays, meta = self._model.stored()
        return arrays, meta | {"gamma": self.gamma_}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        self.gamma_ = meta["gamma"]
        self._begin_learning()
        if "instances" in meta:
            nodes = weights_from_state(arrays, {}, self.n_features_in_, self.n_labels_)
            self._model = FinishedModel(nodes, int(meta["instances"]))
        else:
            self._check_arrays(arrays)
            self._model = OnlineModel(OnlineTree(**arrays))
