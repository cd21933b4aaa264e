"""The threshold methods: STO, FTA, OFO for the macro F-measure (plt2016, Section 4), and cuts for pooled counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.estimator import hyperparameters
from xmlc.metrics.measure import F1, Overlap
from xmlc.thresholds._kernels import (
    best_cut,
    best_instance_cut,
    count_fixed,
    fixed_counts,
    follow_online_f,
    mark_column_hits,
    ofo_thresholds,
    priced_cuts,
    sort_keys,
    sto_thresholds,
)
from xmlc.thresholds.apply import Columns, ThresholdMethod, checked_pair, per_label, run_by_label
from xmlc.thresholds.bounds import GRID, checked_grid, kappa


@hyperparameters
class STO(ThresholdMethod):
    """For each label the threshold with the highest F-measure on the validation set, found by sorting.

    With ``kappa=0`` and an SPE that holds every estimate this is the exact maximiser of the validation macro-F. Of
    thresholds with equal F the highest is taken (fewest predictions). A label for which nothing is best predicted
    gets its largest estimate as threshold, one without estimates above the floor its kappa. Time is O(e log e) for e
    stored estimates.

    Parameters
    ----------
    kappa : float or ndarray of shape (m,)
        Floors kappa_j: only estimates strictly greater are candidates.
    overlap : Overlap
        What to maximise in place of the F-measure, such as ``f_beta(2)``. Jaccard has the same best cuts as F, since
        it is F / (2 - F), and so the same thresholds.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)

    Examples
    --------
    >>> from xmlc.thresholds import STO
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> STO().fit(spe, Y).thresholds_
    array([0.39999998, 0.29999998], dtype=float32)
    """

    kappa: float | np.ndarray = 0.0
    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Sort each label's estimates above its floor and take the best cut."""
        floors = per_label(self.kappa, data.n_labels, np.float32, "kappa")
        self.thresholds_ = np.empty(data.n_labels, dtype=np.float32)
        run_by_label(sto_thresholds, data, self.n_jobs, floors, self.overlap.recall, self.thresholds_)
        return self


# FTA: the fixed thresholds approach (plt2016, Section 4.2).


