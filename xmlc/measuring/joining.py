"""Shares of a forest, each grown by a job of its own, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from xmlc.errors import XmlcError
from xmlc.models.base import Forest, SparseProbabilityEstimator
from xmlc.models.registry import estimator_class
from xmlc.passport import StepCosts
from xmlc.records.training import TrainingRecord


def check_one_forest(records: Sequence[TrainingRecord], shares: Sequence[Path]) -> None:
    """Refuse shares, folders of which these are the records, that are of different forests.

    Raises
    ------
    XmlcError
        They differ in what was trained, or in the data.
    """
    same = [record.described() | {"dataset": record.dataset.digest} for record in records]
    for key, value in same[0].items():
        if any(other[key] != value for other in same):
            if key == "dataset":
                raise XmlcError(
                    f"{shares[0]} and the other shares were trained on different data; delete and train them anew"
                )
            raise XmlcError(f"{shares[0]} and the other shares differ in {key}: they are not of one forest")


def joined_model(estimator: str, folders: Sequence[Path]) -> SparseProbabilityEstimator:
    """Load the models of all shares, in the order of their trees, and join them.

    Raises
    ------
    XmlcError
        The estimator is no forest, or trees are missing.
    """
    kind = estimator_class(estimator)
    parts = [kind.load(folder) for folder in folders]
    forests = [part for part in parts if isinstance(part, Forest)]
    if len(forests) < len(parts):
        raise XmlcError(f"{estimator} is no forest whose trees could be grown apart")
    return type(forests[0]).join_trees(forests)


def joined_record(records: Sequence[TrainingRecord], model_bytes: int) -> TrainingRecord:
    """Sum seconds, as if one job had grown all trees; the peak is the largest."""
    steps = [record.step for record in records]
    costs = replace(
        records[0].costs,
        train_seconds=sum(record.costs.train_seconds or 0 for record in records),
        train_cpu_seconds=sum(record.costs.train_cpu_seconds or 0 for record in records),
        train_peak_bytes=max(record.costs.train_peak_bytes or 0 for record in records),
        model_bytes=model_bytes,
    )
    whole: StepCosts = {
        **records[0].step,
        "seconds": sum(step["seconds"] for step in steps),
        "peak_bytes": max(step["peak_bytes"] for step in steps),
        "written_bytes": model_bytes,
    }
    return replace(records[0], costs=costs, step=whole)
