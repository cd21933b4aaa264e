"""Learning of thresholds in one pass, without stored estimates: the base of FTA and OFO.

Kernels read the SPE and the truth instance by instance, with ascending labels, and update the
counts of true labels and of labels with an estimate. The counts do not depend on how instances are
divided into blocks. Because labels are independent, threads share them by ranges.
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
from xmlc.kernels.frames import n_rows, rows_of
from xmlc.thresholds.methods import ThresholdMethod, checked_pair

# Roughly the estimates and positives of a task. Equal numbers of labels would be unequal work.
ENTRIES_PER_TASK = 1 << 18


class Instances(NamedTuple):
    """Estimates and truth of some instances, and the range of labels of each task."""

    spe: CSR
    truth: CSR
    tasks: list[tuple[int, int]]


def instances(spe: CSR, Y: CSR) -> list[Instances]:
    """Divide estimates and truth into blocks of instances, and the labels of each into ranges."""
    result = []
    for part, truth in blocks_of_rows(spe, Y):
        entries = np.bincount(part.indices, minlength=Y.shape[1]) + np.bincount(
            truth.indices, minlength=Y.shape[1]
        )
        result.append(Instances(part, truth, label_tasks(entries)))
        release(part)
    return result


def label_tasks(counts: np.ndarray, entries: int = ENTRIES_PER_TASK) -> list[tuple[int, int]]:
    """Divide labels into ranges ``(start, end)`` of about equal work, for any number of threads.

    ``counts`` are the estimates and positives of each label, and ``entries`` roughly those of a
    range, labels included.
    """
    work = np.concatenate(([0], np.cumsum(counts + 1)))
    candidates = np.searchsorted(work, np.arange(entries, work[-1], entries))
    return list(pairwise(np.unique(np.concatenate(([0], candidates, [counts.size]))).tolist()))


class OnePassMethod(ThresholdMethod):
    """The base class of `FTA` and `OFO`, which need no stored estimates."""

    n_jobs: int | None
    _counted: Any = None  # counters of all instances since the last ``fit``

    def fit(self, spe: Matrix, Y: Matrix) -> Self:
        """Forget earlier instances and learn the thresholds.

        Parameters
        ----------
        spe, Y
            As for `xmlc.thresholds.STO.fit`.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            As for `xmlc.thresholds.STO.fit`.

        See Also
        --------
        partial_fit
        """
        pair = checked_pair(spe, Y)
        self._counted = None
        self._remember_names(spe)
        self._begin_learning()
        return self.learn(instances(*pair), pair[1].shape[1])

    def partial_fit(self, spe: Matrix, Y: Matrix) -> Self:
        """Learn from more instances, in addition to those since the last ``fit``.

        Each call takes O(m) time, so pass several instances at once.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Estimates in (0, 1].
        Y : boolean CSR, shape (n, m)
            Label sets of the instances.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            For the reasons of ``fit``, or if the number of labels or a hyperparameter that affects
            the counts has changed.

        See Also
        --------
        fit, xmlc.thresholds.fit_in_one_pass
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
                raise InvalidDataError(
                    f"Y: found {n_labels} labels, expected {self.thresholds_.size} as before"
                )
        return self.learn(instances(*pair), n_labels)

    @abstractmethod
    def learn(self, blocks: Sequence[Instances], n_labels: int) -> Self:
        """Learn from the blocks of `instances`, which a sweep computes only once."""

    @abstractmethod
    def min_probabilities(self, n_labels: int) -> np.ndarray:
        """Return what an estimate of each label must exceed to be used, float32 of shape (m,)."""

    def _run(
        self, kernel: Callable[..., None], blocks: Sequence[Instances], *arguments: Any
    ) -> None:
        """Call ``kernel(spe, truth, start, end, *arguments)`` for each range of each block."""
        for block in blocks:
            rows = kernel_csr(block.spe), kernel_csr(block.truth)
            run_tasks(kernel, [(*rows, *task, *arguments) for task in block.tasks], self.n_jobs)
            release(block.spe)


def lower_bounds_of(given: np.ndarray | None, n_labels: int) -> np.ndarray:
    """Return lower bounds of thresholds, 0 for None, as float32 of shape (m,)."""
    return per_label(0.0 if given is None else given, n_labels, np.float32, "lower_bounds", "share")


M = TypeVar("M", bound=OnePassMethod)


def fit_in_one_pass(
    method: M, model: Any, X: Matrix, Y: Matrix, min_probability: float = 0.0, instances: int = 1024
) -> M:
    """Learn thresholds from a model's estimates, a few instances at a time, without storing them.

    The thresholds are bit-identical to ``method.fit`` with all estimates, but memory has only the
    counters of the labels and the estimates of ``instances`` instances. FTA ignores estimates up to
    its lowest kappa_j, and OFO up to nu_j (plt2016, Section 4.2).

    Parameters
    ----------
    method : FTA or OFO
        A fitted method continues from its present state.
    model : estimator
        A fitted model whose ``predict_proba(X, threshold)`` returns the estimates above a threshold
        as CSR.
    X : sparse or dense array, shape (n, d)
        Features of the validation set, in the order of the pass.
    Y : sparse or dense boolean array, shape (n, m)
        Label sets of the validation set.
    min_probability : float
        Estimates up to this value are left out.
    instances : int
        Number of instances at a time.

    Returns
    -------
    FTA or OFO
        The fitted method.

    Raises
    ------
    XmlcError
        If X and Y differ in length, or ``instances`` is less than 1.

    See Also
    --------
    OutOfFold : Learns thresholds without a validation set.

    Examples
    --------
    >>> from xmlc.models import BinaryRelevance
    >>> from xmlc.thresholds import FTA, fit_in_one_pass
    >>> X, Y = [[0.0], [1.0]] * 10, [[1, 0], [0, 1]] * 10
    >>> model = BinaryRelevance(C=1.0).fit(X, Y)
    >>> fit_in_one_pass(FTA(grid=[2, 4]), model, X, Y).thresholds_
    array([0.5, 0.5], dtype=float32)
    """
    Y = as_labels(Y)
    n_instances = n_rows(X)
    check_same_instances(n_instances, Y.shape[0])
    check("instances", instances, whole(1, MANY))
    minima = np.maximum(method.min_probabilities(Y.shape[1]), np.float32(min_probability))
    for start in range(0, max(n_instances, 1), instances):
        block = slice(start, start + instances)
        method.partial_fit(model.predict_proba(rows_of(X, block), minima), Y[block])
    return method


@njit
def instance_of(spe, truth, i, start, end):
    """Return estimated labels, estimates and true labels of instance i in ``start .. end - 1``."""
    own = entries_of(spe, i, start, end)
    return spe.indices[own], spe.data[own], truth.indices[entries_of(truth, i, start, end)]


@njit
def entries_of(rows, i, start, end):
    """Return the slice of the entries of instance i in ``start .. end - 1``."""
    first = rows.indptr[i]
    labels = rows.indices[first : rows.indptr[i + 1]]
    return slice(
        first + np.searchsorted(labels, np.uint32(start)),
        first + np.searchsorted(labels, np.uint32(end)),
    )
