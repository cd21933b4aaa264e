"""Metrics of rankings: P@k, nDCG@k and their propensity-scored form PSP@k.

``Y`` is the truth, boolean CSR of shape (n, m). ``labels`` is the ranking: int32 of shape (n, K), K >= k, best first,
-1 where there is no label, no label twice in a row; or sparse scores of shape (n, m), such as an SPE, whose stored
entries are ranked. An instance without true labels counts, with score 0: the mean is over all n instances. All results
are fractions.

Each measure of records and tables is declared below its function, in `MEASURES`. Tables read that and must not wait for
numba, so that kernels are imported where something is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, XmlcError
from xmlc.kernels.csr import MOST_COLUMNS, as_csr, as_labels, check_below, kernel_csr, top_k_of
from xmlc.metrics.measure import Measure

K = (1, 3, 5)  # what the papers take


class Ranked(NamedTuple):
    """A test set with ranked labels: the input of measures.

    Attributes
    ----------
    Y : boolean csr_array, shape (n, m)
        The truth.
    labels : ndarray of int32, shape (n, max(K))
        The ranking.
    propensity : ndarray of float64, shape (m,)
        As from `propensities`, of the training set.
    """

    Y: sparse.csr_array
    labels: np.ndarray
    propensity: np.ndarray


def precision_at_k(Y: object, labels: np.ndarray, k: int) -> float:
    """Precision at k: the share of the k top labels that are true; a missing label counts as wrong.

    Examples
    --------
    >>> from xmlc.metrics import precision_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> precision_at_k(Y, labels, k=1)
    0.5
    """
    relevant, _ = hits_at_k(Y, labels, k)
    return float(relevant.sum() / max(k * relevant.shape[0], 1))


def maximum_precision_at_k(Y: object, k: int) -> float:
    """Highest precision at k that any ranking can have, as instances with fewer than k true labels limit it.

    The mean of ``min(|y|, k) / k`` over all instances (swnn2018, Section 4.1 and Table 6).

    Examples
    --------
    >>> from xmlc.metrics import maximum_precision_at_k
    >>> maximum_precision_at_k([[1, 0, 1], [0, 1, 0]], k=2)
    0.75
    """
    n_true, k = np.diff(as_labels(Y).indptr), checked_k(k)
    return float(np.minimum(n_true, min(k, MOST_COLUMNS)).sum() / max(k * n_true.size, 1))


def ndcg_at_k(Y: object, labels: np.ndarray, k: int) -> float:
    """Normalised discounted cumulative gain at k (ldsm2020, Section 5).

    The gain of a true label at rank r (from 1) is 1 / log2(r + 1); the ideal puts ``min(k, |y|)`` true labels first.
    An instance without true labels has no ideal and scores 0, as in scikit-learn.

    Examples
    --------
    >>> from xmlc.metrics import ndcg_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> round(ndcg_at_k(Y, labels, k=2), 3)
    0.622
    """
    gains = _normalised_gains(*hits_at_k(Y, labels, k))
    return float(gains.sum() / max(gains.size, 1))


def _normalised_gains(relevant: np.ndarray, n_true: np.ndarray) -> np.ndarray:
    """Return the nDCG of each instance, float64 of shape (n,), by the hits among the labels ranked first."""
    from xmlc.kernels import elementwise

    k = relevant.shape[1]
    discounts = 1.0 / elementwise.log2(np.arange(2, k + 2))
    ideal = np.concatenate(([0.0], np.cumsum(discounts)))[np.minimum(n_true, k)]
    gained = (relevant * discounts).sum(axis=1)  # not a BLAS product, whose bits may depend on its threads
    return np.divide(gained, ideal, out=np.zeros_like(gained), where=ideal > 0)


# Name without the prefix of the label-feature sets, in lower case; the first that fits.
_WIKIPEDIA, _AMAZON, _OTHER = (0.5, 0.4), (0.6, 2.6), (0.55, 1.5)
_PROPENSITY_PARAMETERS = (
    ("wikilshtc-", _WIKIPEDIA),
    ("wikipedia-", _WIKIPEDIA),
    ("wikititles-", _WIKIPEDIA),
    ("amazon-", _AMAZON),
    ("amazontitles-", _AMAZON),
)


def propensity_parameters(dataset_name: str) -> tuple[float, float]:
    """Return (A, B) of the propensity model for a dataset, by its name such as ``amazon-670k``.

    Jain et al. (KDD 2016) take 0.5, 0.4 for Wikipedia, 0.6, 2.6 for Amazon and 0.55, 1.5 for all others. Of the sets
    that came later, WikiTitles counts as Wikipedia and AmazonTitles as Amazon, while AmazonCat and WikiSeeAlso are
    among the others (issue 7 of pyxclib and the published configurations of DeepXML); a label-feature set
    (``lf-...``) takes its plain counterpart's.
    """
    name = dataset_name.lower().removeprefix("lf-")
    return next((values for start, values in _PROPENSITY_PARAMETERS if name.startswith(start)), _OTHER)


def propensities(Y_train: object, a: float = 0.55, b: float = 1.5) -> np.ndarray:
    """Probability that a true label was recorded as such (Jain et al., KDD 2016, equation for p_l).

    p_l = 1 / (1 + C exp(-A log(N_l + B))) with C = (log N - 1) (B + 1)^A, N instances and N_l of them with label l.

    Returns
    -------
    ndarray of float64, shape (m,)

    Examples
    --------
    >>> from xmlc.metrics import propensities
    >>> propensities([[1, 0, 0]] * 6 + [[0, 1, 0]] * 2).round(3)
    array([0.629, 0.527, 0.412])
    """
    from xmlc.kernels import elementwise
    from xmlc.kernels.float64 import log
    from xmlc.kernels.powers import power

    Y_train = as_labels(Y_train)
    n_instances = Y_train.shape[0]
    frequency = np.bincount(Y_train.indices, minlength=Y_train.shape[1])
    # With fewer than 3 instances the logarithm is below 1 and would make "probabilities" above 1.
    c = max(log(float(max(n_instances, 1))) - 1.0, 0.0) * power(b + 1.0, a)
    return 1.0 / (1.0 + c * elementwise.power(frequency + b, -a))


def psp_at_k(Y: object, labels: np.ndarray, propensity: np.ndarray, k: int) -> float:
    """Propensity-scored precision at k, divided by the best that any ranking can reach.

    A hit counts 1 / p_l; the sum over all instances is divided by the same sum for the ideal ranking, which puts
    each instance's rarest true labels first. Without the division the score may exceed 1.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, K), or sparse scores, shape (n, m)
    propensity : ndarray of float, shape (m,)
        As from `propensities`, of the training set.
    k : int

    Examples
    --------
    >>> from xmlc.metrics import psp_at_k
    >>> import numpy as np
    >>> Y, labels = [[1, 0, 1], [0, 1, 0]], np.array([[0, 1], [2, 1]])
    >>> round(psp_at_k(Y, labels, np.array([0.2, 0.5, 0.25]), k=2), 3)
    0.636
    """
    Y, labels, propensity = as_labels(Y), _ranking(labels, k), np.asarray(propensity, dtype=np.float64)
    if propensity.shape != (Y.shape[1],) or not (propensity > 0).all():
        raise XmlcError(
            f"propensity has shape {propensity.shape}, expected ({Y.shape[1]},): one number above 0 for each label"
        )
    relevant, _ = hits_at_k(Y, labels, k)
    gain = 1.0 / propensity
    reached = gain[labels[:, :k][relevant]].sum()
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    gains = gain[Y.indices]
    order = np.lexsort((-gains, rows))
    rank = np.arange(rows.size) - Y.indptr[rows]
    best = gains[order][rank < k].sum()
    return float(reached / best) if best > 0 else 0.0


def checked_k(k: object) -> int:
    """Return a number of ranks that is a whole number of at least 1."""
    if not isinstance(k, Integral) or k < 1:
        raise InvalidDataError(f"k={k!r}: expected a whole number of ranks, at least 1")
    return int(k)


def _ranking(labels: object, k: int) -> np.ndarray:
    """Return a ranking as an array: of sparse scores the k best, ties to the smaller label."""
    if not sparse.issparse(labels):
        return np.asarray(labels)
    scores = as_csr(labels, np.float64, "the scores")
    return top_k_of(scores, min(checked_k(k), max(scores.shape[1], 1)))[0]


def hits_at_k(Y: object, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Mark the hits among the first k labels, and count each instance's true labels.

    Raises
    ------
    XmlcError
        The ranking is of other instances, holds what is neither a label nor -1, or has fewer than k columns.
    """
    from xmlc.metrics._counts import match_ranking

    Y, labels = as_labels(Y), _ranking(labels, k)
    if labels.ndim != 2 or labels.shape[0] != Y.shape[0] or not 1 <= checked_k(k) <= labels.shape[1]:
        raise InvalidDataError(f"k={k} and a ranking of shape {labels.shape} do not fit {Y.shape[0]} instances")
    if labels.dtype.kind not in "iu":
        raise InvalidDataError(
            f"the ranking holds values of type {labels.dtype}; expected labels, -1 where there is none, "
            "or scores as a sparse matrix"
        )
    check_below(labels[:, :k], "the ranking", Y.shape[1], least=-1)
    truth = kernel_csr(Y)
    ranked = np.ascontiguousarray(labels[:, :k], dtype=np.int32)
    return match_ranking(truth.indptr, truth.indices, ranked), np.diff(truth.indptr)


