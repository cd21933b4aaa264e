"""The record of `xmlc sweep`: ranking scores and tree depths by the value of a hyperparameter."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from msgspec import Meta

from xmlc.suite.provenance.environment import Environment, StepCosts
from xmlc.suite.results.records.base import (
    Fractions,
    JsonNumber,
    Numbers,
    Record,
    json_keys,
    or_nan,
)
from xmlc.suite.results.records.forest import RankingRow


@json_keys
class SweepRow(RankingRow):
    """The results for one ``value`` of the varied hyperparameter.

    Metrics on the test set are fractions, ``depth`` is the deepest tree's, and ``nodes`` is a
    tree's mean number of nodes. Both are None without trees.
    """

    value: object
    metrics: Fractions
    depth: JsonNumber | None
    nodes: JsonNumber | None
    train_seconds: JsonNumber | None
    predict_ms_per_instance: JsonNumber | None = None


@json_keys
class SweepRecord(Record, kind="sweep", command="sweep"):
    """The record of `xmlc sweep`, in which ``hyperparameters`` lacks the varied one.

    ``costs`` has the number of ``threads`` of measured times.
    """

    hyperparameter: str
    rows: Annotated[tuple[SweepRow, ...], Meta(min_length=1)]
    costs: dict[str, int]
    environment: Environment
    step: StepCosts | None = None

    @classmethod
    def of(cls, path: Path, content: object) -> Self:
        """Convert and check the content of a file."""
        if isinstance(content, dict) and isinstance(content.get("rows"), list):
            # Rows of earlier versions have the hyperparameter's name as a key instead of "value".
            name = content.get("hyperparameter")
            content = content | {"rows": [_with_value(row, name) for row in content["rows"]]}
        return super().of(path, content)

    def numbers(self) -> Numbers:
        """Yield scores, tree shapes and times for each value, named such as ``alpha=0.75``."""
        for row in self.rows:
            found = self.dataset_sizes | {name: 100 * value for name, value in row.metrics.items()}
            found |= {"value": row.value, "depth": or_nan(row.depth), "nodes": or_nan(row.nodes)}
            found |= {
                "train_seconds": or_nan(row.train_seconds),
                "predict_ms": or_nan(row.predict_ms_per_instance),
            }
            yield f"{self.hyperparameter}={row.value}", found


def _with_value(row: object, name: object) -> object:
    if isinstance(row, dict) and name in row:
        return row | {"value": row[name]}
    return row
