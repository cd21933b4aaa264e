"""Precision, recall and F1 at k as means over labels, and coverage of labels, by rankings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.csr import (
    Matrix,
)
from xmlc.metrics.hits import matched
from xmlc.metrics.measure import F1


class LabelHits(NamedTuple):
    """Counts for each label that compare the k top labels with the truth.

    Attributes
    ----------
    hits : ndarray of int64, shape (m,)
        Instances with the label among both their k top labels and their true labels.
    positives : ndarray of int64, shape (m,)
        Instances with the label among their true labels.
    predicted : ndarray of int64, shape (m,)
        Instances with the label among their k top labels.
    """

    hits: np.ndarray
    positives: np.ndarray
    predicted: np.ndarray


def label_hits_at_k(Y: Matrix, labels: np.ndarray, k: int) -> LabelHits:
    """Count hits, positives and predictions of each label, with the k top labels as prediction."""
    Y, ranked, relevant = matched(Y, labels, k)
    m = Y.shape[1]
    hits = np.bincount(ranked[relevant], minlength=m)
    positives = np.bincount(Y.indices, minlength=m)
    predicted = np.bincount(ranked[ranked >= 0], minlength=m)
    return LabelHits(hits, positives, predicted)


def macro_precision_at_k(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Return macro-precision at k, the mean precision over labels of the k top labels.

    As in all macro measures at k, the mean is over labels that have an instance in ``Y``. The
    precision of a label that is never among the k top labels is 0. Other programs divide by a
    number that may exceed that of labels in ``Y``: napkinXC, for all macro measures except
    coverage, by one more than the largest id of a true or ranked label, and xCOLUMNs by m
    (Schultheis et al., *Generalized test utilities for long-tail performance in extreme multi-label
    classification*, NeurIPS 2023, arXiv 2311.05081).

    Parameters
    ----------
    Y, labels, k
        As in `precision_at_k`.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `precision_at_k`.

    See Also
    --------
    macro_recall_at_k, macro_f1_at_k, coverage_at_k

    Examples
    --------
    >>> from xmlc.metrics import macro_precision_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> macro_precision_at_k(Y, labels, k=2)
    0.5
    """
    counts = label_hits_at_k(Y, labels, k)
    return _mean_over_present(counts.hits / np.maximum(counts.predicted, 1), counts)


def macro_recall_at_k(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Return macro-recall at k, the mean recall over labels of the k top labels.

    Recall is the share of a label's instances that have it in their top k, and the mean is over
    labels in ``Y``.

    Parameters
    ----------
    Y, labels, k
        As in `precision_at_k`.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `precision_at_k`.

    See Also
    --------
    macro_precision_at_k, macro_f1_at_k, coverage_at_k

    Examples
    --------
    >>> from xmlc.metrics import macro_recall_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> round(macro_recall_at_k(Y, labels, k=2), 3)
    0.667
    """
    counts = label_hits_at_k(Y, labels, k)
    return _mean_over_present(counts.hits / np.maximum(counts.positives, 1), counts)


def macro_f1_at_k(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Return macro-F at k, the mean F over the labels in ``Y`` with the k top labels as prediction.

    Parameters
    ----------
    Y, labels, k
        As in `precision_at_k`.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `precision_at_k`.

    See Also
    --------
    macro_f : Of label sets.
    macro_precision_at_k, macro_recall_at_k, coverage_at_k

    Examples
    --------
    >>> from xmlc.metrics import macro_f1_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> round(macro_f1_at_k(Y, labels, k=2), 3)
    0.556
    """
    counts = label_hits_at_k(Y, labels, k)
    return _mean_over_present(F1.of(*counts), counts)


def coverage_at_k(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Return coverage at k, the share of the labels in ``Y`` that are a hit in the top k somewhere.

    Parameters
    ----------
    Y, labels, k
        As in `precision_at_k`.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `precision_at_k`.

    See Also
    --------
    macro_precision_at_k, macro_recall_at_k, macro_f1_at_k

    Examples
    --------
    >>> from xmlc.metrics import coverage_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> round(coverage_at_k(Y, labels, k=1), 3)
    0.333
    """
    counts = label_hits_at_k(Y, labels, k)
    return _mean_over_present(counts.hits > 0, counts)


def _mean_over_present(values: np.ndarray, counts: LabelHits) -> float:
    from xmlc.kernels import elementwise

    return elementwise.mean(values[counts.positives > 0])
