"""Metrics of label sets: F-measures, Jaccard and Hamming loss.

``Y`` is the truth and ``Y_hat`` the prediction, both boolean CSR of shape (n, m). Time is linear in their stored
entries, memory in n + m. All results are fractions in [0, 1]. An F-measure or Jaccard of two empty
sets is ``zero_division``; the papers use 1. With nan such labels or instances are left out of means, as in
scikit-learn; a mean of nothing else is nan.

Each measure of records and tables is declared below its function, in `MEASURES`. Tables read that and must not wait for
numba, so that kernels are imported where something is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidParameterError, shown
from xmlc.kernels.checks import check_same_shape
from xmlc.kernels.csr import Matrix, as_labels, blocks_of_rows, kernel_csr, release
from xmlc.kernels.domains import OneOf, check
from xmlc.metrics.measure import AVERAGES, F1, JACCARD, OVERLAPS, Average, Measure, Overlap, f_beta


class Agreement(NamedTuple):
    """Counts from which every metric of label sets follows.

    Attributes
    ----------
    hits, positives, predicted : ndarray of int64, shape (m,)
        True positives, positives and predicted positives of each label.
    row_hits, row_positives, row_predicted : ndarray of int64, shape (n,)
        The same for each instance.
    """

    hits: np.ndarray
    positives: np.ndarray
    predicted: np.ndarray
    row_hits: np.ndarray
    row_positives: np.ndarray
    row_predicted: np.ndarray


def agreement(Y: Matrix, Y_hat: Matrix, times: np.ndarray | None = None) -> Agreement:
    """Count how truth and prediction agree, in one pass.

    Parameters
    ----------
    Y, Y_hat : boolean CSR, shape (n, m)
    times : ndarray of int32, shape (n,), optional
        How often each instance counts; once by default.

    Raises
    ------
    XmlcError
        The shapes differ.
    """
    from xmlc.metrics._counts import count_agreement

    Y = as_labels(Y, "Y", Y_hat, "the truth, then the predictions: f(Y, Y_hat)")
    Y_hat = as_labels(Y_hat, "Y_hat (the predictions)")
    check_same_shape(Y_hat, Y, "the prediction")
    true, predicted = kernel_csr(Y), kernel_csr(Y_hat)
    each = np.ones(Y.shape[0], dtype=np.int32) if times is None else times
    counts = count_agreement(true.indptr, true.indices, predicted.indptr, predicted.indices, each, Y.shape[1])
    *of_labels, row_hits = counts
    of_rows = row_hits, np.diff(true.indptr), np.diff(predicted.indptr)
    return Agreement(*of_labels, *(of_rows if times is None else (np.repeat(part, times) for part in of_rows)))


Blocks = Iterable[tuple[sparse.csr_array, sparse.csr_array]]  # truth and label sets of some instances after others


def sets_by_blocks(Y: Matrix, spe: sparse.csr_array, predict: Callable[[sparse.csr_array], sparse.csr_array]) -> Blocks:
    """Yield the truth and the label sets that ``predict`` makes of estimates, block by block.

    Raises
    ------
    XmlcError
        The shapes differ.
    """
    Y = as_labels(Y)
    check_same_shape(spe, Y)
    for part, truth in blocks_of_rows(spe, Y):
        predicted = predict(part)
        release(part)
        yield truth, predicted


def agreement_of_blocks(blocks: Blocks, times: np.ndarray | None = None) -> Agreement:
    """Count how truth and label sets agree, at least one block of them; ``times`` is that of `agreement`."""
    counts, first = [], 0
    for truth, predicted in blocks:
        last = first + truth.shape[0]
        counts.append(agreement(truth, predicted, None if times is None else times[first:last]))
        first = last
    of_labels, of_rows = (zip(*(one[part] for one in counts)) for part in (slice(0, 3), slice(3, 6)))
    return Agreement(*(reduce(np.add, parts) for parts in of_labels), *map(np.concatenate, of_rows))


def macro_f(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0, average: str = "all", beta: float = 1.0) -> float:
    """Macro-averaged F-measure (plt2016, equation (1)): the mean over labels of 2 TP / (P + predicted).

    Parameters
    ----------
    Y, Y_hat : boolean CSR, shape (n, m)
    zero_division : {0, 1, nan}
        F of a label without positives and without predictions; nan leaves the label out. The papers use 1 (after Lewis,
        1995). Each such label then counts as a label that is predicted without error: 355 labels of 400 that never
        occur raise macro-F from 0.41 to 0.93. A table must say which was used.
    average : {"all", "present", "seen"}
        Over all m labels (the papers'), over labels with a positive in ``Y``, or over labels with a positive
        or a prediction; 0 if there are none. Labels that ``Y`` lacks do not change "present".
    beta : float
        Weight of recall: F_beta is (1 + beta^2) TP / (beta^2 P + predicted).

    Raises
    ------
    XmlcError
        The shapes differ, ``average`` is another word, ``zero_division`` another value, or ``beta`` is not a finite
        number above 0.

    Examples
    --------
    >>> from xmlc.metrics import macro_f
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(macro_f(Y, Y_hat), 3)
    0.556
    """
    return _macro(agreement(Y, Y_hat), f_beta(beta), zero_division, average)


def micro_f(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0, beta: float = 1.0) -> float:
    """Micro-averaged F_beta, of the counts summed over all labels: 2 TP / (P + predicted) for beta = 1.

    Examples
    --------
    >>> from xmlc.metrics import micro_f
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(micro_f(Y, Y_hat), 3)
    0.667
    """
    return _micro(agreement(Y, Y_hat), f_beta(beta), zero_division)


def instance_f(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0, beta: float = 1.0) -> float:
    """Instance-averaged F_beta: the mean over instances, of ``2 |y and y_hat| / (|y| + |y_hat|)`` for beta = 1.

    Examples
    --------
    >>> from xmlc.metrics import instance_f
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(instance_f(Y, Y_hat), 3)
    0.75
    """
    return _instance(agreement(Y, Y_hat), f_beta(beta), zero_division)


def macro_jaccard(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0, average: str = "all") -> float:
    """Macro-averaged Jaccard: the mean over labels of TP / (P + predicted - TP); arguments as of `macro_f`.

    Examples
    --------
    >>> from xmlc.metrics import macro_jaccard
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(macro_jaccard(Y, Y_hat), 3)
    0.5
    """
    return _macro(agreement(Y, Y_hat), JACCARD, zero_division, average)


def micro_jaccard(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0) -> float:
    """Micro-averaged Jaccard: TP / (P + predicted - TP) with the counts summed over all labels.

    Examples
    --------
    >>> from xmlc.metrics import micro_jaccard
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(micro_jaccard(Y, Y_hat), 3)
    0.5
    """
    return _micro(agreement(Y, Y_hat), JACCARD, zero_division)


def instance_jaccard(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0) -> float:
    """Instance-averaged Jaccard: the mean over instances of ``|y and y_hat| / |y or y_hat|``.

    Examples
    --------
    >>> from xmlc.metrics import instance_jaccard
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(instance_jaccard(Y, Y_hat), 3)
    0.667
    """
    return _instance(agreement(Y, Y_hat), JACCARD, zero_division)


def hamming_loss(Y: Matrix, Y_hat: Matrix) -> float:
    """Share of the n x m decisions that are wrong.

    Examples
    --------
    >>> from xmlc.metrics import hamming_loss
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(hamming_loss(Y, Y_hat), 3)
    0.333
    """
    return _hamming_loss(agreement(Y, Y_hat))


def _macro(counts: Agreement, overlap: Overlap, zero_division: float = 1.0, average: str = "all") -> float:
    chosen: dict[str, slice | np.ndarray] = {
        "all": slice(None),
        "present": counts.positives > 0,
        "seen": (counts.positives > 0) | (counts.predicted > 0),
    }
    check("average", average, OneOf(tuple(chosen)))
    empty = _checked(zero_division)
    return _mean(overlap.of(counts.hits, counts.positives, counts.predicted, empty)[chosen[average]])


def _micro(counts: Agreement, overlap: Overlap, zero_division: float = 1.0) -> float:
    hits, positives, predicted = (part.sum() for part in (counts.hits, counts.positives, counts.predicted))
    return float(overlap.of(hits, positives, predicted, _checked(zero_division)))


def _instance(counts: Agreement, overlap: Overlap, zero_division: float = 1.0) -> float:
    empty = _checked(zero_division)
    return _mean(overlap.of(counts.row_hits, counts.row_positives, counts.row_predicted, empty))


def _hamming_loss(counts: Agreement) -> float:
    wrong = counts.positives.sum() + counts.predicted.sum() - 2 * counts.hits.sum()
    return float(wrong / max(counts.row_hits.size * counts.hits.size, 1))


def _checked(zero_division: object) -> float:
    """Return the value of 0/0, which is 0, 1 or nan."""
    if not isinstance(zero_division, float | int | np.number) or (
        zero_division not in (0, 1) and not math.isnan(zero_division)
    ):
        said = "expected 0, 1, or nan to leave 0/0 out of means"
        raise InvalidParameterError(f"zero_division={shown(zero_division)}: {said}")
    return float(zero_division)


def _mean(values: np.ndarray) -> float:
    from xmlc.kernels.elementwise import mean

    known = values[~np.isnan(values)]
    return mean(known) if known.size or not values.size else math.nan


class AveragedOverlap(NamedTuple):
    """A measure to tune thresholds for: an overlap, and its averaging (0/0 = 1, all labels).

    Attributes
    ----------
    average : {"macro", "micro", "instance"}
        Mean over labels, one value of the counts summed over all labels, or mean over instances.
    overlap : Overlap
    """

    average: Average
    overlap: Overlap

    def of(self, counts: Agreement) -> float:
        """Compute it from counts."""
        return {"macro": _macro, "micro": _micro, "instance": _instance}[self.average](counts, self.overlap)


TUNABLE = {
    f"{average}_{name}": AveragedOverlap(average, overlap)
    for average in AVERAGES
    for name, (_, overlap) in OVERLAPS.items()
}


def _tunable(average: Average) -> list[Measure[Agreement]]:
    """Declare the measures of `TUNABLE` with an average."""
    names = {f"{average}_{name}": title for name, (title, _) in OVERLAPS.items()}
    return [Measure(name, f"{average.capitalize()}-{title}", TUNABLE[name].of) for name, title in names.items()]


# In the order of records and tables.
MEASURES: tuple[Measure[Agreement], ...] = (
    *_tunable("macro")[:1],
    Measure("macro_f_zero", "Macro-F, 0/0 = 0", lambda counts: _macro(counts, F1, zero_division=0.0)),
    Measure("macro_f_present", "Macro-F, labels present", lambda counts: _macro(counts, F1, average="present")),
    Measure("macro_f_seen", "Macro-F, labels present or predicted", lambda counts: _macro(counts, F1, average="seen")),
    *_tunable("macro")[1:],
    *_tunable("micro"),
    *_tunable("instance"),
    Measure("hamming_loss", "Hamming loss", _hamming_loss, "%", 4, better="lower"),
    Measure(
        "predicted_per_instance",
        "Predicted per instance",
        lambda counts: int(counts.predicted.sum()) / max(counts.row_hits.size, 1),
        unit="",
        better=None,
    ),
)


#: The counts of label sets, and the groups of labels as of `groups_by_frequency`.
ByFrequency = tuple[Agreement, np.ndarray]


def groups_by_frequency(Y_train: Matrix) -> np.ndarray:
    """Group labels by their numbers of training instances: 0, 1 to 9, 10 to 99, ...; int64 of shape (m,), from 0.

    Examples
    --------
    >>> from xmlc.metrics import groups_by_frequency
    >>> groups_by_frequency([[1, 0, 0]] * 9 + [[1, 1, 0]])
    array([2, 1, 0])
    """
    Y_train = as_labels(Y_train)
    frequencies = np.bincount(Y_train.indices, minlength=Y_train.shape[1])
    return np.searchsorted([10**digits for digits in range(10)], frequencies, side="right")


def _macro_of_groups(lowest: int, highest: int, labels: ByFrequency) -> float:
    """Return macro-F over the labels of some groups that the test set has, nan where it has none."""
    counts, groups = labels
    present = (lowest <= groups) & (groups <= highest) & (counts.positives > 0)
    scores = F1.of(counts.hits[present], counts.positives[present], counts.predicted[present])
    return _mean(scores) if present.any() else math.nan


# Macro-F over the labels present, by training instances; for rare labels, of which P@k hardly tells.
MEASURES_BY_FREQUENCY: tuple[Measure[ByFrequency], ...] = tuple(
    Measure(f"macro_f_{name}", f"Macro-F, {title}", partial(_macro_of_groups, lowest, highest), in_tables=False)
    for lowest, highest, name, title in (
        (1, 1, "1_to_9", "1 to 9 training instances"),
        (2, 2, "10_to_99", "10 to 99"),
        (3, 3, "100_to_999", "100 to 999"),
        (4, 10, "from_1000", "1000 or more"),
    )
)


def classification_metrics(Y: Matrix, Y_hat: Matrix) -> dict[str, float]:
    """Return every measure of ``MEASURES`` by name, from one pass of counting.

    ``macro_f``, ``macro_f_zero``, ``macro_f_present`` and ``macro_f_seen`` are macro-F with 0/0 = 1 over
    all labels, with 0/0 = 0 over all labels, over labels with a positive, and over labels with a positive or a
    prediction. All others have 0/0 = 1; ``f2`` is F_beta with beta = 2.
    """
    return measure_scores(agreement(Y, Y_hat))


def measure_scores(counts: Agreement, names: Collection[str] | None = None) -> dict[str, float]:
    """Return ``MEASURES`` by name, all or some, in their order."""
    return {measure.name: measure.of(counts) for measure in MEASURES if names is None or measure.name in names}


def scores_by_frequency(counts: Agreement, groups: np.ndarray) -> dict[str, float]:
    """Return ``MEASURES_BY_FREQUENCY`` by name, without groups of which the test set has no label.

    Parameters
    ----------
    counts : Agreement
    groups : ndarray of int, shape (m,)
        As of `groups_by_frequency`, of the training set.
    """
    scores = {measure.name: measure.of((counts, groups)) for measure in MEASURES_BY_FREQUENCY}
    return {name: score for name, score in scores.items() if not math.isnan(score)}
