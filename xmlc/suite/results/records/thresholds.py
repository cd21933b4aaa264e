"""The records of `xmlc thresholds` (tuned thresholds, the test set predicted with them) and of `xmlc estimate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from xmlc.core.passport import Passport, StepCosts
from xmlc.metrics.measures import OF_SETS, SET_METRICS, TUNABLE_MEASURES
from xmlc.metrics.resampling import Resampled, replicate
from xmlc.suite.results.records.base import Fractions, Number, Numbers, RecordFile, check_scores, costs_in, or_nan
from xmlc.suite.results.records.ranking import measured, shares_of
from xmlc.suite.results.records.training import ModelRecord, TrainingCosts

PREDICTED = "predicted_per_instance"
COST_COLUMNS = {
    "test_ms": ("test_ms_per_instance", 1),
    "inner_products": ("test_inner_products_per_instance", 1),
    "tune_seconds": ("tune_seconds", 1),
    "test_threads": ("threads", 1),
}


@dataclass(frozen=True, kw_only=True)
class GridScores:
    """One value of a method's grid, and the scores of its thresholds on both parts, macro-F always among them.

    Attributes
    ----------
    c, a, b : float or None
        What the method was given; 1/c is the abscissa of Figure 1 of plt2016.
    validation, test : dict of str to float
    """

    c: Number | None
    a: Number | None
    b: Number | None
    validation: Fractions
    test: Fractions

    def __post_init__(self) -> None:
        check_scores("validation", self.validation, ["macro_f"])
        check_scores("test", self.test, ["macro_f"])


@dataclass(frozen=True, kw_only=True)
class Chosen(GridScores):
    """The grid point that is best on the validation set, with every metric of its thresholds.

    Attributes
    ----------
    validation, test : dict of str to float
        By the names of `xmlc.metrics.measures`; of the validation set macro-F at least, or nothing where the model has
        learned it.
    """

    validation: dict[str, float]
    test: dict[str, float]

    def __post_init__(self) -> None:
        check_scores("validation", self.validation, ["macro_f"] * bool(self.validation), shares_of(self.validation))
        check_label_set_scores("test", self.test)


@dataclass(frozen=True, kw_only=True)
class ThresholdCosts(TrainingCosts):
    """Costs of training and tuning, and of predicting the labels above their thresholds."""

    tune_seconds: Number | None
    test_ms_per_instance: Number | None
    test_inner_products_per_instance: Number | None
    threads: int | None


@dataclass(frozen=True, kw_only=True)
class ThresholdRecord(ModelRecord, kind="thresholds", command="thresholds"):
    """Record of `xmlc thresholds`; grid points are in the order in which they were tried.

    ``resampled`` is that of `xmlc.metrics.resampling`, of the best point; records of earlier versions lack it.
    """

    costs: ThresholdCosts
    method: str
    grid: tuple[GridScores, ...]
    best: Chosen
    resampled: Resampled = field(default_factory=dict)

    @property
    def method_name(self) -> str:
        """The method; behind it ``-full`` with a model of the whole training set, which has rows of its own."""
        return self.method + "-full" * (self.portion == "full")

    def numbers(self) -> Numbers:
        """Yield the test measures of the best grid point, its parameters and what tuning it cost."""
        best = self.best
        required = (*dict.fromkeys(SET_METRICS + TUNABLE_MEASURES), PREDICTED)
        yield (
            "",
            self.dataset_sizes
            | measured(best.test, required, OF_SETS)
            | {"validation_macro_f": 100 * or_nan(best.validation.get("macro_f"))}
            | {"c": or_nan(best.c), "a": or_nan(best.a), "b": or_nan(best.b)}
            | costs_in(self.costs, COST_COLUMNS),
        )

    def replicate(self, number: int) -> Self:
        """Return the record with the measures that its label sets have where the test instances are drawn anew."""
        return replace(self, best=replace(self.best, test=replicate(self.best.test, self.resampled, number)))


def check_label_set_scores(place: str, scores: Mapping[str, float]) -> None:
    """Refuse metrics of label sets that lack one, or that are no shares; see `check_scores`."""
    check_scores(place, scores, (*SET_METRICS, PREDICTED), shares_of(scores))


@dataclass(frozen=True, kw_only=True)
class PartEstimates:
    """Cost of the estimates of one part; None where nothing was computed."""

    ms_per_instance: Number | None


@dataclass(frozen=True, kw_only=True)
class Estimates(RecordFile, command="estimate"):
    """Record of `xmlc estimate`, in its folder, on ``val`` and ``test``; estimates up to the floor are left out."""

    FILE: ClassVar[str] = "estimate.json"

    floor: float
    parts: dict[str, PartEstimates]
    passport: Passport
    step: StepCosts
