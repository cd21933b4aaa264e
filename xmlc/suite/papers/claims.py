"""Statements of papers, tested on our records: how a claim is declared, the rules of its verdict, and the table.

docs/claims.md has the rules in words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from xmlc.data.synthetic import is_synthetic
from xmlc.suite.config.planned import Where
from xmlc.suite.papers.resampling import Place, errors_on_tests
from xmlc.suite.papers.table import (
    Cell,
    Panel,
    PanelColumn,
    Table,
    TableDefinition,
    digests_line,
    headings_of,
    synthetic_line,
)
from xmlc.suite.results.columns import COST, column
from xmlc.suite.results.frame import Number, Row, Source, row_of
from xmlc.suite.results.intervals import Estimate, estimate_from, estimate_of, student_quantile
from xmlc.suite.results.records.base import Record
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.titles import model_title

FEWEST_DATASETS = 3
# Of the same instances as another dataset: units of their own, but one dataset where datasets are counted or averaged.
OTHER_SPLITS = {"delicious-ldsm": "delicious"}

# Of effects; a distance is a difference for which the margin is one on either side of 0.
Scale = Literal["difference", "distance", "ratio"]
# By the paper in these terms; by us from what it states or prints; by us alone.
Stated = Literal["verbatim", "derived", "ours"]
Scope = tuple[str, Callable[[Any], bool]]  # a condition in words, and whether a record meets it
Printed = Mapping[str, Mapping[str, float]]  # effects by subject and dataset
NONE: Printed = MappingProxyType({})
Word = Literal["holds", "does not hold", "reversed", "mixed", "cannot be told", "no data"]
REVERSED = 2  # side of a unit that is within the tolerance, with the other sign than in print


@dataclass(frozen=True)
class Effect:
    """One paired difference or ratio."""

    dataset: str
    #: What of the dataset it is about, such as a model, or a pair of methods of one; may be empty.
    subject: str
    seed: int
    #: Above the margin it speaks for the statement. A ratio is positive.
    value: float
    #: Standard error (of a ratio: of its logarithm) where one record tells of several trials; 0 where nothing is drawn
    #: at random. It decides a unit of one seed; of several seeds, these tell how far values vary.
    error: float | None = None
    #: Behind the standard error, at least 2.
    trials: int = 2


@dataclass(frozen=True)
class Unit:
    """The effects of one dataset and subject: their mean over seeds, and the side that they take.

    The side is 1 for the statement, 0 where it is open, -1 against it, `REVERSED` where it would be for it and the sign
    is another than that of ``printed``, the paper's number. The interval of ``on_tests`` has the error of the test set
    too, where that is known. It decides nothing; ``lost`` says that the side would be another by it.
    """

    dataset: str
    subject: str
    seeds: int
    effect: Estimate
    side: int
    on_tests: Estimate
    lost: bool = False
    printed: float = math.nan


@dataclass(frozen=True)
class Outcome:
    """Verdicts on a statement by its effects.

    Attributes
    ----------
    units : tuple of Unit
        In the order of the effects.
    effect : Estimate
        Mean over datasets, each with the mean of its units; with an interval, where there are at least three datasets.
        That of a single unit is the unit's.
    word : str
    every : bool
        Whether one unit against it refutes the statement.
    """

    units: tuple[Unit, ...]
    effect: Estimate
    word: Word
    every: bool = False

    @property
    def sides(self) -> tuple[int, int, int]:
        """Numbers of units that are for the statement, against it, and reversed."""
        supports, contradicts, reversals = map([unit.side for unit in self.units].count, (1, -1, REVERSED))
        return supports, contradicts, reversals

    @property
    def lost(self) -> int | None:
        """Number of units that lose their side by the test set's error; None where none tells its error."""
        return sum(unit.lost for unit in self.units) if self.told else None

    @property
    def told(self) -> int:
        """Number of units that tell the test set's error."""
        return sum(unit.on_tests.has_interval for unit in self.units)

    @property
    def verdict(self) -> str:
        """The verdict as a reader wants it: on how many units it rests, or that it is the datasets' mean."""
        supports, contradicts, reversals = self.sides
        of, half = f"of {len(self.units)}", len(self.units) / 2
        also = f", {reversals} reversed" if reversals else ""
        in_the_mean = f"in the mean of {len({same_instances(unit.dataset) for unit in self.units})} datasets"
        match self.word:
            case "holds":
                return f"holds on {supports} {of}{also}" if supports > half else f"holds {in_the_mean}"
            case "does not hold":
                against = f": {contradicts} {of} against" if self.every or contradicts > half else f" {in_the_mean}"
                return f"does not hold{against}"
            case "reversed":
                return f"reversed: {reversals} {of}"
            case "mixed":
                return f"mixed: {supports} {of} for, {contradicts} against{also}"
        return self.word


