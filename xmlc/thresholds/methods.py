"""The rule by which a threshold becomes a prediction, the base of threshold methods, and STO (plt2016, Section 4.1).

Kernels that tune work on a range of labels in column form (see `Columns`), read every stored estimate and every
positive once (8 and 4 bytes), and write their own labels' part of the result and nothing else.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import run_pieces
from xmlc.kernels.arrays import sort
from xmlc.kernels.csr import Kind, as_estimates, as_labels, kernel_csr, per_label, with_values
from xmlc.kernels.estimator import Estimator, hyperparameters, not_fitted
from xmlc.kernels.frames import column_names
from xmlc.metrics.measure import F1, Overlap


def apply_thresholds(spe: object, thresholds: float | np.ndarray) -> sparse.csr_array:
    """Predict a label where its estimate is strictly greater than its threshold.

    They are compared in float32 if one of them is of float32; a threshold below 1 stays below 1. Else in float64.

    The paper writes ``>=`` for the threshold classifier (Section 3) and ``>`` for SPEs and OFO (Section 4). Where
    estimates are fractions with many ties, as a forest's are, the two differ, so one is used throughout: ``>``,
    which makes a threshold and the floor of an SPE mean the same. STO returns the largest number below its chosen
    estimate, so that its ``>=`` is kept too.

    Time is linear in the stored estimates, memory in the instances and the predictions.

    Parameters
    ----------
    spe : csr_array of float32 or float64, shape (n, m)
        What is not stored is never predicted, whatever the threshold.
    thresholds : float or ndarray of float32 or float64, shape (m,)

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
    limits = limits_of(spe, thresholds, "thresholds")
    if limits.dtype == np.float64:  # kernels take float32: they are given what is known by then
        spe, limits = (
            with_values(spe, (spe.data > limits[spe.indices]).astype(np.float32)),
            np.full(limits.size, np.float32(0.5)),
        )
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


def limits_of(spe: sparse.csr_array, thresholds: float | np.ndarray, name: str, kind: Kind = "number") -> np.ndarray:
    """Return the thresholds of the labels in the type in which they are compared (see `apply_thresholds`)."""
    wide = spe.dtype == np.float64 and np.asarray(thresholds).dtype != np.float32
    return per_label(thresholds, spe.shape[1], np.float64 if wide else np.float32, name, kind)


class ThresholdMethod(Estimator):
    """Base of the threshold methods: ``fit`` learns one threshold per label, ``predict`` applies them.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    """

    thresholds_: np.ndarray

    def predict(self, spe: object) -> sparse.csr_array:
        """Predict label sets, boolean CSR of shape (n, m), with the learned thresholds (see `apply_thresholds`)."""
        if not hasattr(self, "thresholds_"):
            raise not_fitted(self)
        self._check_names(spe)
        return apply_thresholds(spe, self.thresholds_)


class RankingMethod(ThresholdMethod):
    """Base of the methods that rank each label's estimates: nothing else of these matters."""

    def fit(self, spe: object, Y: object) -> Self:
        """Learn the thresholds.

        Parameters
        ----------
        spe : csr_array of float32 or float64, shape (n, m)
            Estimates of the validation set. Stored zeros are dropped; what exceeds 1 by rounding is 1.
        Y : boolean CSR, shape (n, m)
            Its label sets.

        Raises
        ------
        XmlcError
            The shapes differ, an estimate is no probability, or a hyperparameter is out of its range.
        """
        data = columns(spe, Y)
        self._remember_names(spe)
        return self.fit_columns(data)

    @abstractmethod
    def fit_columns(self, data: Columns) -> Self:
        """Learn the thresholds from the result of `columns`: a sweep over a grid brings it into that form once."""


