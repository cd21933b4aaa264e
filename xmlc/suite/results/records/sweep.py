"""Define the record of `xmlc sweep`.

For each value of a hyperparameter, the record contains scores of rankings and depths of trees.
"""

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
    """Hold the results for one value of the hyperparameter that is varied.

    Attributes
    ----------
    value : object
    metrics : dict of str to float
        Ranking metrics on the test set, as fractions (not percentages).
    depth, nodes : float or None
        Depth of the deepest tree, and mean number of nodes of a tree. If the model has no trees,
        ``depth`` and ``nodes`` are None.
    train_seconds, predict_ms_per_instance : float or None
    """

    value: object
    metrics: Fractions
    depth: JsonNumber | None
    nodes: JsonNumber | None
    train_seconds: JsonNumber | None
    predict_ms_per_instance: JsonNumber | None = None


@json_keys
class Threads:
    """Hold the number of threads with which times were measured."""

    threads: int


@json_keys
class SweepRecord(Record, kind="sweep", command="sweep"):
    """Represent the record of `xmlc sweep`.

    The values in ``hyperparameters`` are the same in all rows. ``hyperparameters`` does not contain
    the varied hyperparameter.
    """

    hyperparameter: str
    rows: Annotated[tuple[SweepRow, ...], Meta(min_length=1)]
    costs: Threads
    environment: Environment
    step: StepCosts | None = None

    @classmethod
    def of(cls, path: Path, content: object) -> Self:
        """Convert the content of a file to a record, and check the record."""
        if isinstance(content, dict) and isinstance(content.get("rows"), list):
            # In a row of an earlier version, the name of the hyperparameter is the key of the
            # value, instead of "value".
            name = content.get("hyperparameter")
            content = content | {"rows": [_with_value(row, name) for row in content["rows"]]}
        return super().of(path, content)

    def numbers(self) -> Numbers:
        """Yield the scores, the tree shapes and the times for each value of the hyperparameter.

        The name of a yielded part contains the value, such as ``alpha=0.75``.
        """
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
