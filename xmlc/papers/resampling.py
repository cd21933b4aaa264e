"""The test set's error of claims: their effects on records whose test instances are drawn anew."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xmlc.metrics.resampling import REPLICATES
from xmlc.suites.planned import Where

if TYPE_CHECKING:
    from xmlc.papers.claims import Claim, Run

Records = Mapping[Where, Sequence[Any]]


def errors_on_tests(claims: Iterable[Claim], given: Records) -> dict[Claim, dict[Run, float]]:
    """Return the standard errors of effects by the choice of the test instances; of ratios those of logarithms.

    Parameters
    ----------
    claims : iterable of Claim
    given : mapping of Where to sequence of Record
        Records of each need. Those of a kind without measures of rankings or label sets stay as they are.

    Returns
    -------
    dict of Claim to dict of (dataset, subject, seed) to float
        Without effects on datasets with records of earlier versions, which lack replicates, and of units that do not
        depend on the test instances.
    """
    from xmlc.kernels import float64

    earlier = {record.dataset_name for records in given.values() for record in records if _lacks_replicates(record)}
    resampled = {need for need, records in given.items() if any(getattr(one, "resampled", None) for one in records)}
    found: dict[Claim, dict[Run, list[float]]] = {one: {} for one in claims if resampled.intersection(one.needs)}
    for number in range(REPLICATES):
        drawn = {need: [_replicate(record, number) for record in records] for need, records in given.items()}
        for claim, values in found.items():
            for effect in claim(*(drawn[need] for need in claim.needs)):
                value = float64.log(effect.value) if claim.scale == "ratio" else effect.value
                values.setdefault(effect.run, []).append(value)
    return {claim: _known(values, earlier) for claim, values in found.items()}


def _known(values: Mapping[Run, Sequence[float]], earlier: Collection[str]) -> dict[Run, float]:
    """Return the errors of runs, without datasets of earlier records; a unit that never varies has none."""
    errors = {run: _deviation(of) for run, of in values.items() if len(of) == REPLICATES and run[0] not in earlier}
    varying = {run[:2] for run, error in errors.items() if error}
    return {run: error for run, error in errors.items() if run[:2] in varying}


def _lacks_replicates(record: object) -> bool:
    """Say whether a record has measures and no replicates of them; where the clock ran out it has neither."""
    return getattr(record, "resampled", None) == {} and getattr(record, "metrics", record) is not None


def _replicate(record: Any, number: int) -> Any:
    return record.replicate(number) if getattr(record, "resampled", None) else record


def _deviation(values: Sequence[float]) -> float:
    """Return the standard deviation, which is exactly 0 of equal values."""
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1)
    return math.sqrt(squares) if min(values) < max(values) else 0.0
