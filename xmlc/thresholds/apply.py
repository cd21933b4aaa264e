"""The one rule by which a threshold becomes a prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import run_pieces
from xmlc.kernels.csr import as_estimates, as_features, as_labels, kernel_csr
from xmlc.kernels.estimator import Estimator, not_fitted


def apply_thresholds(spe: object, thresholds: float | np.ndarray) -> sparse.csr_array:
    """Predict a label where its estimate is strictly greater than its threshold, compared in float32.

    The paper writes ``>=`` for the threshold classifier (Section 3) and ``>`` for SPEs and OFO (Section 4). Where
    estimates are fractions with many ties, as a forest's are, the two differ, so one is used throughout: ``>``,
    which makes a threshold and the floor of an SPE mean the same. STO returns the largest float32 below its
    chosen estimate, so that its ``>=`` is kept too.

    Time is linear in the stored estimates, memory in the instances and the predictions.

    Parameters
    ----------
    spe : csr_array of float32, shape (n, m)
        What is not stored is never predicted, whatever the threshold.
    thresholds : float or ndarray of float32, shape (m,)

    Returns
    -------
    csr_array of bool, shape (n, m)

    Raises
    ------
    XmlcError
        There is not one threshold for each label, one is NaN, or an estimate is no probability.

    Examples
    --------
    >>> from xmlc.thresholds import apply_thresholds
    >>> apply_thresholds([[0.6, 0.3], [0.4, 0.2]], [0.4, 0.25]).toarray().astype(int).tolist()
    [[1, 1], [0, 0]]
    """
    spe = as_estimates(spe)
    if thresholds is None or np.asarray(thresholds).dtype.kind not in "biuf":
        raise InvalidDataError(f"thresholds={thresholds!r}: expected a number, or one for each label")
    limits = per_label(thresholds, spe.shape[1], np.float32, "thresholds")
    rows = kernel_csr(spe)
    counts = np.empty(spe.shape[0], dtype=np.int64)
    count_above(*rows, limits, counts)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    kept = np.empty(indptr[-1], dtype=np.uint32)
    copy_above(*rows, limits, kept)
    # With both index arrays of one type scipy keeps them as they are.
    indptr = indptr.astype(np.int32 if indptr[-1] < 2**31 else np.int64)
    predicted = sparse.csr_array((np.ones(kept.size, dtype=bool), kept.view(np.int32), indptr), shape=spe.shape)
    predicted.has_canonical_format = True
    return predicted


class ThresholdMethod(Estimator):
    """Base of the threshold methods: ``fit`` learns one threshold per label, ``predict`` applies them.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    """

    def fit(self, spe: object, Y: object) -> Self:
        """Learn the thresholds.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Estimates of the validation set. Stored zeros are dropped; what exceeds 1 by rounding is 1.
        Y : boolean CSR, shape (n, m)
            Its label sets.

        Raises
        ------
        XmlcError
            The shapes differ, an estimate is no probability, or a hyperparameter is out of its range.
        """
        return self.fit_columns(columns(spe, Y))

    @abstractmethod
    def fit_columns(self, data: Columns) -> Self:
        """Learn the thresholds from the result of `columns`: a sweep over a grid brings it into that form once."""

    def predict(self, spe: object) -> sparse.csr_array:
        """Predict label sets, boolean CSR of shape (n, m), with the learned thresholds (see `apply_thresholds`)."""
        if not hasattr(self, "thresholds_"):
            raise not_fitted(self)
        return apply_thresholds(spe, self.thresholds_)


# The column view that tuning works on: estimates and truth label by label, and its division into pieces.


# Labels are uneven: a piece holds as many as have this many estimates and positives together.
ENTRIES_PER_PIECE = 1 << 18


class Columns(NamedTuple):
    """Estimates and truth, label by label: the form that the kernels take.

    Attributes
    ----------
    starts : int64 (m + 1,), rows : uint32, estimates : float32
        The SPE in CSC form, rows ascending within a label, estimates in (0, 1].
    true_starts : int64 (m + 1,), true_rows : uint32
        The truth in CSC form.
    """

    starts: np.ndarray
    rows: np.ndarray
    estimates: np.ndarray
    true_starts: np.ndarray
    true_rows: np.ndarray

    @property
    def n_labels(self) -> int:
        """Number of labels m."""
        return self.starts.size - 1


def checked_pair(spe: object, Y: object) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return an SPE and the truth in canonical form.

    Raises
    ------
    XmlcError
        The shapes differ, or an estimate is no probability.
    """
    spe, Y = as_estimates(spe), as_labels(Y)
    if spe.shape != Y.shape:
        raise XmlcError(f"the SPE has shape {spe.shape}, the truth {Y.shape}; they must be the same")
    return spe, Y


