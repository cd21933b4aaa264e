"""Declare the statements of papers and measure them on our records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from xmlc.suite.config.planned import Where
from xmlc.suite.papers import statements_of
from xmlc.suite.papers.outcome import (
    NONE,
    CaseKey,
    Effect,
    Outcome,
    PublishedEffects,
    Scale,
    outcome_of,
    same_instances,
)
from xmlc.suite.results.records.base import Record
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.schemas import converted, read_yaml

Scope = tuple[str, Callable[[Any], bool]]  # a condition in words, and a function that checks it for a record
EffectFunction = Callable[..., Iterable[Effect]]  # takes the records of each need
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Describe a statement of a paper: an entry of the file ``claims.yaml`` in its folder.

    Raises
    ------
    ValueError
        The margin means no difference, or has no reason.
    """

    #: In our words, so that it can be read without the paper.
    statement: str
    #: Section, page of the paper or table that states it.
    source: str
    #: Unit of the effects, with the two numbers that are subtracted or divided.
    unit: str
    #: "verbatim": in the paper's own terms. "derived": from its statements or numbers. "xmlc": not from the paper.
    stated: Literal["verbatim", "derived", "xmlc"]
    scale: Literal["difference", "distance", "ratio"] = "difference"
    #: Effects above it support the statement. None means no difference: 0, or 1 for a ratio.
    margin: float | None = None
    #: The reason for the margin.
    because: str = ""
    #: Whether one case against the statement refutes it, as for a lemma.
    every: bool = False
    #: Whether all seeds use the hyperparameters of one search.
    one_search: bool = False
    #: Whether effects are times or memory, which differ from run to run.
    cost: bool = False

    def __post_init__(self) -> None:
        if self.margin is not None and (self.margin == Scale(self.scale).nothing or not self.because):
            raise ValueError(f"margin: found {self.margin}, expected a value other than no difference, with a reason")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Join a statement of a paper with its test. Calling it measures the effects."""

    #: Name of its row in the table.
    name: str
    said: Statement = field(hash=False)
    #: Records that it is tested on. Some or all may be missing.
    needs: tuple[Where, ...]
    #: Takes the records of each need and returns the effects.
    measure: EffectFunction
    #: Condition on the records. None takes all of them.
    about: Scope | None = None
    #: Published effects, as `outcome_of` takes them, if the margin expresses "as good as".
    printed: PublishedEffects = field(default_factory=dict, hash=False)

    @property
    def scale(self) -> Scale:
        """Return the kind of the effects: differences, distances or ratios."""
        return Scale(self.said.scale)

    @property
    def mean_in_print(self) -> float:
        """Return the mean of the published effects, which are differences. It is NaN if there are none."""
        effects = [effect for of_subject in self.printed.values() for effect in of_subject.values()]
        return math.fsum(effects) / len(effects) if effects else math.nan

    def concerned(self, *records: Sequence[Any]) -> list[list[Any]]:
        """Return, for each need, the records that meet the statement's condition."""
        about = self.about[1] if self.about else lambda record: True
        return [[record for record in given if about(record)] for given in records]

    def __call__(self, *records: Sequence[Any]) -> list[Effect]:
        """Measure the effects in the records of each need that meet the statement's condition."""
        return list(self.measure(*self.concerned(*records)))

    def outcome(self, *records: Sequence[Any], errors: Mapping[CaseKey, float] = MappingProxyType({})) -> Outcome:
        """Decide the claim by the records of each need.

        ``errors`` has the standard errors by the choice of test instances, for the cases that have one.
        """
        margin = self.scale.nothing if self.said.margin is None else self.said.margin
        return outcome_of(self(*records), margin, self.scale, self.said.every, self.printed, errors)


class Claims:
    """Collect the claims of a paper: the statements of a file, and the functions that measure them."""

    def __init__(self, statements: Mapping[str, Statement]):
        self._statements = statements
        self._claims: dict[str, Claim] = {}

    @classmethod
    def of(cls, paper: str) -> Claims:
        """Read the statements of a paper.

        Raises
        ------
        XmlcError
            The file breaks its schema.
        """
        file = statements_of(paper)
        return cls(converted(read_yaml(file), dict[str, Statement], str(file)))

    def claim(
        self, name: str, *needs: Where, about: Scope | None = None, printed: PublishedEffects = NONE
    ) -> Callable[[EffectFunction], Claim]:
        """Declare the claim whose effects the decorated function measures."""

        def declare(measure: EffectFunction) -> Claim:
            said = self._statements[name]
            found = Claim(name=name, said=said, needs=needs, measure=measure, about=about, printed=printed)
            return self._claims.setdefault(name, found)

        return declare

    def all(self) -> list[Claim]:
        """Return the claims in the order of the file.

        Raises
        ------
        ValueError
            No function measures one of the statements.
        """
        if unmeasured := self._statements.keys() - self._claims.keys():
            raise ValueError(f"claims.yaml: found no function for {', '.join(sorted(unmeasured))}")
        return [self._claims[name] for name in self._statements]


def datasets(words: str, *names: str) -> Scope:
    """Return the condition that a record is about one of these datasets, in any split."""
    return words, lambda record: same_instances(record.dataset_name) in names


def by_method(records: Iterable[R]) -> Mapping[tuple[str, str, int], dict[str, R]]:
    """Group records by dataset, model and seed. Each group has its records by method."""
    groups: dict[tuple[str, str, int], dict[str, R]] = {}
    for record in records:
        runs = groups.setdefault((record.dataset.name, record.model, record.seed), {})
        runs[record.method_name or ""] = record
    return groups


def by_model(records: Iterable[R]) -> Mapping[tuple[str, int], dict[str, R]]:
    """Group records of one method, or of none, by dataset and seed. Each group has its records by model."""
    groups: dict[tuple[str, int], dict[str, R]] = {}
    for record in records:
        groups.setdefault((record.dataset.name, record.seed), {})[record.model] = record
    return groups


def ranked_apart(dataset: str, subject: str, one: RankingRecord, other: RankingRecord, *metrics: str) -> Effect:
    """Return by how many points one ranking exceeds another in the mean of some measures."""
    means = [math.fsum(run.metrics[name] for name in metrics) / len(metrics) for run in (one, other)]
    return Effect(dataset, subject, one.seed, 100 * (means[0] - means[1]))


def least(effects: Iterable[Effect]) -> list[Effect]:
    """Return the smallest effect for each dataset, subject and seed, which tests a statement of several parts."""
    found: dict[tuple[str, str, int], Effect] = {}
    for effect in effects:
        run = effect.dataset, effect.subject, effect.seed
        found[run] = min(found.get(run, effect), effect, key=lambda one: one.value)
    return [*found.values()]
