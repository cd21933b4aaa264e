"""Define the record of `xmlc infer`.

The record contains scores and costs of label sets that a method inferred for the test set.
"""

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
    """Describe the estimates that remain above a minimum probability.

    ``estimates_per_instance`` is the mean number of remaining estimates of an instance.
    ``missed_per_instance`` is the mean number of an instance's true labels without a remaining
    estimate.
    """

    min_probability: JsonNumber | None
    estimates_per_instance: JsonNumber | None
    missed_per_instance: JsonNumber | None


@json_keys
class InferenceCosts(TrainingCosts):
    """Hold the costs of training, of drawing samples or estimating marginals, and of inference.

    If a cost was not measured, it is None.

    Attributes
    ----------
    draw_ms_per_instance, estimate_ms_per_instance, infer_ms_per_instance : float or None
        Milliseconds per instance for drawing samples, for estimating marginals, and for inference.
    inference_seconds : float or None
        Seconds for drawing samples or estimating marginals, and for inference, on the whole test
        set. In gfm2011, these seconds are called "inference time".
    threads, infer_peak_bytes : int or None
    """

    draw_ms_per_instance: JsonNumber | None
    estimate_ms_per_instance: JsonNumber | None
    infer_ms_per_instance: JsonNumber | None
    inference_seconds: JsonNumber | None
    threads: int | None
    infer_peak_bytes: JsonNumber | None = None


@json_keys
class InferenceRecord(ModelRecord, kind="inference", command="infer"):
    """Represent the record of `xmlc infer`.

    Attributes
    ----------
    method : str
    samples : int or None
        Number of label vectors that are drawn per instance, or None if the method does not use
        samples.
    time_limit : float or None
        Number of seconds after which inference is stopped.
    estimates : TruncatedEstimates or None
        The field is None if the estimates have no minimum probability.
    sizes : object
        None. Records of earlier versions have weights of the method gfm-sizes.
    finished : bool
        Whether inference finished within the time limit. If inference did not finish, all scores
        are missing.
    metrics : dict of str to float, or None
        Maps a measure in `xmlc.metrics.measures` to its value. A share is stored as a fraction, not
        as a percentage.
    expected_f : float or None
        Mean of the expected F-measures that the method computes for its label sets.
    truncation_loss : float or None
        Upper bound on the loss of expected F-measure that the minimum probability causes.
    resampled : dict of str to tuple of float
        Maps a measure to its values on resampled test sets (see `xmlc.metrics.resampling`).
        ``resampled`` is empty in records of earlier versions.
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
        """Yield the measures, the numbers of estimates above the minimum probability, and the
        costs.

        If inference reached its time limit, the measures are missing.
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
