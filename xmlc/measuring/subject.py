"""What a record is about: the dataset, and how its model was made."""

from __future__ import annotations

from xmlc.data.prepared import Prepared
from xmlc.estimator import Hyperparameters
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.records.base import Dataset


def dataset_of(prepared: Prepared) -> Dataset:
    """Return the part of a record that says which data it is about."""
    meta = prepared.meta
    return Dataset(
        digest=prepared.digest,
        name=meta["name"],
        n_train=meta["n_train"],
        n_test=meta["n_test"],
        d=meta["d"],
        m=meta["m"],
        labels_per_instance=meta["labels_per_instance"],
        instances_per_label=meta["instances_per_label"],
    )


def hyperparameters_of(model: SparseProbabilityEstimator) -> Hyperparameters:
    """Return what a model was made with, but for threads and seed."""
    return {key: value for key, value in model.get_params().items() if key not in ("n_jobs", "random_state")}
