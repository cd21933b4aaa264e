"""The records of `xmlc estimate` and of `xmlc thresholds`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from xmlc.metrics.measures import OF_SETS, SET_METRICS, TUNABLE_MEASURES
from xmlc.metrics.resampling import Resampled
from xmlc.suite.provenance.environment import Environment, StepCosts
from xmlc.suite.results.records.base import (
    Fractions,
    JsonNumber,
    ModelRecord,
    Numbers,
    Quantities,
    RecordFile,
    TrainingCosts,
    check_scores,
    costs_in,
    json_keys,
    or_nan,
)
from xmlc.suite.results.records.ranking import measured_columns, resampled_columns, shares_of

PREDICTED = "predicted_per_instance"
# Claims use their validation scores.
MACRO_F = ("macro_f", "macro_f_zero", "macro_f_present")
COST_COLUMNS = {
    "test_ms": ("test_ms_per_instance", 1),
    "inner_products": ("test_inner_products_per_instance", 1),
    "tune_seconds": ("tune_seconds", 1),
    "test_threads": ("threads", 1),
}


@json_keys
class GridScores:
    """A grid point of a threshold method, and its scores against 1/c in Figure 1 of plt2016."""

    c: JsonNumber | None
    a: JsonNumber | None
    b: JsonNumber | None
    validation: Fractions
    test: Fractions

    def __post_init__(self) -> None:
        check_scores("validation", self.validation, ["macro_f"])
        check_scores("test", self.test, ["macro_f"])


@json_keys
class Chosen(GridScores):
    """The grid point with the best validation score, and all metrics of its thresholds.

    Validation scores include macro-F, but are empty if the model was trained on that set.
    """

    validation: dict[str, float]
    test: dict[str, float]

    def __post_init__(self) -> None:
        if self.validation:
            check_scores("validation", self.validation, ["macro_f"], shares_of(self.validation))
        check_label_set_scores("test", self.test)


@json_keys
class ThresholdCosts(TrainingCosts):
    """The costs of training, tuning thresholds, and predicting label sets by thresholds."""

    tune_seconds: JsonNumber | None
    test_ms_per_instance: JsonNumber | None
    test_inner_products_per_instance: JsonNumber | None
    threads: int | None


@json_keys
class ThresholdRecord(ModelRecord, kind="thresholds", command="thresholds"):
    """The record of `xmlc thresholds`.

    ``grid`` has the order in which its points were tried, and ``resampled`` the best point's
    measures on resampled test sets (`xmlc.metrics.resampling`). Records of earlier versions lack
    it.
    """

    costs: ThresholdCosts
    method: str
    grid: tuple[GridScores, ...]
    best: Chosen
    resampled: Resampled = field(default_factory=dict)

    @property
    def method_name(self) -> str:
        """Name of the method, ending in ``-full`` for a model of all training data, because tables
        show such models in separate rows.
        """
        if self.split == "full":
            return f"{self.method}-full"
        return self.method

    def numbers(self) -> Numbers:
        """Yield the test measures and parameters of the best grid point, and the costs.

        ``largest_c_validation_macro_f`` is validation macro-F at the largest c of the grid.
        """
        best = self.best
        required = (*dict.fromkeys(SET_METRICS + TUNABLE_MEASURES), PREDICTED)
        found = self.dataset_sizes | measured_columns(best.test, required, OF_SETS)
        found |= {"c": or_nan(best.c), "a": or_nan(best.a), "b": or_nan(best.b)}
        found |= {f"validation_{name}": 100 * or_nan(best.validation.get(name)) for name in MACRO_F}
        by_c = {point.c: point for point in self.grid if point.c is not None}
        if by_c:
            found["largest_c_validation_macro_f"] = 100 * by_c[max(by_c)].validation["macro_f"]
        yield "", found | costs_in(self.costs, COST_COLUMNS)

    def details(self) -> Numbers:
        """Yield parameters and macro-F of all grid points, named such as ``grid 0``."""
        for place, point in enumerate(self.grid):
            parameters: Quantities = {"c": point.c, "a": point.a, "b": point.b}
            test = 100 * point.test["macro_f"]
            validation = 100 * point.validation["macro_f"]
            yield f"grid {place}", parameters | {"macro_f": test, "validation_macro_f": validation}

    def resampled_numbers(self) -> dict[str, dict[str, Any]]:
        """Return the measures of the best grid point on resampled test sets."""
        return {"": resampled_columns(self.best.test, self.resampled, SET_METRICS)}


def check_label_set_scores(place: str, scores: Mapping[str, float]) -> None:
    """Check that all metrics of label sets exist, and that shares are between 0 and 1."""
    check_scores(place, scores, (*SET_METRICS, PREDICTED), shares_of(scores))


@json_keys
class PartEstimates:
    """The costs of estimates for a part of the dataset, or None if they were looked up."""

    ms_per_instance: JsonNumber | None


@json_keys
class EstimatesRecord(RecordFile, command="estimate"):
    """The record of `xmlc estimate` about estimates above ``min_probability`` for the parts ``val``
    and ``test``.
    """

    FILE: ClassVar[str] = "estimate.json"

    min_probability: float
    parts: dict[str, PartEstimates]
    environment: Environment
    step: StepCosts
