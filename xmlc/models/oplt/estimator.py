"""The OPLT estimator: learning from a stream, prediction and storage."""

from __future__ import annotations

from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.appendable import Appendable
from xmlc.core.errors import InvalidParameterError, XmlcError
from xmlc.core.progress import Progress
from xmlc.kernels.checks import check_same_instances
from xmlc.kernels.counter_random import Stream, random_permutation, stream_key
from xmlc.kernels.csr import KernelCSR, Matrix, as_features, as_labels, kernel_csr, stack_estimates
from xmlc.kernels.domains import (
    FLAG,
    MANY,
    N_JOBS,
    PASSES,
    POSITIVE,
    POSITIVE_OR_NONE,
    POSITIVE_SHARE_OR_NONE,
    SEED,
    SHARE,
    WEIGHT_THRESHOLD,
    check,
    one_of,
    whole,
)
from xmlc.kernels.estimator import (
    Hyperparameters,
    check_hyperparameters,
    check_value,
    hyperparameters,
    param,
)
from xmlc.kernels.frames import check_names, column_names
from xmlc.kernels.unit_length import unit_row, unit_rows
from xmlc.models.base import SparseProbabilityEstimator, all_or_nothing
from xmlc.models.model_selection import cross_validated
from xmlc.models.oplt.final_tree import final_tree
from xmlc.models.oplt.growth import initial_tree
from xmlc.models.oplt.learning import learn_rows, may_overflow
from xmlc.models.oplt.prediction import frozen
from xmlc.models.oplt.stored import STORED, check_tree
from xmlc.models.oplt.tree import (
    N_LEARNED,
    NONE,
    GrowthSettings,
    OnlineTree,
    grown,
    trimmed_tree,
    with_labels,
)
from xmlc.models.plt.compact import Auto, threshold_of
from xmlc.models.plt.estimator import PLT
from xmlc.models.plt.solvers import AdaGrad
from xmlc.models.plt.training import train_nodes
from xmlc.models.plt.weights import TreeWeights, weights_from_state
from xmlc.models.restoring import not_finite
from xmlc.models.trees import LabelTree
from xmlc.models.trees.kmeans import check_kmeans_shape, kmeans_tree
from xmlc.models.trees.representations import label_representations

INSTANCES_PER_CALL = 8192  # instances between updates of the progress display

Policy = Literal["best_greedy", "random"]
Balance = Literal["ratio", "printed"]
Growth = Literal["paper", "program"]


