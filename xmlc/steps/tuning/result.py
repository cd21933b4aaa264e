"""The file of a search: the best trial, and all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from xmlc.core.checksums import stamped
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.records.training import SearchRecord


def write_result(path: Path, content: Mapping[str, object]) -> None:
    """Write a search's result, a `SearchRecord` and more, with the checksum of its content, whole or not at all."""
    plain = yaml.safe_load(yaml.safe_dump(content, sort_keys=False))
    with atomic_file(path) as temporary:
        temporary.write_text(yaml.safe_dump(stamped(plain), sort_keys=False, default_flow_style=None), encoding="utf-8")


def read_result(path: Path, estimator: str, dataset_digest: str) -> SearchRecord:
    """Read a file of `write_result`, for training on the data of its search.

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
    found = SearchRecord.read(path)
    if (found.estimator, found.dataset.digest) != (estimator, dataset_digest):
        raise XmlcError(
            f"{path}: tuned for estimator {found.estimator} on data with digest {found.dataset.digest[:12]}; expected "
            f"{estimator} on {dataset_digest[:12]}: tune again"
        )
    return found
