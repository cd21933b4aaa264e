"""P@k, R@k, nDCG@k, propensity-scored PSP@k and PSnDCG@k, and calibration errors of rankings.

``Y`` is the truth: boolean CSR of shape (n, m). ``labels`` is a ranking of labels in one of two
forms, and any other is an error, such as a dense matrix of predictions:

* int32 of shape (n, K) with K >= k. Each row has different labels, best first, padded with -1.
* sparse scores of shape (n, m), such as an SPE, whose stored entries are ranked.

Means are over all n instances, and an instance without true labels scores 0. All results are
fractions.
"""
# Tables read `MEASURES` and must load fast, so functions import kernels late.

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError
from xmlc.kernels.csr import (
    CSR,
    ROUNDING,
    Matrix,
    as_labels,
    check_probabilities,
)
from xmlc.kernels.indices import MOST_COLUMNS
from xmlc.metrics.hits import checked_k, hits_at_k, matched
from xmlc.metrics.label_averages import (
    coverage_at_k,
    macro_f1_at_k,
    macro_precision_at_k,
    macro_recall_at_k,
)
from xmlc.metrics.measure import Measure
from xmlc.metrics.propensity import checked_propensities

K = (1, 3, 5)  # in the papers


class Ranked(NamedTuple):
    """A test set and its ranked labels, from which measures are computed.

    Attributes
    ----------
    Y : boolean csr_array, shape (n, m)
    labels : ndarray of int32, shape (n, max(K))
    propensity : ndarray of float64, shape (m,)
        Propensities of the training set.
    scores : ndarray of float32, shape (n, max(K))
        Probability estimates of the ranked labels, empty if no measure needs them.
    """

    Y: CSR
    labels: np.ndarray
    propensity: np.ndarray
    scores: np.ndarray = np.empty((0, 0), dtype=np.float32)


def precision_at_k(Y: Matrix, labels: np.ndarray, k: int) -> float:
    """Return precision at k, the share of the k top labels that are true (plt2016, Section 6.1).

    A missing label is wrong.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
        The truth.
    labels : ndarray of int32, shape (n, K), or sparse scores, shape (n, m)
        The ranking, padded with -1, such as ``predict_top_k`` returns it.
    k : int
        Number of labels, at least 1 and at most K.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        If k or the ranking is not valid, or its shape does not suit ``Y``.

    See Also
    --------
    precision_and_ndcg : For several k in one call.
    psp_at_k : Weights rare labels.
    maximum_precision_at_k : The highest possible value.

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
    """Return recall at k, the mean share of an instance's true labels among the k top labels.

    An instance without true labels scores 0, as in napkinXC, pyxclib and scikit-learn (default
    ``zero_division``).

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
    precision_at_k, ndcg_at_k

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

    It is below 1 if instances have fewer than k true labels (swnn2018, Section 4.1 and Table 6).

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    k : int
        At least 1.

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        If k is not a whole number of at least 1.

    See Also
    --------
    precision_at_k

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
    """Return nDCG at k, the normalised discounted cumulative gain (ldsm2020, Section 5).

    It is the mean over instances of the sum of 1 / log2(r + 1) over the ranks r of hits, from 1 on,
    divided by the sum for the ideal ranking, which puts ``min(k, |y|)`` true labels first. An
    instance without true labels has no ideal ranking and scores 0, as in scikit-learn.

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
    psndcg_at_k : Weights rare labels.
    precision_at_k, recall_at_k

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
    """Return the nDCG of each instance, float64 (n,), from the hits among its top labels."""
    discounts, ideal = _discounts(relevant.shape[1])
    gained = np.zeros(len(relevant))
    # A fixed order of summation, which may differ between versions of NumPy
    for rank, discount in enumerate(discounts):
        gained += relevant[:, rank] * discount
    return gained / ideal[np.minimum(n_true, len(discounts))]


def _discounts(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 / log2(r + 1) for r = 1 .. k, and their sums over the first 0 (set to
    1), 1, .. k.
    """
    from xmlc.kernels import elementwise

    discounts = 1.0 / elementwise.log2(np.arange(2, k + 2))
    return discounts, np.array([1.0, *accumulate(discounts.tolist())])


