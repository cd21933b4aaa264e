"""Compute P@k, R@k, nDCG@k, propensity-scored PSP@k and PSnDCG@k, and macro-averages of rankings.

``Y`` is the truth: boolean CSR of shape (n, m). ``labels`` is a ranking of labels in one of two
forms:

* int32 of shape (n, K) with K >= k. Each row contains different labels, best first, padded with -1.
* sparse scores of shape (n, m), such as an SPE. The functions rank the stored entries.

`hits_at_k` raises an error for a ranking of any other form, such as a dense matrix of predictions.
Means are over all n instances, and an instance without true labels scores 0. All results are
fractions.

`MEASURES` declares the measures that records and tables contain. Tables read `MEASURES` and must
load fast, so the functions of this module import kernels and numba only when they compute
something.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, shown
from xmlc.kernels.csr import (
    CSR,
    ROUNDING,
    Matrix,
    as_csr,
    as_labels,
    check_probabilities,
    kernel_csr,
    top_k_of,
)
from xmlc.kernels.indices import MOST_COLUMNS
from xmlc.metrics.measure import F1, Measure
from xmlc.metrics.propensity import checked_propensities

K = (1, 3, 5)  # The papers report measures at k = 1, 3 and 5.


class Ranked(NamedTuple):
    """A test set and its ranked labels, from which measures are computed.

    Attributes
    ----------
    Y : boolean csr_array, shape (n, m)
        The truth.
    labels : ndarray of int32, shape (n, max(K))
        The ranking.
    propensity : ndarray of float64, shape (m,)
        Propensities of the training set, as `propensities` returns them.
    scores : ndarray of float32, shape (n, max(K))
        Probability estimates of the ranked labels. ``scores`` is empty if no measure needs
        estimates.
    """

    Y: CSR
    labels: np.ndarray
    propensity: np.ndarray
    scores: np.ndarray = np.empty((0, 0), dtype=np.float32)


def precision_at_k(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Return precision at k: the share of the k top labels that are true.

    A missing label is regarded as wrong.

    Examples
    --------
    >>> from xmlc.metrics import precision_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> precision_at_k(Y, labels, k=1)
    0.5
    """
    relevant, _ = hits_at_k(Y, labels, k)
    return int(np.count_nonzero(relevant)) / max(k * relevant.shape[0], 1)


