"""FTA: the fixed thresholds approach (plt2016, Section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from xmlc.csr import kernel_csr
from xmlc.errors import XmlcError
from xmlc.estimator import hyperparameters
from xmlc.metrics.overlap import F1
from xmlc.thresholds._by_instance import count_fixed
from xmlc.thresholds._kernels import fixed_counts
from xmlc.thresholds.apply import ThresholdMethod
from xmlc.thresholds.bounds import GRID, checked_grid, kappa
from xmlc.thresholds.columns import Columns, checked_pair, per_label, run_by_label


class Counts(NamedTuple):
    """What FTA counts of a validation set: three counters for each label, the last two at each fixed threshold.

    Attributes
    ----------
    positives : int32 (m,)
        Instances that carry the label.
    hits, predicted : int32 (m, g)
        Instances for which it is predicted and carried, and for which it is predicted. Thresholds ascend.
    """

    positives: np.ndarray
    hits: np.ndarray
    predicted: np.ndarray

    @classmethod
    def zeros(cls, n_labels: int, n_thresholds: int) -> Counts:
        """Return the counts of no instance."""
        return cls(*(np.zeros(shape, dtype=np.int32) for shape in (n_labels, *((n_labels, n_thresholds),) * 2)))

    def scores(self) -> np.ndarray:
        """Return each label's F (0/0 = 1) at each threshold, the highest first, float64 of shape (m, g)."""
        return F1.of(self.hits, self.positives[:, None], self.predicted)[:, ::-1]


@hyperparameters
class FTA(ThresholdMethod):
    """The best of a few fixed thresholds on the validation set: 1/c, or max(1/c, nu_j) with lower bounds nu_j.

    Parameters
    ----------
    grid : sequence of float
        Values c.
    label_wise : bool
        False: one c for all labels (Section 4.2: "more stable"). True: for each label
        its own best c (line 9 of Algorithm 1 restricted to a fixed set).
    lower_bounds : ndarray of shape (m,) or None
        nu_j = pi_j / (pi_j + 1), the lower end of the range of an optimal threshold (equation (5)), with pi_j the
        label's prior estimated from the training part (``xmlc.thresholds.bounds.lower_bounds``). Given, every threshold
        is kappa_j = max(1/c, nu_j), as Section 6.2 prints it; None: 1/c, the same number for all labels, as in the
        authors' program.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    scores_ : ndarray of float64, shape (len(grid),)
        Validation macro-F (0/0 = 1) of each value of the grid, in its order, with it for every label.

    Notes
    -----
    Of thresholds with equal score the highest wins: it predicts least and costs least.

    ``fit`` counts in stored estimates, label by label and on several threads; ``partial_fit`` counts instance by
    instance in estimates that may be forgotten (Section 4.2, last paragraph). Both keep 2 * len(grid) + 1 counters
    of 4 bytes for each label, and give the same bits.
    """

    grid: Sequence[float] = GRID
    label_wise: bool = False
    lower_bounds: np.ndarray | None = None
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Count hits and predictions at every fixed threshold in one pass, then choose."""
        lower = self._lower(data.n_labels)
        return self._choose(label_counts(data, checked_grid(self.grid), lower, self.n_jobs), lower)

    def partial_fit(self, spe: object, Y: object) -> Self:
        """Count more instances, then choose by all that were counted since the last ``fit``.

        Choosing takes O(m) time at each call, so several instances at a call are better than one.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Their estimates above `floors`, in (0, 1].
        Y : boolean CSR, shape (n, m)
            Their label sets.

        Raises
        ------
        XmlcError
            As ``fit``, or there are more or fewer labels than before.
        """
        spe, Y = checked_pair(spe, Y)
        lower, grid = self._lower(Y.shape[1]), checked_grid(self.grid)
        counts = getattr(self, "_counts", None) or Counts.zeros(Y.shape[1], len(grid))
        counted = counts.hits.shape
        if counted != (Y.shape[1], len(grid)):
            raise XmlcError(
                f"{Y.shape[1]} labels and {len(grid)} thresholds, but {counted[0]} and {counted[1]} were counted before"
            )
        count_fixed(kernel_csr(spe), kernel_csr(Y), fixed_thresholds(grid)[::-1].copy(), lower, *counts)
        return self._choose(counts, lower)

    def floors(self, n_labels: int) -> np.ndarray:
        """Return the lowest thresholds that are tried, float32 of shape (m,): no estimate below them is needed."""
        return kappa(checked_grid(self.grid)[-1], self._lower(n_labels))

    def _lower(self, n_labels: int) -> np.ndarray:
        return per_label(self.lower_bounds, n_labels, np.float32, "lower_bounds")

    def _choose(self, counts: Counts, lower: np.ndarray) -> Self:
        grid, scores = checked_grid(self.grid), counts.scores()
        # Contiguous, so that the sum runs in the same order as in `macro_f` and equals it to the last bit.
        macro = np.ascontiguousarray(scores.T).mean(axis=1) if lower.size else np.zeros(len(grid))
        self.scores_ = macro[[grid.index(c) for c in self.grid]]
        # The grid ascends, so the first of equal scores is the highest threshold.
        chosen = scores.argmax(axis=1) if self.label_wise else np.full(lower.size, macro.argmax())
        self.thresholds_ = np.maximum(fixed_thresholds(grid)[chosen], lower)
        self._counts = counts
        return self


def fixed_thresholds(grid: Sequence[float]) -> np.ndarray:
    """Return the thresholds 1/c of a grid, float32 in its order."""
    return (1.0 / np.asarray(grid, dtype=np.float64)).astype(np.float32)


def label_counts(data: Columns, grid: Sequence[float], lower: np.ndarray, n_jobs: int | None) -> Counts:
    """Count at each threshold max(1/c, lower) of a grid, which must ascend in c."""
    counts = Counts.zeros(data.n_labels, len(grid))
    counts.positives[:] = np.diff(data.true_starts)
    fixed = fixed_thresholds(grid)[::-1].copy()
    run_by_label(fixed_counts, data, n_jobs, fixed, lower, counts.hits, counts.predicted)
    return counts
