"""Estimate how much the effects of claims vary with the choice of test instances, by resampling these instances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from xmlc.metrics.resampling import REPLICATES
from xmlc.suite.config.planned import Where
from xmlc.suite.papers.claims import Claim
from xmlc.suite.papers.outcome import CaseKey, by_case

Records = Mapping[Where, Sequence[Any]]


def errors_on_tests(claims: Iterable[Claim], given: Records) -> dict[Claim, dict[CaseKey, float]]:
    """Return the bootstrap standard error of each case's mean over seeds. The test instances are resampled.

    Parameters
    ----------
    claims : iterable of Claim
    given : mapping of Where to sequence of Record
        The records for each entry of the claims' ``needs``. Records without measures of rankings or label sets are not
        resampled.

    Returns
    -------
    dict of Claim to dict of (dataset, subject) to float
        The standard error of each case of each claim. Claims on ratios are left out. Claims on records of earlier
        versions are left out, because these records lack resampled measures. Cases that do not depend on the test
        instances are also left out.
    """
    found: dict[Claim, dict[CaseKey, list[float]]] = {}
    for claim in claims:
        about = claim.concerned(*(given[need] for need in claim.needs))
        kept = [getattr(record, "resampled", None) for records in about for record in records if _measured(record)]
        if claim.scale.kind != "ratio" and any(kept) and {} not in kept:
            found[claim] = {}
    for number in range(REPLICATES):
        drawn = {need: [_replicate(record, number) for record in records] for need, records in given.items()}
        for claim, of_places in found.items():
            for place, effects in by_case(claim(*(drawn[need] for need in claim.needs))).items():
                of_places.setdefault(place, []).append(math.fsum(one.value for one in effects) / len(effects))
    return {
        claim: {
            place: _deviation(means)
            for place, means in of_places.items()
            if len(means) == REPLICATES and min(means) < max(means)
        }
        for claim, of_places in found.items()
    }


def _measured(record: object) -> bool:
    """Return whether a record has measures. Records of runs that reached their time limit have no measures."""
    return getattr(record, "metrics", record) is not None


def _replicate(record: Any, number: int) -> Any:
    return record.replicate(number) if getattr(record, "resampled", None) else record


def _deviation(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1))
