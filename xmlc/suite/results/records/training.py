"""The record of `xmlc train`: a model, and its costs of training. It has no kind, because other records contain it.

Before it there may be a search for hyperparameters, which has a record of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from xmlc.core.passport import Passport, StepCosts
from xmlc.suite.results.records.base import ExperimentRecord, Number, Record

# How hyperparameters were searched, and with what validation P@1 the best were found.
Search = TypedDict("Search", {"method": str, "budget": int, "seed": int, "p@1": float}, total=False)


@dataclass(frozen=True, kw_only=True)
class TrainingCosts:
    """Costs of training; None where there was nothing to measure, as of an oracle."""

    train_seconds: Number | None
    train_cpu_seconds: Number | None = None  # records of earlier versions lack it
    train_threads: int | None
    train_peak_bytes: Number | None
    model_bytes: Number | None


@dataclass(frozen=True, kw_only=True)
class ModelRecord(ExperimentRecord):
    """A record of a trained model, with the record of its training.

    Attributes
    ----------
    costs : TrainingCosts
    passport : Passport
    tuning : Search or None
        Method, budget, seed and best P@1 of the search that found the hyperparameters.
    step : StepCosts or None
        What the whole step cost; records of earlier versions lack it.
    """

    costs: TrainingCosts
    passport: Passport
    tuning: Search | None = None
    step: StepCosts | None = None


@dataclass(frozen=True, kw_only=True)
class TrainingRecord(Record, command="train"):
    """Record of `xmlc train`; see `ModelRecord`."""

    costs: TrainingCosts
    passport: Passport
    tuning: Search | None = None
    step: StepCosts
