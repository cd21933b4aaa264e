"""What ldsm2020 states of its objective J, tested on what nodes reached; J is the one that training computes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from xmlc.papers.common.claims import claim
from xmlc.papers.common.effects import Effect
from xmlc.records.forest import ForestRecord
from xmlc.suites.needs import ENSEMBLES

LDSM = ("ldsm", "ldsm-mean")  # both optimise J


def lemma_1_holds(arity: float, lambda_1: float, lambda_2: float) -> bool:
    """Return whether Lemma 1 says of these settings which splits are best: M - 3 < lambda_2 / lambda_1."""
    return lambda_2 > (arity - 3) * lambda_1


@claim(ENSEMBLES, unit="J of the root − mean J of the nodes below, after the last pass")
def root_is_hardest(records: Sequence[ForestRecord]) -> Iterator[Effect]:
    """The objective J ends at a higher value in the root than in the nodes below it.

    Compare the root with all nodes below it, in the trees whose objectives a record tells.

    Source: Section 6, with Figure 3; Section 10, with Figure 7
    """
    for record in _told(records):
        roots = [part.mean[-1] for part in record.objectives if part.level == 1]
        below = [part for part in record.objectives if part.level > 1]
        if roots and below:
            deeper = math.fsum(part.nodes * part.mean[-1] for part in below) / sum(part.nodes for part in below)
            yield Effect(record.dataset.name, record.model, record.seed, math.fsum(roots) / len(roots) - deeper)


@claim(
    ENSEMBLES,
    unit="J, distance of the nodes to the nearer bound, negative outside",
    margin=(-0.001, "a perfect split is at the bound, but for roundings"),
)
def bounds_of_the_objective(records: Sequence[ForestRecord]) -> Iterator[Effect]:
    """Lemma 1: where lambda_2 > (M - 3) lambda_1, J lies between -lambda_1 (M - 1) and lambda_2 (M - 1).

    Take the node, and the pass, that comes nearest to a bound.

    Source: Section 3.1, Lemma 1
    """
    for record in _told(records):
        lambda_1, lambda_2, splits = _weights(record)
        if lemma_1_holds(splits + 1, lambda_1, lambda_2):
            lowest = min(min(part.minimum) for part in record.objectives)
            highest = max(max(part.maximum) for part in record.objectives)
            room = min(lowest + lambda_1 * splits, lambda_2 * splits - highest)
            yield Effect(record.dataset.name, record.model, record.seed, room)


@claim(ENSEMBLES, unit="J, lowest of all nodes after the last pass + lambda_2")
def bound_of_the_purity(records: Sequence[ForestRecord]) -> Iterator[Effect]:
    """Lemma 3, multiplied out: where lambda_1 (M - 1) / 2 <= lambda_2 <= lambda_1 (M - 1), the purity factor times a
    number is at most J - B + lambda_2. Factor, number and the balancing term B are at least 0, so no node has J below
    -lambda_2.

    Take the node whose J is lowest; docs/ldsm.md says which step of the proof is wrong.

    Source: Section 3.1, Lemma 3, inequality 4
    """
    for record in _told(records):
        lambda_1, lambda_2, splits = _weights(record)
        if lambda_1 * splits / 2 <= lambda_2 <= lambda_1 * splits:
            lowest = min(part.minimum[-1] for part in record.objectives)
            yield Effect(record.dataset.name, record.model, record.seed, lowest + lambda_2)


def _told(records: Sequence[ForestRecord]) -> list[ForestRecord]:
    """Leave out other models, and records that tell no objectives."""
    return [record for record in records if record.model in LDSM and record.objectives]


def _weights(record: ForestRecord) -> tuple[float, float, float]:
    """Return lambda_1, lambda_2 and M - 1."""
    return record.setting("lambda_1"), record.setting("lambda_2"), record.setting("arity") - 1
