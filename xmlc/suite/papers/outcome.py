"""Decide the verdict on a statement by its effects. The rules are described in docs/claims.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from xmlc.suite.results.columns import MISSING
from xmlc.suite.results.intervals import Estimate, estimate_from, estimate_of, student_quantile
from xmlc.suite.results.verdicts import ClaimVerdict

FEWEST_DATASETS = 3
# Maps the split that a paper's authors ship to another split of the same instances
# (`counted_once`).
OTHER_SPLITS = {"delicious-ldsm": "delicious"}
LARGE_RATIO = 100  # Ratios of at least this value are printed without decimals.

# Maps a subject to a dict from dataset to effect.
PublishedEffects = Mapping[str, Mapping[str, float]]
NONE: PublishedEffects = MappingProxyType({})
CaseKey = tuple[str, str]  # Dataset and subject of a case.
FOR = 1
OPEN = 0
AGAINST = -1
# The side of a case that supports the statement, but whose effect has the opposite sign of the
# published effect.
OPPOSITE = 2


@dataclass(frozen=True)
class Scale:
    """Define how effects of one kind are averaged and compared with a margin.

    Means and intervals of ratios are computed from logarithms and converted back to ratios. A
    distance is a difference that is compared with the margin by its absolute value.
    """

    kind: Literal["difference", "distance", "ratio"] = "difference"

    @property
    def nothing(self) -> float:
        """Return the effect that means "no difference": 1 for ratios, and 0 otherwise."""
        return float(self.kind == "ratio")

    def forth(self, value: float) -> float:
        """Return the logarithm of an effect that is a ratio, and leave other effects unchanged."""
        from xmlc.kernels import float64

        if self.kind != "ratio":
            return float(value)
        return float64.log(value)

    def back(self, value: float) -> float:
        """Convert a mean of logarithms back to a ratio, and leave means of other effects unchanged."""
        from xmlc.kernels import float64

        if self.kind != "ratio":
            return float(value)
        return float64.exp(value)

    def side(self, estimate: Estimate, margin: float, in_print: float = math.nan) -> int:
        """Return the side of an interval: for, against, open, or opposite sign.

        The side is "opposite sign" if the interval supports the statement, but the published effect
        has the opposite sign.

        Parameters
        ----------
        estimate : Estimate
            The mean effect and its interval, both converted by `forth`.
        margin, in_print : float
            The margin and the published effect, in the unit of effects. ``in_print`` is NaN if no
            effect is published.
        """
        level = self.forth(margin)
        side = estimate.side_of(level)
        if self.kind == "distance":
            side = min(side, -estimate.side_of(-level))
        if side == FOR and self.forth(in_print) * estimate.side_of(0) < 0:
            return OPPOSITE
        return side

    def printed(self, effect: Estimate) -> str:
        """Format an effect and its interval, such as ``+1.25 [0.50, 2.00]``, or a dash."""
        if math.isnan(effect.mean):
            return MISSING
        mean = self._formatted(effect.mean)
        if not effect.has_interval:
            return mean
        return f"{mean} [{self._formatted(effect.lower)}, {self._formatted(effect.upper)}]"

    def _formatted(self, value: float) -> str:
        if self.kind != "ratio":
            return f"{value:+.2f}"
        if value < LARGE_RATIO:
            return f"{value:.2f}"
        return f"{value:.0f}"


@dataclass(frozen=True)
class Effect:
    """A paired difference or ratio of two numbers."""

    dataset: str
    #: The model, or the pair of methods, that the effect is about, or an empty text.
    subject: str
    seed: int
    #: The value of the difference or ratio. Ratios are positive. A value above the margin supports
    #: the statement.
    value: float
    #: Standard error of the value, or of the logarithm of a ratio, if one record covers several
    #: trials. The error is 0 if the value involves no random choice. The error determines the
    #: interval of a case with one seed. With several seeds, the interval is computed from the
    #: variation over seeds.
    error: float | None = None
    #: Number of trials from which the standard error is computed, at least 2.
    trials: int = 2


@dataclass(frozen=True)
class Case:
    """The mean effect of one dataset and subject over seeds, and its side (`Scale.side`).

    The interval of ``on_tests`` includes the standard error from the choice of test instances, if
    this error is known. Only the interval of ``effect`` decides ``side``. ``lost`` is true if the
    side would be different with the interval of ``on_tests``. ``printed`` is the published effect.
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
    """Hold the verdict on a statement, and the cases that decide the verdict.

    Attributes
    ----------
    cases : tuple of Case
        The cases, in the order of the effects.
    effect : Estimate
        Mean over datasets, after averaging the cases of each dataset. The mean has an interval if
        there are at least three datasets. For a single case, the mean is the effect of this case.
    word : ClaimVerdict
    every : bool
        Whether a single case against the statement has refuted the statement.
    """

    cases: tuple[Case, ...]
    effect: Estimate
    word: ClaimVerdict
    every: bool = False

    @property
    def sides(self) -> tuple[int, int, int]:
        """Count the cases for the statement, against the statement, and with opposite sign."""
        return sides_of([case.side for case in self.cases])

    @property
    def lost(self) -> int | None:
        """Return the number of cases whose side changes if intervals include the bootstrap error.

        The number is None if no case has a known standard error from the choice of test instances.
        """
        if not self.tested:
            return None
        return sum(case.lost for case in self.cases)

    @property
    def tested(self) -> int:
        """Return the number of cases with a known error from the choice of test instances."""
        return sum(case.on_tests.has_interval for case in self.cases)

    @property
    def verdict(self) -> str:
        """Return the verdict as text, with the numbers of cases or datasets that decide it."""
        supports, contradicts, opposites = self.sides
        cases = len(self.cases)
        also = ""
        if opposites:
            also = f", {opposites} with opposite sign"
        datasets = {same_instances(case.dataset) for case in self.cases}
        in_the_mean = f"{self.word} in the mean of {len(datasets)} datasets"
        match self.word:
            case ClaimVerdict.HOLDS if supports > cases / 2:
                return f"holds on {supports} of {cases}{also}"
            case ClaimVerdict.DOES_NOT_HOLD if self.every or contradicts > cases / 2:
                return f"does not hold: {contradicts} of {cases} against"
            case ClaimVerdict.HOLDS | ClaimVerdict.DOES_NOT_HOLD:
                return in_the_mean
            case ClaimVerdict.UNDECIDED if supports + contradicts + opposites:
                return f"undecided: {supports} of {cases} for, {contradicts} against{also}"
        return str(self.word)


