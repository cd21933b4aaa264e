"""Metrics of rankings: P@k, nDCG@k and their propensity-scored form PSP@k.

``Y`` is the truth, boolean CSR of shape (n, m); ``labels`` the ranking, int32 of shape (n, K) with K >= k, best
first, -1 where there is no label. An instance without true labels counts, with score 0. All results are fractions.
"""

from __future__ import annotations

import numpy as np

from xmlc.csr import as_labels, kernel_csr
from xmlc.errors import XmlcError
from xmlc.metrics._counts import match_ranking


def precision_at_k(Y: object, labels: np.ndarray, k: int) -> float:
    """Precision at k: the share of the k top labels that are true; a missing label counts as wrong."""
    relevant, _ = _relevant(Y, labels, k)
    return float(relevant.sum() / max(k * relevant.shape[0], 1))


def ndcg_at_k(Y: object, labels: np.ndarray, k: int) -> float:
    """Normalised discounted cumulative gain at k (ldsm2020, Section 5).

    The gain of a true label at rank r (from 1) is 1 / log2(r + 1); the ideal puts min(k, |y|) true labels first.
    """
    relevant, n_true = _relevant(Y, labels, k)
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    ideal = np.concatenate(([0.0], np.cumsum(discounts)))[np.minimum(n_true, k)]
    gained = relevant @ discounts
    return float(np.divide(gained, ideal, out=np.zeros_like(gained), where=ideal > 0).sum() / max(n_true.size, 1))


def propensity_parameters(dataset: str) -> tuple[float, float]:
    """Return (A, B) of the propensity model for a dataset, by its name.

    Jain et al. (KDD 2016) fit 0.5, 0.4 for Wikipedia and 0.6, 2.6 for Amazon; other sets take 0.55, 1.5, and so
    does AmazonCat-13K in the repository's own tables.
    """
    if dataset.startswith(("wikilshtc", "wikipedia", "wikiseealso", "wikititles")):
        return 0.5, 0.4
    if dataset.startswith(("amazon-", "amazontitles-")):
        return 0.6, 2.6
    return 0.55, 1.5


def propensities(Y_train: object, a: float = 0.55, b: float = 1.5) -> np.ndarray:
    """Probability that a true label was recorded as such (Jain et al., KDD 2016, equation for p_l).

    p_l = 1 / (1 + C exp(-A log(N_l + B))) with C = (log N - 1) (B + 1)^A, N instances and N_l of them with label l.

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    Y_train = as_labels(Y_train)
    n_instances = Y_train.shape[0]
    frequency = np.bincount(Y_train.indices, minlength=Y_train.shape[1])
    c = (np.log(max(n_instances, 1)) - 1.0) * (b + 1.0) ** a
    return 1.0 / (1.0 + c * np.exp(-a * np.log(frequency + b)))


def psp_at_k(Y: object, labels: np.ndarray, propensity: np.ndarray, k: int) -> float:
    """Propensity-scored precision at k, divided by the best that any ranking can reach.

    A hit counts 1 / p_l; the sum over all instances is divided by the same sum for the ideal ranking, which puts
    each instance's rarest true labels first. Without the division the score may exceed 1.
    """
    Y = as_labels(Y)
    relevant, _ = _relevant(Y, labels, k)
    gain = 1.0 / propensity
    reached = gain[labels[:, :k][relevant]].sum()
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    gains = gain[Y.indices]
    order = np.lexsort((-gains, rows))
    rank = np.arange(rows.size) - Y.indptr[rows]
    best = gains[order][rank < k].sum()
    return float(reached / best) if best > 0 else 0.0


def _relevant(Y: object, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Mark the hits among the first k labels, and count each instance's true labels."""
    Y = as_labels(Y)
    if labels.ndim != 2 or labels.shape[0] != Y.shape[0] or not 1 <= k <= labels.shape[1]:
        raise XmlcError(f"k={k} and a ranking of shape {labels.shape} do not fit {Y.shape[0]} instances")
    truth = kernel_csr(Y)
    ranked = np.ascontiguousarray(labels[:, :k], dtype=np.int32)
    return match_ranking(truth.indptr, truth.indices, ranked), np.diff(truth.indptr)
