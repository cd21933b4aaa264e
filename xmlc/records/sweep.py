"""The record of `xmlc sweep`: ranking and, of trees, depth by the value of one hyperparameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from msgspec import Meta

from xmlc.core.passport import Passport, StepCosts
from xmlc.records.base import (
    ExperimentRecord,
    Fractions,
    Number,
    RankingRow,
    Row,
    expected_of,
    identity,
    misfit,
    or_nan,
)
from xmlc.records.forest import METRICS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class SweepRow(RankingRow):
    """Training with one value, which in the file has the hyperparameter's name.

    Attributes
    ----------
    value : object
    metrics : dict of str to float
        `METRICS` on the test set, as shares.
    depth, nodes : float or None
        Of the deepest tree, and the mean over trees; None where there are no trees.
    train_seconds, predict_ms_per_instance : float or None
    """

    METRICS: ClassVar[tuple[str, ...]] = METRICS

    value: object
    metrics: Fractions
    depth: Number | None
    nodes: Number | None
    train_seconds: Number | None
    predict_ms_per_instance: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Threads:
    """How many threads the times had."""

    threads: int


@dataclass(frozen=True, kw_only=True)
class SweepRecord(ExperimentRecord, kind="sweep", command="sweep"):
    """Record of `xmlc sweep`; ``hyperparameters`` are those of all rows, without the swept one."""

    hyperparameter: str
    rows: Annotated[tuple[SweepRow, ...], Meta(min_length=1)]
    costs: Threads
    passport: Passport
    step: StepCosts | None = None

    def content(self) -> dict[str, object]:
        """Return the content of the file: in it hyperparameters stand behind the portion."""
        content = super().content()
        content |= {"rows": [_as_written(row, self.hyperparameter) for row in self.rows]}
        behind = [*content][[*content].index("portion") + 1 :]
        settings = {"hyperparameters": content.pop("hyperparameters")}
        later = {name: content.pop(name) for name in behind}
        return content | settings | later

    @classmethod
    def of(cls, path: Path, content: object) -> Self:
        """Check the content of a file."""
        if isinstance(content, dict) and isinstance(content.get("rows"), list):
            name = content.get("hyperparameter")
            rows = [_as_read(path, place, row, name) for place, row in enumerate(content["rows"])]
            content = content | {"rows": rows}
        return super().of(path, content)


def frame(records: Sequence[SweepRecord]) -> pd.DataFrame:
    """Return one row for each value of each record; the value stands under its hyperparameter's name."""
    import pandas as pd

    return pd.DataFrame([_row(record, row) for record in records for row in record.rows])


def _row(record: SweepRecord, row: SweepRow) -> Row:
    costs = {"train_seconds": or_nan(row.train_seconds), "predict_ms": or_nan(row.predict_ms_per_instance)}
    shape = {"depth": or_nan(row.depth), "nodes": or_nan(row.nodes)}
    scores = {name: 100 * value for name, value in row.metrics.items()}
    return identity(record) | {record.hyperparameter: row.value} | scores | shape | costs


def _as_written(row: SweepRow, hyperparameter: str) -> dict[str, object]:
    content = asdict(row)
    return {hyperparameter: content.pop("value"), **content}


def _as_read(path: Path, place: int, row: object, hyperparameter: object) -> object:
    if not isinstance(row, dict):
        return row
    if not isinstance(hyperparameter, str):
        return row | {"value": None}
    if hyperparameter not in row:
        found = f"{hyperparameter!r} is a required property"
        raise misfit(path, f"$.rows[{place}]", found, expected_of(SweepRecord.COMMAND))
    return row | {"value": row[hyperparameter]}
