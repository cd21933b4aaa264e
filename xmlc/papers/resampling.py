"""The test set's error of claims: their effects on records whose test instances are drawn anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xmlc.metrics.resampling import REPLICATES

Run = tuple[str, str, int]  # dataset, subject and seed of an effect
Records = Sequence[Sequence[Any]]  # of each need
Name = TypeVar("Name")


def errors_on_tests(
    statements: Mapping[Name, Callable[[Records], Mapping[Run, float]]], given: Records
) -> dict[Name, dict[Run, float]]:
    """Return the standard errors of effects by the choice of the test instances.

    Parameters
    ----------
    statements : mapping of name to callable
        Measures the effects of a statement on records of each need, on a scale on which they are compared.
    given : sequence of sequence of Record
        Records of each need. Those of a kind that no ranking and no label sets are measured by stay as they are.

    Returns
    -------
    dict of name to dict of (dataset, subject, seed) to float
        Without effects that do not depend on the test instances. Nothing, where a record lacks its replicates.
    """
    found: dict[Name, dict[Run, list[float]]] = {name: {} for name in statements}
    resampled = [[getattr(record, "resampled", None) for record in records] for records in given]
    if any(drawn == {} for records in resampled for drawn in records):
        return {}
    for number in range(REPLICATES):
        drawn = [
            [record if kept is None else record.replicate(number) for record, kept in zip(records, of_need)]
            for records, of_need in zip(given, resampled)
        ]
        for name, measure in statements.items():
            for run, value in measure(drawn).items():
                found[name].setdefault(run, []).append(value)
    return {
        name: {run: _error(values) for run, values in of.items() if min(values) < max(values)}
        for name, of in found.items()
    }


def _error(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1))
