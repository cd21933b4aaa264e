"""What several steps of the workflow do: load a trained model, describe the dataset, time what it predicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from scipy import sparse

from xmlc.data.prepared import Prepared
from xmlc.estimator import Hyperparameters
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import estimator_class
from xmlc.models.warm_up import is_oracle
from xmlc.passport import WARM_UP_ROWS, timed
from xmlc.records.base import Dataset

T = TypeVar("T")


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


def load_model(folder: Path, estimator: str, threads: int) -> SparseProbabilityEstimator:
    """Load a trained model; ``estimator`` is what its training record says."""
    model = estimator_class(estimator).load(folder)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=threads)
    return model


def instances_for(model: Any, prepared: Prepared, part: str) -> sparse.csr_array:
    """Return the instances of one part, and give an oracle the posteriors that belong to them."""
    if is_oracle(model):
        model.use_posteriors(prepared.posteriors(part))
    return prepared.part(part)[0]


def predict_timed(
    model: SparseProbabilityEstimator, X: sparse.csr_array, predict: Callable[[sparse.csr_array], T]
) -> tuple[T, float | None]:
    """Call ``predict`` on a few rows, so that compilation is in no measured time, then on all of them.

    Returns
    -------
    result
    ms_per_instance : float or None
        Wall milliseconds per instance; None for an oracle.
    """
    if is_oracle(model):
        return predict(X), None
    predict(X[:WARM_UP_ROWS])
    result, seconds = timed(lambda: predict(X))
    return result, 1e3 * seconds / max(X.shape[0], 1)


def mean_inner_products(model: SparseProbabilityEstimator) -> float | None:
    """Return the inner products per instance of the last prediction; None where a program reports none."""
    counts = getattr(model, "inner_products_", None)
    return None if counts is None or counts.size == 0 else float(counts.mean())