def recall_at_k(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Return recall at k: the mean over instances of the share of true labels that are among the k
    top labels.

    An instance without true labels scores 0, as in napkinXC, pyxclib and scikit-learn (default
    ``zero_division``).

    Examples
    --------
    >>> from xmlc.metrics import recall_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> recall_at_k(Y, labels, k=1)
    0.25
    """
    from xmlc.kernels import elementwise

    relevant, n_true = hits_at_k(Y, labels, k)
    return elementwise.mean(np.count_nonzero(relevant, axis=1) / np.maximum(n_true, 1))


def maximum_precision_at_k(Y: Matrix, k: int) -> float:
    """Return the highest possible precision at k: the mean of ``min(|y|, k) / k`` over instances.

    The maximum is below 1 if instances have fewer than k true labels (swnn2018, Section 4.1 and
    Table 6).

    Examples
    --------
    >>> from xmlc.metrics import maximum_precision_at_k
    >>> maximum_precision_at_k([[1, 0, 1], [0, 1, 0]], k=2)
    0.75
    """
    k = checked_k(k)
    n_true = np.diff(as_labels(Y).indptr)
    return float(np.minimum(n_true, min(k, MOST_COLUMNS)).sum() / max(k * n_true.size, 1))


def ndcg_at_k(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Return nDCG at k: the sum of 1 / log2(r + 1) over the ranks r of hits, divided by the ideal
    ranking's sum.

    nDCG is the normalised discounted cumulative gain (ldsm2020, Section 5), and ranks begin with 1.
    The ideal ranking puts ``min(k, |y|)`` true labels first. The function returns the mean nDCG of
    the instances. An instance without true labels has no ideal ranking and scores 0, as in
    scikit-learn.

    Examples
    --------
    >>> from xmlc.metrics import ndcg_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> round(ndcg_at_k(Y, labels, k=2), 3)
    0.622
    """
    from xmlc.kernels import elementwise

    return elementwise.mean(normalised_gains(*hits_at_k(Y, labels, k)))


def normalised_gains(relevant: np.ndarray, n_true: np.ndarray) -> np.ndarray:
    """Return the nDCG of each instance, float64 of shape (n,), from the hits among the instance's
    top labels.
    """
    discounts, ideal = _discounts(relevant.shape[1])
    gained = np.zeros(len(relevant))
    # The loop fixes the order of summation, because the order of NumPy's sum may differ between
    # versions.
    for rank, discount in enumerate(discounts):
        gained += relevant[:, rank] * discount
    return gained / ideal[np.minimum(n_true, len(discounts))]


def _discounts(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 / log2(r + 1) for ranks r = 1 .. k, and the cumulative sums for the first 0, 1, .. k
    ranks.

    The cumulative sum for 0 ranks is set to 1.
    """
    from xmlc.kernels import elementwise

    discounts = 1.0 / elementwise.log2(np.arange(2, k + 2))
    return discounts, np.array([1.0, *accumulate(discounts.tolist())])


class LabelHits(NamedTuple):
    """Counts for each label that compare the k top labels with the truth.

    Arrays are int64 of shape (m,).

    Attributes
    ----------
    hits : ndarray
        Number of instances with the label among both their k top labels and their true labels.
    positives : ndarray
        Number of instances with the label among their true labels.
    predicted : ndarray
        Number of instances with the label among their k top labels.
    """

    hits: np.ndarray
    positives: np.ndarray
    predicted: np.ndarray


def label_hits_at_k(Y: Matrix, labels: np.ndarray, k: int) -> LabelHits:
    """Return the hits, positives and predictions of each label, with the k top labels as the
    prediction.
    """
    Y, ranked, relevant = _matched(Y, labels, k)
    m = Y.shape[1]
    hits = np.bincount(ranked[relevant], minlength=m)
    positives = np.bincount(Y.indices, minlength=m)
    predicted = np.bincount(ranked[ranked >= 0], minlength=m)
    return LabelHits(hits, positives, predicted)


def macro_precision_at_k(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Return macro-precision at k: the mean precision over labels, with the k top labels as the
    prediction.

    The mean is over labels that have an instance in ``Y``, as for all macro measures at k. The
    precision of a label that is never among the k top labels is 0. Other programs divide the sum
    over labels by a number that may exceed the number of labels in ``Y``. napkinXC divides all
    macro measures except coverage by one more than the largest id of a true or ranked label.
    xCOLUMNs divides by the number of labels m (Schultheis et al., *Generalized test utilities for
    long-tail performance in extreme multi-label classification*, NeurIPS 2023, arXiv 2311.05081).

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
    """Return macro-recall at k: the mean over labels of the share of a label's instances with the
    label in their top k.

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
    """Return macro-F at k: the mean F-measure over labels, with the k top labels as the predicted
    label set.

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
    """Return coverage at k: the share of the labels in ``Y`` that are a hit among the k top labels
    of some instance.

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


# Guo et al. (On calibration of modern neural networks, ICML 2017) use 15 bins of equal width.
BINS = 15


def ece_at_k(Y: Matrix, labels: np.ndarray, scores: np.ndarray, k: int) -> float:
    """Return the expected calibration error at k: the mean gap between estimates and hit rates of
    the k top labels.

    Estimates are sorted into 15 bins of equal width. The error of a bin is the absolute difference
    between its mean estimate and its share of true labels. The result is the mean error of the
    bins, weighted by the number of estimates in each bin (Ullah et al., *Labels in extremes: how
    well calibrated are extreme multi-label classifiers?*, 2024, arXiv 2411.04276). Missing labels
    (-1) are left out. The calibration error of all m labels would be close to 0, because nearly all
    estimates are close to 0.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, K)
    scores : ndarray of float, shape (n, K)
        Probability estimates of ``labels``, as ``predict_top_k`` returns them.
    k : int

    Raises
    ------
    XmlcError
        If the shapes differ, or an estimate is not a probability.

    Examples
    --------
    >>> from xmlc.metrics import ece_at_k
    >>> import numpy as np
    >>> Y, labels, scores = [[1, 0], [0, 1]], np.array([[0], [0]]), np.array([[0.75], [0.75]])
    >>> ece_at_k(Y, labels, scores, k=1)
    0.25
    """
    if sparse.issparse(labels) or sparse.issparse(scores) or np.shape(scores) != np.shape(labels):
        found = f"shapes {np.shape(labels)} and {np.shape(scores)}"
        expected = "two dense arrays of equal shape. Pass the result of predict_top_k."
        raise InvalidDataError(f"labels and scores: found {found}, expected {expected}")
    _, ranked, relevant = _matched(Y, labels, k)
    there = ranked >= 0
    estimates = np.asarray(scores, dtype=np.float64)[:, :k][there]
    true = relevant[there]
    check_probabilities(estimates, "scores", 1 + ROUNDING)
    bins = np.minimum((estimates * BINS).astype(np.int64), BINS - 1)
    apart = (abs(math.fsum((true - estimates)[bins == each])) for each in range(BINS))
    return math.fsum(apart) / max(estimates.size, 1)


def psp_at_k(Y: Matrix, labels: np.ndarray, propensity: np.ndarray, k: int) -> float:
    """Return PSP at k: precision at k with hits weighted by 1 / propensity, divided by the highest
    possible value.

    A hit of label l adds 1 / p_l. Here p_l is the propensity of l. The sum over all hits is divided
    by the sum for the ideal ranking, because the sum may exceed the number of top labels. The ideal
    ranking puts the true labels with the lowest propensities first.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, K), or sparse scores, shape (n, m)
    propensity : ndarray of float, shape (m,)
        Propensities of the training set, as `propensities` returns them.
    k : int

    Examples
    --------
    >>> from xmlc.metrics import psp_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> round(psp_at_k(Y, labels, np.array([0.2, 0.5, 0.25]), k=2), 3)
    0.636
    """
    return _weighted_share(Y, labels, propensity, k, discounted=False)


def psndcg_at_k(Y: Matrix, labels: np.ndarray, propensity: np.ndarray, k: int) -> float:
    """Return PSnDCG at k: nDCG at k with hits weighted by 1 / propensity, divided by the highest
    possible value.

    A hit of label l at rank r (from 1) adds 1 / (p_l log2(r + 1)). Here p_l is the propensity of l.
    The sum over the hits of an instance is divided by the sum of 1 / log2(r + 1) over the ranks up
    to ``min(k, |y|)``. The total over all instances is divided by the total for the ideal ranking,
    which is the same as in `psp_at_k`. PSnDCG is by Jain et al. (KDD 2016), here in the form that
    pyxclib and napkinXC compute.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, K), or sparse scores, shape (n, m)
    propensity : ndarray of float, shape (m,)
        Propensities of the training set, as `propensities` returns them.
    k : int

    Examples
    --------
    >>> from xmlc.metrics import psndcg_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> round(psndcg_at_k(Y, labels, np.array([0.2, 0.5, 0.25]), k=2), 3)
    0.654
    """
    return _weighted_share(Y, labels, propensity, k, discounted=True)


def _weighted_share(
    Y: Matrix, labels: np.ndarray, propensity: np.ndarray, k: int, discounted: bool
) -> float:
    """Return the sum of the gains of all hits, divided by the highest possible sum.

    The gain of a hit of label l is 1 / p_l times the weight of the rank, divided by the norm for
    ``|y|`` true labels. Weights and norms are the discounts and ideal sums of nDCG if
    ``discounted`` is true, and 1 if ``discounted`` is false.
    """
    from xmlc.kernels.sums import pairwise

    Y, ranked, relevant = _matched(Y, labels, k)
    gain = 1.0 / checked_propensities(propensity, Y.shape[1])
    k = relevant.shape[1]
    weights = np.ones(k)
    norms = np.ones(k + 1)
    if discounted:
        weights, norms = _discounts(k)
    n_true = np.diff(Y.indptr)
    norm = norms[np.minimum(n_true, k)]
    rows, ranks = np.nonzero(relevant)
    reached = pairwise(gain[ranked[rows, ranks]] * weights[ranks] / norm[rows])
    # The ideal ranking of an instance has its true labels in descending order of their gains.
    rows = np.repeat(np.arange(n_true.size), n_true)
    ideal = gain[Y.indices][np.lexsort((-gain[Y.indices], rows))]
    ranks = np.arange(rows.size) - Y.indptr[rows]
    first = ranks < k
    best = pairwise(ideal[first] * weights[ranks[first]] / norm[rows[first]])
    if best == 0:
        return 0.0
    return float(reached / best)


def checked_k(k: object) -> int:
    """Return ``k`` as an int, or raise an error if it is not a whole number of at least 1."""
    if not isinstance(k, Integral) or k < 1:
        raise InvalidDataError(
            f"found k={shown(k)}, expected a whole number of at least 1, such as 5"
        )
    return int(k)


def _ranking(labels: object, shape: tuple[int, int], k: int) -> np.ndarray:
    """Return the k top labels, int32 of shape (n, k).

    If two sparse scores are equal, the smaller label ranks first.
    """
    n, m = shape
    k = checked_k(k)
    if sparse.issparse(labels):
        return _best(labels, shape, k)
    try:
        labels = np.asarray(labels)
    except ValueError:
        raise InvalidDataError(
            "labels: found rows of different lengths. Fill missing ranks with -1."
        ) from None
    if labels.ndim != 2 or labels.shape[0] != n:
        expected = (
            f"one row for each of {n} instances, best label first. Pass the result of "
            "predict_top_k."
        )
        raise InvalidDataError(f"labels: found shape {labels.shape}, expected {expected}")
    if k > labels.shape[1]:
        raise InvalidDataError(
            f"found k={k}, expected at most {labels.shape[1]}. Fill missing ranks with -1."
        )
    if labels.dtype.kind not in "iu":
        raise InvalidDataError(
            f"labels: found {labels.dtype}, expected whole numbers, or scores as a sparse matrix"
        )
    expected = f"expected distinct labels from 0 to {m - 1}, and -1 for missing ranks"
    ordered = np.sort(labels, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        row, column = np.argwhere(twice)[0]
        hint = ""
        if labels.shape == shape:
            hint = ". Pass the scores of a prediction matrix as a sparse matrix."
        raise InvalidDataError(
            f"labels: found label {ordered[row, column]} twice in row {row}, {expected}{hint}"
        )
    if n and (ordered[:, 0].min() < -1 or ordered[:, -1].max() >= m):
        row, column = np.argwhere((labels < -1) | (labels >= m))[0]
        raise InvalidDataError(
            f"labels: found {labels[row, column]} in row {row}, column {column}, {expected}"
        )
    return np.ascontiguousarray(labels[:, :k], dtype=np.int32)


def _best(scores: Any, shape: tuple[int, int], k: int) -> np.ndarray:
    """Return each instance's labels with the k highest stored scores, int32 of shape (n, min(k,
    m)).
    """
    if scores.dtype == bool:
        raise InvalidDataError(
            "labels: found label sets without an order, expected a ranking, scores or estimates"
        )
    scores = as_csr(scores, np.float64, "scores")
    if scores.shape != shape:
        expected = f"{shape[0]} instances and {shape[1]} labels, as in Y"
        raise InvalidDataError(f"scores: found shape {scores.shape}, expected {expected}")
    unknown = np.flatnonzero(np.isnan(scores.data))
    if unknown.size:
        row = int(np.searchsorted(scores.indptr, unknown[0], side="right")) - 1
        raise InvalidDataError(
            f"scores: found NaN in row {row}, label {scores.indices[unknown[0]]}, expected numbers"
        )
    return top_k_of(scores, min(k, max(shape[1], 1)))[0]


def _matched(Y: Matrix, labels: object, k: int) -> tuple[CSR, np.ndarray, np.ndarray]:
    """Return the truth, the k top labels, and a bool array that marks the true labels among the k
    top labels.
    """
    from xmlc.metrics._counts import match_ranking

    Y = as_labels(Y, "Y", labels, "the truth, then the ranking: f(Y, labels, k)")
    truth = kernel_csr(Y)
    ranked = _ranking(labels, Y.shape, k)
    return Y, ranked, match_ranking(truth.indptr, truth.indices, ranked)


def hits_at_k(Y: Matrix, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Mark the hits among the k top labels, and count the true labels of each instance.

    Returns
    -------
    relevant : ndarray of bool, shape (n, k)
        The shape is (n, m) for sparse scores if m is below k.
    n_true : ndarray of int, shape (n,)
        The number of true labels of each instance.

    Raises
    ------
    XmlcError
        If the ranking has another number of instances, rows of different lengths or fewer than k
        columns. The error is also raised if an entry is neither a label nor -1, a score is NaN, or
        a row contains a label twice (as in a dense matrix of predictions).
    """
    Y, _, relevant = _matched(Y, labels, k)
    return relevant, np.diff(Y.indptr)


RankingMeasures = tuple[Measure[Ranked], ...]


def _at_each_k(
    name: str,
    title: str,
    of: Callable[..., float],
    fields: tuple[str, ...] = ("labels",),
    **about: Any,
) -> RankingMeasures:
    """Return a measure for each k of `K`, which calls ``of`` with the truth, fields of `Ranked`,
    and k.
    """

    def value(ranked: Ranked, k: int) -> float:
        return of(ranked.Y, *(getattr(ranked, field) for field in fields), k)

    return tuple(Measure(f"{name}@{k}", f"{title}@{k}", partial(value, k=k), **about) for k in K)


_PRECISION = _at_each_k("p", "P", precision_at_k)
_NDCG = _at_each_k("ndcg", "nDCG", ndcg_at_k)
_PSP = _at_each_k("psp", "PSP", psp_at_k, ("labels", "propensity"))
# The reference tables of the papers have no columns for R@k and PSnDCG@k.
_RECALL = _at_each_k("r", "R", recall_at_k, in_tables=False)
_PSNDCG = _at_each_k("psndcg", "PSnDCG", psndcg_at_k, ("labels", "propensity"), in_tables=False)
_MAXIMA = _at_each_k("max_p", "Maximum P", maximum_precision_at_k, (), better=None, kind="constant")
OVER_LABELS = (
    *_at_each_k("macro_p", "Macro-P", macro_precision_at_k, in_tables=False),
    *_at_each_k("macro_r", "Macro-R", macro_recall_at_k, in_tables=False),
    *_at_each_k("macro_f", "Macro-F", macro_f1_at_k, in_tables=False),
    *_at_each_k("coverage", "Coverage", coverage_at_k, in_tables=False),
)
# Records and tables list measures in the order of MEASURES.
MEASURES: RankingMeasures = (*_PRECISION, *_NDCG, *_PSP, *_RECALL, *_PSNDCG, *OVER_LABELS, *_MAXIMA)
# The calibration errors need probability estimates, which some rankings lack.
CALIBRATION = _at_each_k(
    "ece", "ECE", ece_at_k, ("labels", "scores"), better="lower", in_tables=False
)


def ranking_metrics(Y: Matrix, labels: np.ndarray, propensity: np.ndarray) -> dict[str, float]:
    """Return the value of every measure of `MEASURES` by name.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, max(K))
    propensity : ndarray of float, shape (m,)
        Propensities of the training set, as `propensities` returns them.
    """
    return _values(MEASURES, Ranked(as_labels(Y), labels, propensity))


def calibration_scores(Y: Matrix, labels: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Return ``ece@k`` for each k of ``K``. The parameters are the same as for `ece_at_k`."""
    return _values(CALIBRATION, Ranked(as_labels(Y), labels, np.empty(0), scores))


def precision_and_ndcg(Y: Matrix, labels: np.ndarray) -> dict[str, float]:
    """Return ``p@k`` and ``ndcg@k``, which need no training set, by name for each k of ``K``."""
    return _values((*_PRECISION, *_NDCG), Ranked(as_labels(Y), labels, np.empty(0)))


def _values(measures: RankingMeasures, ranked: Ranked) -> dict[str, float]:
    return {measure.name: measure.of(ranked) for measure in measures}