def outcome_of(
    effects: Sequence[Effect],
    margin: float,
    scale: Scale = "difference",
    every: bool = False,
    printed: Printed = NONE,
    errors: Mapping[Place, float] = MappingProxyType({}),
) -> Outcome:
    """Decide a statement by its effects; the module's text has the rules.

    Parameters
    ----------
    effects : sequence of Effect
        At most one of each dataset, subject and seed.
    margin : float
        In the unit of the effects.
    scale : {"difference", "distance", "ratio"}
        Means and intervals of ratios are taken of their logarithms, and given as ratios again.
    every : bool
        Whether one unit against it refutes the statement.
    printed : mapping
        Effects in print, by subject and dataset; those under no subject are of all others. A unit that would be for the
        statement while its whole interval has the other sign is reversed.
    errors : mapping of (dataset, subject) to float
        Standard errors by the choice of the test instances, of units that have one.

    Raises
    ------
    ValueError
        Two effects are of the same dataset, subject and seed, or a value cannot be one.
    """
    if not effects:
        return Outcome((), Estimate(math.nan), "no data")
    from xmlc.kernels import float64

    forth, back = (float64.log, float64.exp) if scale == "ratio" else (float, float)
    groups: dict[tuple[str, str], dict[int, Effect]] = {}
    for effect in effects:
        runs = groups.setdefault((effect.dataset, effect.subject), {})
        if effect.seed in runs or not math.isfinite(effect.value):
            raise ValueError(f"{effect}: expected one finite effect of each dataset, subject and seed")
        runs[effect.seed] = effect
    estimates = {key: _estimate([runs[seed] for seed in sorted(runs)], forth) for key, runs in groups.items()}
    level = forth(margin)

    def side_of(estimate: Estimate, in_print: float = math.nan) -> int:
        side = estimate.side_of(level)
        side = min(side, -estimate.side_of(-level)) if scale == "distance" else side
        return REVERSED if side == 1 and forth(in_print) * estimate.side_of(0) < 0 else side

    units = []
    for (dataset, subject), estimate in estimates.items():
        runs = groups[dataset, subject]
        in_print = printed.get(subject, printed.get("", {})).get(same_instances(dataset), math.nan)
        on_tests, side = _with_test(estimate, errors.get((dataset, subject))), side_of(estimate, in_print)
        lost = on_tests.has_interval and side_of(on_tests, in_print) != side
        both = estimate.mapped(back), side, on_tests.mapped(back)
        units.append(Unit(dataset, subject, len(runs), *both, lost, in_print))
    by_dataset: dict[str, list[float]] = {}
    for (dataset, _), estimate in estimates.items():
        by_dataset.setdefault(same_instances(dataset), []).append(estimate.mean)
    overall = estimate_of([math.fsum(means) / len(means) for means in by_dataset.values()], FEWEST_DATASETS)
    if len(units) == 1:
        overall = next(iter(estimates.values()))
    word = _word([unit.side for unit in units], side_of(overall), every)
    return Outcome(tuple(units), overall.mapped(back), word, every and word == "does not hold")


def same_instances(dataset: str) -> str:
    """Return the name under which the instances of a dataset are counted, whatever their split."""
    return OTHER_SPLITS.get(dataset, dataset)