def outcome_of(
    effects: Sequence[Effect],
    margin: float,
    scale: Scale = Scale(),
    every: bool = False,
    printed: PublishedEffects = NONE,
    errors: Mapping[CaseKey, float] = MappingProxyType({}),
) -> Outcome:
    """Return the verdict on a statement, given its effects.

    Parameters
    ----------
    effects : sequence of Effect
        Effects of different datasets, subjects or seeds.
    margin : float
        The margin, in the unit of the effects.
    scale : Scale
    every : bool
        Whether one case against the statement refutes the statement.
    printed : mapping
        Published effects by subject and dataset. Effects of the empty subject apply to all subjects
        without published effects. A case for the statement has the side "opposite sign" if its
        whole interval has the opposite sign of the published effect.
    errors : mapping of (dataset, subject) to float
        Standard errors from the choice of test instances, for the cases with a known error.

    Raises
    ------
    ValueError
        Two effects have the same dataset, subject and seed, or a value is not finite.
    """
    if not effects:
        return Outcome((), Estimate(math.nan), ClaimVerdict.NOT_RUN)
    cases = []
    estimates = {}
    for (dataset, subject), runs in by_case(counted_once(effects)).items():
        first, *others = runs
        if first.error is not None and not others:
            estimate = estimate_from(scale.forth(first.value), first.error, first.trials)
        else:
            estimate = estimate_of([scale.forth(effect.value) for effect in runs])
        estimates[dataset, subject] = estimate
        of_subject = printed.get(subject, printed.get("", {}))
        in_print = of_subject.get(same_instances(dataset), math.nan)
        side = scale.side(estimate, margin, in_print)
        on_tests = _with_test(estimate, errors.get((dataset, subject)))
        lost = on_tests.has_interval and scale.side(on_tests, margin, in_print) != side
        effect = estimate.mapped(scale.back)
        on_tests = on_tests.mapped(scale.back)
        cases.append(Case(dataset, subject, len(runs), effect, side, on_tests, lost, in_print))
    overall = estimate
    if len(cases) > 1:
        overall = _over_datasets(estimates)
    word = verdict([case.side for case in cases], scale.side(overall, margin), every)
    refuted = every and word is ClaimVerdict.DOES_NOT_HOLD
    return Outcome(tuple(cases), overall.mapped(scale.back), word, refuted)