class ThresholdCounts(NamedTuple):
    """FTA's counts on a validation set: three counters for each label, the last two at each fixed threshold.

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
    def zeros(cls, n_labels: int, n_thresholds: int) -> ThresholdCounts:
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

    Examples
    --------
    >>> from xmlc.thresholds import FTA
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> fta = FTA(grid=[2, 4, 8]).fit(spe, Y)
    >>> fta.thresholds_, fta.scores_.round(3)
    (array([0.25, 0.25], dtype=float32), array([0.333, 1.   , 0.833]))
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
        counts = getattr(self, "_counts", None) or ThresholdCounts.zeros(Y.shape[1], len(grid))
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

    def _choose(self, counts: ThresholdCounts, lower: np.ndarray) -> Self:
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


def label_counts(data: Columns, grid: Sequence[float], lower: np.ndarray, n_jobs: int | None) -> ThresholdCounts:
    """Count at each threshold max(1/c, lower) of a grid, which must ascend in c."""
    counts = ThresholdCounts.zeros(data.n_labels, len(grid))
    counts.positives[:] = np.diff(data.true_starts)
    fixed = fixed_thresholds(grid)[::-1].copy()
    run_by_label(fixed_counts, data, n_jobs, fixed, lower, counts.hits, counts.predicted)
    return counts


# OFO: online F-measure optimisation (plt2016, Section 4.3, Algorithm 2; Busa-Fekete et al., NIPS 2015).


@hyperparameters
class OFO(ThresholdMethod):
    """Thresholds tau_j = a_j / b_j that follow the online F-measure in one pass over the validation set.

    Parameters
    ----------
    a, b : float or ndarray of shape (m,)
        Initial values of a_j and b_j, with 0 < a / b <= 0.5 (equation (5)).
    lower_bounds : ndarray of shape (m,) or None
        nu_j: thresholds are kept at or above it, the initial one too (Section 6.2).
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        What stands after the last instance.

    Notes
    -----
    Instances are taken in the order of the rows. An estimate that the SPE leaves out counts as not predicted.

    ``fit`` goes label by label through stored estimates, which gives what Algorithm 2 gives instance by instance, as no
    label depends on another; ``partial_fit`` is Algorithm 2 as printed, and keeps a_j, b_j and tau_j alone.

    Examples
    --------
    >>> from xmlc.thresholds import OFO
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> OFO(a=1, b=4).fit(spe, Y).thresholds_
    array([0.375     , 0.33333334], dtype=float32)
    """

    a: float | np.ndarray = 1.0
    b: float | np.ndarray = 20.0
    lower_bounds: np.ndarray | None = None
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Pass over the validation set once."""
        a, b, lower, self.thresholds_ = self._initial(data.n_labels)
        run_by_label(ofo_thresholds, data, self.n_jobs, a, b, lower, self.thresholds_)
        self._sums = (a, b)
        return self

    def partial_fit(self, spe: object, Y: object) -> Self:
        """Pass over more instances, from the state since the last ``fit``.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Their estimates, in (0, 1]. Those at or below the label's threshold are not needed: at most `floors`.
        Y : boolean CSR, shape (n, m)
            Their label sets.

        Raises
        ------
        XmlcError
            As ``fit``, or there are more or fewer labels than before.
        """
        spe, Y = checked_pair(spe, Y)
        a, b, lower, initial = self._initial(Y.shape[1])
        if hasattr(self, "_sums"):
            a, b = self._sums
            if a.size != Y.shape[1]:
                raise XmlcError(f"{Y.shape[1]} labels, but there were {a.size} before")
        else:
            self.thresholds_ = initial
        follow_online_f(kernel_csr(spe), kernel_csr(Y), a, b, lower, self.thresholds_)
        self._sums = (a, b)
        return self

    def floors(self, n_labels: int) -> np.ndarray:
        """Return the values that no threshold falls below, float32 of shape (m,): nu_j, or 0."""
        return per_label(self.lower_bounds, n_labels, np.float32, "lower_bounds")

    def _initial(self, n_labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return a, b, nu and the thresholds before the first instance."""
        a = per_label(self.a, n_labels, np.float64, "a").copy()
        b = per_label(self.b, n_labels, np.float64, "b").copy()
        if not ((a > 0) & (2 * a <= b) & np.isfinite(b)).all():
            raise XmlcError(f"a={self.a}, b={self.b}: the initial threshold a/b must lie in (0, 0.5], with a and b > 0")
        lower = self.floors(n_labels)
        return a, b, lower, np.maximum((a / b).astype(np.float32), lower)


# One common threshold for all labels, exact on the validation set, for micro- and instance-averaged measures.


@hyperparameters
class CommonThreshold(ThresholdMethod):
    """The common threshold with the highest micro- or instance-averaged measure on the validation set.

    Every cut between two different estimates is tried, in one pass over the sorted estimates; of equal ones the
    highest threshold wins (fewest predictions). If nothing is best predicted, the threshold is the largest estimate.
    Time is O(e log e) for e stored estimates, memory 8 bytes (micro) or 16 (instance) for each besides the SPE.

    Parameters
    ----------
    average : {"micro", "instance"}
        Counts summed over all pairs of instance and label, or the mean over instances (0/0 = 1).
    overlap : Overlap
        The measure: `xmlc.metrics.measure.f_beta` or ``JACCARD``.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        The same number m times.

    Notes
    -----
    With the true probabilities the best prediction for a micro-averaged measure is one common threshold (Koyejo et
    al., NIPS 2015), so a threshold for each label could only fit the validation set more closely; where a model's
    estimates are not as good, see `MicroLabelWise`. For an instance-averaged measure a common threshold is a
    heuristic: there the best one differs from instance to instance.

    Examples
    --------
    >>> from xmlc.thresholds import CommonThreshold
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> method = CommonThreshold(average="micro").fit(spe, Y)
    >>> method.predict(spe).toarray().astype(int).tolist()
    [[1, 1], [1, 0], [0, 0]]
    """

    average: str = "micro"
    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Sort all estimates and take the best cut."""
        if self.average not in ("micro", "instance"):
            raise XmlcError(f"average={self.average!r}: expected 'micro' or 'instance'; STO is for 'macro'")
        self.thresholds_ = np.zeros(data.n_labels, dtype=np.float32)
        if data.estimates.size:
            hits = np.empty(data.estimates.size, dtype=bool)
            run_by_label(mark_column_hits, data, self.n_jobs, hits)
            cut = self._micro_cut if self.average == "micro" else self._instance_cut
            self.thresholds_.view(np.uint32)[:] = cut(data, hits)
        return self

    def _micro_cut(self, data: Columns, hits: np.ndarray) -> np.uint32:
        # All pairs are one set, as those of one label are for STO.
        keys = data.estimates.view(np.uint32) << np.uint32(1) | hits
        keys.sort()
        return best_cut(keys, self.overlap.recall * data.true_rows.size)

    def _instance_cut(self, data: Columns, hits: np.ndarray) -> np.uint32:
        keys = data.estimates.view(np.uint32).astype(np.uint64)
        keys <<= np.uint64(32)
        keys |= data.rows << np.uint32(1) | hits
        keys.sort()
        # Instances behind the last that has an estimate or a label change nothing.
        n_instances = int(data.rows.max()) + 1
        positives = np.bincount(data.true_rows, minlength=n_instances).astype(np.int32)
        return best_instance_cut(keys, positives, *self.overlap)


# One threshold per label for micro-averaged measures, exact on the validation set.


@hyperparameters
class MicroLabelWise(ThresholdMethod):
    """The thresholds, one for each label, with the highest micro-averaged measure on the validation set.

    The measure grows with r = TP / (w P + predicted) of the pooled counts, where w is its weight of the positives. At
    the best r every label is cut where TP - r * predicted is most, and r follows from the cuts: a fixed point, reached
    from below in a few rounds (Dinkelbach, Management Science 1967). It is the plug-in rule of Koyejo et al. (NIPS
    2015), which predicts what is more probable than r, but it takes a label's estimates as a ranking only.

    With the true probabilities one common threshold is as good, and `CommonThreshold`, which chooses one number
    instead of m, fits the validation set less closely; where a model's estimates are too high for some labels and too
    low for others, this method makes up for it. Time is O(e log e) for e stored estimates, memory 4 bytes for each.

    Parameters
    ----------
    overlap, n_jobs
        The measure and the threads, as of `CommonThreshold`.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        Of a label without estimates 0, of one for which nothing is best predicted its largest estimate.

    Examples
    --------
    >>> from xmlc.thresholds import MicroLabelWise
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> MicroLabelWise().fit(spe, Y).thresholds_
    array([0.39999998, 0.29999998], dtype=float32)
    """

    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Sort each label's estimates once, then cut at a rising price until the cuts reach no more."""
        keys = np.empty(data.estimates.size, dtype=np.uint32)
        run_by_label(sort_keys, data, self.n_jobs, keys)
        self.thresholds_ = np.zeros(data.n_labels, dtype=np.float32)
        chosen = np.zeros((data.n_labels, 2), dtype=np.int64)
        price, reached = -1.0, 0.0
        while reached > price:
            price = reached
            run_by_label(priced_cuts, data, self.n_jobs, keys, price, chosen, self.thresholds_.view(np.uint32))
            hits, predicted = chosen.sum(axis=0)
            reached = hits / max(self.overlap.recall * data.true_rows.size + predicted, 1)
        return self