def columns(spe: object, Y: object) -> Columns:
    """Bring an SPE and the truth into column form; errors are those of `checked_pair`."""
    spe, Y = checked_pair(spe, Y)
    estimates, truth = sparse.csc_array(spe), sparse.csc_array(Y)
    return Columns(
        estimates.indptr.astype(np.int64),
        estimates.indices.astype(np.int32, copy=False).view(np.uint32),
        estimates.data,
        truth.indptr.astype(np.int64),
        truth.indices.astype(np.int32, copy=False).view(np.uint32),
    )


def label_pieces(data: Columns, entries: int = ENTRIES_PER_PIECE) -> list[tuple[int, int]]:
    """Cut the labels into ranges ``(start, end)`` of about equal work; the cuts depend on the data alone."""
    work = data.starts + data.true_starts + np.arange(data.starts.size)
    cuts = np.searchsorted(work, np.arange(entries, work[-1], entries))
    bounds = np.unique(np.concatenate(([0], cuts, [data.n_labels]))).tolist()
    return list(pairwise(bounds))


def run_by_label(kernel: Callable[..., None], data: Columns, n_jobs: int | None, *arguments: Any) -> None:
    """Call ``kernel(data, start, end, *arguments)`` for every piece; kernels write into arrays among them."""
    run_pieces(kernel, [(data, start, end, *arguments) for start, end in label_pieces(data)], n_jobs)


def per_label(value: float | np.ndarray | None, n_labels: int, dtype: type, name: str) -> np.ndarray:
    """Return a number, or one number per label, as an array of shape (m,); None stands for 0.

    Raises
    ------
    XmlcError
        The shape is another, or a value is NaN.
    """
    values: np.ndarray = np.asarray(0.0 if value is None else value, dtype=dtype)
    if values.shape not in ((), (n_labels,)):
        raise XmlcError(f"{name} has shape {values.shape}, expected a number or ({n_labels},), one for each label")
    if np.isnan(values).any():
        raise XmlcError(f"{name} holds NaN")
    return np.ascontiguousarray(np.broadcast_to(values, (n_labels,)))


# Thresholds in one pass over a validation set whose estimates are not stored (plt2016, Sections 4.2 and 4.3).


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
    X, Y = as_features(X), as_labels(Y)
    if X.shape[0] != Y.shape[0]:
        raise XmlcError(f"X has {X.shape[0]} instances but Y has {Y.shape[0]}")
    if instances < 1:
        raise XmlcError(f"instances={instances}: expected at least one at a time")
    floors = np.maximum(method.floors(Y.shape[1]), np.float32(floor))
    for start in range(0, max(X.shape[0], 1), instances):
        block = slice(start, start + instances)
        method.partial_fit(model.predict_proba(X[block], floors), Y[block])
    return method


@njit(cache=True, nogil=True)
def count_above(indptr, labels, estimates, thresholds, counts):
    """Count the estimates of each instance that are strictly greater than their label's threshold.

    Reads 8 bytes per stored estimate, and its threshold.

    Parameters
    ----------
    indptr : int64 (n + 1,), labels : uint32, estimates : float32
        The SPE, instance by instance.
    thresholds : float32 (m,)
    counts : int64 (n,)
        Written.
    """
    for i in range(counts.size):
        row, values = labels[indptr[i] : indptr[i + 1]], estimates[indptr[i] : indptr[i + 1]]
        count = 0
        for e in range(row.size):
            count += values[e] > thresholds[row[e]]
        counts[i] = count


@njit(cache=True, nogil=True)
def copy_above(indptr, labels, estimates, thresholds, kept):
    """Write the labels that `count_above` counted into ``kept``, uint32, instance after instance."""
    place = 0
    for i in range(indptr.size - 1):
        row, values = labels[indptr[i] : indptr[i + 1]], estimates[indptr[i] : indptr[i + 1]]
        for e in range(row.size):
            if values[e] > thresholds[row[e]]:
                kept[place] = row[e]
                place += 1
