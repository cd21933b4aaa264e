"""Compute bootstrap standard errors over test instances (Efron, Annals of Statistics 1979).

Each replicate draws n of the n test instances with replacement. The drawn instances depend only on
n and the number of the replicate. Two records of the same test set therefore use the same
replicates. The standard deviation over replicates estimates the error due to the choice of test
instances. The error of a number that is computed from two records, such as their difference, is
estimated in the same way.

Tables read the replicates from records and must load fast, so the functions of this module import
kernels only when they draw instances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from xmlc.kernels.csr import Matrix
from xmlc.metrics.classification import Agreement, measure_scores
from xmlc.metrics.hits import hits_at_k
from xmlc.metrics.ranking import K, normalised_gains

REPLICATES = 50  # With 50 replicates, the relative error of a standard error is about 10 %.
DIGITS = 4  # Records store resampled measures with this number of significant digits.
OF_RANKINGS = (*(f"p@{k}" for k in K), *(f"ndcg@{k}" for k in K))
OF_SETS = ("macro_f", "macro_f_zero", "macro_f_present", "micro_f", "instance_f", "hamming_loss")

# `Resampled` maps each measure to its values on the replicates, minus its value on the test set.
Resampled = dict[str, tuple[float, ...]]


def draws(n: int, replicate: int) -> np.ndarray:
    """Return how often a replicate draws each of n instances, int32 of shape (n,)."""
    from xmlc.metrics._counts import count_draws

    times = np.zeros(n, dtype=np.int32)
    count_draws(replicate, times)
    return times


def resampled_sets(
    n: int, count: Callable[[np.ndarray], Agreement], metrics: Mapping[str, float]
) -> Resampled:
    """Return the measures `OF_SETS` on each replicate, minus the same measures on the test set.

    Parameters
    ----------
    n : int
        Number of test instances.
    count : callable
        Function that takes the number of copies of each instance, int32 of shape (n,), and returns
        the `Agreement`.
    metrics : mapping of str to float
        Values of all resampled measures on the test set.
    """
    replicates = [measure_scores(count(draws(n, number)), OF_SETS) for number in range(REPLICATES)]
    return _differences(replicates, metrics)


def resampled_ranking(Y: Matrix, labels: np.ndarray, metrics: Mapping[str, float]) -> Resampled:
    """Return the measures `OF_RANKINGS` on each replicate, minus the same measures on the test set.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int32, shape (n, max(K))
        Ranking of the test set.
    metrics : mapping of str to float
        Values of all resampled measures on the test set.
    """
    from xmlc.kernels.elementwise import mean

    hits = hits_at_k(Y, labels, max(K))
    scores = {name: scores_of_instances(name, *hits) for name in OF_RANKINGS}
    replicates = []
    for number in range(REPLICATES):
        times = draws(len(labels), number)
        replicates.append({name: mean(np.repeat(values, times)) for name, values in scores.items()})
    return _differences(replicates, metrics)


def _differences(replicates: list[dict[str, float]], metrics: Mapping[str, float]) -> Resampled:
    result = {}
    for name in replicates[0]:
        result[name] = tuple(
            float(f"{drawn[name] - metrics[name]:.{DIGITS}g}") for drawn in replicates
        )
    return result


def replicate(metrics: Mapping[str, float], resampled: Resampled, number: int) -> dict[str, float]:
    """Return ``metrics`` with the values of the resampled measures on replicate ``number``."""
    drawn = {name: metrics[name] + values[number] for name, values in resampled.items()}
    return dict(metrics) | {name: min(max(share, 0.0), 1.0) for name, share in drawn.items()}


def standard_errors(Y: Matrix, labels: np.ndarray) -> dict[str, float]:
    """Return the standard errors of the measures `OF_RANKINGS`, fractions like the measures.

    A standard error is the standard deviation of the instances' scores (divisor n - 1), divided by
    the square root of n, or 0 for fewer than two instances.
    """
    hits = hits_at_k(Y, labels, max(K))
    return {name: standard_error(scores_of_instances(name, *hits)) for name in OF_RANKINGS}


def scores_of_instances(name: str, relevant: np.ndarray, n_true: np.ndarray) -> np.ndarray:
    """Return ``p@k`` or ``ndcg@k`` of each instance, float64 of shape (n,).

    Parameters
    ----------
    name : str
        ``p@k`` or ``ndcg@k`` for some k.
    relevant : ndarray of bool, shape (n, K), K >= k
    n_true : ndarray of int, shape (n,)
        ``relevant`` and ``n_true`` are the results of `hits_at_k`.
    """
    metric, _, k = name.partition("@")
    first = relevant[:, : int(k)]
    if metric == "p":
        return np.count_nonzero(first, axis=1) / int(k)
    return normalised_gains(first, n_true)


def standard_error(scores: np.ndarray) -> float:
    """Return the standard error of the mean of ``scores``, one score per instance."""
    n = scores.size
    if n < 2:
        return 0.0
    mean = math.fsum(scores) / n
    return math.sqrt(math.fsum((scores - mean) * (scores - mean)) / (n - 1) / n)
