"""The result of a search as a YAML file: the best values, every trial, and how they were found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict, cast

import yaml

from xmlc.checksums import stamped
from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.files import atomic_file
from xmlc.passport import Passport
from xmlc.records.training import Trial, parsed_search

NEEDED = ("dataset", "estimator", "method", "budget", "seed", "best")


class Searched(TypedDict):
    """What was searched, in the order of the file's keys.

    Attributes
    ----------
    dataset : mapping
        Which data, ``digest`` among them.
    estimator, method : str
    budget : int
        Trials that were allowed.
    chosen_by : str
        What was maximised.
    space : object
        Ranges or stages as configured.
    fixed : dict
        Hyperparameters of all trials.
    at_most : mapping
        Instances that trials were trained on (``fitted``) and scored on (``validated``) at most; None for all.
    seed : int
    """

    dataset: Mapping[str, object]
    estimator: str
    method: str
    budget: int
    chosen_by: str
    space: object
    fixed: Hyperparameters
    at_most: Mapping[str, int | None]
    seed: int


class TuningResult(Searched):
    """What a search found.

    Attributes
    ----------
    best : Trial
    trials : list of Trial
        In order: hyperparameters, precisions as shares, seconds of training.
    passport : Passport
    """

    best: Trial
    trials: list[Trial]
    passport: Passport


def write_result(path: Path, content: TuningResult) -> None:
    """Write a search's result with the checksum of its content, whole or not at all."""
    plain = yaml.safe_load(yaml.safe_dump(content, sort_keys=False))
    with atomic_file(path) as temporary:
        temporary.write_text(yaml.safe_dump(stamped(plain), sort_keys=False), encoding="utf-8")


def read_result(path: Path, estimator: str, dataset_digest: str) -> TuningResult:
    """Read what `write_result` wrote, for training on the data that it was found on.

    Parameters
    ----------
    path : Path
    estimator : str
        What is to be trained.
    dataset_digest : str
        Of the prepared data that it is to be trained on.

    Raises
    ------
    XmlcError
        The file is no result of a search, was edited, or is one of another estimator or of other data.
    """
    content = parsed_search(path)
    if not isinstance(content, dict) or not set(NEEDED) <= set(content):
        raise XmlcError(f"{path}: expected a result of `xmlc tune` with {', '.join(NEEDED)}; make it again")
    found = content["estimator"], content["dataset"]["digest"]
    if found != (estimator, dataset_digest):
        raise XmlcError(
            f"{path}: tuned for estimator {found[0]} on data with digest {found[1][:12]}; expected {estimator} on "
            f"{dataset_digest[:12]}: tune again"
        )
    return cast(TuningResult, content)
