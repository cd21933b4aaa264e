"""Define the records of `xmlc thresholds` and `xmlc estimate`.

The command `xmlc thresholds` tunes thresholds, and predicts label sets for the test set.
"""

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
# Variants of macro-F, whose validation scores claims use.
MACRO_F = ("macro_f", "macro_f_zero", "macro_f_present")
COST_COLUMNS = {
    "test_ms": ("test_ms_per_instance", 1),
    "inner_products": ("test_inner_products_per_instance", 1),
    "tune_seconds": ("tune_seconds", 1),
    "test_threads": ("threads", 1),
}


@json_keys
class GridScores:
    """Hold a grid point of a threshold method, and the scores of its thresholds on the validation
    set and the test set.

    Attributes
    ----------
    c, a, b : float or None
        Parameters of the threshold method at this grid point. In Figure 1 of plt2016, 1/c is on the
        horizontal axis.
    validation, test : dict of str to float
        Maps measures, including macro-F, to their values.
    """

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
    """Hold the grid point with the best validation score, and all metrics of its thresholds.

    Attributes
    ----------
    validation, test : dict of str to float
        Maps measures in `xmlc.metrics.measures` to their values. The validation scores include
        macro-F. The validation scores are empty if the model was trained on the validation set.
    """

    validation: dict[str, float]
    test: dict[str, float]

    def __post_init__(self) -> None:
        if self.validation:
            check_scores("validation", self.validation, ["macro_f"], shares_of(self.validation))
        check_label_set_scores("test", self.test)


@json_keys
class ThresholdCosts(TrainingCosts):
    """Hold the costs of training, of tuning thresholds, and of predicting label sets by
    thresholds.
    """

    tune_seconds: JsonNumber | None
    test_ms_per_instance: JsonNumber | None
    test_inner_products_per_instance: JsonNumber | None
    threads: int | None


@json_keys
class ThresholdRecord(ModelRecord, kind="thresholds", command="thresholds"):
    """Represent the record of `xmlc thresholds`.

    The grid points in ``grid`` have the order in which they were tried.

    ``resampled`` contains measures of the best grid point on resampled test sets (see
    `xmlc.metrics.resampling`). In records of earlier versions, ``resampled`` is empty.
    """

    costs: ThresholdCosts
    method: str
    grid: tuple[GridScores, ...]
    best: Chosen
    resampled: Resampled = field(default_factory=dict)

    @property
    def method_name(self) -> str:
        """Return the name of the threshold method.

        If the training split is ``full``, ``-full`` is appended.

        Tables show models with the suffix ``-full`` in separate rows.
        """
        if self.split == "full":
            return f"{self.method}-full"
        return self.method

    def numbers(self) -> Numbers:
        """Yield the test measures and the parameters of the best grid point, and the costs.

        ``largest_c_validation_macro_f`` is macro-F of the grid point with the largest c, on the
        validation set.
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
        """Yield the parameters and macro-F of all grid points, under names such as ``grid 0``."""
        for place, point in enumerate(self.grid):
            parameters: Quantities = {"c": point.c, "a": point.a, "b": point.b}
            test = 100 * point.test["macro_f"]
            validation = 100 * point.validation["macro_f"]
            yield f"grid {place}", parameters | {"macro_f": test, "validation_macro_f": validation}

    def resampled_numbers(self) -> dict[str, dict[str, Any]]:
        """Return the measures of the best grid point on resampled test sets."""
        return {"": resampled_columns(self.best.test, self.resampled, SET_METRICS)}


def check_label_set_scores(place: str, scores: Mapping[str, float]) -> None:
    """Raise an error if a metric of label sets is missing, or if a share is not between 0 and 1."""
    check_scores(place, scores, (*SET_METRICS, PREDICTED), shares_of(scores))


@json_keys
class PartEstimates:
    """Hold the costs of computing estimates for a part of the dataset.

    A cost is None if stored estimates were looked up instead of computed.
    """

    ms_per_instance: JsonNumber | None


@json_keys
class EstimatesRecord(RecordFile, command="estimate"):
    """Represent the record of `xmlc estimate`.

    The command `xmlc estimate` stores estimates for the parts ``val`` and ``test``. Only estimates
    above the minimum probability ``min_probability`` are stored.
    """

    FILE: ClassVar[str] = "estimate.json"

    min_probability: float
    parts: dict[str, PartEstimates]
    environment: Environment
    step: StepCosts
