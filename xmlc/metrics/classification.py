"""Metrics of label sets: F-measures, Jaccard and Hamming loss.

``Y`` is the truth and ``Y_hat`` the prediction, both boolean CSR of shape (n, m). Time is linear in their stored
entries, memory in n + m. All results are fractions in [0, 1]. An F-measure or Jaccard of two empty
sets is ``zero_division``; the papers use 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from xmlc.csr import as_labels, kernel_csr
from xmlc.errors import XmlcError
from xmlc.metrics._counts import count_agreement
from xmlc.metrics.overlap import F1, JACCARD, Overlap, f_beta


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


def agreement(Y: object, Y_hat: object) -> Agreement:
    """Count how truth and prediction agree, in one pass.

    Raises
    ------
    XmlcError
        The shapes differ.
    """
    Y, Y_hat = as_labels(Y), as_labels(Y_hat)
    if Y.shape != Y_hat.shape:
        raise XmlcError(f"truth has shape {Y.shape}, prediction {Y_hat.shape}; they must be the same")
    true, predicted = kernel_csr(Y), kernel_csr(Y_hat)
    counts = count_agreement(true.indptr, true.indices, predicted.indptr, predicted.indices, Y.shape[1])
    hits, positives, found, row_hits = counts
    return Agreement(hits, positives, found, row_hits, np.diff(true.indptr), np.diff(predicted.indptr))


class Measure(NamedTuple):
    """One way to score label sets: what is averaged, and over what.

    Attributes
    ----------
    average : {"macro", "micro", "instance"}
        Mean over labels, one value of the counts summed over all labels, or mean over instances.
    overlap : Overlap
    """

    average: str
    overlap: Overlap


# The measures of a record, which thresholds can also be tuned for.
MEASURES = {
    f"{average}_{name}": Measure(average, overlap)
    for average in ("macro", "micro", "instance")
    for name, overlap in (("f", F1), ("f2", f_beta(2.0)), ("jaccard", JACCARD))
}


def macro_f(Y: object, Y_hat: object, zero_division: float = 1.0, average: str = "all", beta: float = 1.0) -> float:
    """Macro-averaged F-measure (plt2016, equation (1)): the mean over labels of 2 TP / (P + predicted).

    Parameters
    ----------
    Y, Y_hat : boolean CSR, shape (n, m)
    zero_division : float
        F of a label without positives and without predictions. The papers use 1 (after Lewis, 1995); with
        many rare labels this decides the result, so a table must say which was used.
    average : {"all", "present", "seen"}
        Over all m labels (the papers'), over labels with a positive in ``Y``, or over labels with a positive
        or a prediction; 0 if there are none.
    beta : float
        Weight of recall: F_beta is (1 + beta^2) TP / (beta^2 P + predicted).

    Raises
    ------
    XmlcError
        The shapes differ, ``average`` is another word, or ``beta`` is not a finite number above 0.
    """
    return _macro(agreement(Y, Y_hat), f_beta(beta), zero_division, average)


def micro_f(Y: object, Y_hat: object, zero_division: float = 1.0, beta: float = 1.0) -> float:
    """Micro-averaged F_beta: that of the counts summed over all labels, 2 TP / (P + predicted) for beta = 1."""
    return _micro(agreement(Y, Y_hat), f_beta(beta), zero_division)


def instance_f(Y: object, Y_hat: object, zero_division: float = 1.0, beta: float = 1.0) -> float:
    """Instance-averaged F_beta: the mean over instances, of ``2 |y and y_hat| / (|y| + |y_hat|)`` for beta = 1."""
    return _instance(agreement(Y, Y_hat), f_beta(beta), zero_division)


def macro_jaccard(Y: object, Y_hat: object, zero_division: float = 1.0, average: str = "all") -> float:
    """Macro-averaged Jaccard: the mean over labels of TP / (P + predicted - TP); arguments as of `macro_f`."""
    return _macro(agreement(Y, Y_hat), JACCARD, zero_division, average)


def micro_jaccard(Y: object, Y_hat: object, zero_division: float = 1.0) -> float:
    """Micro-averaged Jaccard: TP / (P + predicted - TP) with the counts summed over all labels."""
    return _micro(agreement(Y, Y_hat), JACCARD, zero_division)


def instance_jaccard(Y: object, Y_hat: object, zero_division: float = 1.0) -> float:
    """Instance-averaged Jaccard: the mean over instances of ``|y and y_hat| / |y or y_hat|``."""
    return _instance(agreement(Y, Y_hat), JACCARD, zero_division)


def hamming_loss(Y: object, Y_hat: object) -> float:
    """Share of the n x m decisions that are wrong."""
    return _hamming_loss(agreement(Y, Y_hat))


def measure_scores(Y: object, Y_hat: object, names: Iterable[str]) -> dict[str, float]:
    """Return some of `MEASURES` by name (0/0 = 1, over all labels), from one pass of counting."""
    return _measure_scores(agreement(Y, Y_hat), names)


def classification_metrics(Y: object, Y_hat: object) -> dict[str, float]:
    """Return every metric of a record, from one pass of counting.

    The keys ``macro_f``, ``macro_f_zero``, ``macro_f_present`` and ``macro_f_seen`` are macro-F with 0/0 = 1 over
    all labels, with 0/0 = 0 over all labels, over labels with a positive, and over labels with a positive or a
    prediction. All others have 0/0 = 1; ``f2`` is F_beta with beta = 2.
    """
    counts = agreement(Y, Y_hat)
    return _measure_scores(counts, MEASURES) | {
        "macro_f_zero": _macro(counts, F1, 0.0, "all"),
        "macro_f_present": _macro(counts, F1, 1.0, "present"),
        "macro_f_seen": _macro(counts, F1, 1.0, "seen"),
        "hamming_loss": _hamming_loss(counts),
        "predicted_per_instance": _mean(counts.row_predicted),
    }


def _measure_scores(counts: Agreement, names: Iterable[str]) -> dict[str, float]:
    averages = {"macro": _macro, "micro": _micro, "instance": _instance}
    return {name: averages[MEASURES[name].average](counts, MEASURES[name].overlap) for name in names}


def _macro(counts: Agreement, overlap: Overlap, zero_division: float = 1.0, average: str = "all") -> float:
    chosen: dict[str, Any] = {
        "all": slice(None),
        "present": counts.positives > 0,
        "seen": (counts.positives > 0) | (counts.predicted > 0),
    }
    if average not in chosen:
        raise XmlcError(f"average={average!r}: expected one of {', '.join(chosen)}")
    return _mean(overlap.of(counts.hits, counts.positives, counts.predicted, zero_division)[chosen[average]])


def _micro(counts: Agreement, overlap: Overlap, zero_division: float = 1.0) -> float:
    hits, positives, predicted = (part.sum() for part in (counts.hits, counts.positives, counts.predicted))
    return float(overlap.of(hits, positives, predicted, zero_division))


def _instance(counts: Agreement, overlap: Overlap, zero_division: float = 1.0) -> float:
    return _mean(overlap.of(counts.row_hits, counts.row_positives, counts.row_predicted, zero_division))


def _hamming_loss(counts: Agreement) -> float:
    wrong = counts.positives.sum() + counts.predicted.sum() - 2 * counts.hits.sum()
    return float(wrong / max(counts.row_hits.size * counts.hits.size, 1))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else 0.0
