"""F-measures, Jaccard and Hamming loss of label sets.

``Y`` is the truth and ``Y_hat`` the prediction, both boolean CSR of shape (n, m). Time is linear in
the number of stored entries, and memory in n + m. All results are fractions in [0, 1]. Two empty
sets have the F-measure or Jaccard ``zero_division``, which is 1 in the papers. With nan, they are
left out of the mean, as in scikit-learn, and a mean of nothing is nan.
"""
# Tables read `MEASURES` and must load fast, so functions import kernels late.

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
        The same of each instance.
    """

    hits: np.ndarray
    positives: np.ndarray
    predicted: np.ndarray
    row_hits: np.ndarray
    row_positives: np.ndarray
    row_predicted: np.ndarray


def agreement(Y: Matrix, Y_hat: Matrix, times: np.ndarray | None = None) -> Agreement:
    """Count hits, positives and predictions of each label and each instance, in one pass.

    ``times``, int32 (n,), weights each instance in the counts per label. Different shapes raise an
    `XmlcError`.
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


# True and predicted label sets of the instances of a block
Blocks = Iterable[tuple[CSR, CSR]]


def sets_by_blocks(Y: Matrix, spe: CSR, predict: Callable[[CSR], CSR]) -> Blocks:
    """Yield true and predicted label sets, block by block."""
    Y = as_labels(Y)
    check_same_shape(spe, Y)
    for part, truth in blocks_of_rows(spe, Y):
        predicted = predict(part)
        release(part)
        yield truth, predicted


def agreement_of_blocks(blocks: Blocks, times: np.ndarray | None = None) -> Agreement:
    """Return the `Agreement` of all blocks, with the weights ``times`` of their instances."""
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
    """Return macro-F, the mean over labels of 2 TP / (P + predicted) (plt2016, equation (1)).

    Parameters
    ----------
    Y, Y_hat : boolean CSR, shape (n, m)
        Truth and prediction.
    zero_division : {0, 1, nan}
        F of a label without positives and without predictions, or nan to leave it out. Report it
        together with macro-F: if 355 of 400 labels are such, macro-F may be 0.93 with 1, as in the
        papers (after Lewis, 1995), and 0.41 with nan.
    average : {"all", "present", "seen"}
        Labels of the mean: all m, as in the papers, those with a positive in ``Y``, or those with a
        positive or a prediction. The mean over no labels is 0.
    beta : float
        Weight of recall: F_beta is (1 + beta^2) TP / (beta^2 P + predicted).

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        If the shapes differ, ``average`` or ``zero_division`` is not listed above, or ``beta`` is
        not a finite number above 0.

    See Also
    --------
    micro_f, instance_f : Other averages.
    classification_metrics : All measures in one pass.
    xmlc.thresholds.STO : Thresholds with the highest macro-F.

    Examples
    --------
    >>> from xmlc.metrics import macro_f
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(macro_f(Y, Y_hat), 3)
    0.556
    """
    return _macro(agreement(Y, Y_hat), f_beta(beta), zero_division, average)


def micro_f(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0, beta: float = 1.0) -> float:
    """Return micro-F, 2 TP / (P + predicted) or its F_beta with counts summed over all labels.

    Parameters
    ----------
    Y, Y_hat, zero_division, beta
        As in `macro_f`.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `macro_f`.

    See Also
    --------
    macro_f, instance_f : Other averages.

    Examples
    --------
    >>> from xmlc.metrics import micro_f
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(micro_f(Y, Y_hat), 3)
    0.667
    """
    return _micro(agreement(Y, Y_hat), f_beta(beta), zero_division)


