"""The record of `xmlc train`: a model, and what its training cost. It says no kind, for every other one contains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xmlc.passport import Passport, StepCosts
from xmlc.records.base import Record, Search, TrainingCosts


@dataclass(frozen=True, kw_only=True)
class TrainingRecord(Record):
    """What `xmlc train` and `xmlc join` write; see `xmlc.records.base.ModelRecord`."""

    COMMAND: ClassVar[str] = "train"

    costs: TrainingCosts
    passport: Passport
    tuning: Search | None = None
    step: StepCosts
