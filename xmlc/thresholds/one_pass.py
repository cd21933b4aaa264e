"""Learn thresholds by FTA or OFO in one pass over a validation set, without storing estimates (plt2016, Section 4).

FTA is the fixed thresholds approach (Section 4.2). OFO is online F-measure optimisation (Section 4.3, Algorithm 2;
Busa-Fekete et al., NIPS 2015).

Kernels read the SPE and the truth instance by instance, with ascending labels. For each instance, the kernels update
the counts of its true labels and of the labels with an estimate. The counts do not depend on the division of the
instances into blocks. Labels are independent of each other, so threads share the work by ranges of labels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from xmlc.core.errors import InvalidDataError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import run_tasks
from xmlc.kernels.checks import check_same_instances
from xmlc.kernels.csr import CSR, Matrix, as_labels, blocks_of_rows, kernel_csr, per_label, release
from xmlc.kernels.domains import MANY, check, whole
from xmlc.kernels.elementwise import mean
from xmlc.kernels.estimator import InvalidParameterError, hyperparameters
from xmlc.kernels.frames import n_rows, rows_of
from xmlc.metrics.measure import F1
from xmlc.thresholds.bounds import GRID, checked_grid, kappa
from xmlc.thresholds.methods import ThresholdMethod, checked_pair

# A task has about ENTRIES_PER_TASK estimates and positives. Tasks with a fixed number of labels would be unequal.
ENTRIES_PER_TASK = 1 << 18


class Instances(NamedTuple):
    """Hold the estimates and the truth of some instances, and the range of labels of each task."""

    spe: CSR
    truth: CSR
    tasks: list[tuple[int, int]]


def instances(spe: CSR, Y: CSR) -> list[Instances]:
    """Divide estimates and truth into blocks of instances, and divide the labels of each block into ranges."""
    found, n_labels = list[Instances](), Y.shape[1]
    for part, truth in blocks_of_rows(spe, Y):
        tasks = [(0, n_labels)]
        if part.nnz + truth.nnz > ENTRIES_PER_TASK:
            entries, positives = (np.bincount(each.indices, minlength=n_labels) for each in (part, truth))
            tasks = label_tasks(entries + positives)
            release(part)
        found.append(Instances(part, truth, tasks))
    return found


def label_tasks(counts: np.ndarray, entries: int = ENTRIES_PER_TASK) -> list[tuple[int, int]]:
    """Divide labels into ranges ``(start, end)`` of about equal work, whatever the number of threads.

    Parameters
    ----------
    counts : ndarray of int, shape (m,)
        Number of estimates and positives of each label.
    entries : int
        Approximate number of labels, estimates and positives per range.
    """
    work = np.concatenate(([0], np.cumsum(counts + 1)))
    candidates = np.searchsorted(work, np.arange(entries, work[-1], entries))
    return list(pairwise(np.unique(np.concatenate(([0], candidates, [counts.size]))).tolist()))


class OnePassMethod(ThresholdMethod):
    """Serve as the base class of `FTA` and `OFO`.

    `STO` sorts stored estimates, but `FTA` and `OFO` need no stored estimates.
    """

    n_jobs: int | None
    _counted: Any = None  # The counters include all instances since the last ``fit``.

    def fit(self, spe: Matrix, Y: Matrix) -> Self:
        """Forget earlier instances and learn the thresholds. Parameters and errors are documented in `STO.fit`."""
        pair = checked_pair(spe, Y)
        self._counted = None
        self._remember_names(spe)
        self._begin_learning()
        return self.learn(instances(*pair), pair[1].shape[1])

    def partial_fit(self, spe: Matrix, Y: Matrix) -> Self:
        """Learn from more instances, in addition to the instances since the last ``fit``.

        Each call takes O(m) time, so pass several instances at once.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Estimates of the instances, in (0, 1]. ``partial_fit`` ignores estimates that do not exceed
            `min_probabilities`.
        Y : boolean CSR, shape (n, m)
            Label sets of the instances.

        Raises
        ------
        XmlcError
            For the same reasons as in ``fit``, or if the number of labels or a hyperparameter that affects the counts
            has changed.
        """
        pair = checked_pair(spe, Y)
        n_labels = pair[1].shape[1]
        if self._counted is None:
            self._remember_names(spe)
            self._begin_learning()
        else:
            self._go_on_learning()
            self._check_names(spe)
            if self.thresholds_.size != n_labels:
                raise InvalidDataError(f"Y: found {n_labels} labels, expected {self.thresholds_.size} as before")
        return self.learn(instances(*pair), n_labels)

    @abstractmethod
    def learn(self, blocks: Sequence[Instances], n_labels: int) -> Self:
        """Learn from the blocks that `instances` returned. A sweep computes the blocks only once."""

    @abstractmethod
    def min_probabilities(self, n_labels: int) -> np.ndarray:
        """Return the minimum probability of each label, float32 of shape (m,).

        The method ignores estimates that do not exceed the minimum probability of their label.
        """

    def _run(self, kernel: Callable[..., None], blocks: Sequence[Instances], *arguments: Any) -> None:
        """Call ``kernel(spe, truth, start, end, *arguments)`` for each range of labels, block by block."""
        for block in blocks:
            rows = kernel_csr(block.spe), kernel_csr(block.truth)
            run_tasks(kernel, [(*rows, *task, *arguments) for task in block.tasks], self.n_jobs)
            release(block.spe)


@hyperparameters
class FTA(OnePassMethod):
    """Choose the best of a few fixed thresholds. A threshold is 1/c, or max(1/c, nu_j) with lower bounds nu_j.

    Parameters
    ----------
    grid : sequence of float
        The values c that define the thresholds.
    label_wise : bool
        False chooses one c for all labels (Section 4.2: "more stable"). True chooses the best c for each label
        (line 9 of Algorithm 1 restricted to a fixed set).
    lower_bounds : ndarray of shape (m,) or None
        nu_j = pi_j / (pi_j + 1), the lower end of the range of an optimal threshold (equation (5)). pi_j is the label's
        prior, estimated on the training split (``xmlc.thresholds.bounds.lower_bounds``). With lower bounds, the
        thresholds are kappa_j = max(1/c, nu_j), as published in Section 6.2. If ``lower_bounds`` is None, the threshold
        of each label is 1/c, as in the program of plt2016's authors.
    n_jobs : int or None
        Number of threads. The result does not depend on the number of threads.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    scores_ : ndarray of float64, shape (len(grid),)
        Validation macro-F (0/0 = 1) of each value in ``grid``, in the order of ``grid``. Each score is the macro-F with
        the same c for all labels.

    Notes
    -----
    Among thresholds with equal score, the highest is chosen, because it predicts the fewest labels and takes the least
    time.

    You need not store the estimates that you pass to ``partial_fit`` (Section 4.2, last paragraph). Calls of
    ``partial_fit`` with parts of a dataset give the same thresholds as one call of ``fit``. The method stores 2 *
    len(grid) + 1 counters of 4 bytes for each label.

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
        """Count hits and predictions at each fixed threshold, then choose thresholds by all counts since ``fit``."""
        lower, grid = lower_bounds_of(self.lower_bounds, n_labels), checked_grid(self.grid)
        if self._counted is None:
            # The arrays count the positives, and the hits and predictions at each threshold, lowest threshold first.
            shapes = (n_labels, (n_labels, len(grid)), (n_labels, len(grid)))
            self._counted = [np.zeros(shape, dtype=np.int32) for shape in shapes]
        self._run(count_fixed, blocks, fixed_thresholds(grid)[::-1].copy(), lower, *self._counted)
        scores = self.label_scores()
        # `macro_f` sums the labels in the same order, so ``scores_`` and `macro_f` are bit-identical.
        macro = np.array([mean(column) for column in scores.T])
        self.scores_ = macro[[grid.index(c) for c in self.grid]]
        # The grid ascends, so argmax finds the highest threshold among equal scores.
        chosen = scores.argmax(axis=1) if self.label_wise else np.full(lower.size, macro.argmax())
        self.thresholds_ = np.maximum(fixed_thresholds(grid)[chosen], lower)
        return self

    def label_scores(self) -> np.ndarray:
        """Return each label's F (0/0 = 1) at each threshold, highest threshold first, float64 of shape (m, g)."""
        positives, hits, predicted = self._counted
        return F1.of(hits, positives[:, None], predicted)[:, ::-1]

    def min_probabilities(self, n_labels: int) -> np.ndarray:
        """Return each label's lowest candidate threshold, float32 of shape (m,).

        FTA needs only estimates above the lowest candidate threshold of their label.
        """
        return kappa(checked_grid(self.grid)[-1], lower_bounds_of(self.lower_bounds, n_labels))


