"""Compute F-measures, Jaccard and Hamming loss of label sets.

``Y`` is the truth and ``Y_hat`` the prediction, both boolean CSR of shape (n, m). Time is linear in
the number of stored entries, and memory in n + m. All results are fractions in [0, 1]. The
F-measure or Jaccard of two empty sets is ``zero_division``, which is 1 in the papers. If
``zero_division`` is nan, labels or instances with two empty sets are left out of the mean, as in
scikit-learn. If all labels or instances are left out, the mean is nan.

`MEASURES` declares the measures that records and tables contain. Tables read `MEASURES` and must
load fast, so the functions of this module import kernels and numba only when they compute
something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from xmlc.core.errors import InvalidParameterError, shown
from xmlc.kernels.checks import check_same_shape
from xmlc.kernels.csr import CSR, Matrix, as_labels, blocks_of_rows, kernel_csr, release
from xmlc.kernels.domains import OneOf, check
from xmlc.metrics.measure import AVERAGES, F1, JACCARD, OVERLAPS, Average, Measure, Overlap, f_beta


class Agreement(NamedTuple):
    """The counts from which every metric of label sets is computed.

    Attributes
    ----------
    hits, positives, predicted : ndarray of int64, shape (m,)
        True positives, positives and predicted positives of each label.
    row_hits, row_positives, row_predicted : ndarray of int64, shape (n,)
        True positives, positives and predicted positives of each instance.
    """

    hits: np.ndarray
    positives: np.ndarray
    predicted: np.ndarray
    row_hits: np.ndarray
    row_positives: np.ndarray
    row_predicted: np.ndarray


def agreement(Y: Matrix, Y_hat: Matrix, times: np.ndarray | None = None) -> Agreement:
    """Count hits, positives and predictions of each label and each instance, in one pass.

    Parameters
    ----------
    Y, Y_hat : boolean CSR, shape (n, m)
    times : ndarray of int32, shape (n,), optional
        Weight of each instance in the counts per label, 1 by default.

    Raises
    ------
    XmlcError
        If the shapes differ.
    """
    from xmlc.metrics._counts import count_agreement

    Y = as_labels(Y, "Y", Y_hat, "the truth, then the predictions: f(Y, Y_hat)")
    Y_hat = as_labels(Y_hat, "Y_hat (the predictions)")
    check_same_shape(Y_hat, Y, "the prediction")
    if times is None:
        times = np.ones(Y.shape[0], dtype=np.int32)
    true = kernel_csr(Y)
    guess = kernel_csr(Y_hat)
    *of_labels, row_hits = count_agreement(*true[:2], *guess[:2], times, Y.shape[1])
    of_rows = (
        np.repeat(count, times) for count in (row_hits, np.diff(true.indptr), np.diff(guess.indptr))
    )
    return Agreement(*of_labels, *of_rows)


# A block has the true and the predicted label sets of its instances.
Blocks = Iterable[tuple[CSR, CSR]]


def sets_by_blocks(Y: Matrix, spe: CSR, predict: Callable[[CSR], CSR]) -> Blocks:
    """Yield the true label sets and the label sets that ``predict`` returns, for one block of
    instances after another.

    Raises
    ------
    XmlcError
        If the shapes differ.
    """
    Y = as_labels(Y)
    check_same_shape(spe, Y)
    for part, truth in blocks_of_rows(spe, Y):
        predicted = predict(part)
        release(part)
        yield truth, predicted


def agreement_of_blocks(blocks: Blocks, times: np.ndarray | None = None) -> Agreement:
    """Return the `Agreement` of all instances from one or more blocks of instances.

    ``times`` contains the weights of all instances, in the order of the blocks.
    """
    counts = []
    for truth, predicted in blocks:
        if times is None:
            counts.append(agreement(truth, predicted))
        else:
            counts.append(agreement(truth, predicted, times[: truth.shape[0]]))
            times = times[truth.shape[0] :]
    fields = list(zip(*counts, strict=True))
    of_labels = [sum(field[1:], field[0]) for field in fields[:3]]
    return Agreement(*of_labels, *map(np.concatenate, fields[3:]))


def macro_f(
    Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0, average: str = "all", beta: float = 1.0
) -> float:
    """Return the macro-averaged F-measure (plt2016, equation (1)): the mean over labels of 2 TP /
    (P + predicted).

    Parameters
    ----------
    Y, Y_hat : boolean CSR, shape (n, m)
    zero_division : {0, 1, nan}
        F of a label without positives and without predictions. nan leaves the label out of the
        mean. The papers set F to 1 for 0/0 (after Lewis, 1995), as if a label without positives and
        predictions were predicted without error. For example, if 355 of 400 labels have no
        positives and no predictions, macro-F is 0.93 with ``zero_division=1`` and 0.41 with nan.
        Always report ``zero_division`` together with macro-F.
    average : {"all", "present", "seen"}
        "all" averages over all m labels, as in the papers. "present" averages over labels with a
        positive in ``Y``, and "seen" over labels with a positive or a prediction. The mean over no
        labels is 0.
    beta : float
        Weight of recall. F_beta is (1 + beta^2) TP / (beta^2 P + predicted).

    Raises
    ------
    XmlcError
        If the shapes differ, ``average`` or ``zero_division`` is not listed above, or ``beta`` is
        not a finite number above 0.

    Examples
    --------
    >>> from xmlc.metrics import macro_f
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(macro_f(Y, Y_hat), 3)
    0.556
    """
    return _macro(agreement(Y, Y_hat), f_beta(beta), zero_division, average)


def micro_f(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0, beta: float = 1.0) -> float:
    """Return micro-averaged F_beta from counts summed over all labels.

    For beta = 1 it is 2 TP / (P + predicted).

    Examples
    --------
    >>> from xmlc.metrics import micro_f
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(micro_f(Y, Y_hat), 3)
    0.667
    """
    return _micro(agreement(Y, Y_hat), f_beta(beta), zero_division)


def instance_f(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0, beta: float = 1.0) -> float:
    """Return the mean over instances of F_beta, which is ``2 |y and y_hat| / (|y| + |y_hat|)`` for
    beta = 1.

    Examples
    --------
    >>> from xmlc.metrics import instance_f
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(instance_f(Y, Y_hat), 3)
    0.75
    """
    return _instance(agreement(Y, Y_hat), f_beta(beta), zero_division)


def macro_jaccard(
    Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0, average: str = "all"
) -> float:
    """Return the macro-averaged Jaccard: the mean over labels of TP / (P + predicted - TP).

    The arguments are the same as for `macro_f`.

    Examples
    --------
    >>> from xmlc.metrics import macro_jaccard
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(macro_jaccard(Y, Y_hat), 3)
    0.5
    """
    return _macro(agreement(Y, Y_hat), JACCARD, zero_division, average)


def micro_jaccard(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0) -> float:
    """Return the micro-averaged Jaccard, which is TP / (P + predicted - TP) for counts summed over
    all labels.

    Examples
    --------
    >>> from xmlc.metrics import micro_jaccard
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(micro_jaccard(Y, Y_hat), 3)
    0.5
    """
    return _micro(agreement(Y, Y_hat), JACCARD, zero_division)


def instance_jaccard(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0) -> float:
    """Return the instance-averaged Jaccard: the mean over instances of ``|y and y_hat| / |y or
    y_hat|``.

    Examples
    --------
    >>> from xmlc.metrics import instance_jaccard
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(instance_jaccard(Y, Y_hat), 3)
    0.667
    """
    return _instance(agreement(Y, Y_hat), JACCARD, zero_division)


def hamming_loss(Y: Matrix, Y_hat: Matrix) -> float:
    """Return the Hamming loss: the share of the n x m pairs of instance and label that are
    predicted wrongly.

    Examples
    --------
    >>> from xmlc.metrics import hamming_loss
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(hamming_loss(Y, Y_hat), 3)
    0.333
    """
    return _hamming_loss(agreement(Y, Y_hat))


def _macro(
    counts: Agreement, overlap: Overlap, zero_division: float = 1.0, average: str = "all"
) -> float:
    present = counts.positives > 0
    chosen: dict[str, Any] = {
        "all": slice(None),
        "present": present,
        "seen": present | (counts.predicted > 0),
    }
    check("average", average, OneOf(tuple(chosen)))
    scores = overlap.of(*counts[:3], _checked(zero_division))
    return _mean(scores[chosen[average]])


def _micro(counts: Agreement, overlap: Overlap, zero_division: float = 1.0) -> float:
    sums = (counts.hits.sum(), counts.positives.sum(), counts.predicted.sum())
    return float(overlap.of(*sums, _checked(zero_division)))


def _instance(counts: Agreement, overlap: Overlap, zero_division: float = 1.0) -> float:
    return _mean(overlap.of(*counts[3:], _checked(zero_division)))


def _hamming_loss(counts: Agreement) -> float:
    wrong = counts.positives.sum() + counts.predicted.sum() - 2 * counts.hits.sum()
    return float(wrong / max(counts.row_hits.size * counts.hits.size, 1))


def _predicted_per_instance(counts: Agreement) -> float:
    return int(counts.predicted.sum()) / max(counts.row_hits.size, 1)


def _checked(zero_division: object) -> float:
    """Return ``zero_division`` as a float, or raise an error if it is not 0, 1 or nan."""
    if isinstance(zero_division, float | int | np.number) and (
        zero_division in (0, 1) or math.isnan(zero_division)
    ):
        return float(zero_division)
    said = "expected 0, 1 or nan. Use nan to leave 0/0 out of means."
    raise InvalidParameterError(f"found zero_division={shown(zero_division)}, {said}")


def _mean(values: np.ndarray) -> float:
    from xmlc.kernels.elementwise import mean

    known = values[~np.isnan(values)]
    if values.size and not known.size:
        return math.nan
    return mean(known)


class AveragedOverlap(NamedTuple):
    """A measure for which thresholds can be tuned: an overlap of two sets, and an average.

    The overlap of two empty sets is 1, and a macro-average includes all labels.

    Attributes
    ----------
    average : {"macro", "micro", "instance"}
        "macro" is the mean over labels, "micro" the value for counts summed over all labels, and
        "instance" the mean over instances.
    overlap : Overlap
    """

    average: Average
    overlap: Overlap

    def of(self, counts: Agreement) -> float:
        """Return the value of the measure for the given counts."""
        if self.average == "macro":
            return _macro(counts, self.overlap)
        if self.average == "micro":
            return _micro(counts, self.overlap)
        return _instance(counts, self.overlap)


TUNABLE: dict[str, AveragedOverlap] = {}
_TUNABLE: list[Measure[Agreement]] = []
for _average, (_name, (_title, _overlap)) in product(AVERAGES, OVERLAPS.items()):
    _measure = AveragedOverlap(_average, _overlap)
    TUNABLE[f"{_average}_{_name}"] = _measure
    _TUNABLE.append(
        Measure(f"{_average}_{_name}", f"{_average.capitalize()}-{_title}", _measure.of)
    )

# Records and tables list measures in the order of MEASURES.
MEASURES: tuple[Measure[Agreement], ...] = (
    _TUNABLE[0],
    Measure(
        "macro_f_zero", "Macro-F, 0/0 = 0", lambda counts: _macro(counts, F1, zero_division=0.0)
    ),
    Measure(
        "macro_f_present",
        "Macro-F, labels present",
        lambda counts: _macro(counts, F1, average="present"),
    ),
    Measure(
        "macro_f_seen",
        "Macro-F, labels present or predicted",
        lambda counts: _macro(counts, F1, average="seen"),
    ),
    *_TUNABLE[1:],
    Measure("hamming_loss", "Hamming loss", _hamming_loss, "%", 4, better="lower"),
    Measure(
        "predicted_per_instance",
        "Predicted per instance",
        _predicted_per_instance,
        unit="",
        better=None,
    ),
)


#: A measure by frequency is computed from counts, and from the group of each label
#: (`groups_by_frequency`).
ByFrequency = tuple[Agreement, np.ndarray]


def groups_by_frequency(Y_train: Matrix) -> np.ndarray:
    """Return the group of each label: 0 for no training instance, 1 for 1 to 9, 2 for 10 to 99, and
    so on.

    The result is int64 of shape (m,).

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
    """Return macro-F over the labels in groups ``lowest`` to ``highest`` that occur in the test
    set.

    The result is nan if no label in groups ``lowest`` to ``highest`` occurs in the test set.
    """
    counts, groups = labels
    present = (lowest <= groups) & (groups <= highest) & (counts.positives > 0)
    if not present.any():
        return math.nan
    return _mean(F1.of(*counts[:3])[present])


