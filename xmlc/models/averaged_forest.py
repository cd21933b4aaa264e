"""The base class of forests, which average each label's shares in the leaves of an instance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.appendable import Appendable, give_back
from xmlc.core.errors import InvalidParameterError
from xmlc.core.parallel import batches, row_blocks, run_tasks
from xmlc.core.threads import resolve_threads
from xmlc.kernels.csr import KernelCSR, Matrix, stack_estimates, top_k_of
from xmlc.kernels.indices import Malformed, check_descents
from xmlc.kernels.stored import Field, fields_of
from xmlc.kernels.unit_length import unit_row
from xmlc.models._averages import Histograms, Reached, average_above, average_top_k
from xmlc.models.base import SparseProbabilityEstimator, all_or_nothing
from xmlc.models.tail_classifiers import TailClassifiers, fit_tail_classifiers

# Blocks are large, because a tree's weights are copied for each.
ROWS_PER_DESCENT = 16384
ROWS_PER_BLOCK = 256
# non-zeros of X per weight of an average tree from which all threads share a tree's instances, and
# copy its weights, instead of each thread having another tree
NONZEROS_PER_WEIGHT = 4


# trees grow at the same time up to about this many bytes
GROWING_BYTES = 8_000_000_000


class AveragedForest(SparseProbabilityEstimator, ABC):
    """The base class of forests: it trains trees, and averages their leaves in predictions.

    All instances go down one tree after another, before a kernel averages each label's shares in
    the leaves. In training, memory holds at most one unfinished tree per thread, or only one if
    trees are large (`GROWING_BYTES`). A finished tree is appended to the arrays of the forest,
    which `fit_to_disk` keeps in files. Memory-mapped pages are released after all instances have
    gone down a tree.

    A subclass defines how trees grow (`_prepare` and `_grow_tree`), how instances descend
    (`_find_leaves` and `_leaves_of_row`), how leaves are weighted (`_leaf_totals`), and how tail
    classifiers re-rank (`_rerank`).

    Attributes
    ----------
    forest_ : NamedTuple of ndarray
        The trees, of type ``FOREST``, with ``biases`` (of inner nodes), ``features`` (of the
        weights), ``sizes`` (training instances per leaf), ``leaf_starts``, ``labels`` and
        ``counts`` (label histograms), ``n_trees`` and ``first(n)``.
    tail_ : TailClassifiers or None
    inner_products_ : ndarray of int64, shape (n,)
        Number of inner products for each instance in the last prediction.
    """

    FOREST: ClassVar[Any]  # type of ``forest_``
    # grows one tree from the result of `_prepare` and the number of the tree
    _grow_tree: ClassVar[Callable[..., Tree]]
    # Kernel (x, first, last, forest_, number of the tree, number of features) that sends the
    # instances ``first .. last - 1`` down a tree. Returns the start of each instance in ``leaves``,
    # int64 (last - first + 1,), or None if each instance reaches one leaf, then these leaves,
    # int32, numbered across all trees, and the inner products of each instance, int64.
    _find_leaves: ClassVar[Callable[..., Any]]
    # kernel (x, forest_, number of features) that returns a single instance's leaves as `Reached`
    _leaves_of_row: ClassVar[Callable[..., Any]]
    # hyperparameter that weights the forest against the tail classifiers, which weight 1 leaves out
    FOREST_WEIGHT: ClassVar[str]
    # approximate memory of a growing tree, in bytes per non-zero of X
    BYTES_PER_NONZERO: ClassVar[int]
    # whether tail classifiers scale instances to unit length even without ``unit_norm``
    UNIT_TAIL: ClassVar[bool] = False
    n_trees: int
    gamma: float
    n_jobs: int | None
    forest_: Any
    tail_: TailClassifiers | None

    @all_or_nothing
    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Grow the forest.

        See `xmlc.models.base.SparseProbabilityEstimator.fit` for parameters and errors.
        """
        X, Y = self._training_data(X, Y)
        trees = JoinedTrees(self.FIELDS, self._into)
        shared = self._prepare(X, Y)
        tasks = [(*shared, tree) for tree in range(self.n_trees)]
        run_tasks(
            self._grow_tree,
            tasks,
            self._trees_at_once(X.nnz),
            title="growing trees",
            unit="trees",
            then=trees.append,
        )
        self.forest_ = self.FOREST(**trees.finished())
        self.tail_ = None
        if getattr(self, self.FOREST_WEIGHT) < 1:
            self.tail_ = fit_tail_classifiers(
                X, Y, self.UNIT_TAIL or self.unit_norm, self.n_jobs, self._into
            )
        return self

    def trees(self, n: int) -> Self:
        """Return the first ``n`` trees, which share their arrays with the full forest.

        They equal the result of `fit` with n_trees=n.

        Parameters
        ----------
        n : int

        Returns
        -------
        estimator

        Raises
        ------
        XmlcError
            The forest has fewer than ``n`` trees.

        See Also
        --------
        xmlc.models.abilities.Forest
        """
        self._check_fitted()
        if not 1 <= n <= self.forest_.n_trees:
            raise InvalidParameterError(
                f"found n={n}, expected 1 to {self.forest_.n_trees}, the number of trees"
            )
        model = copy(self)
        model.forest_ = self.forest_.first(n)
        model.inner_products_ = None
        return model.set_params(n_trees=n)

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates that are strictly greater than a threshold.

        See `xmlc.models.base.SparseProbabilityEstimator.predict_proba` for parameters and result.
        """
        return self._estimates(self._instances(X), self._label_thresholds(threshold))

    def estimate_blocks(
        self,
        X: sparse.csr_array,
        threshold: float | np.ndarray,
        rows: int,
        then: Callable[[sparse.csr_array], None],
    ) -> None:
        """Send all instances down the trees, then pass the estimates of each block to ``then``."""
        arguments = (self._label_thresholds(threshold),)
        self._average(
            self._instances(X), average_above, arguments, lambda found: then(self._stacked(*found))
        )

    def predict_top_k(
        self, X: Matrix, k: int, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k labels with the largest estimates or, if the forest re-ranks, largest scores.

        Label weights multiply the new scores if the forest re-ranks. A row ends with -1 if the
        leaves of the instance contain fewer than k labels.

        See `xmlc.models.base.SparseProbabilityEstimator.predict_top_k` for parameters and result.
        """
        k = self._check_k(k)
        weights = self._label_weights(label_weights)
        X = self._instances(X)
        if not self._reranks():
            labels, scores = self._average(X, average_top_k, (self.n_labels_, k, weights))
            return labels, scores
        return top_k_of(
            self._rerank(X, self._estimates(X, self._label_thresholds(0.0))), k, weights
        )

    def _rank_row(
        self, x: KernelCSR, k: int, label_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self._reranks():
            return super()._rank_row(x, k, label_weights)
        reached = self._leaves_of_row(
            unit_row(x) if self.unit_norm else x, self.forest_, self.n_features_in_
        )
        labels, scores = average_top_k(
            self._histograms(), reached, 0, 1, self.n_labels_, k, label_weights
        )
        return labels, scores

    def _estimates(self, X: sparse.csr_array, thresholds: np.ndarray) -> sparse.csr_array:
        return self._stacked(*self._average(X, average_above, (thresholds,)))

    def _stacked(
        self, counts: np.ndarray, labels: np.ndarray, estimates: np.ndarray
    ) -> sparse.csr_array:
        return stack_estimates(counts, labels.view(np.int32), estimates, self.n_labels_)

    def _average(
        self,
        X: sparse.csr_array,
        average: Callable[..., Any],
        arguments: tuple[Any, ...],
        then: Callable[[tuple[np.ndarray, ...]], None] | None = None,
    ) -> tuple[np.ndarray, ...]:
        """Send all instances down the trees, run a kernel over the leaves, and join its results,
        or pass them to ``then`` one after another.
        """
        x = self._kernel_form(X)
        forest = self.forest_
        n = X.shape[0]
        trees = range(forest.n_trees)
        histograms = self._histograms()
        inner_products = np.zeros(n, dtype=np.int64)
        found = dict[tuple[int, int], Any]()
        # one empty block determines the dtypes of the result if there are no instances
        blocks = row_blocks(n, ROWS_PER_DESCENT) or [(0, 0)]
        if n and x.indices.size * forest.n_trees >= NONZEROS_PER_WEIGHT * forest.features.size:
            blocks = batches(n, ROWS_PER_DESCENT, self.n_jobs)

        def descend(tree: int, first: int, last: int) -> tuple[Any, ...]:
            reached = self._find_leaves(x, first, last, forest, tree, self.n_features_in_)
            # after a request with few instances, the pages stay for the next
            if n > ROWS_PER_BLOCK and last == n:
                give_back(forest.features, forest.weights)
            return tree, first, last, *reached

        def keep(descent: tuple[Any, ...]) -> None:
            tree, first, last, starts, leaves, n_products = descent
            found[tree, first] = (starts, leaves)
            inner_products[first:last] += n_products

        descents = [(tree, *block) for tree in trees for block in blocks]
        run_tasks(descend, descents, self.n_jobs, title="descending", then=keep)
        results: list[Any] = []
        for first, last in blocks:
            reached = joined_leaves([found.pop((tree, first)) for tree in trees])
            tasks = [
                (histograms, reached, *block, *arguments)
                for block in row_blocks(last - first, ROWS_PER_BLOCK)
            ]
            results += run_tasks(
                average, tasks or [(histograms, reached, 0, 0, *arguments)], self.n_jobs, then=then
            )
        self.inner_products_ = inner_products
        return tuple(np.concatenate(part) for part in zip(*results))

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        return self.forest_._asdict() | (self.tail_._asdict() if self.tail_ else {}), {}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        self._check_arrays(arrays)
        self.forest_ = self.FOREST(**{name: arrays[name] for name in self.FOREST._fields})
        check_descents(
            self.forest_.codes, "children", len(self.forest_.biases), self.forest_.sizes.size
        )
        if not self.forest_.n_trees:
            raise Malformed("children", "found no trees, expected at least one")
        tail = {name: arrays[name] for name in TailClassifiers._fields if name in arrays}
        self.tail_ = TailClassifiers(**tail) if tail else None

    def _reranks(self) -> bool:
        return self.tail_ is not None

    @abstractmethod
    def _prepare(self, X: sparse.csr_array, Y: sparse.csr_array) -> tuple[Any, ...]:
        """Return the arguments of `_grow_tree` that all trees share, for checked data."""

    def _trees_at_once(self, n_nonzeros: int) -> int:
        """Return on how many threads trees grow, to take at most `GROWING_BYTES` together."""
        at_once = GROWING_BYTES // (self.BYTES_PER_NONZERO * max(n_nonzeros, 1))
        return max(1, min(resolve_threads(self.n_jobs), at_once))

    @abstractmethod
    def _rerank(self, X: sparse.csr_array, estimates: sparse.csr_array) -> sparse.csr_array:
        """Return the scores by which labels rank, and perhaps overwrite ``estimates``."""

    def _histograms(self) -> Histograms:
        forest = self.forest_
        return Histograms(forest.leaf_starts, forest.labels, forest.counts, *self._leaf_totals())

    @abstractmethod
    def _leaf_totals(self) -> tuple[np.ndarray, bool]:
        """Return the values of the fields ``totals`` and ``pooled`` of `Histograms`."""


def joined_leaves(found: Sequence[tuple[np.ndarray | None, np.ndarray]]) -> Reached:
    """Concatenate the leaves that instances reach in each tree, results of `_find_leaves`."""
    offsets = np.cumsum([0] + [leaves.size for _, leaves in found[:-1]])
    starts = np.array([np.arange(leaves.size + 1) if own is None else own for own, leaves in found])
    return Reached(starts + offsets[:, None], np.concatenate([leaves for _, leaves in found]))


# The rest stores a forest as flat arrays, to which one tree after another is appended.


LEAF = np.iinfo(np.int32).min  # smallest number that can be the code of a leaf
PARTS_AT_ONCE = 64  # parts of an array that are copied at once
# arrays whose lengths are the numbers of inner nodes, leaves, weights and labels of leaves
SIZES = {"inner": "biases", "leaves": "sizes", "weights": "features", "entries": "labels"}

#: The arrays of one tree by name. A list has the parts of an array.
Tree = dict[str, np.ndarray | list[np.ndarray]]


def forest_fields(forest: type) -> tuple[Field, ...]:
    """Return a `Field` for each array of a stored forest, optional for tail classifiers."""
    return (
        *fields_of(forest),
        *(replace(field, optional=True) for field in fields_of(TailClassifiers)),
    )


class JoinedTrees:
    """The arrays of a forest, with inner nodes and leaves numbered across all trees.

    The ``fields`` distinguish start positions and node codes from other arrays. With a ``folder``,
    the arrays are written to it instead of memory.
    """

    def __init__(self, fields: Iterable[Field], folder: Path | None) -> None:
        self._fields = {field.name: field for field in fields}
        self._arrays = Appendable(folder)

    def append(self, tree: Tree) -> None:
        """Append the arrays of one tree, and remove them from ``tree`` to save memory."""
        arrays = self._arrays
        before = {size: arrays.n_rows(name) for size, name in SIZES.items()}
        while tree:
            name, array = tree.popitem()
            if isinstance(array, list):
                for first, last in row_blocks(len(array), PARTS_AT_ONCE):
                    arrays.append(**{name: np.concatenate(array[first:last])})
                continue
            field = self._fields[name]
            if field.starts is not None:
                if arrays.n_rows(name) > 0:
                    array = array[1:]
                array = array + before[field.starts]
            elif field.least == LEAF:
                # The code of an inner node is its number t, and of a leaf ~t.
                array = np.where(
                    array >= 0, array + before["inner"], array - before["leaves"]
                ).astype(np.int32)
            arrays.append(**{name: array})

    def finished(self) -> dict[str, np.ndarray]:
        """Return the arrays of the forest."""
        return self._arrays.finished()
