"""What forests share whose estimate of a label is the mean of its shares in the leaves that an instance reaches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR
from xmlc.models.base import SparseProbabilityEstimator, stack_estimates
from xmlc.runtime.parallel import row_blocks, run_pieces

ROWS_PER_DESCENT = 16384  # large, because each block lays out the weights of the nodes that it reaches
ROWS_PER_BLOCK = 256


class AveragedForest(SparseProbabilityEstimator, ABC):
    """Base of forests: all instances go down all trees, then a kernel averages what their leaves say.

    Attributes
    ----------
    forest_ : NamedTuple of ndarray
        The trees, as the kernels take them.
    inner_products_ : ndarray of int64, shape (n,)
        Inner products computed for each instance in the last prediction.
    """

    n_jobs: int | None
    forest_: Any
    # Kernels called with forest_, what _descend gives, first and last row of a block, and then thresholds, or m and k.
    _average_above: ClassVar[Callable[..., Any]]
    _average_top_k: ClassVar[Callable[..., Any]]

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Estimate the probability of every label above a threshold.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        threshold : float or ndarray of shape (m,)
            A label is reported when its estimate is strictly greater than its threshold.

        Returns
        -------
        csr_array of float32, shape (n, m)
            The sparse probability estimates, sorted indices.
        """
        thresholds = np.maximum(self._label_thresholds(threshold), np.float32(0))
        counts, labels, estimates = self._average(self._instances(X), self._average_above, (thresholds,))
        return stack_estimates(counts, labels.view(np.int32), estimates, self.n_labels_)

    def _top_by_estimate(self, X: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k labels with the largest estimates; see `predict_top_k`."""
        labels, scores = self._average(X, self._average_top_k, (self.n_labels_, int(k)))
        return labels, scores

    def _average(
        self, X: sparse.csr_array, average: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> tuple[np.ndarray, ...]:
        """Send all instances down all trees and run a kernel over the leaves, block by block; stack what it returns."""
        x, opened = self._kernel_form(X), self._open_forest()
        self.inner_products_ = np.zeros(X.shape[0], dtype=np.int64)
        results: list[Any] = []
        # An empty block keeps the types of the result when there are no instances.
        for first, last in row_blocks(X.shape[0], ROWS_PER_DESCENT) or [(0, 0)]:
            reached, self.inner_products_[first:last] = self._descend(x, first, last, opened)
            blocks = [
                (self.forest_, *reached, start, end, *arguments)
                for start, end in row_blocks(last - first, ROWS_PER_BLOCK) or [(0, 0)]
            ]
            results += run_pieces(average, blocks, self.n_jobs)
        return tuple(np.concatenate(part) for part in zip(*results))

    @abstractmethod
    def _open_forest(self) -> Any:
        """Work out what all descents need."""

    @abstractmethod
    def _descend(self, x: KernelCSR, first: int, last: int, opened: Any) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Send instances ``first .. last - 1`` down all trees; return what the kernels take of it, inner products."""
