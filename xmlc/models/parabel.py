"""The Parabel estimator: an ensemble of probabilistic label trees over balanced 2-means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.growing import Growing
from xmlc.core.parallel import row_blocks, run_pieces
from xmlc.kernels.counter_random import Stream, stream_key
from xmlc.kernels.csr import Matrix, stack_estimates
from xmlc.kernels.estimator import Hyperparameters, hyperparameters
from xmlc.models._averages import Histograms, Reached, average_above, average_top_k
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.choosing import cross_validated
from xmlc.models.domains import parabel, plt
from xmlc.models.plt import PLT
from xmlc.models.trees.kmeans import largest_leaf

LARGEST_SEED = np.uint64(2**31 - 1)  # what scikit-learn takes for a seed
LABELS_PER_BLOCK = 1 << 22  # labels that one tree may find in a block of instances: some 100 MB while it searches
ROWS_PER_MEAN = 256


@hyperparameters
class Parabel(SparseProbabilityEstimator):
    """Ensemble of label trees over balanced 2-means (Prabhu et al., "Parabel", WWW 2018).

    Each tree is a `PLT` over hierarchical balanced 2-means of the labels' instances, from its own random centroids;
    its nodes minimise an L2-regularised loss by dual coordinate descent, and weights near 0 are dropped. A tree is
    searched by beam, and the score of a label is the mean over the trees of its estimates; a tree in whose beam it is
    not gives it 0. So do the authors' program and omikuji.

    Parameters
    ----------
    n_trees : int
        Size of the ensemble; Parabel has 3. Tree t does not depend on how many there are.
    arity : int or None
        Degree of the trees, a power of two. None: 2, as Parabel has, up to 1,000 labels that have an instance, and 16
        with more, where trees are flatter, trained sooner and better.
    max_leaf : int or None
        A node with at most this many labels has them as its children; Parabel has 100. None: see `PLT`.
    loss : {"squared_hinge", "logistic"}
        With the squared hinge loss of Parabel a node's score is exp(-max(0, 1 - s)**p) of its linear score s; scores
        of labels lie between 0 and 1 and rank them, but are no estimates of probabilities. With the logistic loss they
        are; `xmlc.thresholds.IsotonicCalibration` makes some of either.
    hinge_power : int or None
        "squared_hinge": p. None: 2, as in Parabel, up to 1,000 labels, and 3 with more, which trusts a node near its
        margin more and helps lower ranks.
    C : float or None
        Weight of the loss against half the squared length of a node's weights, 1 in Parabel. None: 1, or 0.3 if P@1 of
        one tree, cross-validated on up to 1000 training instances, is better by more than a standard error.
    tol : float or None
        A node stops when none of its dual variables moved by more than this, times C, in a pass. None: 0.1 up to 1,000
        labels, and 0.03 with more.
    epochs : int
        Passes over a node's instances, at most.
    weight_cut : "auto", float or None
        Weights of at most this size are dropped as soon as they are trained. "auto": 0.1, as in Parabel, up to 1,000
        labels, and 0.05 with more. None keeps all.
    beam : int or None
        Inner nodes of a level that are expanded. None expands all.
    unit_norm : bool
        Scale each instance to Euclidean length 1 first.
    random_state : int
        Seed of the 2-means trees, and of the order of training; each tree has its own numbers.
    n_jobs : int or None
        Threads; the result is the same bits on any number. None: as many as numba is given; -1: all cores.

    Attributes
    ----------
    trees_ : list of PLT
    C_, arity_, hinge_power_, tol_, weight_cut_
        As given, or as selected.
    inner_products_ : ndarray of int64, shape (n,)
        Node classifiers evaluated for each instance in the last prediction, in all trees.

    Notes
    -----
    Other than in the authors' program, the root has a classifier too, for which an instance without labels is a
    negative example (see `PLT`): it scales all scores of an instance and changes no ranking of one tree.

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

    domains = parabel.DOMAINS
    calibrated = False

    n_trees: int = 3
    arity: int | None = None
    max_leaf: int | None = None
    loss: plt.Loss = "squared_hinge"
    hinge_power: int | None = None
    C: float | None = None
    tol: float | None = None
    epochs: int = 20
    weight_cut: float | plt.Auto | None = "auto"
    beam: int | None = 10
    unit_norm: bool = True
    random_state: int = 0
    n_jobs: int | None = None

    def fit(self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None) -> Self:
        """Train the trees, one after the other; weights of instances count as for `PLT.fit` with the batch solver.

        Parameters and errors are those of `xmlc.models.base.SparseProbabilityEstimator.fit`.
        """
        data = self._weighted_data(X, Y, sample_weight)
        self._select(parabel.usual(np.unique(data[1].indices).size))
        if self.C is None:
            self.C_ = cross_validated(self._single, 1.0, 0.3, *data)
        self.trees_ = [
            self._tree(t)._train(*data, Growing(self._into, f"_{t}"), self._title("training", t))
            for t in range(self.n_trees)
        ]
        return self

    def _select(self, usual: Mapping[str, object]) -> None:
        """Set the attributes of hyperparameters to those that are given, else to the usual ones."""
        for name, value in usual.items():
            given = getattr(self, name)
            leaves_open = given == "auto" or (given is None and name != "weight_cut")
            setattr(self, f"{name}_", value if leaves_open else given)

    def _selected(self) -> Hyperparameters:
        return {name: getattr(self, f"{name}_") for name in parabel.FEW}

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the scores of the labels in the beams that are above a threshold.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        threshold : float or ndarray of shape (m,)
            A label is reported when its score is strictly greater than its threshold; never with score 0.

        Returns
        -------
        csr_array of float32, shape (n, m)
            Sorted indices: what `predict_top_k` ranks, estimates of probabilities with the logistic loss only.
        """
        thresholds = self._label_thresholds(threshold)
        counts, labels, scores = self._average(self._instances(X), average_above, (thresholds,))
        return stack_estimates(counts, labels.view(np.int32), scores, self.n_labels_)

    def predict_top_k(self, X: Matrix, k: int, label_weights: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Find the k labels with the largest scores.

        Parameters
        ----------
        X, k, label_weights
            As for `xmlc.models.base.SparseProbabilityEstimator.predict_top_k`. Beams do not depend on the weights,
            except that nodes without a label of positive weight leave their places to others.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Best first, ties to the smaller label; -1 where the beams hold fewer than k labels.
        scores : ndarray of float32, shape (n, k)
            Means over the trees, times the weights if there are any; 0 where there is no label.
        """
        k, weights = self._check_k(k), self._label_weights(label_weights)
        thresholds = np.where(weights > 0, np.float32(0), np.float32(np.inf)) if weights.size else None
        arguments = (self.n_labels_, k, weights)
        labels, scores = self._average(self._instances(X), average_top_k, arguments, thresholds)
        return labels, scores

    def _title(self, doing: str, t: int) -> str:
        return f"{doing} tree {t + 1} of {self.n_trees}"

    def _single(self, C: float) -> Parabel:
        return self.unfitted().set_params(**self._selected() | {"n_trees": 1, "C": C})

    def _tree(self, t: int) -> PLT:
        """Return tree t, untrained."""
        key = np.uint64(stream_key(np.int64(self.random_state), np.int64(Stream.PARABEL_TREE + t)))
        own = self._selected() | {"random_state": int(key & LARGEST_SEED), "beam": self.beam or 10}
        given: Any = {name: value for name, value in self.get_params().items() if name != "n_trees"}
        search: plt.Search = "exact" if self.beam is None else "beam"
        return PLT(tree="kmeans", solver="batch", search=search, **given | own)

    def _average(
        self,
        X: sparse.csr_array,
        average: Callable[..., Any],
        arguments: tuple[Any, ...],
        thresholds: np.ndarray | None = None,
    ) -> tuple[np.ndarray, ...]:
        """Search all trees, run a kernel over the labels found, block by block, and stack its results.

        ``thresholds`` are those of `PLT.estimates_in_beam`.
        """
        arity = self.trees_[0].arity_
        widest = max(arity, largest_leaf(arity, self.max_leaf))
        met = self.n_labels_ if self.beam is None else min(self.n_labels_, int(self.beam) * widest)
        self.inner_products_ = np.zeros(X.shape[0], dtype=np.int64)
        results: list[Any] = []
        # An empty block keeps the types of the result when there are no instances.
        for first, last in row_blocks(X.shape[0], max(LABELS_PER_BLOCK // max(met, 1), 1)) or [(0, 0)]:
            found = [
                tree.set_params(n_jobs=self.n_jobs).estimates_in_beam(
                    X[first:last], self._title("searching", t), thresholds
                )
                for t, tree in enumerate(self.trees_)
            ]
            self.inner_products_[first:last] = sum(products for *_, products in found)
            reached = as_leaves([met for *met, _ in found])
            pieces = [(*reached, *block, *arguments) for block in row_blocks(last - first, ROWS_PER_MEAN) or [(0, 0)]]
            results += run_pieces(average, pieces, self.n_jobs)
        return tuple(np.concatenate(part) for part in zip(*results))

    def _state(self) -> tuple[dict[str, np.ndarray], Hyperparameters]:
        states = [tree._state()[0] for tree in self.trees_]
        arrays = {f"{name}_{t}": array for t, state in enumerate(states) for name, array in state.items()}
        return arrays, self._selected()

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        self._select({name: getattr(self, name) for name in parabel.FEW} | meta)  # earlier versions kept only C
        self.trees_ = []
        for t in range(self.n_trees):
            tree, ending = self._tree(t), f"_{t}"
            tree.n_features_in_, tree.n_labels_ = self.n_features_in_, self.n_labels_
            own = {name.removesuffix(ending): array for name, array in arrays.items() if name.endswith(ending)}
            tree._restore(own, {})
            self.trees_.append(tree)


def as_leaves(found: Sequence[Sequence[np.ndarray]]) -> tuple[Histograms, Reached]:
    """Return what trees estimate as if each instance had reached a leaf of its own in each tree.

    Parameters
    ----------
    found : sequence of lists
        Of each tree: for each instance the number of labels, int64 (n,); their labels, int32, and estimates, float32,
        instance after instance.
    """
    counts, labels, estimates = (np.concatenate(part) for part in zip(*found, strict=True))
    leaves = np.arange(counts.size, dtype=np.int32)
    n = counts.size // len(found)
    starts = np.arange(n + 1) + n * np.arange(len(found))[:, None]
    ends = np.concatenate(([0], np.cumsum(counts)))
    histograms = Histograms(ends, labels.view(np.uint32), estimates, np.ones(counts.size), False)
    return histograms, Reached(starts, leaves)
