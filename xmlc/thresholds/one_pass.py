"""FTA and OFO: thresholds in one pass over a validation set whose estimates need not be stored (plt2016, Section 4).

FTA is the fixed thresholds approach (Section 4.2), OFO online F-measure optimisation (Section 4.3, Algorithm 2;
Busa-Fekete et al., NIPS 2015). Both also take stored estimates, label by label. Kernels that take an SPE and the truth
instance by instance, labels ascending, change the counts of the labels that an instance has or has an estimate of:
after some blocks of instances these are what they are after one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.kernels.csr import as_labels, kernel_csr, per_label
from xmlc.kernels.elementwise import mean
from xmlc.kernels.estimator import hyperparameters
from xmlc.kernels.frames import n_rows, rows_of
from xmlc.metrics.measure import F1
from xmlc.thresholds.bounds import GRID, checked_grid, kappa
from xmlc.thresholds.methods import (
    Columns,
    ThresholdMethod,
    column_of,
    mark_hits,
    run_by_label,
)


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
        spe, Y = self._more(spe, Y)
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
        return lower_bounds_of(self.lower_bounds, n_labels)

    def _choose(self, counts: ThresholdCounts, lower: np.ndarray) -> Self:
        grid, scores = checked_grid(self.grid), counts.scores()
        # Added up as in `macro_f`, to equal it to the last bit.
        macro = np.array([mean(column) for column in scores.T])
        self.scores_ = macro[[grid.index(c) for c in self.grid]]
        # The grid ascends, so the first of equal scores is the highest threshold.
        chosen = scores.argmax(axis=1) if self.label_wise else np.full(lower.size, macro.argmax())
        self.thresholds_ = np.maximum(fixed_thresholds(grid)[chosen], lower)
        self._counts = counts
        return self


def lower_bounds_of(given: np.ndarray | None, n_labels: int) -> np.ndarray:
    """Return lower bounds, float32 of shape (m,); None stands for 0."""
    return per_label(0.0 if given is None else given, n_labels, np.float32, "lower_bounds", "share")


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
        spe, Y = self._more(spe, Y)
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
        return lower_bounds_of(self.lower_bounds, n_labels)

    def _initial(self, n_labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return a, b, nu and the thresholds before the first instance."""
        a = per_label(self.a, n_labels, np.float64, "a").copy()
        b = per_label(self.b, n_labels, np.float64, "b").copy()
        if not ((a > 0) & (2 * a <= b) & np.isfinite(b)).all():
            raise XmlcError(f"a={self.a}, b={self.b}: the initial threshold a/b must lie in (0, 0.5], with a and b > 0")
        lower = self.floors(n_labels)
        return a, b, lower, np.maximum((a / b).astype(np.float32), lower)


class OnePass(Protocol):
    """A threshold method that needs no stored estimates: `FTA` and `OFO`. STO sorts them, and has none."""

    def partial_fit(self, spe: object, Y: object) -> Self:
        """Learn from the estimates and label sets of more instances."""

    def floors(self, n_labels: int) -> np.ndarray:
        """Return the bounds above which estimates matter, float32 of shape (m,)."""


