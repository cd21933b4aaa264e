"""The record of `xmlc condense`: scores of a nearest-neighbour index without near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from xmlc.core.passport import Passport, StepCosts
from xmlc.records.base import ExperimentRecord, Fractions, Number, RankingRow, identity

if TYPE_CHECKING:
    import pandas as pd

WHOLE = "all"  # instead of a similarity, where nothing is left out


@dataclass(frozen=True, kw_only=True)
class CondensedRow(RankingRow):
    """An index of the instances that a similarity keeps.

    Attributes
    ----------
    similarity : float or None
        Cosine from which on an instance stands for another; None: all are kept.
    instances, index_bytes : int
    metrics : dict of str to float
        `METRICS` on the test set, as shares.
    predict_ms_per_instance : float or None
    """

    METRICS: ClassVar[tuple[str, ...]] = ("p@1", "p@3", "p@5")

    similarity: Number | None
    instances: Number
    index_bytes: Number
    metrics: Fractions
    predict_ms_per_instance: Number | None


@dataclass(frozen=True, kw_only=True)
class PredictionThreads:
    """How many threads the times had."""

    predict_threads: int


@dataclass(frozen=True, kw_only=True)
class CondensedRecord(ExperimentRecord, kind="condensed", command="condense"):
    """Record of `xmlc condense`; the first row is of all instances."""

    rows: Annotated[tuple[CondensedRow, ...], Meta(min_length=1)]
    costs: PredictionThreads
    passport: Passport
    step: StepCosts | None = None


def frame(records: Sequence[CondensedRecord]) -> pd.DataFrame:
    """Return one row for each similarity of each record: sizes, shares of the whole index, P@k in percent."""
    import pandas as pd

    return pd.DataFrame(
        [
            identity(record)
            | {
                "similarity": WHOLE if row.similarity is None else f"{row.similarity:g}",
                "instances": row.instances,
                "instances_share": 100 * row.instances / record.rows[0].instances,
                "index_mb": row.index_bytes * 1e-6,
                "index_share": 100 * row.index_bytes / record.rows[0].index_bytes,
                "predict_ms": row.predict_ms_per_instance,
                "predict_threads": record.costs.predict_threads,
            }
            | {name: 100 * value for name, value in row.metrics.items()}
            for record in records
            for row in record.rows
        ]
    )
