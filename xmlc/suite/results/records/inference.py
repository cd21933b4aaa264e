"""The record of `xmlc infer`: label sets inferred for each instance of the test set by one method."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

from xmlc.metrics.measures import OF_SETS, SET_METRICS
from xmlc.metrics.resampling import Resampled, replicate
from xmlc.suite.results.records.base import Number, Numbers, costs_in, or_nan
from xmlc.suite.results.records.ranking import measured
from xmlc.suite.results.records.thresholds import PREDICTED, check_label_set_scores
from xmlc.suite.results.records.training import ModelRecord, TrainingCosts

COST_COLUMNS = {
    "inference_seconds": ("inference_seconds", 1),
    "draw_ms": ("draw_ms_per_instance", 1),
    "estimate_ms": ("estimate_ms_per_instance", 1),
    "infer_ms": ("infer_ms_per_instance", 1),
    "inference_threads": ("threads", 1),
}
ESTIMATES = ("floor", "estimates_per_instance", "missed_per_instance")


@dataclass(frozen=True, kw_only=True)
class FlooredEstimates:
    """Numbers of estimates above a floor, and of true labels of an instance below it."""

    floor: Number | None
    estimates_per_instance: Number | None
    missed_per_instance: Number | None


@dataclass(frozen=True, kw_only=True)
class SizeWeights:
    """Weights learned from the validation set's numbers of labels, and the time of learning."""

    weights: tuple[float, ...]
    learn_seconds: float


@dataclass(frozen=True, kw_only=True)
class InferenceCosts(TrainingCosts):
    """Costs of training, of drawing or estimating, and of inferring; None where nothing was measured.

    Attributes
    ----------
    draw_ms_per_instance, estimate_ms_per_instance, infer_ms_per_instance : float or None
        Milliseconds for each instance.
    inference_seconds : float or None
        All that an instance takes, for the whole test set: gfm2011's "inference time".
    threads, infer_peak_bytes : int or None
    """

    draw_ms_per_instance: Number | None
    estimate_ms_per_instance: Number | None
    infer_ms_per_instance: Number | None
    inference_seconds: Number | None
    threads: int | None
    infer_peak_bytes: Number | None = None


@dataclass(frozen=True, kw_only=True)
class InferenceRecord(ModelRecord, kind="inference", command="infer"):
    """Record of `xmlc infer`.

    Attributes
    ----------
    method : str
    samples : int or None
        Label vectors drawn for each instance, where the method takes some.
    time_limit : float or None
        Seconds after which inferring is stopped.
    estimates : FlooredEstimates or None
        Where estimates have a floor.
    sizes : SizeWeights or None
        Where the method takes them.
    finished : bool
        Whether there was time enough; if not, metrics and what follows is None.
    metrics : dict of str to float, or None
        By the names of `xmlc.metrics.measures`.
    expected_f : float or None
        Mean of what the method expects.
    floor_loss : float or None
        Bound of what the floor costs of it.
    resampled : dict of str to tuple of float
        As of `xmlc.metrics.resampling`; records of earlier versions lack it.
    """

    costs: InferenceCosts
    method: str
    samples: int | None
    time_limit: Number | None
    estimates: FlooredEstimates | None
    sizes: SizeWeights | None = None
    finished: bool
    metrics: dict[str, float] | None
    expected_f: Number | None
    floor_loss: Number | None
    resampled: Resampled = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.metrics is not None:
            check_label_set_scores(".metrics", self.metrics)

    def numbers(self) -> Numbers:
        """Yield measures, missing where the clock ran out, what only estimates with a floor have, and costs."""
        yield (
            "",
            self.dataset_sizes
            | measured(self.metrics, (*SET_METRICS, PREDICTED), OF_SETS)
            | {"expected_f": 100 * or_nan(self.expected_f), "floor_loss": 100 * or_nan(self.floor_loss)}
            | {name: or_nan(getattr(self.estimates, name, None)) for name in ESTIMATES}
            | costs_in(self.costs, COST_COLUMNS)
            | {"note": None if self.finished else f"stopped after {self.time_limit:g} s"},
        )

    def replicate(self, number: int) -> Self:
        """Return the record with the measures that its label sets have where the test instances are drawn anew."""
        return replace(self, metrics=self.metrics and replicate(self.metrics, self.resampled, number))
