"""Decide the verdict on a statement by its effects. The rules are described in docs/claims.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from xmlc.suite.results.intervals import Estimate, estimate_from, estimate_of, student_quantile
from xmlc.suite.results.verdicts import ClaimVerdict

FEWEST_DATASETS = 3
# Maps the split that a paper's authors ship to another split of the same instances (`by_case`).
OTHER_SPLITS = {"delicious-ldsm": "delicious"}
FOR = 1
OPEN = 0
AGAINST = -1
# The side of a case that supports the statement, but whose effect has the opposite sign of the
# published effect.
OPPOSITE = 2
Scale = Literal["difference", "distance", "ratio"]


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
    #: Values on resampled test sets, if known.
    resampled: Sequence[float] = ()


@dataclass(frozen=True)
class Case:
    """The mean effect of one dataset and subject over seeds, and its side (`side_of`).

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
    lost: bool
    printed: float


@dataclass(frozen=True)
class Outcome:
    """The verdict on a statement, and the cases that decide the verdict.

    Attributes
    ----------
    cases : tuple of Case
        The cases, in the order of the effects.
    effect : Estimate
        Mean over datasets, after averaging the cases of each dataset. The mean has an interval if
        there are at least three datasets. For a single case, the mean is the effect of this case.
    sides : tuple of int
        Numbers of cases for the statement, against the statement, and with opposite sign.
    word : ClaimVerdict
    verdict : str
        The verdict with the numbers of cases or datasets that decide it.
    tested : int
        Number of cases with a known error from the choice of test instances.
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
    """Return the verdict on a statement, given its effects.

    Parameters
    ----------
    effects : iterable of Effect
        Effects of different datasets, subjects or seeds.
    margin : float
        The margin, in the unit of the effects.
    scale : {"difference", "distance", "ratio"}
        A distance is a difference whose absolute value is compared with the margin. Means and
        intervals of ratios are computed from logarithms and converted back to ratios.
    every : bool
        Whether one case against the statement refutes the statement.
    printed : mapping
        Published effects by subject and dataset. Effects of the empty subject apply to all subjects
        without published effects. A case for the statement has the side "opposite sign" if its
        whole interval has the opposite sign of the published effect.

    Raises
    ------
    ValueError
        Two effects have the same dataset, subject and seed, or a value is not finite.
    """
    forth: Callable[[float], float] = float
    back: Callable[[float], float] = float
    if scale == "ratio":
        from xmlc.kernels import float64

        forth = float64.log
        back = float64.exp
    margin = forth(margin)
    cases = []
    means: dict[str, list[float]] = {}  # The means of the cases of each dataset.
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
    """Return the side of an interval: for, against, open, or opposite sign.

    The side is "opposite sign" if the interval supports the statement, but the published effect
    ``in_print`` (NaN if none is published) has the opposite sign. Of ratios, all numbers are
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

    Parameters
    ----------
    sides : tuple of int
        Numbers of cases for the statement, against the statement, and with opposite sign.
    cases : int
        Number of all cases.
    overall : int
        The side of the mean over ``datasets`` datasets.
    every : bool
        Whether a single case against the statement refutes the statement.
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

    A second split of the same instances is left out: if a subject has effects on the split of
    Delicious that the authors of LdSM ship, its effects on the other split do not count, in the
    statements of all papers. Numbers follow the same rule (`report_on` in
    ``config/datasets.yaml``).

    Raises
    ------
    ValueError
        Two effects have the same dataset, subject and seed, or a value is not finite.
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
    """Return the name that all splits of the same instances share.

    In means, all splits of the same instances count as one dataset.
    """
    return OTHER_SPLITS.get(dataset, dataset)


def together(*errors: float) -> float:
    """Return the standard error of a sum of independent numbers, given their standard errors."""
    return math.sqrt(math.fsum(error * error for error in errors))


def error_on_tests(runs: Sequence[Effect]) -> float:
    """Return the standard error of a case's mean over seeds that the choice of test instances
    causes.

    The error is NaN if it is unknown, or if the mean does not depend on the test instances.
    """
    replicates = zip(*(run.resampled for run in runs), strict=True)
    means = [math.fsum(values) / len(runs) for values in replicates]
    if not means or min(means) == max(means) or not all(map(math.isfinite, means)):
        return math.nan
    mean = math.fsum(means) / len(means)
    squares = math.fsum((value - mean) * (value - mean) for value in means)
    return math.sqrt(squares / (len(means) - 1))


def _with_error(estimate: Estimate, error: float) -> Estimate:
    """Return the estimate with an interval that includes the error from the test instances.

    More seeds do not reduce the error from the choice of test instances.
    """
    half = together(estimate.upper - estimate.mean, student_quantile(math.inf) * error)
    return Estimate(estimate.mean, estimate.mean - half, estimate.mean + half)
