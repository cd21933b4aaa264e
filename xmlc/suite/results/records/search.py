"""The record of `xmlc tune`: the trials of a search for hyperparameters."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Self, TypedDict

from msgspec import Meta

from xmlc.core.checksums import check_content
from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.provenance.environment import Environment
from xmlc.suite.results.records.base import (
    SCHEMA,
    Fraction,
    JsonNumber,
    Numbers,
    Quantities,
    RecordedDataset,
    RecordFile,
    json_keys,
)

# Precisions are fractions on the validation sets. A paired error is the standard error of the
# difference to an earlier trial in the mean of P@1, P@3 and P@5, on the same instances.
Trial = TypedDict(
    "Trial",
    {"hyperparameters": Hyperparameters, "p@1": Fraction, "p@3": Fraction, "p@5": Fraction,
        "train_seconds": float,
     "paired_errors": list[JsonNumber]},
)  # fmt: skip


def mean_precision(trial: Trial) -> float:
    """Return the mean of P@1, P@3 and P@5, as a fraction."""
    return math.fsum((trial["p@1"], trial["p@3"], trial["p@5"])) / 3


@json_keys
class SearchRecord(RecordFile, kind="search", command="tune"):
    """The trials of a search in the order of execution, and the best of them."""

    dataset: RecordedDataset
    estimator: str
    method: str
    budget: int
    #: Describes the maximised score.
    chosen_by: str
    #: Ranges of the hyperparameters, or stages of the search.
    space: object
    #: Not searched, with one value in all trials.
    fixed: Hyperparameters
    #: Most instances for training (``fitted``) and validation (``validated``), or None.
    at_most: dict[str, int | None]
    seed: int
    #: Path of an earlier result, whose best values the first trial has.
    after: object = None
    best: Trial
    trials: Annotated[tuple[Trial, ...], Meta(min_length=1)]
    #: Number of distinct validation instances.
    instances: Annotated[int, Meta(ge=1)]
    environment: Environment

    def numbers(self) -> Numbers:
        """Yield the best trial, and then every trial with its errors, named such as ``trial 0``.

        ``error_k`` is the standard error of the difference from trial k, in percentage points of
        the mean precision.
        """
        yield "", _scores(self.best) | {"instances": self.instances}
        for place, trial in enumerate(self.trials):
            errors = {f"error_{k}": 100 * error for k, error in enumerate(trial["paired_errors"])}
            yield f"trial {place}", _scores(trial) | {"trial": place} | errors

    @classmethod
    def read_earlier(cls, path: Path) -> Self:
        """Read an earlier version's record, a YAML file without a kind."""
        # Only files of earlier versions need the YAML reader
        from xmlc.suite.schemas import read_yaml

        content = read_yaml(path)
        plain = {}
        if isinstance(content, dict):
            plain = check_content(path, content)
        return cls.of(path, {"kind": cls.KIND, "schema": SCHEMA, **plain})

    @classmethod
    def read_for(cls, path: Path, estimator: str, dataset_digest: str) -> Self:
        """Read a search record, which must belong to this estimator and dataset."""
        found = cls.read(path)
        if (found.estimator, found.dataset.digest) != (estimator, dataset_digest):
            raise XmlcError(
                f"{path}: found estimator {found.estimator} on data {found.dataset.digest[:12]}, "
                f"expected {estimator} on {dataset_digest[:12]}. Tune again"
            )
        return found


def _scores(trial: Trial) -> Quantities:
    scores = {"p@1": 100 * trial["p@1"], "p@3": 100 * trial["p@3"], "p@5": 100 * trial["p@5"]}
    return trial["hyperparameters"] | scores | {"mean_precision": 100 * mean_precision(trial)}