def _estimate(effects: Sequence[Effect], forth: Callable[[float], float]) -> Estimate:
    """Estimate the mean of a unit's effects, one of each seed, on the scale of the verdict."""
    first, *others = effects
    if first.error is not None and not others:
        return estimate_from(forth(first.value), first.error, first.trials)
    return estimate_of([forth(effect.value) for effect in effects])


def together(*errors: float) -> float:
    """Return the standard error of a sum of independent numbers by their standard errors."""
    return math.sqrt(math.fsum(error * error for error in errors))


def _with_test(estimate: Estimate, error: float | None) -> Estimate:
    """Widen an interval by the error of the test set, which more seeds do not make as small as one likes."""
    if not estimate.has_interval or error is None:
        return Estimate(estimate.mean)
    half = together(estimate.upper - estimate.mean, student_quantile(math.inf) * error)
    return Estimate(estimate.mean, estimate.mean - half, estimate.mean + half)


def _word(sides: Sequence[int], overall: int, every: bool) -> Word:
    supports, contradicts, reversals = (sides.count(side) for side in (1, -1, REVERSED))
    half, decided = len(sides) / 2, len(sides) - sides.count(0)
    if every and contradicts:
        return "does not hold"
    if reversals > half:
        return "reversed"
    if supports > half or (decided <= half and overall > 0 and not contradicts + reversals):
        return "holds"
    if contradicts > half or (decided <= half and overall < 0 and not supports + reversals):
        return "does not hold"
    return "mixed" if decided > half else "cannot be told"


CLAIMS = "claims"  # name of the table
KEYS = ("claim",)
# Columns of what the records say.
DECIDED = ("effect", "lower", "upper", "supports", "contradicts", "reversals", "lost", "verdict")
# Of effects in the CSV: libraries agree on logarithms and exponentials to more digits than these, not to the last bit.
DIGITS = 9
LARGE_RATIO = 100  # from which on decimals say nothing
SOURCE = "Source: "  # begins the last paragraph of a claim's docstring
SIDES = {1: "for", 0: "open", -1: "against", REVERSED: "reversed"}
CALIBRATED = "‡"  # behind what rests on settings chosen on the printed test results

Measure = Callable[..., Iterable[Effect]]  # of the records of each need
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of a paper and its test; calling it measures the effects.

    Raises
    ------
    ValueError
        A margin is none, or has no reason.
    """

    #: Of its row.
    name: str
    #: Records that it is tested on; some or all may be missing.
    needs: tuple[Where, ...]
    #: In our words, so that it can be read without the paper.
    statement: str
    #: Where the paper states it: section, page of the paper, table.
    source: str
    #: Takes the records of each need and returns the effects.
    measure: Measure
    stated: Stated
    #: Of the effects; what is subtracted from, or divided by, what.
    unit: str
    #: What an effect must exceed to speak for the statement, and why; no difference, where none is given.
    margin: tuple[float, str] | None = None
    scale: Scale = "difference"
    #: Which records the statement is about; of all, where none is given.
    about: Scope | None = None
    #: Effects in print, as `outcome_of` takes them, where a margin is a word for equal.
    printed: Printed = field(default_factory=dict, hash=False)
    #: Whether one unit against it refutes the statement, such as a lemma.
    every: bool = False
    #: Whether hyperparameters are of one search for all seeds.
    one_search: bool = False
    #: Whether effects are of clocks or of memory, so that they differ from run to run.
    cost: bool = False

    def __post_init__(self) -> None:
        if self.margin and (self.margin[0] == self.nothing or not self.margin[1]):
            raise ValueError(f"margin {self.margin}; expected another than no difference, and its reason")

    @property
    def nothing(self) -> float:
        """The effect that is no difference."""
        return 1.0 if self.scale == "ratio" else 0.0

    @property
    def mean_in_print(self) -> float:
        """The mean of the effects in print, which are differences; NaN without any."""
        effects = [effect for of_subject in self.printed.values() for effect in of_subject.values()]
        return math.fsum(effects) / len(effects) if effects else math.nan

    def concerned(self, *records: Sequence[Any]) -> list[list[Any]]:
        """Keep, of the records of each need, those that the statement is about."""
        about = self.about[1] if self.about else lambda record: True
        return [[record for record in given if about(record)] for given in records]

    def __call__(self, *records: Sequence[Any]) -> list[Effect]:
        """Measure the effects in the records of each need, as far as the statement is about them."""
        return list(self.measure(*self.concerned(*records)))

    def outcome(self, *records: Sequence[Any], errors: Mapping[Place, float] = MappingProxyType({})) -> Outcome:
        """Decide the claim by the records of each need; ``errors`` are the test set's, of units that have one."""
        margin = self.margin[0] if self.margin else self.nothing
        return outcome_of(self(*records), margin, self.scale, self.every, self.printed, errors)


