"""How a PLT predicts, and what it keeps on disk."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR
from xmlc.errors import XmlcError
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.estimates import stack_estimates
from xmlc.models.plt.search._beam import rank_by_beam, rank_by_levels
from xmlc.models.plt.search._by_instance import search_threshold, search_top_k
from xmlc.models.plt.search._groups import LOGISTIC_LINK
from xmlc.models.plt.search._levels import EVERY_NODE, estimate_by_levels
from xmlc.models.plt.search._single import first_fault, rank_single, rank_single_by_beam
from xmlc.models.plt.weights._compact import compact_nodes, drop_more
from xmlc.models.plt.weights._hashed import HashedWeights
from xmlc.models.plt.weights._nodes import CompactNodeWeights, NodeWeights
from xmlc.runtime.parallel import row_blocks, run_pieces
from xmlc.runtime.threads import resolve_threads
from xmlc.trees import LabelTree

ROWS_PER_SEARCH = 256  # instances per piece where each is searched by itself
ROWS_PER_BATCH = 8192  # and at most so many where a batch descends level by level
OPENING_BEAM = 3  # width of the beam that bounds the exact top k
# Best-first search asks the fewest classifiers, but jumps between blocks: where they do not fit the caches, going by
# levels is several times faster although it asks up to twice as many; so it is where rows are sparse.
BYTES_IN_CACHE = 1 << 25


class TreePrediction(SparseProbabilityEstimator):
    """Prediction and persistence of a PLT that is trained: the half of `PLT` that does not learn."""

    # Hyperparameters of `PLT` that prediction asks for.
    solver: str
    loss: str
    hinge_power: int
    hash_bits: int | None
    weight_cut: float | None
    beam: int | None
    n_jobs: int | None
    inner_products_: np.ndarray
    _measured: tuple[LabelTree | None, int] = (None, 0)  # a tree, and the largest number of siblings in it

    nodes_: NodeWeights | CompactNodeWeights | HashedWeights

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Estimate the probability of every label above a threshold (plt2016, Algorithm 4).

        Parameters and result are those of `xmlc.models.base.SparseProbabilityEstimator.predict_proba`.
        """
        x = self._kernel_form(self._instances(X))
        thresholds = self.tree_.node_thresholds(self._label_thresholds(threshold))
        search: Any = search_threshold
        arguments: tuple[Any, ...] = (thresholds,)
        if not self._is_hashed():
            search, arguments = estimate_by_levels, (thresholds, EVERY_NODE)
        found = self._search(search, x, arguments, "estimating")
        counts, labels, estimates, self.inner_products_ = (np.concatenate(part) for part in zip(*found))
        return stack_estimates(counts, labels, estimates, self.n_labels_)

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of each instance, or with ``beam`` labels that nearly are.

        The exact ranking is found by best-first search (plt2016, Section 5.2), or, if the weights outgrow the caches
        (32 MB) or are stored sparse, level by level for all instances together: the same ranking at less time but more
        inner products.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Best first, ties to the node with the smaller number; -1 where there are fewer than k labels.
        scores : ndarray of float32, shape (n, k)
            Their estimates; 0 where there is no label.
        """
        k = self._check_k(k)
        self._check_beam()
        x = self._kernel_form(self._instances(X))
        search: Any
        arguments: tuple[Any, ...]
        if self.beam is not None and not self._is_hashed():
            search, arguments = rank_by_beam, (k, max(int(self.beam), k))
        elif self._is_hashed() or self._is_small():
            search, arguments = search_top_k, (k,)
        else:
            search, arguments = rank_by_levels, (k, OPENING_BEAM)
        found = self._search(search, x, arguments, "ranking")
        labels, scores, self.inner_products_ = (np.concatenate(part) for part in zip(*found))
        return labels, scores

    def estimates_in_beam(self, X: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Estimate all labels that a search by beam meets: what `xmlc.models.Parabel` averages over its trees.

        Level by level the ``beam`` best inner nodes are expanded (without a beam, all), and every label below them is
        reported unless its estimate is rounded to 0.

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
        x = self._kernel_form(self._instances(X))
        if self._is_hashed():
            raise XmlcError(f"hash_bits={self.hash_bits}: only exact weights are searched by beam")
        self._check_beam()
        none = np.zeros(self.tree_.n_nodes, dtype=np.float32)
        beam = EVERY_NODE if self.beam is None else int(self.beam)
        found = self._search(estimate_by_levels, x, (none, beam), "ranking")
        counts, labels, estimates, self.inner_products_ = (np.concatenate(part) for part in zip(*found))
        return counts, labels, estimates

    def rank_one(self, indices: np.ndarray, values: np.ndarray, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of a single instance: `predict_top_k` for those who serve.

        The same bits as a row of `predict_top_k`, without its costs for matrices, batches and threads. Nothing of the
        estimator is changed (nor ``inner_products_`` set), so that several threads may ask it at once.

        Parameters
        ----------
        indices : array of int, shape (q,)
            Features of the instance, strictly ascending.
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
        k = self._check_k(k)
        self._check_beam()
        indices, values = np.asarray(indices), np.asarray(values, dtype=np.float32)
        if indices.ndim != 1 or indices.shape != values.shape or indices.dtype.kind not in "iu":
            raise XmlcError(
                f"indices have shape {indices.shape} and type {indices.dtype}, values shape {values.shape}: "
                "expected integers and as many values, each in one dimension"
            )
        indices = indices.astype(np.int64, copy=False)
        fault = first_fault(indices, values, self.n_features_in_)
        if fault >= 0:
            raise XmlcError(
                f"entry {fault} is feature {indices[fault]} with value {values[fault]}: "
                f"expected finite values of features below {self.n_features_in_}, strictly ascending"
            )
        instance = (indices.astype(np.uint32), unit_values(values) if self.unit_norm else values)
        arguments = (*instance, self.nodes_, self._link(), k)
        if self.beam is None or self._is_hashed():
            return rank_single(*arguments, self._max_degree())
        return rank_single_by_beam(*arguments, max(int(self.beam), k), self._max_degree())

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
        nodes = self.nodes_
        if isinstance(nodes, HashedWeights):
            raise XmlcError(f"hash_bits={self.hash_bits}: hashed weights are shared by all nodes, none can be dropped")
        smaller = copy(self)
        if isinstance(nodes, NodeWeights):
            smaller.nodes_ = compact_nodes(nodes, cut, self.n_jobs)
        else:
            smaller.nodes_ = drop_more(nodes, cut)
        return smaller.set_params(weight_cut=max(float(cut), self.weight_cut or 0.0))

    def _search(self, search: Any, x: KernelCSR, arguments: tuple[Any, ...], title: str) -> list[Any]:
        """Run a search kernel over blocks of rows."""
        n_rows = x.indptr.size - 1
        by_instance = search in (search_threshold, search_top_k)
        rows = ROWS_PER_SEARCH if by_instance else self._rows_per_batch(n_rows)
        # An empty block keeps the types of the result when there are no instances.
        blocks = row_blocks(n_rows, rows) or [(0, 0)]
        shape = (self.n_features_in_, int(np.diff(x.indptr).max(initial=0)), self._max_degree())
        pieces = [(x, *block, self.nodes_, self._link(), *arguments, shape) for block in blocks]
        costs = [end - start for start, end in blocks]
        return run_pieces(search, pieces, self.n_jobs, costs, title=title, unit="instances")

    def _rows_per_batch(self, n_rows: int) -> int:
        """Cut rows into as few batches as keep all threads busy: how they are cut does not show in the result."""
        n_threads = resolve_threads(self.n_jobs)
        n_batches = n_threads * max(-(-n_rows // (ROWS_PER_BATCH * n_threads)), 1)
        return max(-(-n_rows // n_batches), 1)

    def _max_degree(self) -> int:
        """Return the largest number of siblings in the tree, remembered because it takes longer than a search."""
        if self._measured[0] is not self.tree_:
            self._measured = (self.tree_, int(np.diff(self.tree_.children).max()))
        return self._measured[1]

    def _is_hashed(self) -> bool:
        return isinstance(self.nodes_, HashedWeights)

    def _is_small(self) -> bool:
        return isinstance(self.nodes_, NodeWeights) and self.nodes_.weights.nbytes <= BYTES_IN_CACHE

    def _link(self) -> int:
        """Return how scores become estimates, see `estimate_scores`."""
        return int(self.hinge_power) if (self.solver, self.loss) == ("batch", "squared_hinge") else LOGISTIC_LINK

    def _check_beam(self) -> None:
        if self.beam is not None and not self.beam >= 1:
            raise XmlcError(f"beam={self.beam}: expected None for the exact ranking, or a number of at least 1")

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        arrays = {"children": self.tree_.children, "label": self.tree_.label}
        shared = set(arrays)
        arrays |= {name: array for name, array in self.nodes_._asdict().items() if name not in shared}
        return arrays, {"seed": int(arrays.pop("seed"))} if self._is_hashed() else {}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        self.tree_ = LabelTree.from_children(arrays["children"], arrays["label"])
        # Plain views of the mapped files: numba takes long to recognise numpy's class for them.
        plain = {name: np.asarray(array) for name, array in arrays.items()}
        if "seed" in meta:
            self.nodes_ = HashedWeights(**plain, seed=np.uint64(meta["seed"]))
        else:
            kind = NodeWeights if set(plain) == set(NodeWeights._fields) else CompactNodeWeights
            self.nodes_ = kind(**plain)


def unit_values(values: np.ndarray) -> np.ndarray:
    """Scale one instance to Euclidean length 1, to the bits of `xmlc.csr.unit_rows`; without features it stays."""
    exact = values.astype(np.float64)
    # As numpy adds up the rows of a sparse matrix; another order of the sum would be other bits.
    square = np.add.reduceat(exact * exact, [0])[0] if values.size else 0.0
    return (exact / np.sqrt(square)).astype(np.float32) if square > 0 else values