def instance_f(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0, beta: float = 1.0) -> float:
    """Return the mean over instances of F, ``2 |y and y_hat| / (|y| + |y_hat|)``, or of F_beta.

    The F-measure of an instance is equation (1) of gfm2011.

    Parameters
    ----------
    Y, Y_hat, zero_division, beta
        As in `macro_f`.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `macro_f`.

    See Also
    --------
    macro_f, micro_f : Other averages.
    xmlc.inference.meuf : Label sets with the highest expected value.

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
    """Return the mean over labels of Jaccard, TP / (P + predicted - TP).

    Parameters
    ----------
    Y, Y_hat, zero_division, average
        As in `macro_f`.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `macro_f`.

    See Also
    --------
    micro_jaccard, instance_jaccard : Other averages.

    Examples
    --------
    >>> from xmlc.metrics import macro_jaccard
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(macro_jaccard(Y, Y_hat), 3)
    0.5
    """
    return _macro(agreement(Y, Y_hat), JACCARD, zero_division, average)


def micro_jaccard(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0) -> float:
    """Return micro-Jaccard, TP / (P + predicted - TP) for counts summed over all labels.

    Parameters
    ----------
    Y, Y_hat, zero_division
        As in `macro_f`.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `macro_f`.

    See Also
    --------
    macro_jaccard, instance_jaccard : Other averages.

    Examples
    --------
    >>> from xmlc.metrics import micro_jaccard
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(micro_jaccard(Y, Y_hat), 3)
    0.5
    """
    return _micro(agreement(Y, Y_hat), JACCARD, zero_division)


def instance_jaccard(Y: Matrix, Y_hat: Matrix, zero_division: float = 1.0) -> float:
    """Return the mean over instances of Jaccard, ``|y and y_hat| / |y or y_hat|``.

    Parameters
    ----------
    Y, Y_hat, zero_division
        As in `macro_f`.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `macro_f`.

    See Also
    --------
    macro_jaccard, micro_jaccard : Other averages.

    Examples
    --------
    >>> from xmlc.metrics import instance_jaccard
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(instance_jaccard(Y, Y_hat), 3)
    0.667
    """
    return _instance(agreement(Y, Y_hat), JACCARD, zero_division)


def hamming_loss(Y: Matrix, Y_hat: Matrix) -> float:
    """Return the share of the n x m pairs of instance and label that are predicted wrongly.

    Parameters
    ----------
    Y, Y_hat : boolean CSR, shape (n, m)
        Truth and prediction.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        If the shapes differ.

    See Also
    --------
    xmlc.inference.hamming : Label sets with the lowest expected loss.

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
    """Return ``zero_division`` as a float, or raise an error unless it is 0, 1 or nan."""
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

    Two empty sets have the overlap 1, and a macro-average includes all labels.

    Attributes
    ----------
    average : {"macro", "micro", "instance"}
        The mean over labels, the value for counts summed over labels, or the mean over instances.
    overlap : Overlap
    """

    average: Average
    overlap: Overlap

    def of(self, counts: Agreement) -> float:
        """Return the value of the measure for counts."""
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

# In the order of records and tables
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


#: Counts, and the group of each label (`groups_by_frequency`), for measures by frequency.
ByFrequency = tuple[Agreement, np.ndarray]


def groups_by_frequency(Y_train: Matrix) -> np.ndarray:
    """Return the group of each label: 0 for no training instance, 1 for 1 to 9, 2 for 10 to 99, ...

    Parameters
    ----------
    Y_train : boolean CSR, shape (n, m)

    Returns
    -------
    ndarray of int64, shape (m,)

    Raises
    ------
    XmlcError
        If a value is neither 0 nor 1.

    See Also
    --------
    xmlc.thresholds.IsotonicCalibration : Calibrates each group.

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
    """Return macro-F over the labels of some groups in the test set, or nan without any."""
    counts, groups = labels
    present = (lowest <= groups) & (groups <= highest) & (counts.positives > 0)
    if not present.any():
        return math.nan
    return _mean(F1.of(*counts[:3])[present])


# Macro-F of the labels in a frequency range that occur in the test set. Unlike P@k, it depends
# strongly on rare labels.
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

    Four measures are versions of macro-F: ``macro_f`` is the mean over all labels with 0/0 = 1,
    ``macro_f_zero`` with 0/0 = 0, ``macro_f_present`` the mean over labels with a positive, and
    ``macro_f_seen`` over labels with a positive or a prediction. Other measures are 1 for 0/0.
    ``f2`` is F_beta with beta = 2.

    Parameters
    ----------
    Y, Y_hat : boolean CSR, shape (n, m)
        Truth and prediction.

    Returns
    -------
    dict of str to float

    Raises
    ------
    XmlcError
        If the shapes differ.

    See Also
    --------
    precision_and_ndcg : Measures of rankings.

    Examples
    --------
    >>> from xmlc.metrics import classification_metrics
    >>> Y, Y_hat = [[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]
    >>> round(classification_metrics(Y, Y_hat)["micro_f"], 3)
    0.667
    """
    return measure_scores(agreement(Y, Y_hat))


def measure_scores(counts: Agreement, names: Collection[str] | None = None) -> dict[str, float]:
    """Return the values of ``MEASURES`` by name, in their order, or only of those in ``names``."""
    return {
        measure.name: measure.of(counts)
        for measure in MEASURES
        if names is None or measure.name in names
    }


def scores_by_frequency(counts: Agreement, groups: np.ndarray) -> dict[str, float]:
    """Return the values of ``MEASURES_BY_FREQUENCY`` by name, except ranges without a test label.

    ``groups`` are those of `groups_by_frequency` for the training set.
    """
    scores = {measure.name: measure.of((counts, groups)) for measure in MEASURES_BY_FREQUENCY}
    return {name: score for name, score in scores.items() if not math.isnan(score)}
