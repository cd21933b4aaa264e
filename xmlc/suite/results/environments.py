"""Describe the program versions, the machine and the time of records, for the table of all numbers."""

from __future__ import annotations

import json
from typing import NamedTuple

from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.provenance.environment import Environment
from xmlc.suite.results.records.base import RecordFile

# Keys of the environment metadata that are not names of packages. All remaining keys are names of packages, and their
# values are versions.
NOT_PACKAGES = ("machine", "cpu", "threads", "time")


class RecordEnvironment(NamedTuple):
    """Describe with which programs, when and on which machine a record was computed.

    ``seconds`` and ``peak_mb`` are the time and the peak memory of the process that wrote the record.
    """

    split: str
    threads: int | None
    seconds: float | None
    peak_mb: float | None
    time: str
    cpu: str
    versions: str
    hyperparameters: str
    digest: str


def environment_columns(record: RecordFile) -> RecordEnvironment:
    """Return the environment of a record, as columns of the long table of all numbers."""
    about, spent = environment_of(record), getattr(record, "step", None)
    packages = {name: text for name, text in about.items() if name not in NOT_PACKAGES}
    settings: Hyperparameters | None = getattr(record, "hyperparameters", None)
    return RecordEnvironment(
        split=getattr(record, "split", "") or (spent and spent["split"]) or "",
        threads=about.get("threads", spent["threads"] if spent else None),
        seconds=spent["seconds"] if spent else None,
        peak_mb=spent["peak_bytes"] * 1e-6 if spent else None,
        time=about.get("time", ""),
        cpu=about.get("cpu", spent["cpu"] if spent else ""),
        versions="; ".join(f"{name} {text}" for name, text in packages.items()),
        hyperparameters="" if settings is None else json.dumps(settings, sort_keys=True),
        digest=record.data_digest,
    )


def environment_of(record: RecordFile) -> Environment:
    """Return the environment metadata of a record. If the record has no environment metadata, the dict is empty."""
    found: Environment | None = getattr(record, "environment", None)
    return found or {}
