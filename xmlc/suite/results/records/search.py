"""Define the record of `xmlc tune`: the trials of a search for hyperparameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self, TypedDict

from msgspec import Meta

from xmlc.core.checksums import check_content
from xmlc.core.environment import Environment
from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.results.records.base import SCHEMA, Fraction, JsonNumber, RecordedDataset, RecordFile

# Precisions are fractions (not percentages) on the validation parts. A paired error compares a trial with an earlier
# trial by the mean of the three precisions. The paired error is the standard error of the difference of the two means
# on the same instances.
Trial = TypedDict(
    "Trial",
    {"hyperparameters": Hyperparameters, "p@1": Fraction, "p@3": Fraction, "p@5": Fraction, "train_seconds": float,
     "paired_errors": list[JsonNumber]},
)  # fmt: skip


def mean_precision(trial: Trial) -> float:
    """Return the mean of P@1, P@3 and P@5 of a trial, as a fraction (not a percentage)."""
    return math.fsum((trial["p@1"], trial["p@3"], trial["p@5"])) / 3


@dataclass(frozen=True, kw_only=True)
class SearchRecord(RecordFile, kind="search", command="tune"):
    """Hold the trials of a search, in the order in which they were run, and the best trial."""

    dataset: RecordedDataset
    estimator: str
    method: str
    #: The largest allowed number of trials.
    budget: int
    #: The score that is maximised.
    chosen_by: str
    #: The ranges of the hyperparameters, or the stages of the search.
    space: object
    #: Hyperparameters that all trials share.
    fixed: Hyperparameters
    #: The largest numbers of instances for training (``fitted``) and validation (``validated``). None means no limit.
    at_most: dict[str, int | None]
    seed: int
    #: An earlier search. The first trial of this search uses the best values of the earlier search. None if no earlier
    #: search was used.
    after: object = None
    best: Trial
    trials: Annotated[tuple[Trial, ...], Meta(min_length=1)]
    #: Number of validation instances, each counted once.
    instances: Annotated[int, Meta(ge=1)]
    environment: Environment

    @classmethod
    def read_earlier(cls, path: Path) -> Self:
        """Read and check a search record of an earlier version, which is a YAML file without a kind."""
        from xmlc.suite.schemas import read_yaml  # The YAML reader is loaded only for files of earlier versions.

        content = read_yaml(path)
        plain = check_content(path, content) if isinstance(content, dict) else {}
        return cls.of(path, {"kind": cls.KIND, "schema": SCHEMA, **plain})

    @classmethod
    def read_for(cls, path: Path, estimator: str, dataset_digest: str) -> Self:
        """Read the search record for training an estimator on a prepared dataset.

        Raises
        ------
        XmlcError
            The file is not a search record, was edited, or belongs to another estimator or dataset.
        """
        found = cls.read(path)
        if (found.estimator, found.dataset.digest) != (estimator, dataset_digest):
            raise XmlcError(
                f"{path}: found estimator {found.estimator} on data {found.dataset.digest[:12]}, "
                f"expected {estimator} on {dataset_digest[:12]}. Tune again"
            )
        return found