def datasets(words: str, *names: str) -> Scope:
    """Declare that a statement is about the datasets of these names, in any split of theirs."""
    return words, lambda record: same_instances(record.dataset_name) in names


def claim(*needs: Where, **about: Any) -> Callable[[Measure], Claim]:
    """Declare the claim whose effects the function below measures; its name and docstring are the claim's.

    The first paragraph of the docstring is the statement, the last is ``Source:`` and where the paper states it; what
    is measured may stand between them.

    Parameters
    ----------
    *needs : Where
    **about : object
        The other fields of `Claim`.

    Raises
    ------
    ValueError
        The docstring has no source, or a margin is none, or has no reason.
    """

    def declare(measure: Measure) -> Claim:
        name = measure.__name__.replace("_", "-")
        said = [" ".join(part.split()) for part in (measure.__doc__ or "").split("\n\n")]
        if not said[-1].startswith(SOURCE):
            raise ValueError(f"claim {name}: expected a docstring whose last paragraph begins with {SOURCE!r}")
        source = said[-1].removeprefix(SOURCE)
        return Claim(name=name, needs=needs, statement=said[0], source=source, measure=measure, **about)

    return declare


def claims_table(claims: Sequence[Claim]) -> TableDefinition:
    """Declare the table of a paper's claims, a row for each.

    Raises
    ------
    ValueError
        Two claims have one name, or two needs are of the same kind and portion, which files do not tell apart.
    """
    needs = tuple(dict.fromkeys(need for one in claims for need in one.needs))
    if len({one.name for one in claims}) < len(claims) or len({(n.kind, n.portion) for n in needs}) < len(needs):
        raise ValueError("claims: expected names that differ, and one need of each kind and portion")

    words = tuple(f"{one.statement} {SOURCE} {one.source}" for one in claims)

    def build(table: Table) -> None:
        given = dict(zip(needs, (_real(sources) for sources in table.given), strict=True))
        models = table.suite.all_models if table.suite else {}
        calibrated = {name for name, model in models.items() if model.calibration}
        others = {need: [r for r in given[need] if getattr(r, "model", "") not in calibrated] for need in needs}

        def decided(
            one: Claim, by_need: Mapping[Where, list[Any]], errors: Mapping[Place, float] = MappingProxyType({})
        ) -> Outcome:
            return one.outcome(*(by_need[need] for need in one.needs), errors=errors)

        outcomes = {one: decided(one, given) for one in claims}
        rest = [one.name for one in claims if calibrated and repr(decided(one, others)) != repr(outcomes[one])]
        errors = errors_on_tests([one for one in claims if not one.cost], given)
        outcomes |= {one: decided(one, given, of_places) for one, of_places in errors.items()}
        _make(table, outcomes, rest)

    columns = ("stated", "printed", *DECIDED, *(COST + name for name in DECIDED), "units")
    return TableDefinition(
        name=CLAIMS, needs=needs, keys=KEYS, columns=columns, build=build, partial=True, takes_suite=True, words=words
    )


def _real(sources: Iterable[Source]) -> list[Any]:
    """Return the records of real data, because claims of papers do not concern synthetic data."""
    return [source.record for source in sources if not is_synthetic(source.record.dataset_name)]


def counted(table: Table) -> Counter[Word]:
    """Count the verbatim statements of a table by verdict, those about costs left out."""
    verdicts = [row["verdict"].value for row in table.rows.values() if row["stated"].value == "verbatim"]
    return Counter(verdict for verdict in verdicts if verdict)


