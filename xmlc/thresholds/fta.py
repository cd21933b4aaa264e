"""Choose thresholds by FTA, the fixed thresholds approach (plt2016, Section 4.2)."""

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
    """Count the positives, hits and predictions of some labels at every fixed threshold
    max(fixed[g], lower[j]).

    Parameters
    ----------
    spe, truth : a `KernelCSR` each
        Estimates and label sets of the instances.
    start, end : int
        Range of the labels ``start .. end - 1`` that the kernel counts.
    fixed : float32 (g,)
        Fixed thresholds, ascending. An estimate is compared with thresholds up to the first
        threshold that it does not exceed.
    lower : float32 (m,)
        Lower bound of each label's threshold.
    positives : int32 (m,)
        Number of instances that carry each label, updated in place.
    hits : int32 (m, g)
        Number of true predictions at each threshold, updated in place.
    predicted : int32 (m, g)
        Number of predictions at each threshold, updated in place.
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
    """Choose the best of a few fixed thresholds.

    A threshold is 1/c, or max(1/c, nu_j) with lower bounds nu_j.

    Parameters
    ----------
    grid : sequence of float
        The values c that define the thresholds.
    label_wise : bool
        False chooses one c for all labels (Section 4.2: "more stable"). True chooses the best c for
        each label (line 9 of Algorithm 1 restricted to a fixed set).
    lower_bounds : ndarray of shape (m,) or None
        nu_j = pi_j / (pi_j + 1), the lower end of the range of an optimal threshold (equation (5)).
        pi_j is the label's prior, estimated on the training split
        (``xmlc.thresholds.bounds.lower_bounds``). With lower bounds, the thresholds are kappa_j =
        max(1/c, nu_j), as published in Section 6.2. If ``lower_bounds`` is None, the threshold of
        each label is 1/c, as in the program of plt2016's authors.
    n_jobs : int or None
        Number of threads. The result does not depend on the number of threads.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    scores_ : ndarray of float64, shape (len(grid),)
        Validation macro-F (0/0 = 1) of each value in ``grid``, in the order of ``grid``. Each score
        is the macro-F with the same c for all labels.

    Notes
    -----
    Among thresholds with equal score, the highest is chosen, because it predicts the fewest labels
    and takes the least time.

    You need not store the estimates that you pass to ``partial_fit`` (Section 4.2, last paragraph).
    Calls of ``partial_fit`` with parts of a dataset give the same thresholds as one call of
    ``fit``. The method stores 2 * len(grid) + 1 counters of 4 bytes for each label.

    Examples
    --------
    >>> from xmlc.thresholds import FTA
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> fta = FTA(grid=[2, 4, 8]).fit(spe, Y)
    >>> fta.thresholds_, fta.scores_.round(3)
    (array([0.25, 0.25], dtype=float32), array([0.333, 1.   , 0.833]))
    """

    _changeable = ("label_wise", "n_jobs")

    grid: Sequence[float] = GRID
    label_wise: bool = False
    lower_bounds: np.ndarray | None = None
    n_jobs: int | None = None

    def learn(self, blocks: Sequence[Instances], n_labels: int) -> Self:
        """Count hits and predictions at each fixed threshold, then choose thresholds by all counts
        since ``fit``.
        """
        lower = lower_bounds_of(self.lower_bounds, n_labels)
        grid = checked_grid(self.grid)
        if self._counted is None:
            # The arrays count the positives, and the hits and predictions at each threshold, lowest
            # threshold first.
            shapes = (n_labels, (n_labels, len(grid)), (n_labels, len(grid)))
            self._counted = [np.zeros(shape, dtype=np.int32) for shape in shapes]
        self._run(count_fixed, blocks, fixed_thresholds(grid)[::-1].copy(), lower, *self._counted)
        scores = self.label_scores()
        # `macro_f` sums the labels in the same order, so ``scores_`` and `macro_f` are
        # bit-identical.
        macro = np.array([mean(column) for column in scores.T])
        self.scores_ = macro[[grid.index(c) for c in self.grid]]
        # The grid ascends, so argmax finds the highest threshold among equal scores.
        chosen = macro.argmax()
        if self.label_wise:
            chosen = scores.argmax(axis=1)
        self.thresholds_ = np.maximum(fixed_thresholds(grid)[chosen], lower)
        return self

    def label_scores(self) -> np.ndarray:
        """Return each label's F (0/0 = 1) at each threshold, highest threshold first, float64 of
        shape (m, g).
        """
        positives, hits, predicted = self._counted
        return F1.of(hits, positives[:, None], predicted)[:, ::-1]

    def min_probabilities(self, n_labels: int) -> np.ndarray:
        """Return each label's lowest candidate threshold, float32 of shape (m,).

        FTA needs only estimates above the lowest candidate threshold of their label.
        """
        return kappa(checked_grid(self.grid)[-1], lower_bounds_of(self.lower_bounds, n_labels))


def fixed_thresholds(grid: Sequence[float]) -> np.ndarray:
    """Return the thresholds 1/c for the values c of a grid, in the order of the grid, float32."""
    return (1.0 / np.asarray(grid, dtype=np.float64)).astype(np.float32)
