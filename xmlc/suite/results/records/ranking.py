"""Define the record of `xmlc rank`. The record contains scores of a model on the test set, and the model's costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from xmlc.metrics.measures import BY_NAME, MAXIMA, OF_RANKINGS, RANKING_METRICS, AnyMeasure
from xmlc.metrics.resampling import Resampled, replicate
from xmlc.suite.results.records.base import (
    Fraction,
    Fractions,
    JsonNumber,
    Numbers,
    Quantities,
    check_scores,
    costs_in,
    or_nan,
)
from xmlc.suite.results.records.training import ModelRecord, TrainingCosts

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
HYPERPARAMETERS = ("S", "alpha", "beta", "n_trees")  # Tables show the values of these hyperparameters.


@dataclass(frozen=True, kw_only=True)
class RankingCosts(TrainingCosts):
    """Hold the costs of training, and of predicting the five best labels of each test instance."""

    predict_ms_per_instance: JsonNumber | None
    inner_products_per_instance: JsonNumber | None
    predict_threads: int | None
    predict_peak_bytes: JsonNumber | None


@dataclass(frozen=True, kw_only=True)
class RankingRecord(ModelRecord, kind="ranking", command="rank"):
    """Represent the record of `xmlc rank`.

    Attributes
    ----------
    metrics : dict of str to float
        Scores by name, see `xmlc.metrics.measures`. Shares are fractions, not percentages. Records of earlier versions
        lack some scores.
    standard_errors : dict of str to float
        Standard errors of P@k and nDCG@k over the choice of test instances. Records of earlier versions lack this
        field.
    certified : float or None
        Share of the test instances for which a beam search proved that its ranking is exact. The share is None if the
        model uses no beam search.
    resampled : dict of str to tuple of float
        Measures on resampled test sets (see `xmlc.metrics.resampling`). Records of earlier versions lack this field.
    """

    costs: RankingCosts
    metrics: dict[str, float]
    standard_errors: Fractions = field(default_factory=dict)
    certified: Fraction | None = None
    resampled: Resampled = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_scores("metrics", self.metrics, RANKING_METRICS, shares_of(self.metrics))

    def numbers(self) -> Numbers:
        """Yield one variant with measures, hyperparameters, results of the search for hyperparameters, and costs."""
        tuned = self.tuning if self.tuning and "p@1" in self.tuning else {}
        found = self.dataset_sizes | measured_columns(self.metrics, (*RANKING_METRICS, *MAXIMA), OF_RANKINGS)
        found |= {name: self.hyperparameters.get(name) for name in HYPERPARAMETERS}
        found |= {"validation_p@1": 100 * or_nan(tuned.get("p@1")), "trials": tuned.get("budget")}
        yield "", found | costs_in(self.costs, COST_COLUMNS)

    def replicate(self, number: int) -> Self:
        """Return a copy of the record with the measures on the resampled test set ``number``."""
        return replace(self, metrics=replicate(self.metrics, self.resampled, number))


def shares_of(scores: Mapping[str, float]) -> list[str]:
    """Return the names of the scores that are fractions between 0 and 1."""
    return [name for name in scores if name in BY_NAME and BY_NAME[name].is_share]


def measured_columns(
    part: Mapping[str, float] | None, required: Iterable[str], known: Iterable[AnyMeasure]
) -> Quantities:
    """Return a dict from measure to value, in the unit of the measure's column.

    The dict contains all ``required`` measures, with NaN for missing measures. The dict also contains the ``known``
    measures that ``part`` contains.
    """
    part = part or {}
    names = dict.fromkeys((*required, *(measure.name for measure in known if measure.name in part)))
    return {name: BY_NAME[name].in_unit(or_nan(part.get(name))) for name in names}