def claims_line(counts: Counter[Word]) -> str:
    """Count the claims that hold, and the others by verdict; verdicts without claims are left out."""
    denied = counts["does not hold"]
    words = [f"{counts['holds']} of {counts.total()} claims hold"]
    words += [f"{denied} do{'es' * (denied == 1)} not"] if denied else []
    rest: Sequence[Word] = ("reversed", "mixed", "cannot be told", "no data")
    return ", ".join(
        words + [f"{counts[word]} {word.replace('no data', 'without data')}" for word in rest if counts[word]]
    )


def by_method(records: Iterable[R]) -> Mapping[tuple[str, str, int], dict[str, R]]:
    """Group records by dataset, model and seed: of each, the records by method."""
    groups: dict[tuple[str, str, int], dict[str, R]] = {}
    for record in records:
        runs = groups.setdefault((record.dataset.name, record.model, record.seed), {})
        runs[record.method_name or ""] = record
    return groups


def by_model(records: Iterable[R]) -> Mapping[tuple[str, int], dict[str, R]]:
    """Group records of one method, or of none, by dataset and seed: of each, the records by model."""
    groups: dict[tuple[str, int], dict[str, R]] = {}
    for record in records:
        groups.setdefault((record.dataset.name, record.seed), {})[record.model] = record
    return groups


def ranked_apart(dataset: str, subject: str, one: RankingRecord, other: RankingRecord, *metrics: str) -> Effect:
    """Return by how many points the mean of some measures of one ranking exceeds that of another."""
    means = [math.fsum(run.metrics[name] for name in metrics) / len(metrics) for run in (one, other)]
    return Effect(dataset, subject, one.seed, 100 * (means[0] - means[1]))


def least(effects: Iterable[Effect]) -> list[Effect]:
    """Keep of each dataset, subject and seed the effect that speaks least for a statement of several parts."""
    found: dict[tuple[str, str, int], Effect] = {}
    for effect in effects:
        run = effect.dataset, effect.subject, effect.seed
        found[run] = min(found.get(run, effect), effect, key=lambda one: one.value)
    return [*found.values()]


def _make(table: Table, outcomes: Mapping[Claim, Outcome], calibrated: Collection[str]) -> None:
    table.rows = {(one.name,): _row(one, outcome) for one, outcome in outcomes.items()}
    table.panels = [_summary(outcomes, calibrated), *(_units(*one) for one in outcomes.items() if one[1].units)]
    table.caption = (
        "What the paper states, tested on our records. An effect above the margin, which is no difference where no "
        "other is named, speaks for the statement. Effects are paired, run by run; their mean over seeds, with a 95 % "
        "interval, decides each dataset and subject: for, against, or open. In the first panel they are means over "
        "datasets, with the interval over these where there are at least three. A statement holds where more than half "
        "of all are for it, or, where most are open, by the mean over datasets if none is against it. Where the paper "
        "prints the effect, its mean over the paper's datasets stands beside ours; a unit of which ours has surely the "
        "other sign is reversed, however small it is. Of the units whose test set's error is known, so many lose their "
        "side by it. The paper states "
        "it in these terms (verbatim), or we draw it from what stands there (derived), or it is ours. "
        "Counts are of the verbatim ones, without costs."
    )
    records = [record for record in table.records if isinstance(record, Record)]
    about = [f"{one.name}: about {one.about[0]}." for one in outcomes if one.about]
    about += [f"{one.name}: margin {one.margin[0]:g}, {one.margin[1]}." for one in outcomes if one.margin]
    if every := [one.name for one in outcomes if one.every]:
        about.append(f"Refuted by one unit against them: {', '.join(every)}.")
    if calibrated:
        about.append(
            f"{CALIBRATED} On models with settings calibrated on printed test results rest: {', '.join(calibrated)}."
        )
    if searched := [one.name for one in outcomes if one.one_search]:
        about.append(f"With hyperparameters of one search for all seeds: {', '.join(searched)}.")
    table.digests = {record.dataset.name: record.dataset.digest for record in records}
    if costs := [one.name for one in outcomes if one.cost]:
        about.append(f"Of clocks or memory, so that they differ from run to run: {', '.join(costs)}.")
    about += synthetic_line(table.records, ", and no claim is tested on them")
    table.notes = about + [digests_line(records)] * bool(records)


