"""The test set's error of a measure: a bootstrap over test instances (Efron, Annals of Statistics 1979).

In each of some replicates n of the n test instances are drawn with replacement. The draws depend on n and the replicate
alone, so that those of two records of one test set are the same: how much a difference of theirs, or anything else that
is computed from both, varies over replicates is its error by the choice of the test instances.

Records keep replicates, and tables read these, so that kernels are imported where something is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from xmlc.kernels.csr import Matrix
from xmlc.metrics.classification import Agreement, measure_scores
from xmlc.metrics.ranking import K, hits_at_k, scores_of_instances

REPLICATES = 50  # by which an error is known to a tenth
DIGITS = 4  # that records keep of a difference
OF_RANKINGS = tuple(f"{name}@{k}" for name in ("p", "ndcg") for k in K)
OF_SETS = ("macro_f", "macro_f_zero", "macro_f_present", "micro_f", "instance_f", "hamming_loss")

Resampled = dict[str, tuple[float, ...]]  # by measure: how far each replicate is from the test set, shares of one


def draws(n: int, replicate: int) -> np.ndarray:
    """Return how often each of n instances is drawn in a replicate, int32 of shape (n,)."""
    from xmlc.metrics._counts import count_draws

    times = np.zeros(n, dtype=np.int32)
    count_draws(replicate, times)
    return times


def resampled_sets(n: int, count: Callable[[np.ndarray], Agreement], metrics: Mapping[str, float]) -> Resampled:
    """Return `OF_SETS` in each replicate.

    Parameters
    ----------
    n : int
        Number of test instances.
    count : callable
        Counts the agreement where each instance counts so many times, int32 of shape (n,).
    metrics : mapping of str to float
        These measures of the test set.
    """
    return _differences((measure_scores(count(draws(n, each)), OF_SETS) for each in range(REPLICATES)), metrics)


def resampled_ranking(Y: Matrix, labels: np.ndarray, metrics: Mapping[str, float]) -> Resampled:
    """Return `OF_RANKINGS` in each replicate, of a ranking of the test set: int32 of shape (n, max(K))."""
    from xmlc.kernels.elementwise import mean

    found = hits_at_k(Y, labels, max(K))
    scores = {name: scores_of_instances(name, *found) for name in OF_RANKINGS}
    times = (draws(len(labels), each) for each in range(REPLICATES))
    return _differences(({name: mean(np.repeat(of, drawn)) for name, of in scores.items()} for drawn in times), metrics)


def _differences(replicates: Iterable[Mapping[str, float]], metrics: Mapping[str, float]) -> Resampled:
    found = [*replicates]
    return {name: tuple(float(f"{each[name] - metrics[name]:.{DIGITS}g}") for each in found) for name in found[0]}


def replicate(metrics: Mapping[str, float], resampled: Resampled, number: int) -> dict[str, float]:
    """Return measures of the test set, those that were resampled as they are in one replicate."""
    drawn = {name: metrics[name] + values[number] for name, values in resampled.items()}
    return dict(metrics) | {name: min(max(share, 0.0), 1.0) for name, share in drawn.items()}
