"""FTA: the fixed thresholds approach (plt2016, Section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from xmlc.estimator import hyperparameters
from xmlc.metrics.overlap import F1
from xmlc.thresholds._kernels import fixed_counts
from xmlc.thresholds.apply import ThresholdMethod
from xmlc.thresholds.bounds import GRID, checked_grid
from xmlc.thresholds.columns import Columns, per_label, run_by_label


@hyperparameters
class FTA(ThresholdMethod):
    """The best of a few fixed thresholds 1/c on the validation set.

    Parameters
    ----------
    grid : sequence of float
        Values c.
    label_wise : bool
        False: one common threshold for all labels, as in the authors' program (Section 4.2: "more stable"). True:
        for each label the best of its own max(1/c, nu_j) (line 9 of Algorithm 1 restricted to a fixed set).
    lower_bounds : ndarray of shape (m,) or None
        nu_j, used label-wise only.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    scores_ : ndarray of float64, shape (len(grid),)
        Validation macro-F (0/0 = 1) of each value of the grid, in its order: with the common threshold 1/c, or
        label-wise with max(1/c, nu_j) for every label.

    Notes
    -----
    Of thresholds with equal score the highest wins: it predicts least and costs least.
    """

    grid: Sequence[float] = GRID
    label_wise: bool = False
    lower_bounds: np.ndarray | None = None
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Count hits and predictions at every fixed threshold in one pass, then choose."""
        grid = checked_grid(self.grid)
        lower = per_label(self.lower_bounds if self.label_wise else None, data.n_labels, np.float32, "lower_bounds")
        scores = label_scores(data, grid, lower, self.n_jobs)
        # Contiguous, so that the sum runs in the same order as in `macro_f` and equals it to the last bit.
        macro = np.ascontiguousarray(scores.T).mean(axis=1) if data.n_labels else np.zeros(len(grid))
        self.scores_ = macro[[grid.index(c) for c in self.grid]]
        # The grid ascends, so the first of equal scores is the highest threshold.
        chosen = scores.argmax(axis=1) if self.label_wise else np.full(data.n_labels, macro.argmax())
        self.thresholds_ = np.maximum(fixed_thresholds(grid)[chosen], lower)
        return self


def fixed_thresholds(grid: Sequence[float]) -> np.ndarray:
    """Return the thresholds 1/c of a grid, float32 in its order."""
    return (1.0 / np.asarray(grid, dtype=np.float64)).astype(np.float32)


def label_scores(data: Columns, grid: Sequence[float], lower: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Return each label's F (0/0 = 1) at each threshold max(1/c, lower), float64 of shape (m, len(grid)).

    The grid must ascend in c.
    """
    fixed = fixed_thresholds(grid)[::-1].copy()
    hits, predicted = (np.zeros((data.n_labels, len(grid)), dtype=np.int32) for _ in range(2))
    run_by_label(fixed_counts, data, n_jobs, fixed, lower, hits, predicted)
    return F1.of(hits, np.diff(data.true_starts)[:, None], predicted)[:, ::-1]
