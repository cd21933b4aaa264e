"""Define the record of `xmlc infer`: label sets that one method inferred for the test set."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

from xmlc.metrics.measures import OF_SETS, SET_METRICS
from xmlc.metrics.resampling import Resampled, replicate
from xmlc.suite.results.records.base import JsonNumber, Numbers, costs_in, or_nan
from xmlc.suite.results.records.ranking import measured_columns
from xmlc.suite.results.records.thresholds import PREDICTED, check_label_set_scores
from xmlc.suite.results.records.training import ModelRecord, TrainingCosts

COST_COLUMNS = {
    "inference_seconds": ("inference_seconds", 1),
    "draw_ms": ("draw_ms_per_instance", 1),
    "estimate_ms": ("estimate_ms_per_instance", 1),
    "infer_ms": ("infer_ms_per_instance", 1),
    "inference_threads": ("threads", 1),
}
ESTIMATES = ("min_probability", "estimates_per_instance", "missed_per_instance")


@dataclass(frozen=True, kw_only=True)
class TruncatedEstimates:
    """Hold a minimum probability, the estimates per instance above it, and the true labels per instance below it."""

    min_probability: JsonNumber | None
    estimates_per_instance: JsonNumber | None
    missed_per_instance: JsonNumber | None


@dataclass(frozen=True, kw_only=True)
class SizeWeights:
    """Hold weights learned from the numbers of labels in the validation set, and the learning time."""

    weights: tuple[float, ...]
    learn_seconds: float


@dataclass(frozen=True, kw_only=True)
class InferenceCosts(TrainingCosts):
    """Hold the costs of training, of drawing or estimating, and of inferring. Fields are None if not measured.

    Attributes
    ----------
    draw_ms_per_instance, estimate_ms_per_instance, infer_ms_per_instance : float or None
        Milliseconds per instance.
    inference_seconds : float or None
        Total of these for the whole test set: gfm2011's "inference time".
    threads, infer_peak_bytes : int or None
    """

    draw_ms_per_instance: JsonNumber | None
    estimate_ms_per_instance: JsonNumber | None
    infer_ms_per_instance: JsonNumber | None
    inference_seconds: JsonNumber | None
    threads: int | None
    infer_peak_bytes: JsonNumber | None = None


@dataclass(frozen=True, kw_only=True)
class InferenceRecord(ModelRecord, kind="inference", command="infer"):
    """Represent the record of `xmlc infer`.

    Attributes
    ----------
    method : str
    samples : int or None
        Label vectors drawn per instance. None if the method takes no samples.
    time_limit : float or None
        Seconds after which inference stops.
    estimates : TruncatedEstimates or None
        None if estimates have no minimum probability.
    sizes : SizeWeights or None
        None if the method takes no size weights.
    finished : bool
        Whether inference finished in time. If not, metrics and the fields below have no values.
    metrics : dict of str to float, or None
        Scores by the names of `xmlc.metrics.measures`.
    expected_f : float or None
        Mean of the expected F-measures from the method.
    truncation_loss : float or None
        Bound of the loss of expected F-measure by the minimum probability.
    resampled : dict of str to tuple of float
        See `xmlc.metrics.resampling`. Records of earlier versions lack it.
    """

    costs: InferenceCosts
    method: str
    samples: int | None
    time_limit: JsonNumber | None
    estimates: TruncatedEstimates | None
    sizes: SizeWeights | None = None
    finished: bool
    metrics: dict[str, float] | None
    expected_f: JsonNumber | None
    truncation_loss: JsonNumber | None
    resampled: Resampled = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.metrics is not None:
            check_label_set_scores(".metrics", self.metrics)

    def numbers(self) -> Numbers:
        """Yield measures (missing if time ran out), numbers of estimates above a minimum probability, and costs."""
        yield (
            "",
            self.dataset_sizes
            | measured_columns(self.metrics, (*SET_METRICS, PREDICTED), OF_SETS)
            | {"expected_f": 100 * or_nan(self.expected_f), "truncation_loss": 100 * or_nan(self.truncation_loss)}
            | {name: or_nan(getattr(self.estimates, name, None)) for name in ESTIMATES}
            | costs_in(self.costs, COST_COLUMNS)
            | {"note": None if self.finished else f"stopped after {self.time_limit:g} s"},
        )

    def replicate(self, number: int) -> Self:
        """Return the record with the measures of its label sets on resampled test instances."""
        return replace(self, metrics=self.metrics and replicate(self.metrics, self.resampled, number))
