"""Metrics of label sets: F-measures and Hamming loss.

``Y`` is the truth and ``Y_hat`` the prediction, both boolean CSR of shape (n, m). Time is linear in their stored
entries, memory in n + m. All results are fractions in [0, 1].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.csr import as_labels, kernel_csr
from xmlc.errors import XmlcError
from xmlc.metrics._counts import count_agreement


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
    return Agreement(*counts, np.diff(true.indptr), np.diff(predicted.indptr))


def macro_f(Y: object, Y_hat: object, zero_division: float = 1.0, average: str = "all") -> float:
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

    Raises
    ------
    XmlcError
        The shapes differ, or ``average`` is another word.
    """
    return _macro_f(agreement(Y, Y_hat), zero_division, average)


def micro_f(Y: object, Y_hat: object, zero_division: float = 1.0) -> float:
    """Micro-averaged F-measure: 2 TP / (P + predicted) with the counts summed over all labels."""
    return _micro_f(agreement(Y, Y_hat), zero_division)


def instance_f(Y: object, Y_hat: object, zero_division: float = 1.0) -> float:
    """Instance-averaged F-measure: the mean over instances of 2 |y and y_hat| / (|y| + |y_hat|)."""
    return _instance_f(agreement(Y, Y_hat), zero_division)


def hamming_loss(Y: object, Y_hat: object) -> float:
    """Share of the n x m decisions that are wrong."""
    return _hamming_loss(agreement(Y, Y_hat))


def classification_metrics(Y: object, Y_hat: object) -> dict[str, float]:
    """Return every metric of a record, from one pass of counting.

    The keys ``macro_f``, ``macro_f_zero``, ``macro_f_present`` and ``macro_f_seen`` are macro-F with 0/0 = 1 over
    all labels, with 0/0 = 0 over all labels, over labels with a positive, and over labels with a positive or a
    prediction.
    """
    counts = agreement(Y, Y_hat)
    return {
        "macro_f": _macro_f(counts, 1.0, "all"),
        "macro_f_zero": _macro_f(counts, 0.0, "all"),
        "macro_f_present": _macro_f(counts, 1.0, "present"),
        "macro_f_seen": _macro_f(counts, 1.0, "seen"),
        "micro_f": _micro_f(counts, 1.0),
        "instance_f": _instance_f(counts, 1.0),
        "hamming_loss": _hamming_loss(counts),
        "predicted_per_instance": _mean(counts.row_predicted),
    }


def f_measure(hits: np.ndarray, total: np.ndarray, zero_division: float) -> np.ndarray:
    """Return 2 * hits / total elementwise in float64, and ``zero_division`` where total is 0.

    ``total`` counts positives plus predicted positives. This is the one definition of the F-measure.
    """
    return np.where(total > 0, 2.0 * hits / np.maximum(total, 1), zero_division)


def _macro_f(counts: Agreement, zero_division: float, average: str) -> float:
    chosen = {
        "all": slice(None),
        "present": counts.positives > 0,
        "seen": (counts.positives > 0) | (counts.predicted > 0),
    }
    if average not in chosen:
        raise XmlcError(f"average={average!r}: expected one of {', '.join(chosen)}")
    scores = f_measure(counts.hits, counts.positives + counts.predicted, zero_division)
    return _mean(scores[chosen[average]])


def _micro_f(counts: Agreement, zero_division: float) -> float:
    total = counts.positives.sum() + counts.predicted.sum()
    return float(f_measure(counts.hits.sum(), total, zero_division))


def _instance_f(counts: Agreement, zero_division: float) -> float:
    return _mean(f_measure(counts.row_hits, counts.row_positives + counts.row_predicted, zero_division))


def _hamming_loss(counts: Agreement) -> float:
    wrong = counts.positives.sum() + counts.predicted.sum() - 2 * counts.hits.sum()
    return float(wrong / max(counts.row_hits.size * counts.hits.size, 1))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else 0.0
