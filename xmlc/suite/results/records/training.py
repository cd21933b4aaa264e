"""Define the record of `xmlc train`, which contains a description of a model and the costs of training.

This record has no kind, because records of other kinds contain its fields. The trials of a search for hyperparameters
are in a separate record.
"""

from __future__ import annotations

from typing import TypedDict

from xmlc.suite.provenance.environment import Environment, StepCosts
from xmlc.suite.results.records.base import JsonNumber, Record, json_keys

# The method, the budget and the seed of a search, and the validation P@1 of its best trial.
SearchSummary = TypedDict("SearchSummary", {"method": str, "budget": int, "seed": int, "p@1": float}, total=False)


@json_keys
class TrainingCosts:
    """Hold the costs of training a model. If the model is not trained, such as an oracle, the costs are None."""

    train_seconds: JsonNumber | None
    train_cpu_seconds: JsonNumber | None = None  # Records of earlier versions lack the CPU seconds.
    train_threads: int | None
    train_peak_bytes: JsonNumber | None
    model_bytes: JsonNumber | None


@json_keys
class ModelRecord(Record):
    """Represent a record about a trained model, which also contains the costs of training.

    Attributes
    ----------
    costs : TrainingCosts
    environment : Environment
    tuning : SearchSummary or None
        Method, budget, seed and best P@1 of the search that found the hyperparameters, or None without a search.
    step : StepCosts or None
        Costs of the step that wrote the record. Records of earlier versions lack these costs.
    """

    costs: TrainingCosts
    environment: Environment
    tuning: SearchSummary | None = None
    step: StepCosts | None = None


@json_keys
class TrainingRecord(ModelRecord, command="train"):
    """The record of `xmlc train`."""

    def __post_init__(self) -> None:
        if not self.estimator:  # Other records may lack it.
            raise ValueError("found no key `estimator`")
