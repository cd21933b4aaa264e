"""Head of a record: its dataset, and how its model was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import isfunction
from pathlib import Path
from typing import Any

from xmlc.core.checksums import checksum_of
from xmlc.core.errors import XmlcError
from xmlc.core.sources import user_digest
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import estimator_files, files_read
from xmlc.suite.results.records.base import DATASET_COLUMNS, Portion, RecordedDataset
from xmlc.suite.results.records.training import TrainingRecord
from xmlc.suite.steps.prepared import Prepared, recorded_name

DIGITS = 12  # of a checksum


def dataset_of(prepared: Prepared) -> RecordedDataset:
    """Return the part of a record that says which data it is about."""
    meta: Mapping[str, Any] = prepared.meta
    sizes = {name: meta[name] for name in DATASET_COLUMNS}
    return RecordedDataset(digest=prepared.digest, name=recorded_name(prepared.meta), **sizes)


def description(
    prepared: Prepared, model: SparseProbabilityEstimator, estimator: str, name: str, seed: int, portion: Portion
) -> dict[str, Any]:
    """Return the fields of `Record`: the model, called ``name`` in tables, and its data."""
    hyperparameters = {k: v for k, v in model.get_params().items() if k not in ("n_jobs", "random_state")}
    files = files_read(estimator, hyperparameters, prepared.meta["name"], [seed])
    settings = {
        "validation_share": prepared.meta["split"]["validation_share"],
        "model code": user_digest(estimator_files(estimator)),
        "files": " ".join(checksum_of(file)[:DIGITS] for file in files),
    }
    return {
        "dataset": dataset_of(prepared),
        "estimator": estimator,
        "model": name,
        "hyperparameters": hyperparameters,
        "seed": seed,
        "portion": portion,
        "settings": {name: value for name, value in settings.items() if value != ""},
    }


def with_method(record: TrainingRecord, method: Callable[..., object] | None) -> dict[str, Any]:
    """Return the head of a method's record; its settings contain the digest of the code of a user's method."""
    code = user_digest([method.__code__.co_filename]) if isfunction(method) else ""
    settings = record.settings | ({"method code": code} if code else {})
    return record.head_fields() | {"settings": settings}


def trained_on_all(file: Path, prepared: Prepared) -> TrainingRecord:
    """Read the record of a training, which must be on the whole training set of a dataset.

    Raises
    ------
    XmlcError
        It is on something else, or the file is no such record.
    """
    record = TrainingRecord.read(file)
    if record.portion != "full" or record.dataset.digest != prepared.digest:
        raise XmlcError(f"{file}: expected the training on the whole training set of {prepared.folder}")
    return record
