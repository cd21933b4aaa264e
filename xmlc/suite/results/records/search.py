"""Define the record of `xmlc tune`, which contains the trials of a search for hyperparameters."""

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

# The precisions of a trial are fractions (not percentages) on the validation sets. A paired error
# compares a trial with an earlier trial by the mean of P@1, P@3 and P@5. The paired error is the
# standard error of the difference between the two means on the same instances.
Trial = TypedDict(
    "Trial",
    {"hyperparameters": Hyperparameters, "p@1": Fraction, "p@3": Fraction, "p@5": Fraction,
        "train_seconds": float,
     "paired_errors": list[JsonNumber]},
)  # fmt: skip


def mean_precision(trial: Trial) -> float:
    """Return the mean of P@1, P@3 and P@5 of a trial, as a fraction (not a percentage)."""
    return math.fsum((trial["p@1"], trial["p@3"], trial["p@5"])) / 3


@json_keys
class SearchRecord(RecordFile, kind="search", command="tune"):
    """Hold the trials of a search in the order of execution, and the best trial."""

    dataset: RecordedDataset
    estimator: str
    method: str
    #: The maximum number of trials.
    budget: int
    #: A text that describes the score that the search maximises.
    chosen_by: str
    #: The ranges of the hyperparameters, or the stages of the search.
    space: object
    #: Hyperparameters that have the same value in all trials.
    fixed: Hyperparameters
    #: The maximum number of instances for training (``fitted``), and for validation
    #: (``validated``). The value None means no limit.
    at_most: dict[str, int | None]
    seed: int
    #: The path of an earlier search result, or None. The first trial of this search has the best
    #: values of the earlier search.
    after: object = None
    best: Trial
    trials: Annotated[tuple[Trial, ...], Meta(min_length=1)]
    #: Number of distinct validation instances.
    instances: Annotated[int, Meta(ge=1)]
    environment: Environment

    def numbers(self) -> Numbers:
        """Yield the best trial, and then every trial with its errors, under names such as ``trial
        0``.

        The quantity ``error_k`` is the standard error of the difference from trial k, in percentage
        points of the mean precision.
        """
        yield "", _scores(self.best) | {"instances": self.instances}
        for place, trial in enumerate(self.trials):
            errors = {f"error_{k}": 100 * error for k, error in enumerate(trial["paired_errors"])}
            yield f"trial {place}", _scores(trial) | {"trial": place} | errors

    @classmethod
    def read_earlier(cls, path: Path) -> Self:
        """Read a search record of an earlier version, which is a YAML file without a kind."""
        # The YAML reader is imported here, because only files of earlier versions need it.
        from xmlc.suite.schemas import read_yaml

        content = read_yaml(path)
        plain = {}
        if isinstance(content, dict):
            plain = check_content(path, content)
        return cls.of(path, {"kind": cls.KIND, "schema": SCHEMA, **plain})

    @classmethod
    def read_for(cls, path: Path, estimator: str, dataset_digest: str) -> Self:
        """Read a search record, and check that it belongs to the given estimator and dataset.

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


def _scores(trial: Trial) -> Quantities:
    """Return the hyperparameters of a trial, and its precisions on the validation sets, in
    percent.
    """
    scores = {"p@1": 100 * trial["p@1"], "p@3": 100 * trial["p@3"], "p@5": 100 * trial["p@5"]}
    return trial["hyperparameters"] | scores | {"mean_precision": 100 * mean_precision(trial)}