@hyperparameters
class STO(RankingMethod):
    """For each label the threshold with the highest F-measure on the validation set, found by sorting.

    With ``kappa=0`` and an SPE that holds every estimate this is the exact maximiser of the validation macro-F, of
    estimates of float64 too, however close they are: at a label that is certain many lie within 1e-9 of 1. Of
    thresholds with equal F the highest is taken (fewest predictions). A label for which nothing is best predicted
    gets its largest estimate as threshold, one without estimates above the floor its kappa. Time is O(e log e) for e
    stored estimates.

    Parameters
    ----------
    kappa : float or ndarray of shape (m,)
        Floors kappa_j, of float32: only estimates strictly greater are candidates.
    overlap : Overlap
        What to maximise in place of the F-measure, such as ``f_beta(2)``. Jaccard has the same best cuts as F, since
        it is F / (2 - F), and so the same thresholds.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        Float64 where float32 cannot tell estimates of float64 apart as these thresholds do.

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
        floors = per_label(self.kappa, data.n_labels, np.float32, "kappa", "probability")
        thresholds = np.empty(data.n_labels, dtype=np.float32)
        run_by_label(sto_thresholds, data, self.n_jobs, data.in_ranks(floors), self.overlap.recall, thresholds)
        self.thresholds_ = data.in_numbers(thresholds, floors)
        return self


# Labels are uneven: a piece holds as many as have this many estimates and positives together.
ENTRIES_PER_PIECE = 1 << 18
FIRST = 1 << 23  # bits of the least float32 that no processor takes for 0


class Columns(NamedTuple):
    """Estimates and truth, label by label: the form that the kernels take.

    Attributes
    ----------
    starts : int64 (m + 1,), rows : uint32, estimates : float32
        The SPE in CSC form, rows ascending within a label, estimates in (0, 1].
    true_starts : int64 (m + 1,), true_rows : uint32
        The truth in CSC form.
    distinct : float64 (r,)
        Empty, or the distinct estimates, ascending, of which ``estimates`` are then the ranks: integers from `FIRST`
        viewed as float32. Positive floats are ordered as their bits are, so that kernels that only compare take both.
    """

    starts: np.ndarray
    rows: np.ndarray
    estimates: np.ndarray
    true_starts: np.ndarray
    true_rows: np.ndarray
    distinct: np.ndarray

    @property
    def n_labels(self) -> int:
        """Number of labels m."""
        return self.starts.size - 1

    def in_ranks(self, floors: np.ndarray) -> np.ndarray:
        """Return floors, float32 (m,), in the form of the estimates."""
        if self.distinct.size == 0:
            return floors
        counts = np.searchsorted(self.distinct.astype(np.float32), floors, side="right")
        return np.where(floors > 0, counts + FIRST - 1, 0).astype(np.uint32).view(np.float32)

    def in_numbers(self, thresholds: np.ndarray, floors: np.ndarray, common: bool = False) -> np.ndarray:
        """Return the thresholds of `best_cut`, float32 (m,), as numbers: float64 where float32 is too coarse.

        Parameters
        ----------
        thresholds : float32 (m,)
            In the form of the estimates.
        floors : float32 (m,)
            Thresholds of labels without a greater estimate.
        common : bool
            Whether all labels have been cut as one.
        """
        if self.distinct.size == 0:
            return thresholds
        ranks, cuts, n_estimates = self.estimates.view(np.uint32), thresholds.view(np.uint32), np.diff(self.starts)

        def highest(ranks: np.ndarray) -> np.ndarray:
            """Return the highest rank of each label, `FIRST` - 1 of none."""
            found, some = np.full(self.n_labels, FIRST - 1), n_estimates > 0
            found[some] = np.maximum.reduceat(ranks, self.starts[:-1][some])
            return found

        last, none = highest(ranks), self.in_ranks(floors).view(np.uint32)
        left_out = highest(np.where(ranks <= np.repeat(cuts, n_estimates), ranks, np.uint32(FIRST - 1)))
        if common:
            last[:] = last.max()
        numbers = np.concatenate(([0.0], self.distinct, [1.0]))[
            np.maximum(np.array([cuts + 1, last, left_out]) - FIRST + 1, 0)
        ]
        for dtype in (np.float32, np.float64):
            lowest, largest, below = numbers.astype(dtype)
            found = np.where(cuts < last, np.nextafter(lowest, dtype(0)), np.where(last > none, largest, floors))
            found = found.astype(dtype)
            if (below <= found).all() and ((lowest > found) | (cuts >= last)).all():
                break
        return found


def checked_pair(spe: object, Y: object) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return an SPE and the truth in canonical form.

    Raises
    ------
    XmlcError
        The shapes differ, or an estimate is no probability.
    """
    names, spe, Y = (column_names(spe), column_names(Y)), as_estimates(spe), as_labels(Y)
    if spe.shape != Y.shape:
        raise XmlcError(f"the SPE has shape {spe.shape}, the truth {Y.shape}; they must be the same")
    if names[0] is not None and names[1] is not None and (names[0] != names[1]).any():
        raise InvalidDataError(
            f"the columns of the SPE are {', '.join(names[0])}, those of the truth {', '.join(names[1])}; "
            "give both in one order"
        )
    return spe, Y


def columns(spe: object, Y: object) -> Columns:
    """Bring an SPE and the truth into column form, estimates of float64 as ranks; errors are of `checked_pair`."""
    spe, Y = checked_pair(spe, Y)
    estimates, truth, distinct = sparse.csc_array(spe), sparse.csc_array(Y), np.empty(0)
    if spe.dtype == np.float64:
        distinct, ranks = np.unique(estimates.data, return_inverse=True)
        estimates.data = (ranks + FIRST).astype(np.uint32).view(np.float32)
    return Columns(
        estimates.indptr.astype(np.int64),
        estimates.indices.astype(np.int32, copy=False).view(np.uint32),
        estimates.data.astype(np.float32, copy=False),
        truth.indptr.astype(np.int64),
        truth.indices.astype(np.int32, copy=False).view(np.uint32),
        distinct,
    )


