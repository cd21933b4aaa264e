"""The record of `xmlc train`: a model, and its costs of training. It has no kind, because other records contain it.

Before it there may be a search for hyperparameters, whose result is a file of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self, TypedDict

from msgspec import Meta

from xmlc.core.checksums import check_content
from xmlc.core.errors import XmlcError
from xmlc.core.passport import Passport, StepCosts
from xmlc.kernels.estimator import Hyperparameters
from xmlc.records.base import ExperimentRecord, Fraction, Number, Record, RecordedDataset, RecordFile

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
class KnownTrainingCosts(TrainingCosts):
    """The same in records whose tables do not show them, which may lack them."""

    train_seconds: Number | None = None
    train_threads: int | None = None
    train_peak_bytes: Number | None = None
    model_bytes: Number | None = None


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


# Precisions are shares of the validation parts. The errors are standard errors of what the mean of the three differs by
# from each earlier trial's, on the same instances.
Trial = TypedDict(
    "Trial",
    {"hyperparameters": Hyperparameters, "p@1": Fraction, "p@3": Fraction, "p@5": Fraction, "train_seconds": float,
     "paired_errors": list[Number]},
)  # fmt: skip


def mean_precision(trial: Trial) -> float:
    """Return the mean of P@1, P@3 and P@5."""
    return math.fsum((trial["p@1"], trial["p@3"], trial["p@5"])) / 3


@dataclass(frozen=True, kw_only=True)
class SearchRecord(RecordFile, command="tune"):
    """Trials of a search, in their order, and the best one, as read from the file of `xmlc tune`."""

    dataset: RecordedDataset
    estimator: str
    method: str
    budget: int  # trials that were allowed
    seed: int
    best: Trial
    trials: Annotated[tuple[Trial, ...], Meta(min_length=1)]
    instances: Annotated[int, Meta(ge=1)]  # of the validation parts, each counted once

    @property
    def dataset_name(self) -> str:
        """Name of the dataset."""
        return self.dataset.name

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read and check one file."""
        return cls.of(path, parsed_search(path))


def parsed_search(path: Path) -> object:
    """Return the content of a YAML file that `xmlc tune` wrote, its checksum proven and left out.

    Raises
    ------
    XmlcError
        It is not readable, or was edited.
    """
    from xmlc.core.schemas import read_yaml  # only who reads searches loads a reader of YAML

    try:
        content = read_yaml(path)
    except XmlcError as error:
        raise XmlcError(f"{path}: not a readable result of `xmlc tune` ({error}); make it again") from error
    return check_content(path, content) if isinstance(content, dict) else content
