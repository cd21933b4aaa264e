"""Program versions, machine and time of records, for the table of all numbers."""

from __future__ import annotations

import json
from typing import NamedTuple

from xmlc.suite.provenance.environment import Environment
from xmlc.suite.results.records.base import RecordFile

# Keys of the environment metadata that are not packages with their versions.
NOT_PACKAGES = ("machine", "cpu", "threads", "time")


class RecordEnvironment(NamedTuple):
    """The programs, the machine and the time of a record.

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
    about = environment_of(record)
    spent = getattr(record, "step", None) or {}
    hyperparameters = getattr(record, "hyperparameters", None)
    if hyperparameters is None:
        settings = ""
    else:
        settings = json.dumps(hyperparameters, sort_keys=True)
    peak_mb = None
    if spent:
        peak_mb = spent["peak_bytes"] * 1e-6
    packages = {name: text for name, text in about.items() if name not in NOT_PACKAGES}
    return RecordEnvironment(
        split=getattr(record, "split", "") or spent.get("split") or "",
        threads=about.get("threads", spent.get("threads")),
        seconds=spent.get("seconds"),
        peak_mb=peak_mb,
        time=about.get("time", ""),
        cpu=about.get("cpu", spent.get("cpu", "")),
        versions="; ".join(f"{name} {text}" for name, text in packages.items()),
        hyperparameters=settings,
        digest=record.data_digest,
    )


def environment_of(record: RecordFile) -> Environment:
    """Return the environment metadata of a record, or {}."""
    found: Environment | None = getattr(record, "environment", None)
    return found or {}
