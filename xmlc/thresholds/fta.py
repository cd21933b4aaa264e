"""FTA, the fixed thresholds approach (plt2016, Section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.elementwise import mean
from xmlc.kernels.estimator import hyperparameters
from xmlc.metrics.measure import F1
from xmlc.thresholds.bounds import GRID, checked_grid, kappa
from xmlc.thresholds.one_pass import Instances, OnePassMethod, instance_of, lower_bounds_of


@njit
def count_fixed(spe, truth, start, end, fixed, lower, positives, hits, predicted):
    """Count positives, hits and predictions of labels at thresholds max(fixed[g], lower[j]).

    The labels are ``start .. end - 1``. ``fixed``, float32 (g,), ascends, because comparisons stop
    at the first threshold that an estimate does not exceed. ``positives``, int32 (m,), and ``hits``
    and ``predicted``, int32 (m, g), are updated in place.
    """
    for i in range(spe.indptr.size - 1):
        labels, estimates, true_labels = instance_of(spe, truth, i, start, end)
        for label in true_labels:
            positives[label] += 1
        t = 0
        for e in range(labels.size):
            label = labels[e]
            while t < true_labels.size and true_labels[t] < label:
                t += 1
            is_true = t < true_labels.size and true_labels[t] == label
            for g in range(fixed.size):
                if not estimates[e] > max(fixed[g], lower[label]):
                    break
                predicted[label, g] += 1
                hits[label, g] += is_true


@hyperparameters
class FTA(OnePassMethod):
    """The best of a few fixed thresholds 1/c, or max(1/c, nu_j) (plt2016, Section 4.2).

    Parameters
    ----------
    grid : sequence of float
        The values c.
    label_wise : bool
        Whether to choose c for each label (line 9 of Algorithm 1 restricted to a fixed set) instead
        of one c for all, which is "more stable" (Section 4.2).
    lower_bounds : ndarray of shape (m,) or None
        nu_j, the lower end of the range of an optimal threshold (equation (5)), from
        `xmlc.thresholds.lower_bounds` with the priors of the training split. With them, thresholds
        are as published in Section 6.2. None makes them 1/c, as in the program of plt2016's
        authors.
    n_jobs : int or None
        Number of threads, without effect on the result.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    scores_ : ndarray of float64, shape (len(grid),)
        Validation macro-F (0/0 = 1) with each value of ``grid`` for all labels, in its order.

    See Also
    --------
    STO : The best of all thresholds, by sorting.
    OFO : Thresholds that follow the instances, in one pass.
    fit_in_one_pass : Learning without stored estimates.

    Notes
    -----
    Among thresholds with equal score, the highest is chosen, because it predicts the fewest labels
    in the least time.

    Estimates need not be stored (Section 4.2, last paragraph): calls of ``partial_fit`` with parts
    of a dataset give the same thresholds as one call of ``fit``. The method stores 2 * len(grid) +
    1 counters of 4 bytes for each label.

    Examples
    --------
    >>> from xmlc.thresholds import FTA
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> fta = FTA(grid=[2, 4, 8]).fit(spe, Y)
    >>> fta.thresholds_, fta.scores_.round(3)
    (array([0.25, 0.25], dtype=float32), array([0.333, 1.   , 0.833]))
    >>> FTA(grid=[2, 4, 8]).partial_fit(spe[:1], Y[:1]).partial_fit(spe[1:], Y[1:]).thresholds_
    array([0.25, 0.25], dtype=float32)
    """

    _changeable = ("label_wise", "n_jobs")

    grid: Sequence[float] = GRID
    label_wise: bool = False
    lower_bounds: np.ndarray | None = None
    n_jobs: int | None = None

    def learn(self, blocks: Sequence[Instances], n_labels: int) -> Self:
        """Add counts at each fixed threshold, and choose thresholds by all counts since ``fit``."""
        lower = lower_bounds_of(self.lower_bounds, n_labels)
        grid = checked_grid(self.grid)
        if self._counted is None:
            # Positives, and hits and predictions at each threshold, the lowest first
            shapes = (n_labels, (n_labels, len(grid)), (n_labels, len(grid)))
            self._counted = [np.zeros(shape, dtype=np.int32) for shape in shapes]
        self._run(count_fixed, blocks, fixed_thresholds(grid)[::-1].copy(), lower, *self._counted)
        scores = self.label_scores()
        # In the order of `macro_f`, so that ``scores_`` is bit-identical
        macro = np.array([mean(column) for column in scores.T])
        self.scores_ = macro[[grid.index(c) for c in self.grid]]
        # The grid ascends, so argmax finds the highest threshold among equal scores
        chosen = macro.argmax()
        if self.label_wise:
            chosen = scores.argmax(axis=1)
        self.thresholds_ = np.maximum(fixed_thresholds(grid)[chosen], lower)
        return self

    def label_scores(self) -> np.ndarray:
        """Return each label's F (0/0 = 1) at each threshold, the highest first, float64 (m, g)."""
        positives, hits, predicted = self._counted
        return F1.of(hits, positives[:, None], predicted)[:, ::-1]

    def min_probabilities(self, n_labels: int) -> np.ndarray:
        """Return each label's lowest candidate, which useful estimates exceed, float32 (m,)."""
        return kappa(checked_grid(self.grid)[-1], lower_bounds_of(self.lower_bounds, n_labels))


def fixed_thresholds(grid: Sequence[float]) -> np.ndarray:
    """Return 1/c for the values c of a grid, in its order, float32."""
    return (1.0 / np.asarray(grid, dtype=np.float64)).astype(np.float32)
