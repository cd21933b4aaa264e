"""Head of a record: its dataset, and how its model was made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xmlc.core.errors import XmlcError
from xmlc.data.prepared import Prepared, recorded_name
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.records.base import DATASET_COLUMNS, Portion, RecordedDataset
from xmlc.records.training import TrainingRecord


def dataset_of(prepared: Prepared) -> RecordedDataset:
    """Return the part of a record that says which data it is about."""
    meta: Mapping[str, Any] = prepared.meta
    sizes = {name: meta[name] for name in DATASET_COLUMNS}
    return RecordedDataset(digest=prepared.digest, name=recorded_name(prepared.meta), **sizes)


def description(
    prepared: Prepared, model: SparseProbabilityEstimator, estimator: str, name: str, seed: int, portion: Portion
) -> dict[str, Any]:
    """Return the fields of `xmlc.records.base.Record`: the model, called ``name`` in tables, and its data."""
    return {
        "dataset": dataset_of(prepared),
        "estimator": estimator,
        "model": name,
        "hyperparameters": {k: v for k, v in model.get_params().items() if k not in ("n_jobs", "random_state")},
        "seed": seed,
        "portion": portion,
    }


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
