"""Program versions, machine and time of records, for the table of all numbers."""

from __future__ import annotations

import json
from typing import Any

from xmlc.suite.provenance.environment import Environment
from xmlc.suite.results.records.base import RecordFile

# Keys of the environment metadata that are not packages with their versions.
NOT_PACKAGES = ("machine", "cpu", "threads", "time")
ENVIRONMENT = ("split", "threads", "seconds", "peak_mb", "time", "cpu", "versions", "hyperparameters", "digest")


def environment_columns(record: RecordFile) -> dict[str, Any]:
    """Return the columns `ENVIRONMENT` of a record in the table of all numbers.

    ``seconds`` and ``peak_mb`` are the time and the peak memory of the process that wrote the record.
    """
    environment = dict(environment_of(record))
    versions = [f"{name} {text}" for name, text in environment.items() if name not in NOT_PACKAGES]
    columns: dict[str, Any] = {"versions": "; ".join(versions), "digest": record.data_digest}
    step = getattr(record, "step", None)
    if step:
        columns |= step | {"peak_mb": step["peak_bytes"] * 1e-6}
    columns |= environment
    if hasattr(record, "hyperparameters"):
        columns["hyperparameters"] = json.dumps(record.hyperparameters, sort_keys=True)
    columns["split"] = getattr(record, "split", "") or columns.get("split")
    return {name: columns.get(name) for name in ENVIRONMENT}


def environment_of(record: RecordFile) -> Environment:
    """Return the environment metadata of a record, or {}."""
    environment: Environment | None = getattr(record, "environment", None)
    return environment or {}
