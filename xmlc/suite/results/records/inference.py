"""The record of `xmlc infer`: scores and costs of label sets that a method inferred."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from xmlc.metrics.measures import OF_SETS, SET_METRICS
from xmlc.metrics.resampling import Resampled
from xmlc.suite.results.records.base import (
    JsonNumber,
    ModelRecord,
    Numbers,
    TrainingCosts,
    costs_in,
    json_keys,
    or_nan,
)
from xmlc.suite.results.records.ranking import measured_columns, resampled_columns
from xmlc.suite.results.records.thresholds import PREDICTED, check_label_set_scores

COST_COLUMNS = {
    "inference_seconds": ("inference_seconds", 1),
    "draw_ms": ("draw_ms_per_instance", 1),
    "estimate_ms": ("estimate_ms_per_instance", 1),
    "infer_ms": ("infer_ms_per_instance", 1),
    "inference_threads": ("threads", 1),
}
ESTIMATES = ("min_probability", "estimates_per_instance", "missed_per_instance")


@json_keys
class TruncatedEstimates:
    """The estimates above a minimum probability, and the true labels without any, per instance."""

    min_probability: JsonNumber | None
    estimates_per_instance: JsonNumber | None
    missed_per_instance: JsonNumber | None


@json_keys
class InferenceCosts(TrainingCosts):
    """The costs of training, of samples or marginals, and of inference, or None if not measured.

    The "inference time" of gfm2011, ``inference_seconds`` for the whole test set, includes drawing
    samples or estimating marginals.
    """

    draw_ms_per_instance: JsonNumber | None
    estimate_ms_per_instance: JsonNumber | None
    infer_ms_per_instance: JsonNumber | None
    inference_seconds: JsonNumber | None
    threads: int | None
    infer_peak_bytes: JsonNumber | None = None


@json_keys
class InferenceRecord(ModelRecord, kind="inference", command="infer"):
    """The record of `xmlc infer`.

    ``samples`` are label vectors drawn per instance, if the method uses any. If inference took
    longer than ``time_limit`` seconds, it is not ``finished`` and all scores are missing.
    Otherwise, ``metrics`` and ``resampled`` have measures on the test set and on resampled test
    sets (`xmlc.metrics.resampling`), with shares as fractions. The method computes ``expected_f``
    for its label sets, and ``truncation_loss`` bounds what the minimum probability of the estimates
    costs of it.

    Records of earlier versions lack ``resampled``, but have weights of the method gfm-sizes as
    ``sizes``.
    """

    costs: InferenceCosts
    method: str
    samples: int | None
    time_limit: JsonNumber | None
    estimates: TruncatedEstimates | None
    sizes: object = None
    finished: bool
    metrics: dict[str, float] | None
    expected_f: JsonNumber | None
    truncation_loss: JsonNumber | None
    resampled: Resampled = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.metrics is not None:
            check_label_set_scores(".metrics", self.metrics)

    def numbers(self) -> Numbers:
        """Yield the measures, unless inference was stopped, and the numbers of estimates and
        costs.
        """
        found = self.dataset_sizes | measured_columns(
            self.metrics, (*SET_METRICS, PREDICTED), OF_SETS
        )
        found |= {
            "expected_f": 100 * or_nan(self.expected_f),
            "truncation_loss": 100 * or_nan(self.truncation_loss),
        }
        found |= {name: or_nan(getattr(self.estimates, name, None)) for name in ESTIMATES}
        found |= {"samples": self.samples, "time_limit": self.time_limit, "note": None}
        if not self.finished:
            found["note"] = f"stopped after {self.time_limit:g} s"
        yield "", found | costs_in(self.costs, COST_COLUMNS)

    def resampled_numbers(self) -> dict[str, dict[str, Any]]:
        """Return the measures on resampled test sets."""
        return {"": resampled_columns(self.metrics, self.resampled, SET_METRICS)}
