"""How a PLT predicts, and what it keeps on disk."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR
from xmlc.errors import XmlcError
from xmlc.models.base import SparseProbabilityEstimator, stack_estimates
from xmlc.models.plt._beam import rank_by_beam, rank_by_levels
from xmlc.models.plt._groups import LOGISTIC_LINK, SQUARED_HINGE_LINK
from xmlc.models.plt._hashed import HashedWeights
from xmlc.models.plt._levels import estimate_by_levels
from xmlc.models.plt._nodes import CompactNodeWeights, NodeWeights
from xmlc.models.plt._search import search_threshold, search_top_k
from xmlc.parallel import row_blocks, run_pieces
from xmlc.threads import resolve_threads
from xmlc.trees import LabelTree

ROWS_PER_SEARCH = 256  # instances per piece where each is searched by itself
ROWS_PER_BATCH = 8192  # and at most so many where a batch descends level by level
OPENING_BEAM = 3  # width of the beam that bounds the exact top k


class TreePrediction(SparseProbabilityEstimator):
    """Prediction and persistence of a PLT that is trained: the half of `PLT` that does not learn."""

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Estimate the probability of every label above a threshold (plt2016, Algorithm 4).

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        threshold : float or ndarray of shape (m,)
            A label is reported when its estimate is strictly greater than its threshold.

        Returns
        -------
        csr_array of float32, shape (n, m)
            The sparse probability estimates, sorted indices. ``inner_products_`` counts what they cost.
        """
        x = self._kernel_form(self._instances(X))
        thresholds = self.tree_.node_thresholds(self._label_thresholds(threshold))
        search = search_threshold if self._is_hashed() else estimate_by_levels
        found = self._search(search, x, (thresholds,), "estimating")
        counts, labels, estimates, self.inner_products_ = (np.concatenate(part) for part in zip(*found))
        return stack_estimates(counts, labels, estimates, self.n_labels_)

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of each instance, or with ``beam`` labels that nearly are.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Best first, ties to the node with the smaller number; -1 where there are fewer than k labels.
        scores : ndarray of float32, shape (n, k)
            Their estimates; 0 where there is no label.
        """
        k = self._check_k(k)
        x = self._kernel_form(self._instances(X))
        if self._is_hashed():
            search, arguments = search_top_k, (k,)
        elif self.beam is None:
            search, arguments = rank_by_levels, (k, OPENING_BEAM)
        else:
            search, arguments = rank_by_beam, (k, max(int(self.beam), k))
        found = self._search(search, x, arguments, "ranking")
        labels, scores, self.inner_products_ = (np.concatenate(part) for part in zip(*found))
        return labels, scores

    def _search(self, search: Any, x: KernelCSR, arguments: tuple[Any, ...], title: str) -> list[Any]:
        """Run a search kernel over blocks of rows."""
        n_rows = x.indptr.size - 1
        rows = ROWS_PER_SEARCH if self._is_hashed() else self._rows_per_batch(n_rows)
        # An empty block keeps the types of the result when there are no instances.
        blocks = row_blocks(n_rows, rows) or [(0, 0)]
        shape = (self.n_features_in_, int(np.diff(x.indptr).max(initial=0)), int(np.diff(self.tree_.children).max()))
        pieces = [(x, *block, self.nodes_, self._link(), *arguments, shape) for block in blocks]
        costs = [end - start for start, end in blocks]
        return run_pieces(search, pieces, self.n_jobs, costs, title=title, unit="instances")

    def _rows_per_batch(self, n_rows: int) -> int:
        """Cut rows into as few batches as keep all threads busy: how they are cut does not show in the result."""
        n_threads = resolve_threads(self.n_jobs)
        n_batches = n_threads * max(-(-n_rows // (ROWS_PER_BATCH * n_threads)), 1)
        return max(-(-n_rows // n_batches), 1)

    def _is_hashed(self) -> bool:
        return isinstance(self.nodes_, HashedWeights)

    def _link(self) -> int:
        """Return how scores become estimates, see `estimate_scores`."""
        return SQUARED_HINGE_LINK if (self.solver, self.loss) == ("batch", "squared_hinge") else LOGISTIC_LINK

    def _check_k(self, k: int) -> int:
        if k < 1:
            raise XmlcError(f"k={k}: at least one label per instance must be asked for")
        if self.beam is not None and not self.beam >= 1:
            raise XmlcError(f"beam={self.beam}: expected None for the exact ranking, or a number of at least 1")
        return int(k)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays = {"children": self.tree_.children, "label": self.tree_.label}
        shared = set(arrays)
        arrays |= {name: array for name, array in self.nodes_._asdict().items() if name not in shared}
        meta = {"seed": arrays.pop("seed")} if self._is_hashed() else {}
        return arrays, meta

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        self.tree_ = LabelTree.from_children(arrays["children"], arrays["label"])
        content = arrays | meta
        kinds = (NodeWeights, CompactNodeWeights, HashedWeights)
        kind = next(kind for kind in kinds if set(kind._fields) == set(content))
        self.nodes_ = kind(**content)
