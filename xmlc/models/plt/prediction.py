"""How a PLT predicts, and what it keeps on disk: shared by PLT, the trees of Parabel, and OPLT."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.parallel import batches, run_pieces
from xmlc.kernels.csr import KernelCSR, Malformed, stack_estimates
from xmlc.kernels.estimator import check_value
from xmlc.kernels.unit_length import scale_rows
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.plt.compact import drop_small
from xmlc.models.plt.search import EVERY_NODE, estimate_by_levels, rank_best_first, rank_by_levels
from xmlc.models.plt.weights import LOGISTIC_LINK, HashedWeights, TreeWeights, named, weights_from_state
from xmlc.models.trees import LabelTree

ROWS_PER_BATCH = 8192  # at most so many instances descend together

# An exact ranking is said to be costly where an instance opens so many nodes, and such a share of them.
COSTLY, COSTLY_SHARE = 2000, 0.1


class TreePrediction(SparseProbabilityEstimator):
    """Prediction and persistence of a PLT that is trained: the half of `PLT` that does not learn."""

    # Hyperparameters of `PLT` that prediction asks for.
    solver: str
    loss: str
    hinge_power: int
    weight_cut: float | None
    search: str
    beam: int
    n_jobs: int | None
    inner_products_: np.ndarray
    _measured: tuple[LabelTree | None, int] = (None, 0)  # a tree, and the largest number of siblings in it

    nodes_: TreeWeights

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Estimate the probability of every label above a threshold (plt2016, Algorithm 4).

        Parameters and result are those of `xmlc.models.base.SparseProbabilityEstimator.predict_proba`.
        """
        x = self._kernel_form(self._instances(X))
        thresholds = self.tree_.node_thresholds(self._label_thresholds(threshold))
        found = self._searched(estimate_by_levels, x, "estimating", thresholds, EVERY_NODE)
        counts, labels, estimates, self.inner_products_ = found
        return stack_estimates(counts, labels, estimates, self.n_labels_)

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of each instance, or with ``search="beam"`` labels that nearly are.

        Afterwards ``certified_`` tells where a beam found the exact answer, and ``inner_products_`` what each instance
        cost. The other two searches give the same exact ranking: "exact" is best-first search (plt2016, Section 5.2),
        which evaluates the fewest classifiers; "certified" evaluates more, whole levels at a time, in less time.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Best first, ties to the node with the smaller number; -1 where there are fewer than k labels.
        scores : ndarray of float32, shape (n, k)
            Their estimates; 0 where there is no label.
        """
        x, k = self._kernel_form(self._instances(X)), self._check_k(k)
        search, _ = self._search()
        labels, scores, self.certified_, self.inner_products_ = self._ranked(x, k, search, "ranking")
        if search != "beam":
            self._warn_of_flat_estimates()
        return labels, scores

    def estimates_in_beam(self, X: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Estimate all labels that a search by beam meets: what `xmlc.models.Parabel` averages over its trees.

        With ``search="beam"`` the ``beam`` best inner nodes of each level are expanded, otherwise all, and every label
        below them is reported unless its estimate is rounded to 0.

        Returns
        -------
        counts : ndarray of int64, shape (n,)
            Labels met for each instance.
        labels : ndarray of int32, estimates : ndarray of float32
            Those of all instances, one after the other, by ascending leaf.

        Raises
        ------
        XmlcError
            The weights are hashed.
        """
        x, (search, beam) = self._kernel_form(self._instances(X)), self._search()
        if isinstance(self.nodes_, HashedWeights):
            raise XmlcError(
                f"{named(self.nodes_)} are not searched by beam, only weights that each node has for itself"
            )
        all_labels = np.zeros(self.tree_.n_nodes, dtype=np.float32)
        found = self._searched(estimate_by_levels, x, "ranking", all_labels, beam if search == "beam" else EVERY_NODE)
        counts, labels, estimates, self.inner_products_ = found
        return counts, labels, estimates

    def rank_one(self, indices: np.ndarray, values: np.ndarray, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of a single instance: `predict_top_k` for online serving.

        The same bits as a row of `predict_top_k`, without its costs for matrices, batches and threads. Nothing of the
        estimator is changed (nor ``inner_products_`` set), so that several threads may ask it at once.

        Parameters
        ----------
        indices : array of int, shape (q,)
            Features of the instance, each once; fastest in ascending order.
        values : array of float, shape (q,)
            Their values; scaled to unit length first where ``unit_norm`` says so.
        k : int

        Returns
        -------
        labels : ndarray of int32, shape (k,)
            Best first; -1 where there are fewer than k labels.
        scores : ndarray of float32, shape (k,)
            Their estimates; 0 where there is no label.

        Raises
        ------
        XmlcError
            Indices and values are no instance.
        """
        self._check_fitted()
        k, (search, _) = self._check_k(k), self._search()
        indices, values = np.asarray(indices), np.asarray(values, dtype=np.float32)
        if indices.ndim != 1 or indices.shape != values.shape or indices.dtype.kind not in "iu":
            raise XmlcError(
                f"indices have shape {indices.shape} and type {indices.dtype}, values shape {values.shape}: "
                "expected integers and as many values, each in one dimension"
            )
        indices = indices.astype(np.int64, copy=False)
        if (indices[1:] <= indices[:-1]).any():  # as of scikit-learn's vectorizers, in any order
            order = np.argsort(indices, kind="stable")
            indices, values = indices[order], values[order]
        wrong = (indices < 0) | (indices >= self.n_features_in_) | ~np.isfinite(values)
        wrong[1:] |= indices[1:] == indices[:-1]
        if wrong.any():
            fault = wrong.argmax()
            raise XmlcError(
                f"found feature {indices[fault]} with value {values[fault]}: "
                f"expected finite values of features below {self.n_features_in_}, each feature once"
            )
        if self.unit_norm:
            given, values = values, np.empty_like(values)
            scale_rows(np.array([0, indices.size], dtype=np.int32), given, values, 0, 1)
        x = KernelCSR(np.array([0, indices.size]), indices.astype(np.uint32), values)
        labels, scores, _, _ = self._ranked(x, k, search if search == "beam" else "exact", "")
        return labels[0], scores[0]

    def drop_weights(self, cut: float) -> Self:
        """Return a fitted estimator like this one without the weights w with abs(w) <= ``cut``, the rest stored sparse.

        It is what ``weight_cut=cut`` trains. A weight that is kept takes 6 bytes, 8 more where it is the first of its
        feature and block, so that a cut which drops few makes a model larger.

        Raises
        ------
        XmlcError
            ``cut`` is negative or no number, or the weights are hashed.
        """
        self._check_fitted()
        smaller = copy(self)
        smaller.nodes_ = drop_small(self.nodes_, cut, self.n_jobs)
        return smaller.set_params(weight_cut=max(float(cut), self.weight_cut or 0.0))

    def _ranked(
        self, x: KernelCSR, k: int, search: str, title: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
        """Return labels, estimates, where a beam is exact (None without one), and inner products of some instances."""
        if search == "exact" or isinstance(self.nodes_, HashedWeights):
            labels, scores, inner_products = self._searched(rank_best_first, x, title, k)
            return labels, scores, None, inner_products
        labels, scores, by_beam, inner_products = self._searched(
            rank_by_levels, x, title, k, max(int(self.beam), k), search == "certified"
        )
        return labels, scores, by_beam, inner_products

    def _searched(
        self, kernel: Callable[..., Any], x: KernelCSR, title: str, *arguments: object
    ) -> tuple[np.ndarray, ...]:
        """Run a search over all instances, in batches whose cut does not show in the result.

        Parameters
        ----------
        kernel : callable
            Takes instances, the first of them and the last plus one, weights, link, ``arguments`` and shape.
        x : KernelCSR
        title : str
            For the progress display; without one the kernel runs at once, on this thread.
        *arguments
            Of this kernel.
        """
        n = x.indptr.size - 1
        shape = (self.n_features_in_, int(np.diff(x.indptr).max(initial=0)), self._max_degree())
        if not title:
            found: tuple[np.ndarray, ...] = kernel(x, 0, n, self.nodes_, self._link(), *arguments, shape)
            return found
        blocks = batches(n, ROWS_PER_BATCH, self.n_jobs) or [(0, 0)]  # an empty one keeps the types of the result
        calls = [(x, *block, self.nodes_, self._link(), *arguments, shape) for block in blocks]
        costs = [end - start for start, end in blocks]
        parts = run_pieces(kernel, calls, self.n_jobs, costs, title=title, unit="instances")
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

    def _max_degree(self) -> int:
        """Return the largest number of siblings in the tree, remembered because it takes longer than a search."""
        if self._measured[0] is not self.tree_:
            self._measured = (self.tree_, int(np.diff(self.tree_.children).max()))
        return self._measured[1]

    def _link(self) -> int:
        """Return how scores become estimates, see `estimate_scores`."""
        return int(self.hinge_power) if (self.solver, self.loss) == ("batch", "squared_hinge") else LOGISTIC_LINK

    def _warn_of_flat_estimates(self) -> None:
        """Warn if an exact ranking had to evaluate much of the tree."""
        opened = float(self.inner_products_.mean()) if self.inner_products_.size else 0.0
        if opened < max(COSTLY_SHARE * self.tree_.n_nodes, COSTLY):
            return
        proved = "" if self.certified_ is None else f", proved exact here for {100 * self.certified_.mean():.0f} %"
        warnings.warn(
            f"ranking exactly evaluated {opened:.0f} of {self.tree_.n_nodes} node classifiers for each instance, "
            f"because estimates differ little; search='beam' opens at most {self.beam} nodes of a level{proved}",
            stacklevel=3,
        )

    def _search(self) -> tuple[str, int]:
        """Return how to rank, and the width of a beam; they may have been set since the training."""
        for name in ("search", "beam"):
            check_value(type(self), name, getattr(self, name))
        return self.search, int(self.beam)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        arrays = self.nodes_._asdict()
        meta: dict[str, float] = {"seed": int(arrays.pop("seed"))} if "seed" in arrays else {}
        return arrays, meta

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        self.nodes_ = weights_from_state(arrays, meta, self.n_features_in_, self.n_labels_)
        self.tree_ = LabelTree.from_children(self.nodes_.children, self.nodes_.label)
        if self.tree_.n_labels != self.n_labels_:
            raise Malformed("label", f"the tree has {self.tree_.n_labels} labels, expected {self.n_labels_}")