def lower_bounds_of(given: np.ndarray | None, n_labels: int) -> np.ndarray:
    """Return the lower bounds of thresholds as float32 of shape (m,). All bounds are 0 if ``given`` is None."""
    return per_label(0.0 if given is None else given, n_labels, np.float32, "lower_bounds", "share")


def fixed_thresholds(grid: Sequence[float]) -> np.ndarray:
    """Return the thresholds 1/c for the values c of a grid, in the order of the grid, float32."""
    return (1.0 / np.asarray(grid, dtype=np.float64)).astype(np.float32)


@hyperparameters
class OFO(OnePassMethod):
    """Learn thresholds tau_j = a_j / b_j by online F-measure optimisation, in one pass over the validation set.

    Parameters
    ----------
    a, b : float or ndarray of shape (m,)
        Initial values of a_j and b_j, with 0 < a / b <= 0.5 (equation (5)).
    lower_bounds : ndarray of shape (m,) or None
        Lower bounds nu_j of all thresholds, including the initial threshold (Section 6.2).
    n_jobs : int or None
        Number of threads. The result does not depend on the number of threads.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        Thresholds after the last instance.

    Notes
    -----
    The method reads instances in the order of the rows. A label without a stored estimate is treated as not predicted.

    ``partial_fit`` stores only a_j, b_j and tau_j. Calls of ``partial_fit`` with parts of a dataset give the same
    thresholds as one call of ``fit``.

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

    def learn(self, blocks: Sequence[Instances], n_labels: int) -> Self:
        """Update the thresholds in one pass over the instances."""
        lower = self.min_probabilities(n_labels)
        if self._counted is None:
            a, b = (per_label(getattr(self, name), n_labels, np.float64, name).copy() for name in ("a", "b"))
            if not ((a > 0) & (2 * a <= b) & np.isfinite(b)).all():
                expected = "finite numbers with 0 < a <= b / 2"
                raise InvalidParameterError(f"found a={self.a}, b={self.b}, expected {expected}")
            self.thresholds_ = np.maximum((a / b).astype(np.float32), lower)
            self._counted = a, b
        self._run(follow_online_f, blocks, *self._counted, lower, self.thresholds_)
        return self

    def min_probabilities(self, n_labels: int) -> np.ndarray:
        """Return each label's lowest possible threshold, float32 of shape (m,): nu_j, or 0 without bounds."""
        return lower_bounds_of(self.lower_bounds, n_labels)