def _row(one: Claim, outcome: Outcome) -> Row:
    effect = outcome.effect
    numbers = [round(value, DIGITS) for value in (effect.mean, effect.lower, effect.upper)]
    decided = dict(zip(DECIDED, (*numbers, *outcome.sides, outcome.lost, outcome.word), strict=True))
    # Numbers of clocks and memory differ from run to run, and verdicts with them: they have columns of their own.
    measured, timed = (None, decided) if one.cost else (decided, None)
    row: dict[str, object] = {"stated": one.stated, "printed": round(one.mean_in_print, DIGITS)}
    row |= {name: measured[name] if measured else None for name in DECIDED}
    row |= {COST + name: timed[name] if timed else None for name in DECIDED}
    seeds = min((unit.seeds for unit in outcome.units), default=0)
    row |= {"units": len(outcome.units), "seeds": seeds}
    return row_of((one.name,), row)


def _summary(outcomes: Mapping[Claim, Outcome], calibrated: Collection[str]) -> Panel:
    rows = [(one.name, one.statement, one.source, one.unit) for one in outcomes]
    names = [one.name for one in outcomes]
    columns = [
        _texts("stated", names, [one.stated for one in outcomes]),
        _texts("effect", names, [_printed(one, outcome.effect) for one, outcome in outcomes.items()]),
        _texts("printed", names, [_printed(one, Estimate(one.mean_in_print)) for one in outcomes]),
        _texts("lost", names, ["" if (lost := o.lost) is None else f"{lost} of {o.told}" for o in outcomes.values()]),
        _texts("verdict", names, [o.verdict + f" {CALIBRATED}" * (c.name in calibrated) for c, o in outcomes.items()]),
    ]
    return Panel("", headings_of(("claim", "statement", "source", "unit")), rows, columns, KEYS)


def _units(one: Claim, outcome: Outcome) -> Panel:
    """Return a claim's effects, unit by unit."""
    names = [one.name] * len(outcome.units)
    told = [_printed(one, unit.on_tests) if unit.on_tests.has_interval else "" for unit in outcome.units]
    columns = [
        _texts("unit_effect", names, [_printed(one, unit.effect) for unit in outcome.units]),
        _texts("printed", names, [_printed(one, Estimate(unit.printed)) for unit in outcome.units]),
        *([_texts("on_tests", names, told)] if any(told) else []),
        _texts("seeds", names, [str(unit.seeds) for unit in outcome.units]),
        _texts("side", names, [_side(unit) for unit in outcome.units]),
    ]
    of_subjects = any(unit.subject for unit in outcome.units)
    rows = [(unit.dataset, model_title(unit.subject)) if of_subjects else (unit.dataset,) for unit in outcome.units]
    headings = headings_of(("dataset", "subject")[: 1 + of_subjects])
    return Panel(f"{one.name}: {one.unit}", headings, rows, columns, KEYS, detail=True)


def _side(unit: Unit) -> str:
    return SIDES[unit.side] if unit.effect.has_interval else "one seed"


def _texts(quantity: str, claims: Sequence[str], texts: Sequence[str]) -> PanelColumn:
    cells = [
        Cell((claim,), quantity, Number(quantity=quantity, value=text))
        for claim, text in zip(claims, texts, strict=True)
    ]
    return PanelColumn(column(quantity).heading, quantity, cells)


def _printed(one: Claim, effect: Estimate) -> str:
    """Write an effect with its interval, such as ``+1.25 [0.50, 2.00]``."""
    if math.isnan(effect.mean):
        return column("effect").printed(None)
    mean, lower, upper = (_number(value, one.scale) for value in (effect.mean, effect.lower, effect.upper))
    return f"{mean} [{lower}, {upper}]" if effect.has_interval else mean


def _number(value: float, scale: Scale) -> str:
    if scale != "ratio":
        return f"{value:+.2f}"
    return f"{value:.2f}" if value < LARGE_RATIO else f"{value:.0f}"
