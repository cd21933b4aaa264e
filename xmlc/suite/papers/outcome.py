"""Decide the verdict on a statement by its effects, with the rules of docs/claims.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from xmlc.suite.results.intervals import Estimate, estimate_from, estimate_of, student_quantile
from xmlc.suite.results.verdicts import ClaimVerdict

FEWEST_DATASETS = 3
# The split that a paper's authors ship, and another split of the same instances (`by_case`)
OTHER_SPLITS = {"delicious-ldsm": "delicious"}
FOR = 1
OPEN = 0
AGAINST = -1
# For the statement, but the published effect has the opposite sign
OPPOSITE = 2
Scale = Literal["difference", "distance", "ratio"]


@dataclass(frozen=True)
class Effect:
    """A paired difference or ratio of two numbers."""

    dataset: str
    #: Model or pair of methods, or "".
    subject: str
    seed: int
    #: Supports the statement if above the margin. Ratios are positive.
    value: float
    #: Standard error of the value, or of a ratio's logarithm, if one record covers several trials,
    #: and 0 without random choices. It serves only cases with one seed, because several seeds show
    #: their variation.
    error: float | None = None
    #: Number of trials behind the standard error, at least 2.
    trials: int = 2
    #: Values on resampled test sets, if known.
    resampled: Sequence[float] = ()


@dataclass(frozen=True)
class Case:
    """The mean effect of one dataset and subject over seeds, with its side (`side_of`) and the
    published effect ``printed``.

    Only the interval of ``effect`` decides ``side``. But ``on_tests`` includes the standard error
    from the choice of test instances, and ``lost`` is true if it would change the side.
    """

    dataset: str
    subject: str
    seeds: int
    effect: Estimate
    side: int
    on_tests: Estimate
    lost: bool
    printed: float


@dataclass(frozen=True)
class Outcome:
    """The verdict on a statement, and the cases that decide it in the order of the effects.

    ``effect`` is the mean over datasets, after averaging the cases of each, with an interval if
    there are at least three. A single case keeps its estimate. ``sides`` count the cases for,
    against, and with opposite sign, and ``tested`` those with a known error from the choice of test
    instances.
    """

    cases: tuple[Case, ...]
    effect: Estimate
    sides: tuple[int, int, int] = (0, 0, 0)
    word: ClaimVerdict = ClaimVerdict.NOT_RUN
    verdict: str = ClaimVerdict.NOT_RUN
    tested: int = 0


def outcome_of(
    effects: Iterable[Effect],
    margin: float,
    scale: Scale = "difference",
    every: bool = False,
    printed: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> Outcome:
    """Return the verdict on a statement, given its finite effects, of which no two have the same
    dataset, subject and seed.

    The ``margin``, in their unit, is compared with the absolute value of a difference if the
    ``scale`` is "distance", while effects on the scale "ratio" are averaged as logarithms. With
    ``every``, one case against the statement refutes it.

    Published effects are ``printed`` by subject and dataset, with "" for all other subjects. They
    give a case for the statement the side "opposite sign" if its whole interval has another sign.
    """
    forth: Callable[[float], float] = float
    back: Callable[[float], float] = float
    if scale == "ratio":
        from xmlc.kernels import float64

        forth = float64.log
        back = float64.exp
    margin = forth(margin)
    cases = []
    means: dict[str, list[float]] = {}  # Means of the cases of each dataset
    for (dataset, subject), runs in by_case(effects).items():
        if runs[0].error is not None and len(runs) == 1:
            estimate = estimate_from(forth(runs[0].value), runs[0].error, runs[0].trials)
        else:
            estimate = estimate_of([forth(effect.value) for effect in runs])
        means.setdefault(same_instances(dataset), []).append(estimate.mean)
        in_print = printed.get(subject, printed.get("", {})).get(same_instances(dataset), math.nan)
        side = side_of(estimate, margin, scale, forth(in_print))
        on_tests = _with_error(estimate, error_on_tests(runs))
        lost = on_tests.has_interval and side_of(on_tests, margin, scale, forth(in_print)) != side
        effect = estimate.mapped(back)
        cases.append(
            Case(dataset, subject, len(runs), effect, side, on_tests.mapped(back), lost, in_print)
        )
    if not cases:
        return Outcome((), Estimate(math.nan))
    if len(cases) > 1:
        overall = [math.fsum(of_dataset) / len(of_dataset) for of_dataset in means.values()]
        estimate = estimate_of(overall, FEWEST_DATASETS)
    of_cases = [case.side for case in cases]
    sides = (of_cases.count(FOR), of_cases.count(AGAINST), of_cases.count(OPPOSITE))
    word, text = verdict(sides, len(cases), side_of(estimate, margin, scale), every, len(means))
    tested = [case.on_tests.has_interval for case in cases].count(True)
    return Outcome(tuple(cases), estimate.mapped(back), sides, word, text, tested)


def side_of(estimate: Estimate, margin: float, scale: Scale, in_print: float = math.nan) -> int:
    """Return the side of an interval: for, against, open, or opposite sign, if it supports the
    statement but the published effect ``in_print`` (or NaN) has the other sign. Ratios are
    logarithms.
    """
    side = estimate.side_of(margin)
    if scale == "distance":
        side = min(side, -estimate.side_of(-margin))
    if side == FOR and in_print * estimate.side_of(0) < 0:
        return OPPOSITE
    return side


def verdict(
    sides: tuple[int, int, int], cases: int, overall: int, every: bool = False, datasets: int = 0
) -> tuple[ClaimVerdict, str]:
    """Return the verdict as a word, and as a text with the counts that decide it.

    The ``sides`` count cases for, against, and with opposite sign, and ``overall`` is the side of
    the mean over ``datasets`` datasets.
    """
    supports, contradicts, opposites = sides
    decided = supports + contradicts + opposites
    in_the_mean = f"in the mean of {datasets} datasets"
    also = ""
    if opposites:
        also = f", {opposites} with opposite sign"
    if contradicts > cases / 2 or (every and contradicts):
        return ClaimVerdict.DOES_NOT_HOLD, f"does not hold: {contradicts} of {cases} against"
    if supports > cases / 2:
        return ClaimVerdict.HOLDS, f"holds on {supports} of {cases}{also}"
    if decided <= cases / 2 and overall > 0 and supports == decided:
        return ClaimVerdict.HOLDS, f"holds {in_the_mean}"
    if decided <= cases / 2 and overall < 0 and contradicts == decided:
        return ClaimVerdict.DOES_NOT_HOLD, f"does not hold {in_the_mean}"
    if decided:
        return (
            ClaimVerdict.UNDECIDED,
            f"undecided: {supports} of {cases} for, {contradicts} against{also}",
        )
    return ClaimVerdict.UNDECIDED, ClaimVerdict.UNDECIDED


def by_case(effects: Iterable[Effect]) -> dict[tuple[str, str], list[Effect]]:
    """Return the effects of each dataset and subject, in the order of seeds.

    A subject's effects on the split of Delicious that the authors of LdSM ship replace those on the
    other split, because both have the same instances. Numbers follow the same rule (`report_on` in
    ``config/datasets.yaml``).
    """
    groups: dict[tuple[str, str], dict[int, Effect]] = {}
    for effect in effects:
        runs = groups.setdefault((effect.dataset, effect.subject), {})
        if effect.seed in runs or not math.isfinite(effect.value):
            raise ValueError(f"{effect}: expected one finite effect for each case and seed")
        runs[effect.seed] = effect
    for dataset, subject in [*groups]:
        groups.pop((OTHER_SPLITS.get(dataset, ""), subject), None)
    return {case: [runs[seed] for seed in sorted(runs)] for case, runs in groups.items()}


def same_instances(dataset: str) -> str:
    """Return the name that splits of the same instances share, so that means count them once."""
    return OTHER_SPLITS.get(dataset, dataset)


def together(*errors: float) -> float:
    """Return the standard error of a sum of independent numbers."""
    return math.sqrt(math.fsum(error * error for error in errors))


def error_on_tests(runs: Sequence[Effect]) -> float:
    """Return the standard error of a case's mean from the choice of test instances, or NaN if it is
    unknown or if the mean does not depend on it.
    """
    replicates = zip(*(run.resampled for run in runs), strict=True)
    means = [math.fsum(values) / len(runs) for values in replicates]
    if not means or min(means) == max(means) or not all(map(math.isfinite, means)):
        return math.nan
    mean = math.fsum(means) / len(means)
    squares = math.fsum((value - mean) * (value - mean) for value in means)
    return math.sqrt(squares / (len(means) - 1))


def _with_error(estimate: Estimate, error: float) -> Estimate:
    """Widen the interval by the error from the test instances, which more seeds do not reduce."""
    half = together(estimate.upper - estimate.mean, student_quantile(math.inf) * error)
    return Estimate(estimate.mean, estimate.mean - half, estimate.mean + half)
