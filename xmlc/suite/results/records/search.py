"""The record of `xmlc tune`: the trials of a search for hyperparameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self, TypedDict

from msgspec import Meta

from xmlc.core.checksums import check_content
from xmlc.core.errors import XmlcError
from xmlc.core.passport import Passport
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.results.records.base import SCHEMA, Fraction, Number, RecordedDataset, RecordFile

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
class SearchRecord(RecordFile, kind="search", command="tune"):
    """Trials of a search, in their order, and the best one."""

    dataset: RecordedDataset
    estimator: str
    method: str
    #: Trials that were allowed.
    budget: int
    #: What is maximised.
    chosen_by: str
    #: Ranges or stages.
    space: object
    #: Hyperparameters of all trials.
    fixed: Hyperparameters
    #: Instances that trials were trained (``fitted``) and scored on (``validated``) at most; None for all.
    at_most: dict[str, int | None]
    seed: int
    #: Another search, whose best values are the first trial, if there was one.
    after: object = None
    best: Trial
    trials: Annotated[tuple[Trial, ...], Meta(min_length=1)]
    #: Of the validation parts, each counted once.
    instances: Annotated[int, Meta(ge=1)]
    passport: Passport

    @classmethod
    def read_earlier(cls, path: Path) -> Self:
        """Read and check a file of an earlier version, which is YAML and does not say its kind."""
        from xmlc.suite.schemas import read_yaml  # only who reads such files loads a reader of YAML

        content = read_yaml(path)
        plain = check_content(path, content) if isinstance(content, dict) else {}
        return cls.of(path, {"kind": cls.KIND, "schema": SCHEMA, **plain})

    @classmethod
    def read_for(cls, path: Path, estimator: str, dataset_digest: str) -> Self:
        """Read one file, for training an estimator on prepared data.

        Raises
        ------
        XmlcError
            The file is no record of a search, was edited, or is one of another estimator or of other data.
        """
        found = cls.read(path)
        if (found.estimator, found.dataset.digest) != (estimator, dataset_digest):
            raise XmlcError(
                f"{path}: tuned for estimator {found.estimator} on data with digest {found.dataset.digest[:12]}; "
                f"expected {estimator} on {dataset_digest[:12]}: tune again"
            )
        return found