class Estimating(Protocol):
    """A fitted model."""

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates above a threshold, float32 of shape (n, m)."""


M = TypeVar("M", bound=OnePass)


def fit_in_one_pass(method: M, model: Estimating, X: object, Y: object, floor: float = 0.0, instances: int = 1024) -> M:
    """Learn thresholds from a model's estimates, which are made a few instances at a time and forgotten.

    The same thresholds as ``method.fit(model.predict_proba(X, floors), Y)`` gives, to the last bit, in memory for the
    counters of the labels and the estimates of ``instances`` instances. FTA's estimates end at its lowest
    kappa_j, OFO's at nu_j.

    Parameters
    ----------
    method : FTA or OFO
        Not fitted; one that is fitted goes on from what it has seen.
    model : estimator
        Fitted.
    X : sparse or dense array, shape (n, d)
    Y : sparse or dense boolean array, shape (n, m)
        The validation set, in the order in which it is passed over.
    floor : float
        Estimates at or below it are left out, too.
    instances : int
        How many are estimated together.

    Raises
    ------
    XmlcError
        X and Y differ in length, or ``instances`` is less than 1.
    """
    Y, n_instances = as_labels(Y), n_rows(X)
    if n_instances != Y.shape[0]:
        raise XmlcError(f"X has {n_instances} instances but Y has {Y.shape[0]}")
    if instances < 1:
        raise XmlcError(f"instances={instances}: expected at least one at a time")
    floors = np.maximum(method.floors(Y.shape[1]), np.float32(floor))
    for start in range(0, max(n_instances, 1), instances):
        block = slice(start, start + instances)
        method.partial_fit(model.predict_proba(rows_of(X, block), floors), Y[block])
    return method


@njit(cache=True, nogil=True)
def fixed_counts(columns, start, end, fixed, lower, hits, predicted):
    """Count hits and predictions at every fixed threshold max(fixed[g], lower[j]), in one pass.

    Parameters
    ----------
    columns : Columns
    fixed : float32 (g,)
        Ascending, so that an estimate need not be compared beyond the first threshold that it does not exceed.
    lower : float32 (m,)
    hits, predicted : int32 (m, g), zeros
        Written in the rows ``start .. end - 1``.
    """
    for label in range(start, end):
        rows, estimates, true_rows = column_of(columns, label)
        hit = mark_hits(rows, true_rows)
        for i in range(estimates.size):
            for g in range(fixed.size):
                if not estimates[i] > max(fixed[g], lower[label]):
                    break
                predicted[label, g] += 1
                hits[label, g] += hit[i]


@njit(cache=True, nogil=True)
def ofo_thresholds(columns, start, end, a, b, lower, thresholds):
    """Run online F-measure optimisation for the labels ``start .. end - 1`` (plt2016, Algorithm 2).

    A label's thresholds depend on no other label, so the pass over instances may go label by label: the instances
    that matter are those where it is true or has an estimate.

    Parameters
    ----------
    columns : Columns
    a, b : float64 (m,)
        Initial values of (7); the last ones on return.
    lower : float32 (m,)
        Thresholds are kept at or above it.
    thresholds : float32 (m,)
        Written.
    """
    for label in range(start, end):
        rows, estimates, true_rows = column_of(columns, label)
        a_j, b_j = a[label], b[label]
        tau = max(np.float32(a_j / b_j), lower[label])
        i = t = 0
        while i < rows.size or t < true_rows.size:
            is_true = t < true_rows.size and (i == rows.size or true_rows[t] <= rows[i])
            has_estimate = i < rows.size and (not is_true or true_rows[t] == rows[i])
            is_predicted = has_estimate and estimates[i] > tau
            if is_true or is_predicted:
                a_j += is_true and is_predicted
                b_j += is_true
                b_j += is_predicted
                tau = max(np.float32(a_j / b_j), lower[label])
            t += is_true
            i += has_estimate
        a[label], b[label], thresholds[label] = a_j, b_j, tau


@njit(cache=True, nogil=True)
def count_fixed(spe, truth, fixed, lower, positives, hits, predicted):
    """Count each label's positives, hits and predictions at every fixed threshold max(fixed[g], lower[j]).

    Parameters
    ----------
    spe, truth : KernelCSR
    fixed : float32 (g,)
        Ascending, so that an estimate need not be compared beyond the first threshold that it does not exceed.
    lower : float32 (m,)
    positives : int32 (m,), hits, predicted : int32 (m, g)
        Added to.
    """
    for i in range(spe.indptr.size - 1):
        labels, estimates, true_labels = instance_of(spe, truth, i)
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


@njit(cache=True, nogil=True)
def follow_online_f(spe, truth, a, b, lower, thresholds):
    """Run online F-measure optimisation instance by instance (plt2016, Algorithm 2, as printed).

    Parameters
    ----------
    spe, truth : KernelCSR
    a, b : float64 (m,)
        Sums (7); added to.
    lower : float32 (m,)
        Thresholds are kept at or above it.
    thresholds : float32 (m,)
        tau_j of equation (8) before the first instance; after the last one on return.
    """
    for i in range(spe.indptr.size - 1):
        labels, estimates, true_labels = instance_of(spe, truth, i)
        e = t = 0
        while e < labels.size or t < true_labels.size:
            is_true = t < true_labels.size and (e == labels.size or true_labels[t] <= labels[e])
            has_estimate = e < labels.size and (not is_true or true_labels[t] == labels[e])
            label = true_labels[t] if is_true else labels[e]
            is_predicted = has_estimate and estimates[e] > thresholds[label]
            if is_true or is_predicted:
                a[label] += is_true and is_predicted
                b[label] += is_true
                b[label] += is_predicted
                thresholds[label] = max(np.float32(a[label] / b[label]), lower[label])
            t += is_true
            e += has_estimate


@njit(cache=True, nogil=True)
def instance_of(spe, truth, i):
    """Return the labels with an estimate of an instance, their estimates, and the labels that it has."""
    first, last = spe.indptr[i], spe.indptr[i + 1]
    return spe.indices[first:last], spe.data[first:last], truth.indices[truth.indptr[i] : truth.indptr[i + 1]]
