"""One base class for forests that estimate a label by the mean of its shares in the leaves that an instance reaches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.growing import check_finite
from xmlc.core.parallel import batches, row_blocks, run_pieces
from xmlc.kernels.csr import KernelCSR, stack_estimates, top_k_of
from xmlc.kernels.estimator import check_hyperparameters
from xmlc.kernels.stored import Field
from xmlc.models._averages import Histograms, Reached, average_above, average_top_k
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.tail_classifiers import TAIL_FIELDS, TailClassifiers

ROWS_PER_DESCENT = 16384  # large, because each block lays out the weights of the nodes that it reaches
ROWS_PER_BLOCK = 256
# With so many non-zeros for each weight of the nodes threads share out instances, and each lays out all weights;
# otherwise trees.
NONZEROS_PER_WEIGHT = 4


class AveragedForest(SparseProbabilityEstimator, ABC):
    """Base of forests: all instances go down all trees, then a kernel averages the shares in their leaves.

    A subclass defines how trees grow (`_grow`), how instances descend (`_descend`), how leaves are weighted
    (`_leaf_weights`), and how tail classifiers re-rank (`_rerank`).

    Attributes
    ----------
    forest_ : NamedTuple of ndarray
        The trees, as the kernels take them. Of its arrays this class reads ``biases`` (of the inner nodes),
        ``features`` (of the weights of all inner nodes), the label histograms ``leaf_starts``, ``labels`` and
        ``counts``, and ``sizes`` (training instances of each leaf). It has ``n_trees``, ``first(n)``, which are its
        first n trees, and a class method ``joined``, which puts several forests one after the other.
    tail_ : TailClassifiers or None
    inner_products_ : ndarray of int64, shape (n,)
        Inner products computed for each instance in the last prediction.
    """

    FOREST: ClassVar[Any]  # the class of ``forest_``
    n_trees: int
    gamma: float
    n_jobs: int | None
    forest_: Any
    tail_: TailClassifiers | None

    def fit(self, X: object, Y: object) -> Self:
        """Grow the forest.

        Parameters and errors are those of `xmlc.models.base.SparseProbabilityEstimator.fit`.
        """
        check_hyperparameters(self)
        X, Y = self._training_data(X, Y)
        with self._finite_weights(X):
            self.forest_, self.tail_ = self._grow(X, Y), None
            if self._forest_weight < 1:
                self.tail_ = TailClassifiers(self.gamma, self._tail_unit_norm, n_jobs=self.n_jobs).fit(X, Y)
            check_finite(self._state()[0].values())
        return self

    def trees(self, n: int) -> Self:
        """Return the forest of the first ``n`` trees: the result of `fit` with n_trees=n, on the same arrays.

        Raises
        ------
        XmlcError
            There are fewer.
        """
        self._check_fitted()
        if not 1 <= n <= self.forest_.n_trees:
            raise XmlcError(f"the first {n} trees: expected 1 .. {self.forest_.n_trees}")
        model = copy(self)
        model.forest_, model.inner_products_ = self.forest_.first(n), None
        return model.set_params(n_trees=n)

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Estimate the probability of every label above a threshold.

        Parameters and result are those of `xmlc.models.base.SparseProbabilityEstimator.predict_proba`.
        """
        return self._estimates(self._instances(X), self._label_thresholds(threshold))

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k labels that rank best: by estimate, or as the forest re-ranks them; ties to the smaller label.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Best first; -1 where the leaves hold fewer than k labels.
        scores : ndarray of float32, shape (n, k)
            What they rank by; 0 where there is no label.
        """
        self._check_k(k)
        X = self._instances(X)
        if not self._reranks():
            labels, scores = self._average(X, average_top_k, (self.n_labels_, int(k)))
            return labels, scores
        if self.tail_ is not None:
            self.tail_.n_jobs = self.n_jobs
        return top_k_of(self._rerank(X, self._estimates(X, self._label_thresholds(0.0))), k)

    def _estimates(self, X: sparse.csr_array, thresholds: np.ndarray) -> sparse.csr_array:
        counts, labels, estimates = self._average(X, average_above, (thresholds,))
        return stack_estimates(counts, labels.view(np.int32), estimates, self.n_labels_)

    def _average(
        self, X: sparse.csr_array, average: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> tuple[np.ndarray, ...]:
        """Send all instances down all trees, run a kernel over the leaves, block by block, and stack its results."""
        x, opened, forest, n = self._kernel_form(X), self._open_forest(), self.forest_, X.shape[0]
        histograms = Histograms(
            forest.leaf_starts, forest.labels, forest.counts, self._leaf_weights(), self._pools_leaves
        )
        self.inner_products_ = inner_products = np.zeros(n, dtype=np.int64)

        def averages(first: int, last: int, n_jobs: int | None, title: str) -> list[Any]:
            reached, inner_products[first:last] = self._descend(x, first, last, opened, n_jobs, title)
            blocks = row_blocks(last - first, ROWS_PER_BLOCK) or [(0, 0)]
            return run_pieces(average, [(histograms, reached, *block, *arguments) for block in blocks], n_jobs)

        # An empty block keeps the types of the result when there are no instances.
        results: list[Any] = []
        if x.indices.size * forest.n_trees >= NONZEROS_PER_WEIGHT * forest.features.size:
            pieces = [(*block, 1, "") for block in batches(n, ROWS_PER_DESCENT, self.n_jobs) or [(0, 0)]]
            costs = [last - first for first, last, *_ in pieces]
            for own in run_pieces(averages, pieces, self.n_jobs, costs, title="descending", unit="instances"):
                results += own
        else:
            for first, last in row_blocks(n, ROWS_PER_DESCENT) or [(0, 0)]:
                results += averages(first, last, self.n_jobs, "descending")
        return tuple(np.concatenate(part) for part in zip(*results))

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        tail = self.tail_.arrays() if self.tail_ is not None else {}
        return self.forest_._asdict() | tail, {}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        self._check_arrays(arrays)
        self.forest_ = self.FOREST(**{name: arrays[name] for name in self.FOREST._fields})
        self.tail_ = None
        if "tail_indptr" in arrays:
            options = {"gamma": self.gamma, "unit_norm": self._tail_unit_norm}
            self.tail_ = TailClassifiers.from_arrays(arrays, self.n_features_in_, self.n_labels_, **options)

    def _reranks(self) -> bool:
        """Return whether labels rank by something else than their estimates."""
        return self.tail_ is not None

    @property
    @abstractmethod
    def _forest_weight(self) -> float:
        """Weight of the forest against the tail classifiers; 1 trains none."""

    @property
    def _pools_leaves(self) -> bool:
        """Whether all leaves that an instance reaches count the same; otherwise all trees do."""
        return False

    @property
    def _tail_unit_norm(self) -> bool:
        """Whether tail classifiers scale instances to unit length: in PfastreXML for any input of the trees."""
        return True

    @abstractmethod
    def _grow(self, X: sparse.csr_array, Y: sparse.csr_array) -> Any:
        """Grow the trees on checked data."""

    @abstractmethod
    def _rerank(self, X: sparse.csr_array, estimates: sparse.csr_array) -> sparse.csr_array:
        """Return the scores by which labels are ranked; may overwrite the estimates."""

    @abstractmethod
    def _open_forest(self) -> Any:
        """Compute the common data of all descents."""

    @abstractmethod
    def _leaf_weights(self) -> np.ndarray:
        """Return the share that a count of 1 means in each leaf, float64 (n_leaves,)."""

    @abstractmethod
    def _descend(
        self, x: KernelCSR, first: int, last: int, opened: Any, n_jobs: int | None, title: str
    ) -> tuple[Reached, np.ndarray]:
        """Send instances ``first .. last - 1`` down all trees; return the leaves reached, and inner products."""


# Forests as flat arrays: what `AveragedForest` does with them, and how several are put one after the other.


LEAF = np.iinfo(np.int32).min  # the least code of a leaf


def forest_fields(*more: str) -> tuple[Field, ...]:
    """List the arrays that all forests have; ``more``: further sizes of the weight of one feature."""
    return (
        Field("biases", np.float32, ("inner", *more)),
        Field("weight_starts", np.int64, ("inner + 1",), starts="weights"),
        Field("features", np.uint32, ("weights",), below="n_features"),
        Field("weights", np.float32, ("weights", *more)),
        Field("sizes", np.uint32, ("leaves",), least=1, below=1 << 32),
        Field("leaf_starts", np.int64, ("leaves + 1",), starts="entries"),
        Field("labels", np.uint32, ("entries",), below="n_labels"),
        Field("counts", np.uint32, ("entries",)),
        *TAIL_FIELDS,
    )


def joined_forest(forests: Sequence[Any], starts: Collection[str], codes: Collection[str]) -> Any:
    """Put forests one after the other.

    Parameters
    ----------
    forests : sequence of a NamedTuple of arrays
    starts : collection of str
        Names of the arrays that say where the parts of another one start.
    codes : collection of str
        Names of the arrays of nodes: inner nodes, or ~leaf.
    """
    n_inner = np.cumsum([0] + [len(forest.biases) for forest in forests])
    n_leaves = np.cumsum([0] + [forest.sizes.size for forest in forests])
    joined: dict[str, np.ndarray] = {}
    for name in forests[0]._asdict():
        parts = [getattr(forest, name) for forest in forests]
        if name in codes:
            parts = [shifted_codes(*part) for part in zip(parts, n_inner, n_leaves)]
        joined[name] = joined_starts(parts) if name in starts else np.concatenate(parts)
    return type(forests[0])(**joined)


def shifted_codes(codes: np.ndarray, n_inner: int, n_leaves: int) -> np.ndarray:
    """Renumber nodes that come behind others: ``codes`` are inner nodes, or ~leaf; int32 of the same shape."""
    return np.where(codes >= 0, codes + n_inner, codes - n_leaves).astype(np.int32)


def joined_starts(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Join arrays that say where the parts of an array start, each from 0 to its size; int64."""
    offsets = np.cumsum([0] + [part[-1] for part in parts])
    return np.concatenate([[0], *(part[1:] + offset for part, offset in zip(parts, offsets))]).astype(np.int64)