# Each measure by frequency is the macro-F of the labels in a frequency range that occur in the test
# set. Unlike P@k, macro-F depends strongly on rare labels.
MEASURES_BY_FREQUENCY: tuple[Measure[ByFrequency], ...] = tuple(
    Measure(
        f"macro_f_{name}",
        f"Macro-F, {title}",
        partial(_macro_of_groups, lowest, highest),
        in_tables=False,
    )
    for lowest, highest, name, title in (
        (1, 1, "1_to_9", "1 to 9 training instances"),
        (2, 2, "10_to_99", "10 to 99"),
        (3, 3, "100_to_999", "100 to 999"),
        (4, 10, "from_1000", "1000 or more"),
    )
)


def classification_metrics(Y: Matrix, Y_hat: Matrix) -> dict[str, float]:
    """Return the value of every measure of ``MEASURES`` by name, from one pass of counting.

    Four measures are versions of macro-F:

    * ``macro_f`` is the mean over all labels with 0/0 = 1.
    * ``macro_f_zero`` is the mean over all labels with 0/0 = 0.
    * ``macro_f_present`` is the mean over labels with a positive.
    * ``macro_f_seen`` is the mean over labels with a positive or a prediction.

    For 0/0, all measures except versions of macro-F are 1. ``f2`` is F_beta with beta = 2.
    """
    return measure_scores(agreement(Y, Y_hat))


def measure_scores(counts: Agreement, names: Collection[str] | None = None) -> dict[str, float]:
    """Return the values of ``MEASURES`` by name, in the order of ``MEASURES``.

    If ``names`` is given, the result contains only the measures with these names.
    """
    return {
        measure.name: measure.of(counts)
        for measure in MEASURES
        if names is None or measure.name in names
    }


def scores_by_frequency(counts: Agreement, groups: np.ndarray) -> dict[str, float]:
    """Return the values of ``MEASURES_BY_FREQUENCY`` by name.

    The result omits frequency ranges without a test label.

    Parameters
    ----------
    counts : Agreement
    groups : ndarray of int, shape (m,)
        Group of each label, as `groups_by_frequency` returns it for the training set.
    """
    scores = {measure.name: measure.of((counts, groups)) for measure in MEASURES_BY_FREQUENCY}
    return {name: score for name, score in scores.items() if not math.isnan(score)}
