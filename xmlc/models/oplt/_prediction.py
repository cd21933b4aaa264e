"""How an OPLT predicts, and what it keeps on disk."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.csr import as_features, unit_rows
from xmlc.errors import XmlcError
from xmlc.estimates import stack_estimates
from xmlc.gate.stored import Field
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.oplt._freeze import frozen
from xmlc.models.oplt._rows import stored_arrays, stored_tree
from xmlc.models.oplt.tree import N_COUNTERS, N_LEARNED, NODE, NONE, SLOT, OnlineTree, trimmed
from xmlc.models.plt.estimator import PLT
from xmlc.trees import LabelTree


class OnlineTreePrediction(SparseProbabilityEstimator):
    """Prediction and persistence of an OPLT: the half of `OPLT` that does not learn.

    It predicts as a PLT with the same tree and weights, which is made at the first prediction.
    """

    FIELDS = (
        Field("nodes", NODE, ("nodes",)),
        Field("leaves", np.int32, ("n_labels",), least=NONE, below="nodes"),
        Field("rows", np.float32, (f"{SLOT} * slots",)),
        Field("entries", np.uint64, (None,)),
        Field("free_rows", np.uint32, (None,), below="slots"),
        Field("free_tables", np.int64, (64,)),
        Field("counters", np.int64, (N_COUNTERS,)),
        Field("ofo", np.float64, (None, 2), finite=True, optional=True),
    )
    gamma: float  # these three are hyperparameters of `OPLT`
    eps: float
    n_jobs: int | None
    _online: OnlineTree
    _frozen: PLT | None
    _ofo: tuple[np.ndarray, float, float] | None = None

    @property
    def labels_(self) -> np.ndarray:
        """The labels seen so far, ascending, int64."""
        self._check_fitted()
        return np.flatnonzero(self._online.leaves != NONE)

    @property
    def tree_(self) -> LabelTree:
        """The tree over ``labels_``, in their order."""
        return self.to_plt().tree_

    @property
    def tree_depths_(self) -> np.ndarray:
        """Depth of the deepest leaf, int64, shape (1,); the root has depth 0, and so has a tree without labels."""
        return np.array([self.tree_.depth.max() if self._has_labels() else 0], dtype=np.int64)

    @property
    def n_nodes_(self) -> np.ndarray:
        """Number of nodes, the leaves included, int64, shape (1,)."""
        return np.array([self.tree_.n_nodes if self._has_labels() else 1], dtype=np.int64)

    @property
    def n_instances_(self) -> int:
        """Instances learned so far, each pass counted."""
        self._check_fitted()
        return int(self._online.counters[N_LEARNED])

    @property
    def thresholds_(self) -> np.ndarray:
        """Thresholds that OFO learned on the stream, float32, shape (m,); NaN for labels not seen yet."""
        self._check_fitted()
        if self._ofo is None:
            raise XmlcError("no thresholds were learned; call progressive_sets")
        leaves = np.full(self.n_labels_, NONE, dtype=np.int32)
        leaves[: self._online.leaves.size] = self._online.leaves
        return np.where(leaves != NONE, self._online.nodes["bound"][leaves], np.float32(np.nan))

    def _has_labels(self) -> bool:
        """Tell whether a label was seen; an AttributeError before the first instance, so that no shape is told."""
        return bool((self._online.leaves != NONE).any())

    def to_plt(self) -> PLT:
        """Return a fitted `PLT` with the tree and weights as they stand, over ``labels_`` in their order.

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

    def _scaled_plt(self) -> PLT:
        """Return the tree and weights as a PLT that takes instances scaled already; it stays until more is learned."""
        if self._frozen is None:
            plt = PLT(solver="adagrad", gamma=self.gamma, eps=self.eps, epochs=1, unit_norm=False)
            plt.tree_, plt.nodes_, labels = frozen(self._online)
            plt.n_features_in_, plt.n_labels_ = self.n_features_in_, labels.size
            self._frozen = plt
        return self._frozen.set_params(n_jobs=self.n_jobs)

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
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
        plt, labels = self._scaled_plt(), self.labels_
        spe = plt.predict_proba(X, thresholds[labels])
        self.inner_products_ = plt.inner_products_
        named = labels.astype(spe.indices.dtype)[spe.indices]
        return sparse.csr_array((spe.data, named, spe.indptr), shape=(X.shape[0], self.n_labels_))

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of each instance and their estimates, best first; -1 = none."""
        X = self._instances(X)
        k = self._check_k(k)
        if self.labels_.size == 0:
            self.inner_products_ = np.zeros(X.shape[0], dtype=np.int64)
            return np.full((X.shape[0], k), -1, dtype=np.int32), np.zeros((X.shape[0], k), dtype=np.float32)
        plt = self._scaled_plt()
        found, scores = plt.predict_top_k(X, k)
        self.inner_products_ = plt.inner_products_
        return np.append(self.labels_, NONE).astype(np.int32)[found], scores

    def _instances(self, X: object) -> sparse.csr_array:
        """Check instances, scale them, and give them as many features as the stream had: others have no weight."""
        self._check_fitted()
        X = as_features(X)
        X = unit_rows(X) if self.unit_norm else X
        if X.shape[1] > self.n_features_in_:
            return X[:, : self.n_features_in_]
        return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features_in_))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out spare capacity, and the form for predictions, which is made again."""
        own = {"_online": trimmed(self._online), "_frozen": None} if self._is_fitted() else {}
        return vars(self) | own

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        arrays = stored_arrays(self._online)
        if self._ofo is None:
            return arrays, {}
        counted, a, b = self._ofo
        return arrays | {"ofo": counted}, {"a": a, "b": b}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        self._check_arrays(arrays)
        counted = arrays.pop("ofo", None)
        self._ofo = None if counted is None else (counted, meta["a"], meta["b"])
        self._online, self._frozen = stored_tree(arrays), None
