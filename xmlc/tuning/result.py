"""The result of a search as a YAML file: the best values, every trial, and how they were found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from xmlc.errors import XmlcError
from xmlc.files import atomic_file

NEEDED = ("dataset", "estimator", "method", "budget", "seed", "best")


def write_result(path: Path, content: dict[str, Any]) -> None:
    """Write a search's result, whole or not at all."""
    with atomic_file(path) as temporary:
        temporary.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


def read_result(path: Path, estimator: str, dataset_digest: str) -> dict[str, Any]:
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
        The file is no result of a search, or one of another estimator or of other data.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise XmlcError(f"{path}: not a readable result of `xmlc tune` ({error}); make it again") from error
    if not isinstance(content, dict) or not set(NEEDED) <= set(content):
        raise XmlcError(f"{path}: expected a result of `xmlc tune` with {', '.join(NEEDED)}; make it again")
    found = content["estimator"], content["dataset"]["digest"]
    if found != (estimator, dataset_digest):
        raise XmlcError(
            f"{path}: tuned for estimator {found[0]} on data with digest {found[1][:12]}; expected {estimator} on "
            f"{dataset_digest[:12]}: tune again"
        )
    return content
