"""Parabel, an ensemble of label trees that balanced 2-means builds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.appendable import Appendable
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.kernels.counter_random import Stream, stream_key
from xmlc.kernels.csr import KernelCSR, Matrix, stack_estimates
from xmlc.kernels.domains import (
    FLAG,
    MANY,
    N_JOBS,
    NOT_NEGATIVE_OR_NONE,
    PASSES,
    POSITIVE_OR_NONE,
    SEED,
    TREES,
    WEIGHT_THRESHOLD,
    one_of,
    whole,
)
from xmlc.kernels.estimator import Hyperparameters, check_value, hyperparameters, param
from xmlc.kernels.unit_length import unit_row
from xmlc.models._averages import Histograms, Reached, average_above, average_top_k
from xmlc.models.base import SparseProbabilityEstimator, all_or_nothing
from xmlc.models.model_selection import cross_validated
from xmlc.models.plt.compact import Auto
from xmlc.models.plt.estimator import BATCH_C, PLT, Loss, SearchMethod
from xmlc.models.trees.kmeans import check_kmeans_shape, largest_leaf

LARGEST_SEED = np.uint64(2**31 - 1)  # the largest that scikit-learn accepts
# labels that a search in one tree finds for a block of instances (about 100 MB)
LABELS_PER_BLOCK = 1 << 22
ROWS_PER_MEAN = 256


# the defaults change above this number of labels with a training instance (docs/models.md)
MANY_LABELS = 1000
FOR_FEW_LABELS = {"arity": 2, "hinge_power": 2, "tol": 0.1, "weight_threshold": 0.1, "C": 1.0}
FOR_MANY_LABELS = {"arity": 16, "hinge_power": 3, "tol": 0.03, "weight_threshold": 0.05, "C": 1.0}


@hyperparameters
class Parabel(SparseProbabilityEstimator):
    """An ensemble of label trees built by balanced 2-means (Prabhu et al., "Parabel", WWW 2018).

    Each member is a `PLT` over a tree that hierarchical balanced 2-means builds from other random
    centroids. Its node classifiers are trained by dual coordinate descent on an L2-regularised
    loss, and weights near 0 are dropped. As in the authors' program and omikuji, the score of a
    label is the mean of its estimates over the trees, which is 0 for a tree whose beam search does
    not find the label.

    Parameters
    ----------
    n_trees : int
        Number of trees, 3 in Parabel. The first trees do not depend on it.
    arity : int or None
        Degree of the trees, a power of two.
    max_leaf : int or None
        Largest group of labels that is not split further, so that they become the children of one
        node, 100 in Parabel. None is as in `PLT`.
    loss : {"squared_hinge", "logistic"}
        The squared hinge loss of Parabel ranks labels by scores between 0 and 1. Only those of the
        logistic loss estimate probabilities. `xmlc.thresholds.IsotonicCalibration` calibrates
        either.
    hinge_power : int or None
        Power p in the score exp(-max(0, 1 - s)**p) of a node with the linear score s, for the
        squared hinge loss. A higher power raises the scores of nodes near their margin, which
        improves lower ranks.
    C : float or None
        Weight of the loss, relative to half the squared length of a node's weights, 1 in Parabel.
        None is 1, or 0.3 if that raises the cross-validated P@1 of one tree on up to 4,000 training
        instances. For the logistic loss, it is 3 or 10, as in `PLT`.
    tol : float or None
        Training of a node stops after a pass in which no dual variable moves by more than tol * C.
    epochs : int
        Maximum number of passes over the training instances of a node.
    weight_threshold : "auto", float or None
        Weights of at most this magnitude are dropped after training. None keeps all.
    beam : int or None
        Number of inner nodes that the search expands on each level, None for all.
    unit_norm : bool
        Scale each instance to Euclidean length 1.
    random_state : int
        Seed of the trees and of the order in which instances are visited.
    n_jobs : int or None
        Number of threads (`xmlc.core.threads.resolve_threads`), without effect on the result.

    Attributes
    ----------
    trees_ : list of PLT
    C_, arity_, hinge_power_, tol_, weight_threshold_
        The given or selected values of the hyperparameters.
    inner_products_ : ndarray of int64, shape (n,)
        Number of node classifiers of all trees that the last prediction evaluated per instance.

    See Also
    --------
    xmlc.models.PLT : One tree, whose estimates are probabilities.

    Notes
    -----
    None, or "auto" for the threshold, selects values by the number of labels with a training
    instance (docs/models/parabel.md).

    Unlike in the authors' program, the root has a classifier, too, for which an instance without
    labels is negative (see `PLT`). It multiplies all scores of an instance, so it does not change
    the ranking of one tree.

    Examples
    --------
    >>> from xmlc.models import Parabel
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = Parabel().fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 2]], array([[0.96, 0.96]], dtype=float32))
    """

    MODEL_FORMAT = 2

    calibrated = False

    n_trees: int = param(whole(1, TREES), default=3)
    arity: int | None = param(whole(2, MANY, none=True), default=None)
    max_leaf: int | None = param(whole(1, MANY, none=True), default=None)
    loss: Loss = param(one_of(Loss), default="squared_hinge")
    hinge_power: int | None = param(whole(1, 4, none=True), default=None)
    C: float | None = param(POSITIVE_OR_NONE, default=None)
    tol: float | None = param(NOT_NEGATIVE_OR_NONE, default=None)
    epochs: int = param(whole(1, PASSES), default=20)
    weight_threshold: float | Auto | None = param(WEIGHT_THRESHOLD, default="auto")
    beam: int | None = param(whole(1, MANY, none=True), default=10)
    unit_norm: bool = param(FLAG, default=True)
    random_state: int = param(SEED, default=0)
    n_jobs: int | None = param(N_JOBS, default=None)

    @all_or_nothing
    def fit(self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None) -> Self:
        """Train one tree after another, weighting instances as in `PLT.fit` with solver "batch".

        See `xmlc.models.base.SparseProbabilityEstimator.fit` for parameters and errors.
        """
        data = self._weighted_data(X, Y, sample_weight)
        self._select(usual_hyperparameters(np.unique(data[1].indices).size))
        if self.C is None:
            single = self.unfitted().set_params(**self._selected() | {"n_trees": 1})
            usual, other = BATCH_C[self.loss]
            self.C_ = cross_validated(
                lambda C: single.unfitted().set_params(C=C), usual, other, *data
            )
        self.trees_ = [
            self._tree(t)._train(*data, Appendable(self._into, f"_{t}"), self._title("training", t))
            for t in range(self.n_trees)
        ]
        return self

    def check_together(self) -> None:
        """Raise an InvalidParameterError if the trees cannot have the given shape."""
        check_kmeans_shape(self.arity or 2, self.max_leaf)

    def _select(self, usual: Mapping[str, object]) -> None:
        for name, value in usual.items():
            given = getattr(self, name)
            leaves_open = given == "auto" or (given is None and name != "weight_threshold")
            setattr(self, f"{name}_", value if leaves_open else given)

    def _selected(self) -> Hyperparameters:
        return {name: getattr(self, f"{name}_") for name in FOR_FEW_LABELS}

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the scores above a threshold of all labels that the beam searches find.

        They estimate probabilities only with the logistic loss. See
        `xmlc.models.base.SparseProbabilityEstimator.predict_proba` for parameters and result.
        """
        thresholds = self._label_thresholds(threshold)
        counts, labels, scores = self._average(
            self._instances(X), average_above, (thresholds,), None
        )
        return stack_estimates(counts, labels.view(np.int32), scores, self.n_labels_)

    def predict_top_k(
        self, X: Matrix, k: int, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k labels with the largest scores for each instance.

        A score is the mean estimate over the trees, times the label weight if given. Weights change
        a beam only in one way: nodes without a label of positive weight are left out. A row ends
        with -1 if the beam searches find fewer than k labels.

        See `xmlc.models.base.SparseProbabilityEstimator.predict_top_k` for parameters and result.
        """
        k = self._check_k(k)
        weights = self._label_weights(label_weights)
        given = (self.n_labels_, k, weights)
        labels, scores = self._average(
            self._instances(X), average_top_k, given, thresholds_for(weights)
        )
        return labels, scores

    def _rank_row(
        self, x: KernelCSR, k: int, label_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.unit_norm:
            x = unit_row(x)
        thresholds = thresholds_for(label_weights)
        found = [tree._beam_estimates(x, "", thresholds)[:3] for tree in self.trees_]
        labels, scores = average_top_k(*as_leaves(found), 0, 1, self.n_labels_, k, label_weights)
        return labels, scores

    def _title(self, doing: str, t: int) -> str:
        return f"{doing} tree {t + 1} of {self.n_trees}"

    def _tree(self, t: int) -> PLT:
        key = np.uint64(stream_key(np.int64(self.random_state), np.int64(Stream.PARABEL_TREE + t)))
        own = self._selected() | {"random_state": int(key & LARGEST_SEED), "beam": self.beam or 10}
        given: Any = {name: value for name, value in self.get_params().items() if name != "n_trees"}
        search: SearchMethod = "beam"
        if self.beam is None:
            search = "exact"
        return PLT(tree="kmeans", solver="batch", search=search, **given | own)

    def _average(
        self,
        X: sparse.csr_array,
        average: Callable[..., Any],
        given: tuple[Any, ...],
        thresholds: np.ndarray | None,
    ) -> tuple[np.ndarray, ...]:
        """Search all trees for blocks of instances, and join a kernel's results on the labels.

        ``thresholds`` is as for `PLT._beam_estimates`.
        """
        reached = self.n_labels_
        if self.beam is not None:
            arity = self.trees_[0].arity_
            reached = min(reached, int(self.beam) * max(arity, largest_leaf(arity, self.max_leaf)))
        inner_products = np.zeros(X.shape[0], dtype=np.int64)
        trees = [tree._for_requests(n_jobs=self.n_jobs) for tree in self.trees_]
        results: list[Any] = []
        # one empty block determines the dtypes of the result if there are no instances
        for first, last in row_blocks(X.shape[0], max(LABELS_PER_BLOCK // max(reached, 1), 1)) or [
            (0, 0)
        ]:
            x = self._kernel_form(X[first:last])
            found = []
            for t, tree in enumerate(trees):
                *leaves, products = tree._beam_estimates(x, self._title("searching", t), thresholds)
                found.append(leaves)
                inner_products[first:last] += products
            forest = as_leaves(found)
            tasks = [
                (*forest, *block, *given)
                for block in row_blocks(last - first, ROWS_PER_MEAN) or [(0, 0)]
            ]
            results += run_tasks(average, tasks, self.n_jobs)
        self.inner_products_ = inner_products
        return tuple(np.concatenate(part) for part in zip(*results))

    def _state(self) -> tuple[dict[str, np.ndarray], Hyperparameters]:
        arrays: dict[str, np.ndarray] = {}
        for t, tree in enumerate(self.trees_):
            own, _ = tree._state()
            arrays |= {f"{name}_{t}": array for name, array in own.items()}
        return arrays, self._selected()

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        # Models of older versions store only the selected C.
        for name, value in meta.items():
            check_value(type(self), name, value)
        self._select({name: getattr(self, name) for name in FOR_FEW_LABELS} | meta)
        self.trees_ = []
        for t in range(self.n_trees):
            tree = self._tree(t)
            ending = f"_{t}"
            tree.n_features_in_ = self.n_features_in_
            tree.n_labels_ = self.n_labels_
            own = {
                name.removesuffix(ending): array
                for name, array in arrays.items()
                if name.endswith(ending)
            }
            tree._restore(own, {})
            self.trees_.append(tree)


def thresholds_for(label_weights: np.ndarray) -> np.ndarray | None:
    """Return thresholds that no label of weight 0 exceeds, or None if labels have no weights."""
    if label_weights.size:
        return np.where(label_weights > 0, np.float32(0), np.float32(np.inf))
    return None


def as_leaves(found: Sequence[Sequence[np.ndarray]]) -> tuple[Histograms, Reached]:
    """Return the estimates of label trees as a forest with one leaf per tree for each instance.

    ``found`` has for each tree the number of labels of each instance, int64 (n,), then the labels,
    int32, and the estimates, float32, of one instance after another.
    """
    counts, labels, estimates = (np.concatenate(part) for part in zip(*found, strict=True))
    leaves = np.arange(counts.size, dtype=np.int32)
    n = counts.size // len(found)
    starts = np.arange(n + 1) + n * np.arange(len(found))[:, None]
    ends = np.zeros(counts.size + 1, dtype=np.int64)
    np.cumsum(counts, out=ends[1:])
    histograms = Histograms(
        ends, labels.view(np.uint32), estimates, np.ones(counts.size, dtype=np.int64), False
    )
    return histograms, Reached(starts, leaves)


def usual_hyperparameters(n_labels: float) -> Mapping[str, object]:
    """Return the default hyperparameters for ``n_labels`` labels."""
    return FOR_MANY_LABELS if n_labels > MANY_LABELS else FOR_FEW_LABELS