@hyperparameters
class OPLT(SparseProbabilityEstimator):
    """A probabilistic label tree that grows with a stream of instances (oplt2021).

    The labels need not be known in advance. A node that a later label may extend has an auxiliary
    classifier, trained on its positive instances, and new nodes start with its copy or inverse. At
    any time, all classifiers are therefore the same, to the last bit, as in a `PLT` with
    ``solver="adagrad"`` and the current tree (Definition 1). So `fit` first finds the final tree
    and then trains its classifiers on all threads, unless ``online`` is set, which gives the same
    weights.

    Parameters
    ----------
    policy : {"best_greedy", "random"}
        How Algorithm 8 finds the node that an instance's new labels extend: "best_greedy" descends
        to the child that fits the instance and has few leaves, "random" to a random one.
    alpha : float
        Weight of the balance in the score of "best_greedy", from 0 (only the fit counts) to 1.
    balance : {"ratio", "printed"}
        The balance of a child c of node v: ``log(|L_v| / (|Ch(v)| |L_c|))`` for "ratio", as in the
        authors' program, or ``log(|L_v| / |Ch(v)|) / |L_c|`` for "printed", as in the paper, which
        hardly balances the tree because it is near 0 for all children with many leaves.
    growth : {"paper", "program"}
        How a new label extends the tree: by Algorithm 8, or as in the authors' program (napkinXC
        0.7), which makes chains of nodes if b > 2.
    arity : int
        Largest number b of children of an inner node.
    max_leaf : int
        Largest number b_max >= b of children of a node whose children are all leaves: 100 in the
        paper, but 10 for few-shot multi-class data.
    gamma : float or None
        A weight's AdaGrad step is gamma / sqrt(eps + the sum of its squared derivatives so far).
        None is 1, as in the paper, unless 0.3 improves the P@1 of a cross-validation by `fit` on up
        to 4,000 training instances.
    eps : float
        The constant in the step size, 0.01 in the paper.
    epochs : int
        Number of passes of `fit`, at most three in the paper.
    warm_start : float or None
        Share of the instances from whose labels `fit` builds the first tree by balanced 2-means,
        0.1 in OPLT-W of the paper (Section 5.1). All passes over these instances come before the
        others, whose new labels extend the tree. Not for ``growth="program"``.
    first_max_leaf : int or None
        ``max_leaf`` of the first tree if that differs. The authors' script for OPLT-W uses 50.
    weight_threshold : "auto", float or None
        `fit` drops weights w with abs(w) <= weight_threshold, as in `PLT`. The program has 0.1.
    online : bool
        Whether `partial_fit` can continue after `fit`. Such a model takes several times as much
        memory and keeps all weights: ``weight_threshold`` must be "auto" or None.
    unit_norm : bool
        Scale instances to length 1.
    random_state : int
        Seed of the order of the instances in `fit`, the random policy and the first tree.
    n_jobs : int or None
        Number of threads for `fit` and prediction. A stream is learned on one.

    Attributes
    ----------
    labels_ : ndarray of int64
        Labels of the instances learned so far, ascending.
    tree_ : LabelTree
        Tree over these labels.
    tree_depths_, n_nodes_ : ndarray of int64, shape (1,)
        Depth of the deepest leaf, and number of nodes, leaves included.
    n_instances_ : int
        Instances learned so far, counted in each pass of `fit`.
    gamma_, weight_threshold_ : float, float or None
        Given or selected values of the hyperparameters.

    See Also
    --------
    PLT : The tree if all labels are known.

    Examples
    --------
    >>> from xmlc.models import OPLT
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = OPLT().fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 2]], array([[0.91, 0.91]], dtype=float32))
    >>> stream = OPLT().partial_fit(X[:3], Y[:3])
    >>> stream.progressive_top_k(X[3:], Y[3:])[0].tolist()
    [[1], [0], [1]]
    >>> stream.to_plt().predict_top_k([[1, 0]], k=2)[0].tolist()
    [[0, 2]]
    """

    # may change between calls of `partial_fit`, which does not use them
    _changeable = ("epochs", "warm_start", "first_max_leaf", "weight_threshold", "online", "n_jobs")

    policy: Policy = param(one_of(Policy), default="best_greedy")
    alpha: float = param(SHARE, default=0.75)
    balance: Balance = param(one_of(Balance), default="ratio")
    growth: Growth = param(one_of(Growth), default="paper")
    arity: int = param(whole(2, MANY), default=2)
    max_leaf: int = param(whole(2, MANY), default=100)
    gamma: float | None = param(POSITIVE_OR_NONE, default=None)
    eps: float = param(POSITIVE, default=0.1)
    epochs: int = param(whole(1, PASSES), default=3)
    warm_start: float | None = param(POSITIVE_SHARE_OR_NONE, default=None)
    first_max_leaf: int | None = param(whole(2, MANY, none=True), default=None)
    weight_threshold: float | Auto | None = param(WEIGHT_THRESHOLD, default="auto")
    online: bool = param(FLAG, default=False)
    unit_norm: bool = param(FLAG, default=True)
    random_state: int = param(SEED, default=0)
    n_jobs: int | None = param(N_JOBS, default=None)

    # A model that cannot learn more has only the PLT. In others, it is a copy for predictions.
    _model = cast("OnlineTree | None", None)
    _plt = cast("PLT | None", None)
    n_instances_ = 0

    MODEL_FORMAT = 4
    FIELDS = STORED

    @all_or_nothing
    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Forget all instances, and learn a training set in the same random order in all passes.

        See `xmlc.models.base.SparseProbabilityEstimator.fit` for parameters and errors.
        """
        X, Y = self._training_data(X, Y)
        x = self._bounded(X, X.shape[0] * self.epochs)
        order = random_permutation(X.shape[0], self.random_state, Stream.PLT_ORDER)
        chosen = 1.0
        if self.gamma is None:
            chosen = cross_validated(
                lambda gamma: self.unfitted().set_params(gamma=gamma), chosen, 0.3, X, Y
            )
        y = kernel_csr(Y)
        self._start(chosen)
        settings = self._settings()
        n_first = 0
        if self.warm_start is not None:
            n_first = max(1, round(self.warm_start * order.size))
        first = order[:n_first]
        rest = order[n_first:]
        given = self._first_tree(X[first], Y[first])
        if self.online or Y.nnz == 0:
            self._model = with_labels(initial_tree(settings, given), self.n_labels_)
            for part in (first, rest):
                if part.size > 0:
                    for epoch in range(self.epochs):
                        self._learn(x, y, part, f"pass {epoch + 1} of {self.epochs}")
            return self
        first_passes = np.tile(first, self.epochs)
        stream = np.concatenate([first_passes, rest])
        tree = final_tree(x, y, self.n_features_in_, stream, settings, given, self.n_jobs)
        visits = order
        solver = AdaGrad(self.gamma_, float(self.eps), int(self.epochs))
        # a single pass over a list that has each instance several times
        if first.size > 0 and rest.size > 0:
            visits = np.concatenate([first_passes, np.tile(rest, self.epochs)])
            solver = solver._replace(epochs=1)
        threshold = threshold_of(self.weight_threshold, self.unit_norm)
        training = (visits, solver, threshold, self.n_jobs, Appendable(self._into))
        nodes, self.weight_threshold_ = train_nodes(x, y, self.n_features_in_, tree, *training)
        self._plt = self._plt_of(nodes, tree)
        self.n_instances_ = self.epochs * order.size
        return self

    def _start(self, chosen: float = 1.0) -> None:
        self.gamma_ = float(self.gamma or chosen)
        self.weight_threshold_ = None
        self.n_instances_ = 0
        self._model = None
        self._plt = None
        self._begin_learning()

    def _first_tree(self, X: sparse.csr_array, Y: sparse.csr_array) -> LabelTree | None:
        labels = np.unique(Y.indices)
        if labels.size == 0:
            return None
        max_leaf = self.first_max_leaf or self.max_leaf
        representations = label_representations(X, Y[:, labels], self.n_jobs)
        return kmeans_tree(
            representations, self.arity, max_leaf, self.random_state, self.n_jobs
        ).over(labels)

    def partial_fit(self, X: Matrix, Y: Matrix) -> Self:
        """Learn further instances in the order of the rows of X (oplt2021, Algorithm 3).

        X and Y may have more or fewer columns than before.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
            Instances. A data frame must have the columns of the first one, in the same order.
        Y : sparse or dense boolean array, shape (n, m)
            Label sets. In a data frame, columns of new labels follow the columns of earlier labels.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            A value in the data or a hyperparameter is out of range, `fit` has learned without
            ``online``, or a hyperparameter of the tree or its training has changed since learning
            began.

        See Also
        --------
        fit, progressive_top_k
        """
        self._learn_stream(X, Y)
        return self

    def progressive_top_k(self, X: Matrix, Y: Matrix, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Rank the k best labels of each instance before learning it, for progressive validation.

        See Blum, Kalai and Langford (COLT 1999) and Section 5.2 of oplt2021.

        Parameters
        ----------
        X, Y
            As for `partial_fit`.
        k : int

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Labels, best first, then -1 if fewer than k have been seen.
        scores : ndarray of float32, shape (n, k)

        Raises
        ------
        XmlcError
            As for `partial_fit`.

        See Also
        --------
        partial_fit
        """
        check("k", k, whole(1, MANY))
        return self._learn_stream(X, Y, int(k))

    def _selected(self) -> Hyperparameters:
        return {"gamma": self.gamma_, "weight_threshold": self.weight_threshold_}

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates above a threshold for the labels seen so far (plt2016, Algorithm 4).

        Features that no learned instance had are ignored. The rest is documented in
        `xmlc.models.base.SparseProbabilityEstimator.predict_proba`.
        """
        X = self._instances(X)
        thresholds = self._label_thresholds(threshold)
        if self.labels_.size == 0:
            self.inner_products_ = np.zeros(X.shape[0], dtype=np.int64)
            none = np.zeros(0, dtype=np.float32)
            return stack_estimates(
                self.inner_products_, none.astype(np.int32), none, self.n_labels_
            )
        plt = self._scaled_plt()
        spe = plt.predict_proba(X, thresholds)
        self.inner_products_ = plt.inner_products_
        return spe

    def predict_top_k(
        self, X: Matrix, k: int, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most probable labels of each instance, best first, and their estimates.

        The rest is documented in `xmlc.models.base.SparseProbabilityEstimator.predict_top_k`.
        """
        if self.labels_.size == 0:
            return super().predict_top_k(X, k, label_weights)
        X = self._instances(X)
        plt = self._scaled_plt()
        ranking = plt.predict_top_k(X, self._check_k(k), label_weights)
        self.inner_products_ = plt.inner_products_
        return ranking

    def _rank_row(
        self, x: KernelCSR, k: int, label_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self._plt is None and self.labels_.size == 0:
            return super()._rank_row(x, k, label_weights)
        if self.unit_norm:
            x = unit_row(x)
        return self._kept_plt()._rank_row(x, k, label_weights)

    def to_plt(self) -> PLT:
        """Return a fitted `PLT` with the current tree and weights.

        Returns
        -------
        PLT

        Raises
        ------
        XmlcError
            None of the instances learned so far has a label.

        See Also
        --------
        PLT
        """
        if self.labels_.size == 0:
            raise XmlcError(
                "OPLT: found no label in the instances so far. Call partial_fit with labels."
            )
        plt = self._scaled_plt().set_params(unit_norm=self.unit_norm)
        for name in ("all_labelled_", "label_counts_", "n_counted_"):
            setattr(plt, name, getattr(self, name))
        return plt

    @property
    def labels_(self) -> np.ndarray:
        """Labels learned so far, ascending."""
        self._check_fitted()
        if self._model is not None:
            return np.flatnonzero(self._model.leaves != NONE)
        return np.flatnonzero(self._kept_plt().tree_.leaf != NONE)

    @property
    def tree_(self) -> LabelTree:
        """Tree over ``labels_``."""
        return self.to_plt().tree_

    @property
    def tree_depths_(self) -> np.ndarray:
        """Depth of the deepest leaf, or 0 without labels."""
        depth = 0
        if self.labels_.size > 0:
            depth = self.tree_.depth.max()
        return np.array([depth], dtype=np.int64)

    @property
    def n_nodes_(self) -> np.ndarray:
        """Number of nodes, leaves included."""
        n_nodes = 1
        if self.labels_.size > 0:
            n_nodes = self.tree_.n_nodes
        return np.array([n_nodes], dtype=np.int64)

    def _learn_stream(self, X: Matrix, Y: Matrix, k: int = 0) -> tuple[np.ndarray, np.ndarray]:
        check_hyperparameters(self)
        self.check_together()
        has_begun = self._is_fitted()
        if has_begun and self._model is None:
            raise XmlcError(
                "OPLT: a model that fit trained without online=True cannot learn more. "
                "Call fit with online=True, or use partial_fit from the start."
            )
        self._go_on_learning()
        given = X
        labels = column_names(Y)
        X = as_features(X)
        Y = as_labels(Y, "Y", X, "OPLT.partial_fit(X, Y)")
        check_same_instances(X.shape[0], Y.shape[0])
        n_learned = self.n_instances_
        x = self._bounded(X, n_learned + X.shape[0])
        if labels is not None:
            known: np.ndarray = getattr(self, "label_names_in_", labels)
            # further names belong to new labels
            check_names(known[: labels.size], labels[: known.size], "label")
        if has_begun:
            self._check_names(given)
        else:
            self._remember_names(given)
            self.n_features_in_ = 0
            self.n_labels_ = 0
            self._start()
            self._model = initial_tree(self._settings())
        if labels is not None:
            self.label_names_in_ = max(known, labels, key=len)
        self.n_features_in_ = max(self.n_features_in_, X.shape[1])
        self.n_labels_ = max(self.n_labels_, Y.shape[1])
        self._note_labels(Y, more=n_learned > 0)
        return self._learn(x, kernel_csr(Y), np.arange(X.shape[0]), k=k)

    def _bounded(self, X: sparse.csr_array, steps: int) -> KernelCSR:
        """Return arrays for the kernels, or raise an error if a sum could overflow."""
        x = self._kernel_form(X)
        if may_overflow(x, self.gamma or 1.0, steps):
            raise not_finite(self, X)
        return x

    def _learn(
        self, x: KernelCSR, y: KernelCSR, order: np.ndarray, title: str = "learning", k: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Learn the rows ``order`` one by one, and return the k best labels and estimates before.

        After an interruption, the model has learned the first rows and can learn more.
        """
        assert self._model is not None, "a model without an online tree cannot learn more instances"
        self._plt = None
        self._model = with_labels(self._model, self.n_labels_)
        settings = self._settings()
        longest = int(np.diff(x.indptr).max(initial=0))
        ranking = np.empty((order.size, k), dtype=np.int32)
        scores = np.empty((order.size, k), dtype=np.float32)
        n_learned = 0
        with Progress(float(order.size), title, "instances") as progress:
            while n_learned < order.size:
                start = n_learned
                part = order[: start + INSTANCES_PER_CALL]
                n_learned = learn_rows(
                    x, y, part, start, self._model, settings, longest, ranking, scores
                )
                self._model = grown(self._model)
                self.n_instances_ = int(self._model.counters[N_LEARNED])
                progress.update(n_learned - start)
        return ranking, scores

    def _settings(self) -> GrowthSettings:
        return GrowthSettings(
            random=self.policy == "random",
            program=self.growth == "program",
            alpha=float(self.alpha),
            printed=self.balance == "printed",
            arity=int(self.arity),
            max_leaf=int(self.max_leaf),
            rate=np.float32(self.gamma or self.gamma_),
            eps=np.float32(self.eps),
            key=np.uint64(stream_key(np.int64(self.random_state), np.int64(Stream.OPLT_POLICY))),
        )

    def check_together(self) -> None:
        """Raise an InvalidParameterError if hyperparameters contradict one another."""
        found = ""
        if self.arity > self.max_leaf:
            found = f"arity={self.arity}, max_leaf={self.max_leaf}, expected arity <= max_leaf"
        elif self.growth == "program" and self.warm_start is not None:
            found = f"growth='program', warm_start={self.warm_start}, expected warm_start=None"
        elif self.first_max_leaf is not None and self.warm_start is None:
            found = f"first_max_leaf={self.first_max_leaf}, warm_start=None, expected a warm_start"
        elif self.online and self.weight_threshold not in (None, "auto"):
            threshold = f"weight_threshold={self.weight_threshold}"
            found = f"{threshold} with online=True, expected weight_threshold='auto' or None"
        if found:
            raise InvalidParameterError(f"found {found}")
        if self.warm_start is not None:
            check_kmeans_shape(self.arity, self.first_max_leaf or self.max_leaf)

    def _scaled_plt(self) -> PLT:
        """Return a copy of `_kept_plt` for instances that are already scaled."""
        return self._kept_plt()._for_requests(n_jobs=self.n_jobs)

    def _kept_plt(self) -> PLT:
        """Return the current `PLT`, cached until the model learns more."""
        plt = self._plt
        if plt is None:
            assert self._model is not None
            nodes = frozen(self._model)
            plt = self._plt_of(nodes, LabelTree.from_children(nodes.children, nodes.label))
            # only when complete, because other threads may use it at once
            self._plt = plt
        return plt

    def _plt_of(self, nodes: TreeWeights, tree: LabelTree) -> PLT:
        plt = PLT(
            solver="adagrad",
            gamma=self.gamma_,
            eps=self.eps,
            epochs=1,
            weight_threshold=self.weight_threshold_,
            unit_norm=False,
        )
        plt.tree_ = tree
        plt.nodes_ = nodes
        plt.n_features_in_ = self.n_features_in_
        plt.n_labels_ = self.n_labels_
        return plt

    def _instances(self, X: Matrix) -> sparse.csr_array:
        """Check and scale instances without features beyond ``n_features_in_``."""
        self._check_fitted()
        self._check_names(X)
        X = as_features(X)
        if self.unit_norm:
            X = unit_rows(X)
        if X.shape[1] > self.n_features_in_:
            return X[:, : self.n_features_in_]
        return sparse.csr_array(
            (X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features_in_)
        )

    def _for_requests(self, **params: Any) -> Self:
        if self._is_fitted() and self.labels_.size:
            self._kept_plt()  # built once, before the estimator is copied
        return super()._for_requests(**params)

    def __getstate__(self) -> dict[str, Any]:
        """Copy all arrays that learning changes, and omit a PLT that can be rebuilt."""
        state = vars(self).copy()
        if self._model is not None:
            state["_model"] = OnlineTree(*(array.copy() for array in trimmed_tree(self._model)))
            state["_plt"] = None
        return state

    def _state(self) -> tuple[dict[str, np.ndarray], Hyperparameters]:
        if self._model is not None:
            return trimmed_tree(self._model)._asdict(), self._selected()
        meta = {"instances": self.n_instances_} | self._selected()
        return self._kept_plt().nodes_._asdict(), meta

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        self.gamma_ = float(meta["gamma"])
        # a model of an earlier version has only the given threshold
        self.weight_threshold_ = meta.get("weight_threshold", self.weight_threshold)
        for name, value in self._selected().items():
            check_value(type(self), name, value)
        self._begin_learning()
        if "instances" in meta:
            self._plt = self._plt_of(
                *weights_from_state(arrays, {}, self.n_features_in_, self.n_labels_)
            )
            self.n_instances_ = int(meta["instances"])
        else:
            self._check_arrays(arrays)
            self._model = OnlineTree(**arrays)
            check_tree(self._model, self.n_features_in_, self.growth == "program")
            self.n_instances_ = int(self._model.counters[N_LEARNED])