# As in Guo et al., On calibration of modern neural networks, ICML 2017
BINS = 15


def ece_at_k(Y: Matrix, labels: np.ndarray, scores: np.ndarray, k: int) -> float:
    """Return the expected calibration error at k, between estimates and truth of the top labels.

    Estimates are sorted into 15 bins of equal width. The error of a bin is the absolute difference
    between its mean estimate and its share of true labels, and the result is their mean, weighted
    by the number of estimates (Ullah et al., *Labels in extremes: how well calibrated are extreme
    multi-label classifiers?*, 2024, arXiv 2411.04276). Missing labels (-1) are left out. For all m
    labels, the error would be close to 0, because nearly all estimates are.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, K)
    scores : ndarray of float, shape (n, K)
        Probability estimates of ``labels``, as ``predict_top_k`` returns them.
    k : int

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        If the shapes differ, or an estimate is not a probability.

    See Also
    --------
    plot_reliability : Calibration curves.
    xmlc.thresholds.IsotonicCalibration : Calibrates estimates.

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
    _, ranked, relevant = matched(Y, labels, k)
    there = ranked >= 0
    estimates = np.asarray(scores, dtype=np.float64)[:, :k][there]
    true = relevant[there]
    check_probabilities(estimates, "scores", 1 + ROUNDING)
    bins = np.minimum((estimates * BINS).astype(np.int64), BINS - 1)
    apart = (abs(math.fsum((true - estimates)[bins == each])) for each in range(BINS))
    return math.fsum(apart) / max(estimates.size, 1)


def psp_at_k(Y: Matrix, labels: np.ndarray, propensity: np.ndarray, k: int) -> float:
    """Return PSP at k: precision at k with hits weighted by 1 / propensity (Jain et al., KDD 2016).

    The sum of 1 / p_l over all hits, with p_l as the propensity of label l, may exceed the number
    of top labels. Therefore it is divided by the sum for the ideal ranking, which puts the true
    labels with the lowest propensities first.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, K), or sparse scores, shape (n, m)
    propensity : ndarray of float, shape (m,)
        Propensities of the training set.
    k : int

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `precision_at_k`, or if a propensity is not in (0, 1].

    See Also
    --------
    propensities : Computes the weights.
    psndcg_at_k : Also weights the ranks.

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
    """Return PSnDCG at k: nDCG at k with hits weighted by 1 / propensity (Jain et al., KDD 2016).

    A hit of label l at rank r (from 1) adds 1 / (p_l log2(r + 1)), with p_l as the propensity of l.
    The sum over an instance's hits is divided by the sum of 1 / log2(r + 1) over the ranks up to
    ``min(k, |y|)``, and the total over instances by the total for the ideal ranking of `psp_at_k`,
    as in pyxclib and napkinXC.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, K), or sparse scores, shape (n, m)
    propensity : ndarray of float, shape (m,)
        Propensities of the training set.
    k : int

    Returns
    -------
    float

    Raises
    ------
    XmlcError
        As in `precision_at_k`, or if a propensity is not in (0, 1].

    See Also
    --------
    propensities : Computes the weights.
    psp_at_k : Without weights of ranks.

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
    ``|y|`` true labels. These are the discounts and ideal sums of nDCG if ``discounted`` is true,
    and otherwise 1.
    """
    from xmlc.kernels.sums import pairwise

    Y, ranked, relevant = matched(Y, labels, k)
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
    # The ideal ranking has the true labels by descending gain
    rows = np.repeat(np.arange(n_true.size), n_true)
    ideal = gain[Y.indices][np.lexsort((-gain[Y.indices], rows))]
    ranks = np.arange(rows.size) - Y.indptr[rows]
    first = ranks < k
    best = pairwise(ideal[first] * weights[ranks[first]] / norm[rows[first]])
    if best == 0:
        return 0.0
    return float(reached / best)


