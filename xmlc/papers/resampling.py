"""The test set's error of claims: their effects on records whose test instances are drawn anew."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
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
        Without claims on records of earlier versions, which lack replicates, and without effects that do not depend
        on the test instances.
    """
    from xmlc.kernels import float64

    known = {need for need, records in given.items() if not any(map(_lacks_replicates, records))}
    found: dict[Claim, dict[Run, list[float]]] = {one: {} for one in claims if known.issuperset(one.needs)}
    for number in range(REPLICATES):
        drawn = {need: [_replicate(record, number) for record in given[need]] for need in known}
        for claim, values in found.items():
            for effect in claim(*(drawn[need] for need in claim.needs)):
                value = float64.log(effect.value) if claim.scale == "ratio" else effect.value
                values.setdefault(effect.run, []).append(value)
    return {claim: {run: error for run, of in values.items() if (error := _deviation(of))}
            for claim, values in found.items()}  # fmt: skip


def _lacks_replicates(record: object) -> bool:
    """Say whether a record has measures and no replicates of them; where the clock ran out it has neither."""
    return getattr(record, "resampled", None) == {} and getattr(record, "metrics", record) is not None


def _replicate(record: Any, number: int) -> Any:
    return record.replicate(number) if getattr(record, "resampled", None) else record


def _deviation(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1))
