"""Declare the statements of papers, and test them on our records."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
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

# A scope consists of a condition in words, and a function that returns whether a record meets the condition.
Scope = tuple[str, Callable[[Any], bool]]
# Each argument of an effect function contains the records for one entry of `Claim.needs`.
EffectFunction = Callable[..., Iterable[Effect]]
R = TypeVar("R", bound=Record)  # The class of the records.


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Describe a statement of a paper, as an entry of the file ``claims.yaml`` in the paper's folder.

    Raises
    ------
    ValueError
        The margin has no reason, or is redundant because it equals the effect that means "no difference".
    """

    #: The statement in our words, so that it can be understood without the paper.
    statement: str
    #: Section, page or table of the paper that makes the statement.
    source: str
    #: The unit of the effects, and the two numbers that are subtracted or divided.
    unit: str
    #: "verbatim" is a statement in the paper's terms. "derived" follows from the paper's statements or numbers.
    #: "xmlc" is our own statement.
    stated: Literal["verbatim", "derived", "xmlc"]
    scale: Literal["difference", "distance", "ratio"] = "difference"
    #: Effects above the margin support the statement. By default, ``margin`` is the effect that means no difference: 0,
    #: or 1 for a ratio.
    margin: float | None = None
    #: The reason for the margin.
    because: str = ""
    #: Whether a single case against the statement refutes the statement, as for a lemma.
    every: bool = False
    #: Whether all seeds use hyperparameters from the same search.
    one_search: bool = False
    #: Whether effects are times or memory, which differ from run to run.
    cost: bool = False
    #: The quantity that the statement is about, if its published values helped to choose settings (``fitted`` in
    #: `selected`).
    quantity: str = ""

    def __post_init__(self) -> None:
        if self.margin is not None and (self.margin == Scale(self.scale).nothing or not self.because):
            raise ValueError(f"margin: found {self.margin}, expected a margin except 0 (ratios: 1) with a `because`")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Join a statement of a paper with its test. Calling a claim measures its effects."""

    #: Name of the claim's row in the table of claims.
    name: str
    said: Statement = field(hash=False)
    #: Records on which the claim is tested. Some or all records may be missing.
    needs: tuple[Where, ...]
    #: Function that returns the effects. Each argument of ``measure`` contains the records for one entry of ``needs``.
    measure: EffectFunction
    #: Condition on the records, or None to select all records.
    about: Scope | None = None
    #: Published effects, in the form that `outcome_of` expects. Claims have published effects only if they state that
    #: one model is as good as another.
    printed: PublishedEffects = field(default_factory=dict, hash=False)

    @property
    def scale(self) -> Scale:
        """Return the kind of the effects: differences, distances or ratios."""
        return Scale(self.said.scale)

    @property
    def mean_in_print(self) -> float:
        """Return the mean of the published effects. Published effects are differences.

        The mean is NaN if no effect is published.
        """
        effects = [effect for of_subject in self.printed.values() for effect in of_subject.values()]
        return math.fsum(effects) / len(effects) if effects else math.nan

    def concerned(self, *records: Sequence[Any]) -> list[list[Any]]:
        """Return the records that meet the claim's condition, in a separate list for each entry of ``needs``."""
        about = self.about[1] if self.about else lambda record: True
        return [[record for record in given if about(record)] for given in records]

    def __call__(self, *records: Sequence[Any]) -> list[Effect]:
        """Return the effects of the claim, measured on the records that meet the claim's condition."""
        return list(self.measure(*self.concerned(*records)))

    def outcome(self, *records: Sequence[Any], errors: Mapping[CaseKey, float] = MappingProxyType({})) -> Outcome:
        """Return the verdict on the claim, given the records for each entry of ``needs``.

        ``errors`` maps a case to the standard error that comes from the choice of test instances. ``errors`` has no
        entry for a case whose standard error is unknown.
        """
        margin = self.scale.nothing if self.said.margin is None else self.said.margin
        return outcome_of(self(*records), margin, self.scale, self.said.every, self.printed, errors)