RankingMeasures = tuple[Measure[Ranked], ...]


def _at_each_k(
    name: str,
    title: str,
    of: Callable[..., float],
    fields: tuple[str, ...] = ("labels",),
    **about: Any,
) -> RankingMeasures:
    """Return a measure for each k of `K`, which calls ``of`` with the truth, ``fields``, and k."""

    def value(ranked: Ranked, k: int) -> float:
        return of(ranked.Y, *(getattr(ranked, field) for field in fields), k)

    return tuple(Measure(f"{name}@{k}", f"{title}@{k}", partial(value, k=k), **about) for k in K)


_PRECISION = _at_each_k("p", "P", precision_at_k)
_NDCG = _at_each_k("ndcg", "nDCG", ndcg_at_k)
_PSP = _at_each_k("psp", "PSP", psp_at_k, ("labels", "propensity"))
# The reference tables of the papers have no columns for R@k and PSnDCG@k
_RECALL = _at_each_k("r", "R", recall_at_k, in_tables=False)
_PSNDCG = _at_each_k("psndcg", "PSnDCG", psndcg_at_k, ("labels", "propensity"), in_tables=False)
_MAXIMA = _at_each_k("max_p", "Maximum P", maximum_precision_at_k, (), better=None, kind="constant")
OVER_LABELS = (
    *_at_each_k("macro_p", "Macro-P", macro_precision_at_k, in_tables=False),
    *_at_each_k("macro_r", "Macro-R", macro_recall_at_k, in_tables=False),
    *_at_each_k("macro_f", "Macro-F", macro_f1_at_k, in_tables=False),
    *_at_each_k("coverage", "Coverage", coverage_at_k, in_tables=False),
)
# In the order of records and tables
MEASURES: RankingMeasures = (*_PRECISION, *_NDCG, *_PSP, *_RECALL, *_PSNDCG, *OVER_LABELS, *_MAXIMA)
# These need probability estimates, which some rankings lack
CALIBRATION = _at_each_k(
    "ece", "ECE", ece_at_k, ("labels", "scores"), better="lower", in_tables=False
)


def ranking_metrics(Y: Matrix, labels: np.ndarray, propensity: np.ndarray) -> dict[str, float]:
    """Return every measure of `MEASURES` by name, for ``labels`` of shape (n, max(K))."""
    return _values(MEASURES, Ranked(as_labels(Y), labels, propensity))


def calibration_scores(Y: Matrix, labels: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Return ``ece@k`` for each k of ``K``, with the parameters of `ece_at_k`."""
    return _values(CALIBRATION, Ranked(as_labels(Y), labels, np.empty(0), scores))


def precision_and_ndcg(Y: Matrix, labels: np.ndarray) -> dict[str, float]:
    """Return ``p@k`` and ``ndcg@k``, which need no training set, for k = 1, 3 and 5.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, K), K >= 5, or sparse scores, shape (n, m)

    Returns
    -------
    dict of str to float

    Raises
    ------
    XmlcError
        As in `precision_at_k`.

    See Also
    --------
    precision_at_k, ndcg_at_k

    Examples
    --------
    >>> from xmlc.metrics import precision_and_ndcg
    >>> import numpy as np
    >>> precision_and_ndcg([[1, 0, 1, 0, 0]], np.array([[0, 1, 2, 3, 4]]))["p@5"]
    0.4
    """
    return _values((*_PRECISION, *_NDCG), Ranked(as_labels(Y), labels, np.empty(0)))


def _values(measures: RankingMeasures, ranked: Ranked) -> dict[str, float]:
    return {measure.name: measure.of(ranked) for measure in measures}
