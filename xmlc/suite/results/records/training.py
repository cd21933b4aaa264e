"""Define the record of `xmlc train`: a model and its training costs.

The record has no kind, because other records contain this record. A search for hyperparameters has a separate record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from xmlc.core.environment import Environment, StepCosts
from xmlc.suite.results.records.base import ExperimentRecord, JsonNumber, Record

# A search has a method, a budget and a seed, and the validation P@1 of its best hyperparameters.
SearchSummary = TypedDict("SearchSummary", {"method": str, "budget": int, "seed": int, "p@1": float}, total=False)


@dataclass(frozen=True, kw_only=True)
class TrainingCosts:
    """Hold the costs of training. Costs are None for a model without training, such as an oracle."""

    train_seconds: JsonNumber | None
    train_cpu_seconds: JsonNumber | None = None  # Records of earlier versions lack this field.
    train_threads: int | None
    train_peak_bytes: JsonNumber | None
    model_bytes: JsonNumber | None


@dataclass(frozen=True, kw_only=True)
class ModelRecord(ExperimentRecord):
    """Represent a record about a trained model. The record also contains the costs of training.

    Attributes
    ----------
    costs : TrainingCosts
    environment : Environment
    tuning : SearchSummary or None
        Method, budget, seed and best P@1 of the search that found the hyperparameters.
    step : StepCosts or None
        Costs of the whole step. Records of earlier versions lack this field.
    """

    costs: TrainingCosts
    environment: Environment
    tuning: SearchSummary | None = None
    step: StepCosts | None = None


@dataclass(frozen=True, kw_only=True)
class TrainingRecord(Record, command="train"):
    """Represent the record of `xmlc train` (see `ModelRecord`)."""

    costs: TrainingCosts
    environment: Environment
    tuning: SearchSummary | None = None
    step: StepCosts
