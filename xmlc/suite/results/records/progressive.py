"""The record of `xmlc progressive`, which predicts each instance of a stream before learning it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from xmlc.suite.provenance.environment import Environment, StepCosts
from xmlc.suite.results.records.base import (
    Count,
    Fraction,
    JsonNumber,
    Numbers,
    Quantities,
    Record,
    json_keys,
)


@json_keys
class ProgressiveRow:
    """The scores of the first ``instances`` instances, with the entropy reduction in bits."""

    instances: Count
    accuracy: Fraction
    entropy_reduction: JsonNumber | None


@json_keys
class ProgressiveCosts:
    """CPU seconds for the whole stream, number of threads, and peak memory in bytes."""

    cpu_seconds: JsonNumber | None = None
    threads: int | None = None
    peak_bytes: JsonNumber | None = None


@json_keys
class ProgressiveRecord(Record, kind="progressive", command="progressive"):
    """The record of `xmlc progressive`: scores along the stream, and the best constant label's
    accuracy.
    """

    constant_accuracy: Fraction
    rows: Annotated[tuple[ProgressiveRow, ...], Meta(min_length=1)]
    costs: ProgressiveCosts
    environment: Environment
    step: StepCosts | None = None

    def numbers(self) -> Numbers:
        """Yield the scores of the whole stream."""
        yield "", _scores(self.rows[-1]) | {"constant_accuracy": 100 * self.constant_accuracy}

    def details(self) -> Numbers:
        """Yield the scores of the first n instances, named such as ``instances=100``."""
        for row in self.rows:
            yield f"instances={row.instances}", _scores(row)


def _scores(row: ProgressiveRow) -> Quantities:
    accuracy = 100 * row.accuracy
    return {
        "instances": row.instances,
        "accuracy": accuracy,
        "entropy_reduction": row.entropy_reduction,
    }