def read_statements(paper: str) -> dict[str, Statement]:
    """Read the statements of a paper by name. A paper without statements has none.

    Raises
    ------
    XmlcError
        The file violates its schema.
    """
    file = statements_of(paper)
    return converted(read_yaml(file), dict[str, Statement], str(file)) if file.is_file() else {}


class Claims:
    """Collect the claims of a paper.

    Each claim joins a statement of the YAML file with a function that measures the effects.
    """

    def __init__(self, statements: Mapping[str, Statement]):
        self._statements = statements
        self._claims: dict[str, Claim] = {}

    @classmethod
    def of(cls, paper: str) -> Claims:
        """Read the statements of a paper.

        Raises
        ------
        XmlcError
            The file violates its schema.
        """
        return cls(read_statements(paper))

    def claim(
        self, name: str, *needs: Where, about: Scope | None = None, printed: PublishedEffects = NONE
    ) -> Callable[[EffectFunction], Claim]:
        """Return a decorator for the function that measures the effects of a claim."""

        def declare(measure: EffectFunction) -> Claim:
            said = self._statements[name]
            found = Claim(name=name, said=said, needs=needs, measure=measure, about=about, printed=printed)
            return self._claims.setdefault(name, found)

        return declare

    def all(self) -> list[Claim]:
        """Return the claims in the order of the statements in the YAML file.

        Raises
        ------
        ValueError
            A statement has no function that measures the effects.
        """
        if unmeasured := self._statements.keys() - self._claims.keys():
            raise ValueError(f"claims.yaml: found no function for {', '.join(sorted(unmeasured))}")
        return [self._claims[name] for name in self._statements]


def datasets(words: str, *names: str) -> Scope:
    """Return a condition that is true for records of the datasets ``names``, in any split of these datasets."""
    return words, lambda record: same_instances(record.dataset_name) in names


def by_method(records: Iterable[R]) -> Mapping[tuple[str, str, int], dict[str, R]]:
    """Group records by dataset, model and seed. Each group is a dict from method to record."""
    groups: dict[tuple[str, str, int], dict[str, R]] = {}
    for record in records:
        runs = groups.setdefault((record.dataset.name, record.model, record.seed), {})
        runs[record.method_name or ""] = record
    return groups


def by_model(records: Iterable[R]) -> Mapping[tuple[str, int], dict[str, R]]:
    """Group records by dataset and seed.

    Each group is a dict from model to record. The records of a group must not differ in method.
    """
    groups: dict[tuple[str, int], dict[str, R]] = {}
    for record in records:
        groups.setdefault((record.dataset.name, record.seed), {})[record.model] = record
    return groups


def pairs(records: Iterable[R], models: Collection[str], others: Collection[str]) -> Iterator[tuple[R, R]]:
    """Yield pairs of a record of ``models`` and a record of ``others``, for the same dataset and seed.

    The records must not differ in method.
    """
    for found in by_model(records).values():
        for model, other in product(models, others):
            if model in found and other in found:
                yield found[model], found[other]


def ranked_apart(subject: str, one: RankingRecord, other: RankingRecord, *metrics: str) -> Effect:
    """Return the difference between two rankings as an effect.

    The difference is a mean over ``metrics``, in percentage points.
    """
    means = [math.fsum(run.metrics[name] for name in metrics) / len(metrics) for run in (one, other)]
    return Effect(one.dataset.name, subject, one.seed, 100 * (means[0] - means[1]))


def least(effects: Iterable[Effect]) -> list[Effect]:
    """Return the smallest effect for each dataset, subject and seed.

    All parts of a statement hold if the smallest effect supports the statement.
    """
    found: dict[tuple[str, str, int], Effect] = {}
    for effect in effects:
        run = effect.dataset, effect.subject, effect.seed
        found[run] = min(found.get(run, effect), effect, key=lambda one: one.value)
    return [*found.values()]
