"""Effects that speak for or against a statement of a paper, and the verdict on it.

An *effect* is one measured difference, or ratio, of one dataset, subject and seed; above the statement's margin it
speaks for it. Effects of a dataset and subject are a *unit*, decided by the interval of their mean over seeds:

- for, if the interval lies above the margin; against, if it lies below; open otherwise, and with a single seed, if its
  record does not tell of several trials.

The verdict on the statement:

1. *holds* if more than half of the units are for it, *does not hold* if more than half are against it.
2. *mixed* if more than half are decided, and neither side has so many.
3. Otherwise the datasets decide, if there are at least three. Each has the mean of its units: where the interval over
   datasets lies above the margin and no unit is against, the statement *holds*; where it lies below and no unit is for,
   it *does not hold*.
4. Otherwise it *cannot be told* with these data; without effects there is *no data*.

Were there nothing but noise around the margin, a unit would be for the statement with a probability of 2.5 %, so that
more than half of them are with at most 5 %, however they depend on each other. The third rule adds at most 2.5 %.
Differences over seeds tell of trained models and drawn splits, on the given test set: not of other test sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from xmlc.tables.intervals import Estimate, estimate_from, estimate_of

FEWEST_DATASETS = 3

Scale = Literal["difference", "ratio"]
Word = Literal["holds", "does not hold", "mixed", "cannot be told", "no data"]


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

    The side is 1 for the statement, 0 where it is open, -1 against it.
    """

    dataset: str
    subject: str
    seeds: int
    effect: Estimate
    side: int


@dataclass(frozen=True)
class Outcome:
    """What the effects say of a statement.

    Attributes
    ----------
    units : tuple of Unit
        In the order of the effects.
    effect : Estimate
        Mean over datasets, each with the mean of its units; with an interval, where there are at least three datasets.
        That of a single unit is the unit's.
    word : str
    """

    units: tuple[Unit, ...]
    effect: Estimate
    word: Word

    @property
    def supports(self) -> int:
        """Number of units that are for the statement."""
        return sum(unit.side > 0 for unit in self.units)

    @property
    def contradicts(self) -> int:
        """Number of units that are against it."""
        return sum(unit.side < 0 for unit in self.units)

    @property
    def verdict(self) -> str:
        """The verdict as a reader wants it: on how many units it rests, or that it is the datasets' mean."""
        of, half = f"of {len(self.units)}", len(self.units) / 2
        in_the_mean = f"in the mean of {len({unit.dataset for unit in self.units})} datasets"
        match self.word:
            case "holds":
                return f"holds on {self.supports} {of}" if self.supports > half else f"holds {in_the_mean}"
            case "does not hold":
                against = f": {self.contradicts} {of} against" if self.contradicts > half else f" {in_the_mean}"
                return f"does not hold{against}"
            case "mixed":
                return f"mixed: {self.supports} {of} for, {self.contradicts} against"
        return self.word


def outcome_of(effects: Sequence[Effect], margin: float, scale: Scale = "difference") -> Outcome:
    """Decide a statement by its effects; the module's text has the rules.

    Parameters
    ----------
    effects : sequence of Effect
        At most one of each dataset, subject and seed.
    margin : float
        In the unit of the effects.
    scale : {"difference", "ratio"}
        Means and intervals of ratios are taken of their logarithms, and given as ratios again.

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
    units = tuple(
        Unit(*key, len(groups[key]), estimate.mapped(back), estimate.side_of(level))
        for key, estimate in estimates.items()
    )
    by_dataset: dict[str, list[float]] = {}
    for (dataset, _), estimate in estimates.items():
        by_dataset.setdefault(dataset, []).append(estimate.mean)
    overall = estimate_of([math.fsum(means) / len(means) for means in by_dataset.values()], FEWEST_DATASETS)
    if len(units) == 1:
        overall = next(iter(estimates.values()))
    word = _word([unit.side for unit in units], overall.side_of(level))
    return Outcome(units, overall.mapped(back), word)


def _estimate(effects: Sequence[Effect], forth: Callable[[float], float]) -> Estimate:
    """Estimate the mean of a unit's effects, one of each seed, on the scale of the verdict."""
    first, *others = effects
    if first.error is not None and not others:
        return estimate_from(forth(first.value), first.error, first.trials)
    return estimate_of([forth(effect.value) for effect in effects])


def _word(sides: Sequence[int], overall: int) -> Word:
    supports, contradicts, half = sides.count(1), sides.count(-1), len(sides) / 2
    if supports > half or (supports + contradicts <= half and overall > 0 and not contradicts):
        return "holds"
    if contradicts > half or (supports + contradicts <= half and overall < 0 and not supports):
        return "does not hold"
    return "mixed" if supports + contradicts > half else "cannot be told"