M = TypeVar("M", bound=OnePassMethod)


def fit_in_one_pass(
    method: M, model: Any, X: Matrix, Y: Matrix, min_probability: float = 0.0, instances: int = 1024
) -> M:
    """Learn thresholds from a model's estimates, which are computed for a few instances at a time and not stored.

    Storing all estimates and calling ``method.fit`` would give bit-identical thresholds. The counters of the labels and
    the estimates of ``instances`` instances are kept in memory. FTA ignores estimates up to its lowest kappa_j, and OFO
    ignores estimates up to nu_j.

    Parameters
    ----------
    method : FTA or OFO
        The threshold method. A fitted method continues from its present state.
    model : estimator
        A fitted model with ``predict_proba(X, threshold)``, which returns the estimates above a threshold as CSR.
    X : sparse or dense array, shape (n, d)
        Features of the validation set, in the order of the pass.
    Y : sparse or dense boolean array, shape (n, m)
        Label sets of the validation set, in the order of X.
    min_probability : float
        Minimum probability. Estimates that do not exceed ``min_probability`` are left out.
    instances : int
        Number of instances for which estimates are computed at a time.

    Raises
    ------
    XmlcError
        X and Y differ in length, or ``instances`` is less than 1.
    """
    Y, n_instances = as_labels(Y), n_rows(X)
    check_same_instances(n_instances, Y.shape[0])
    check("instances", instances, whole(1, MANY))
    minima = np.maximum(method.min_probabilities(Y.shape[1]), np.float32(min_probability))
    for start in range(0, max(n_instances, 1), instances):
        block = slice(start, start + instances)
        method.partial_fit(model.predict_proba(rows_of(X, block), minima), Y[block])
    return method


@njit
def count_fixed(spe, truth, start, end, fixed, lower, positives, hits, predicted):
    """Count the positives, hits and predictions of some labels at every fixed threshold max(fixed[g], lower[j]).

    Parameters
    ----------
    spe, truth : a `KernelCSR` each
        Estimates and label sets of the instances.
    start, end : int
        Range of the labels ``start .. end - 1`` that the kernel counts.
    fixed : float32 (g,)
        Fixed thresholds, ascending. An estimate is compared with thresholds up to the first threshold that it does not
        exceed.
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


@njit
def follow_online_f(spe, truth, start, end, a, b, lower, thresholds):
    """Run online F-measure optimisation for some labels, instance by instance (plt2016, Algorithm 2, as printed).

    Parameters
    ----------
    spe, truth, start, end
        The same as in `count_fixed`.
    a, b : float64 (m,)
        Numerators a_j and denominators b_j of the thresholds, the sums of equation (7), updated in place.
    lower : float32 (m,)
        Lower bound of each label's threshold.
    thresholds : float32 (m,)
        Thresholds tau_j of equation (8), updated after each instance.
    """
    for i in range(spe.indptr.size - 1):
        labels, estimates, true_labels = instance_of(spe, truth, i, start, end)
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


@njit
def instance_of(spe, truth, i, start, end):
    """Return the labels with estimates, the estimates, and the true labels of instance ``i``.

    The results contain only labels in ``start .. end - 1``.
    """
    (e, e_end), (t, t_end) = entries_of(spe, i, start, end), entries_of(truth, i, start, end)
    return spe.indices[e:e_end], spe.data[e:e_end], truth.indices[t:t_end]


@njit
def entries_of(rows, i, start, end):
    """Return the start and the end of the entries of instance ``i`` whose labels lie in ``start .. end - 1``."""
    first, last = rows.indptr[i], rows.indptr[i + 1]
    labels = rows.indices[first:last]
    if labels.size > 0 and labels[-1] >= end:
        last = first + np.searchsorted(labels, np.uint32(end))
    if labels.size > 0 and labels[0] < start:
        first += np.searchsorted(labels, np.uint32(start))
    return first, last