def _at_each_k(
    name: str,
    title: str,
    of: Callable[[Ranked, int], float],
    better: Literal["higher"] | None = "higher",
    required: bool = True,
    kind: Literal["measure", "constant"] = "measure",
) -> tuple[Measure[Ranked], ...]:
    return tuple(
        Measure(f"{name}@{k}", f"{title}@{k}", partial(_at, of, k), better=better, required=required, kind=kind)
        for k in K
    )


def _at(of: Callable[[Ranked, int], float], k: int, ranked: Ranked) -> float:
    return of(ranked, k)


_PRECISION = _at_each_k("p", "P", lambda ranked, k: precision_at_k(ranked.Y, ranked.labels, k))
_NDCG = _at_each_k("ndcg", "nDCG", lambda ranked, k: ndcg_at_k(ranked.Y, ranked.labels, k))
_PSP = _at_each_k("psp", "PSP", lambda ranked, k: psp_at_k(ranked.Y, ranked.labels, ranked.propensity, k))
_MAXIMA = _at_each_k(
    "max_p", "Maximum P", lambda ranked, k: maximum_precision_at_k(ranked.Y, k), None, required=False, kind="constant"
)
# In the order of records and tables.
MEASURES: tuple[Measure[Ranked], ...] = (*_PRECISION, *_NDCG, *_PSP, *_MAXIMA)


