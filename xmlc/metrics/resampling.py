"""Bootstrap standard errors over test instances (Efron, Annals of Statistics 1979).

Each replicate draws n of the n test instances with replacement, and its draws depend only on n and
its number. So two records of the same test set use the same replicates. Their standard deviation
estimates the error due to the choice of test instances, also of a number computed from two records,
such as their difference.

Tables read the replicates from records and must load fast, so functions import kernels only when
they draw instances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from xmlc.kernels.csr import Matrix
from xmlc.metrics.classification import Agreement, measure_scores
from xmlc.metrics.hits import hits_at_k
from xmlc.metrics.ranking import K, normalised_gains

REPLICATES = 50  # the relative error of a standard error is then about 10 %
DIGITS = 4  # significant digits in records
OF_RANKINGS = (*(f"p@{k}" for k in K), *(f"ndcg@{k}" for k in K))
OF_SETS = ("macro_f", "macro_f_zero", "macro_f_present", "micro_f", "instance_f", "hamming_loss")

# From a measure to its values on the replicates, minus its value on the test set
Resampled = dict[str, tuple[float, ...]]


def draws(n: int, replicate: int) -> np.ndarray:
    """Return how often a replicate draws each of n instances, int32 (n,)."""
    from xmlc.metrics._counts import count_draws

    times = np.zeros(n, dtype=np.int32)
    count_draws(replicate, times)
    return times


def resampled_sets(
    n: int, count: Callable[[np.ndarray], Agreement], metrics: Mapping[str, float]
) -> Resampled:
    """Return the measures `OF_SETS` on each replicate, minus their values ``metrics``.

    ``count`` takes the number of copies of each of n instances, int32 (n,), and returns the
    `Agreement`.
    """
    replicates = [measure_scores(count(draws(n, number)), OF_SETS) for number in range(REPLICATES)]
    return _differences(replicates, metrics)


def resampled_ranking(Y: Matrix, labels: np.ndarray, metrics: Mapping[str, float]) -> Resampled:
    """Return the measures `OF_RANKINGS` on each replicate, minus their values ``metrics``."""
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
    """Return ``metrics`` with the resampled measures of replicate ``number``."""
    drawn = {name: metrics[name] + values[number] for name, values in resampled.items()}
    return dict(metrics) | {name: min(max(share, 0.0), 1.0) for name, share in drawn.items()}


def standard_errors(Y: Matrix, labels: np.ndarray) -> dict[str, float]:
    """Return the standard errors of the measures `OF_RANKINGS`, fractions like the measures.

    Each is the standard deviation of the instances' scores (divisor n - 1), divided by the square
    root of n, or 0 for fewer than two instances.
    """
    hits = hits_at_k(Y, labels, max(K))
    return {name: standard_error(scores_of_instances(name, *hits)) for name in OF_RANKINGS}


def scores_of_instances(name: str, relevant: np.ndarray, n_true: np.ndarray) -> np.ndarray:
    """Return ``p@k`` or ``ndcg@k`` of each instance, float64 (n,), from `hits_at_k`."""
    metric, _, k = name.partition("@")
    first = relevant[:, : int(k)]
    if metric == "p":
        return np.count_nonzero(first, axis=1) / int(k)
    return normalised_gains(first, n_true)


def standard_error(scores: np.ndarray) -> float:
    """Return the standard error of a mean, with one score per instance."""
    n = scores.size
    if n < 2:
        return 0.0
    mean = math.fsum(scores) / n
    return math.sqrt(math.fsum((scores - mean) * (scores - mean)) / (n - 1) / n)