def verdict(cases: Sequence[int], overall: int, every: bool = False) -> ClaimVerdict:
    """Return the verdict from the sides of all cases and of their mean over datasets (``overall``).

    If ``every`` is true, a single case against the statement refutes the statement.
    """
    supports, contradicts, opposites = sides_of(cases)
    half = len(cases) / 2
    decided = len(cases) - cases.count(OPEN)
    if every and contradicts:
        return ClaimVerdict.DOES_NOT_HOLD
    if opposites > half:
        return ClaimVerdict.UNDECIDED
    if supports > half or (decided <= half and overall > 0 and not contradicts + opposites):
        return ClaimVerdict.HOLDS
    if contradicts > half or (decided <= half and overall < 0 and not supports + opposites):
        return ClaimVerdict.DOES_NOT_HOLD
    return ClaimVerdict.UNDECIDED


def sides_of(cases: Sequence[int]) -> tuple[int, int, int]:
    """Count the cases for the statement, against the statement, and with opposite sign."""
    return cases.count(FOR), cases.count(AGAINST), cases.count(OPPOSITE)


def counted_once(effects: Sequence[Effect]) -> list[Effect]:
    """Return the effects without a second split of the same instances.

    If a subject has effects on the split of Delicious that the authors of LdSM ship, its effects on
    the other split are left out, in the statements of all papers. Numbers follow the same rule
    (`report_on` in ``config/datasets.yaml``).
    """
    left_out = set()
    for effect in effects:
        if effect.dataset in OTHER_SPLITS:
            left_out.add((OTHER_SPLITS[effect.dataset], effect.subject))
    return [effect for effect in effects if (effect.dataset, effect.subject) not in left_out]


def same_instances(dataset: str) -> str:
    """Return the name that all splits of the same instances share.

    In means, all splits of the same instances count as one dataset.
    """
    return OTHER_SPLITS.get(dataset, dataset)


def together(*errors: float) -> float:
    """Return the standard error of a sum of independent numbers, given their standard errors."""
    return math.sqrt(math.fsum(error * error for error in errors))


def by_case(effects: Sequence[Effect]) -> dict[CaseKey, list[Effect]]:
    """Return a dict from each case to its effects, in the order of seeds.

    Raises
    ------
    ValueError
        Two effects have the same dataset, subject and seed, or a value is not finite.
    """
    groups: dict[CaseKey, dict[int, Effect]] = {}
    for effect in effects:
        runs = groups.setdefault((effect.dataset, effect.subject), {})
        if effect.seed in runs or not math.isfinite(effect.value):
            raise ValueError(f"{effect}: expected one finite effect for each case and seed")
        runs[effect.seed] = effect
    return {place: [runs[seed] for seed in sorted(runs)] for place, runs in groups.items()}


def _over_datasets(estimates: Mapping[CaseKey, Estimate]) -> Estimate:
    by_dataset: dict[str, list[float]] = {}
    for (dataset, _), estimate in estimates.items():
        by_dataset.setdefault(same_instances(dataset), []).append(estimate.mean)
    means = [math.fsum(of_dataset) / len(of_dataset) for of_dataset in by_dataset.values()]
    return estimate_of(means, FEWEST_DATASETS)


def _with_test(estimate: Estimate, error: float | None) -> Estimate:
    """Return the estimate with an interval that includes the error from the test instances.

    More seeds do not reduce the error from the choice of test instances.
    """
    if not estimate.has_interval or error is None:
        return Estimate(estimate.mean)
    half = together(estimate.upper - estimate.mean, student_quantile(math.inf) * error)
    return Estimate(estimate.mean, estimate.mean - half, estimate.mean + half)
