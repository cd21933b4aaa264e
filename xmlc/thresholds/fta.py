"""FTA: the fixed thresholds approach (plt2016, Section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from scipy import sparse

from xmlc.metrics.classification import f_measure
from xmlc.parallel import row_blocks, run_pieces
from xmlc.thresholds._kernels import fixed_counts
from xmlc.thresholds.apply import Columns, ThresholdMethod, columns
from xmlc.thresholds.bounds import GRID

LABELS_PER_BLOCK = 2048


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
    scores_ : ndarray of float64, shape (len(grid),)
        Validation macro-F (0/0 = 1) of each common threshold 1/c, in the order of the grid.

    Notes
    -----
    Of thresholds with equal score the highest wins: it predicts least and costs least.
    """

    def __init__(
        self,
        grid: Sequence[float] = GRID,
        label_wise: bool = False,
        lower_bounds: np.ndarray | None = None,
        n_jobs: int | None = None,
    ):
        self.grid = grid
        self.label_wise = label_wise
        self.lower_bounds = lower_bounds
        self.n_jobs = n_jobs

    def fit(self, spe: sparse.csr_array, Y: object) -> Self:
        """Count hits and predictions at every fixed threshold in one pass, then choose.

        Parameters as for `STO.fit`.
        """
        data, m = columns(spe, Y), spe.shape[1]
        fixed = (1.0 / np.asarray(self.grid, dtype=np.float64)).astype(np.float32)
        zeros = np.zeros(m, dtype=np.float32)
        scores = self._label_scores(data, m, fixed, zeros)
        self.scores_ = scores.mean(axis=0)
        if self.label_wise:
            lower = zeros if self.lower_bounds is None else np.asarray(self.lower_bounds, dtype=np.float32)
            limits = np.maximum(fixed[None, :], lower[:, None])
            scores = self._label_scores(data, m, fixed, lower)
            self.thresholds_ = np.where(scores == scores.max(axis=1, keepdims=True), limits, -1).max(axis=1)
        else:
            self.thresholds_ = np.full(m, fixed[self.scores_ == self.scores_.max()].max())
        return self

    def _label_scores(self, data: Columns, m: int, fixed: np.ndarray, lower: np.ndarray) -> np.ndarray:
        """Return F of each label at each fixed threshold, float64 of shape (m, len(fixed))."""
        pieces = [(data, start, end, fixed, lower) for start, end in row_blocks(m, LABELS_PER_BLOCK)]
        found = run_pieces(fixed_counts, pieces, self.n_jobs)
        hits, predicted, positives = (np.concatenate(part) for part in zip(*found))
        return f_measure(hits, positives[:, None] + predicted, 1.0)
