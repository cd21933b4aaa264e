"""The records of `xmlc rank`, next to the ranked labels, and of `xmlc score`, which adds scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from xmlc.metrics.measures import BY_NAME, MAXIMA, OF_RANKINGS, RANKING_METRICS, AnyMeasure
from xmlc.metrics.resampling import REPLICATES, Resampled
from xmlc.suite.results.records.base import (
    Fraction,
    Fractions,
    JsonNumber,
    ModelRecord,
    Numbers,
    Quantities,
    TrainingCosts,
    check_scores,
    costs_in,
    json_keys,
    or_nan,
)

COST_COLUMNS = {
    "train_minutes": ("train_seconds", 1 / 60),
    "train_seconds": ("train_seconds", 1),
    "predict_ms": ("predict_ms_per_instance", 1),
    "inner_products": ("inner_products_per_instance", 1),
    "model_mb": ("model_bytes", 1e-6),
    "train_peak_mb": ("train_peak_bytes", 1e-6),
    "predict_peak_mb": ("predict_peak_bytes", 1e-6),
    "train_threads": ("train_threads", 1),
    "predict_threads": ("predict_threads", 1),
    "train_cpu_minutes": ("train_cpu_seconds", 1 / 60),
    "train_cpu_seconds": ("train_cpu_seconds", 1),
}
HYPERPARAMETERS = ("S", "alpha", "beta", "n_trees")  # Tables show their values.


@json_keys
class RankingCosts(TrainingCosts):
    """The costs of training, and of ranking the five best labels of each test instance."""

    predict_ms_per_instance: JsonNumber | None
    inner_products_per_instance: JsonNumber | None
    predict_threads: int | None
    predict_peak_bytes: JsonNumber | None


@json_keys
class RankedRecord(ModelRecord, command="rank"):
    """A ranking's record before `xmlc score` adds measures. See `RankingRecord`."""

    FILE: ClassVar[str] = "rank.json"
    LABELS: ClassVar[str] = "labels.npy"  # int32 (n_test, DEPTH), best first, padded with -1
    DEPTH: ClassVar[int] = 5  # Measures of the papers use at most five labels.

    costs: RankingCosts
    certified: Fraction | None = None


@json_keys
class RankingRecord(ModelRecord, kind="ranking", command="score"):
    """The record of `xmlc score`.

    ``metrics`` and ``resampled`` have measures on the test set and on resampled test sets
    (`xmlc.metrics.resampling`), with shares as fractions. ``standard_errors``, of P@k and nDCG@k,
    are due to the random choice of test instances. ``certified`` is the fraction of test instances
    whose ranking beam search proved to be exact.

    Records of earlier versions lack ``resampled``, ``standard_errors`` and some measures.
    """

    costs: RankingCosts
    metrics: dict[str, float]
    standard_errors: Fractions = field(default_factory=dict)
    certified: Fraction | None = None
    resampled: Resampled = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_scores("metrics", self.metrics, RANKING_METRICS, shares_of(self.metrics))

    def numbers(self) -> Numbers:
        """Yield measures, hyperparameters with their search's result, and costs."""
        tuned = self.tuning if self.tuning and "p@1" in self.tuning else {}
        found = self.dataset_sizes | measured_columns(
            self.metrics, (*RANKING_METRICS, *MAXIMA), OF_RANKINGS
        )
        found |= {name: self.hyperparameters.get(name) for name in HYPERPARAMETERS}
        found |= {"validation_p@1": 100 * or_nan(tuned.get("p@1")), "trials": tuned.get("budget")}
        found |= {"search_method": self.tuning["method"] if self.tuning else None}
        yield "", found | {"certified": self.certified} | costs_in(self.costs, COST_COLUMNS)

    def resampled_numbers(self) -> dict[str, dict[str, Any]]:
        """Return the measures on resampled test sets."""
        return {"": resampled_columns(self.metrics, self.resampled, RANKING_METRICS)}


def shares_of(scores: Mapping[str, float]) -> list[str]:
    """Return the names of scores that are fractions."""
    return [name for name in scores if name in BY_NAME and BY_NAME[name].is_share]


def resampled_columns(
    metrics: Mapping[str, float] | None, resampled: Resampled, needed: Iterable[str]
) -> Quantities:
    """Return measures on resampled test sets in the units of their columns, or NaN for records of
    earlier versions.
    """
    if not metrics:
        return {}
    if not resampled:
        return dict.fromkeys(needed, np.full(REPLICATES, np.nan))
    values: Quantities = {}
    for name, differences in resampled.items():
        shares = np.clip(metrics[name] + np.array(differences), 0.0, 1.0)
        values[name] = 100 * shares
    return values


def measured_columns(
    part: Mapping[str, float] | None, required: Iterable[str], known: Iterable[AnyMeasure]
) -> Quantities:
    """Return measures in the units of their columns, with NaN for missing ``required`` ones."""
    part = part or {}
    names = dict.fromkeys((*required, *(measure.name for measure in known if measure.name in part)))
    return {name: BY_NAME[name].in_unit(or_nan(part.get(name))) for name in names}