def ranking_metrics(Y: object, labels: np.ndarray, propensity: np.ndarray) -> dict[str, float]:
    """Return every measure of `MEASURES` by name.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, max(K))
    propensity : ndarray of float, shape (m,)
        As from `propensities`, of the training set.
    """
    ranked = Ranked(as_labels(Y), labels, propensity)
    return {measure.name: measure.of(ranked) for measure in MEASURES}


def standard_errors(Y: object, labels: np.ndarray) -> dict[str, float]:
    """Return by how much ``p@k`` and ``ndcg@k`` vary with the test set that was drawn.

    The standard error of a mean over n instances: the standard deviation of an instance's score (divisor n - 1),
    divided by the square root of n; shares of one, 0 for fewer than two instances.
    """
    found = hits_at_k(Y, labels, max(K))
    return {
        f"{name}@{k}": standard_error(scores_of_instances(f"{name}@{k}", *found)) for name in ("p", "ndcg") for k in K
    }


def scores_of_instances(name: str, relevant: np.ndarray, n_true: np.ndarray) -> np.ndarray:
    """Return ``p@k`` or ``ndcg@k`` of each instance, float64 of shape (n,), by what `hits_at_k` finds for k or more."""
    metric, _, k = name.partition("@")
    first = relevant[:, : int(k)]
    return first.sum(axis=1) / int(k) if metric == "p" else _normalised_gains(first, n_true)


def standard_error(scores: np.ndarray) -> float:
    """Return the standard error of the mean of the instances' scores."""
    n = scores.size
    if n < 2:
        return 0.0
    mean = math.fsum(scores) / n
    return math.sqrt(math.fsum((scores - mean) * (scores - mean)) / (n - 1) / n)


def precision_and_ndcg(Y: object, labels: np.ndarray) -> dict[str, float]:
    """Return ``p@k``, then ``ndcg@k``, for each k of ``K``; they need no training set."""
    ranked = Ranked(as_labels(Y), labels, np.empty(0))
    return {measure.name: measure.of(ranked) for measure in (*_PRECISION, *_NDCG)}