def label_pieces(counts: np.ndarray, entries: int = ENTRIES_PER_PIECE) -> list[tuple[int, int]]:
    """Cut labels with so many entries into ranges ``(start, end)`` of about equal work, by the data alone."""
    work = np.concatenate(([0], np.cumsum(counts + 1)))
    cuts = np.searchsorted(work, np.arange(entries, work[-1], entries))
    bounds = np.unique(np.concatenate(([0], cuts, [counts.size]))).tolist()
    return list(pairwise(bounds))


def run_by_label(kernel: Callable[..., None], data: Columns, n_jobs: int | None, *arguments: Any) -> None:
    """Call ``kernel(data, start, end, *arguments)`` for every piece; kernels write into arrays among them."""
    pieces = label_pieces(np.diff(data.starts) + np.diff(data.true_starts))
    run_pieces(kernel, [(data, *piece, *arguments) for piece in pieces], n_jobs)


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


@njit(cache=True, nogil=True)
def column_of(columns, label):
    """Return a label's part of `Columns`: rows and values of its estimates, and the rows of its positives."""
    first, last = columns.starts[label], columns.starts[label + 1]
    true_rows = columns.true_rows[columns.true_starts[label] : columns.true_starts[label + 1]]
    return columns.rows[first:last], columns.estimates[first:last], true_rows


@njit(cache=True, nogil=True)
def mark_hits(rows, true_rows):
    """Mark which of the ascending ``rows`` occur in the ascending ``true_rows``; both uint32."""
    hits = np.zeros(rows.size, dtype=np.bool_)
    b = 0
    for a in range(rows.size):
        while b < true_rows.size and true_rows[b] < rows[a]:
            b += 1
        hits[a] = b < true_rows.size and true_rows[b] == rows[a]
    return hits


@njit(cache=True, nogil=True)
def best_cut(keys, n_positives):
    """Find the estimate at which cutting maximises the label's F-measure (plt2016, Algorithm 1, line 9).

    Candidates are the sets {estimate >= v} for each distinct v, and the empty set. h / (w P + k), which F_beta grows
    with (w = beta^2), is compared by products, which are exact for w = 1 and below 2^53; of equal ones the
    smallest set wins. Without any hit that is the empty set.

    Parameters
    ----------
    keys : uint32, not empty
        Estimates with their hits, ascending: the bits of the float32 estimate, shifted left by one, and in the
        lowest bit whether the instance carries the label. Positive floats are ordered as their bits are, and those
        up to 1 leave the highest bit free, so that one plain sort orders estimates and hits together.
    n_positives : float
        w P, where P are the label's positives.

    Returns
    -------
    uint32
        Bits of the threshold: of the largest float32 below the chosen v (which is the bits of v less one), so that
        ``>`` on the threshold is ``>=`` on v; or of the largest estimate, if the empty set is chosen.
    """
    threshold = keys[-1] >> np.uint32(1)
    best_h, best_k, h, k = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(keys.size - 1, -1, -1):
        bits = keys[i] >> np.uint32(1)
        h += np.int64(keys[i] & np.uint32(1))
        k += 1
        if i > 0 and keys[i - 1] >> np.uint32(1) == bits:
            continue
        if h * (n_positives + best_k) > best_h * (n_positives + k):
            best_h, best_k, threshold = h, k, bits - np.uint32(1)
    return threshold


@njit(cache=True, nogil=True)
def sto_thresholds(columns, start, end, floors, recall, thresholds):
    """Run `best_cut` for the labels ``start .. end - 1`` on the estimates above their floors.

    Parameters
    ----------
    columns : Columns
    floors : float32 (m,)
        kappa_j.
    recall : float64
        The measure's weight of the positives (see `xmlc.metrics.measure.Overlap`), 1 for F.
    thresholds : float32 (m,)
        Written; the floor for a label without estimates above it.
    """
    as_bits = thresholds.view(np.uint32)
    for label in range(start, end):
        rows, estimates, true_rows = column_of(columns, label)
        bits, hits = estimates.view(np.uint32), mark_hits(rows, true_rows)
        keys = np.empty(estimates.size, dtype=np.uint32)
        n_keys = 0
        for i in range(estimates.size):
            if estimates[i] > floors[label]:
                keys[n_keys] = bits[i] << np.uint32(1) | np.uint32(hits[i])
                n_keys += 1
        if n_keys == 0:
            thresholds[label] = floors[label]
        else:
            sort(keys[:n_keys])
            as_bits[label] = best_cut(keys[:n_keys], recall * true_rows.size)
