"""Kinds of published numbers, the verdict on a number next to the expected one, and the judge, who knows our runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from xmlc.suite.config.catalogue import load_catalogue
from xmlc.suite.config.suite import read_suite
from xmlc.suite.papers.declared import TableDefinition
from xmlc.suite.results.columns import DEVIATION, column
from xmlc.suite.results.frame import SEEDS, Key, Number, Row, Rows
from xmlc.suite.results.intervals import student_quantile

NO_RUNS = "no runs with several seeds: `xmlc deviations` keeps them"
NO_SPLIT_ERROR = "the paper's split is not known to be ours, and no error of another was measured"
NO_CHANCE = "its runs vary by no more than the rounding of the printed number"
Place = tuple[str, str, Key, str]  # paper, table, row, column


class Kind(StrEnum):
    """The kinds of published numbers, each of which is counted apart."""

    MEASURED = "measured"
    OTHER_SPLIT = "measured, on a split that is not counted"
    DATASET = "statistics of datasets"
    CONFIGURATION = "configuration"
    QUOTED = "quoted from other work"
    COST = "costs"


def kind_of(name: str, definition: TableDefinition, model: str | None = None) -> Kind:
    """Return the kind of a published number.

    Parameters
    ----------
    name : str
        Its column.
    definition : TableDefinition
        Its table, which names the models that the paper measured itself.
    model : str or None
        The model of its row.
    """
    about = column(name)
    if about.cost:
        return Kind.COST
    if about.kind != "measure":
        return Kind.DATASET if about.kind == "constant" else Kind.CONFIGURATION
    own = definition.measured_models
    return Kind.QUOTED if own and model and model not in own else Kind.MEASURED


class Verdict(StrEnum):
    """Verdicts on a number.

    A number that a paper measured is equal as printed, inside its interval, outside with the sign of ours minus
    published, different if chance cannot be the reason, or undecided. A published constant, or a number of ours next to
    an earlier one, is equal or different. The others were not compared.
    """

    AS_PRINTED = "equal as printed"
    INSIDE = "inside"
    ABOVE = "outside +"
    BELOW = "outside -"
    DIFFERENT = "different"
    UNDECIDED = "undecided"
    EQUAL = "equal"
    NOT_RUN = "not run"
    FAILED = "failed"
    MISSING = "missing"
    NEW = "new"
    OTHER_DATA = "of other or unknown data, not compared"


#: Verdicts on a measured number that was run.
OUTCOMES = (
    Verdict.AS_PRINTED,
    Verdict.INSIDE,
    Verdict.ABOVE,
    Verdict.BELOW,
    Verdict.DIFFERENT,
    Verdict.UNDECIDED,
)
#: The largest share of a published number that half its interval may be: nearly everything is inside a wider one.
WIDEST = 0.05
# Two decimal numbers that differ by exactly half a unit do so in floating point up to the last bits.
ROUNDING = 1 + 1e-9


def judge_measured(difference: float, interval: float, published: float, unit: float, fixed: bool = False) -> Verdict:
    """Judge a measured number by its published digits, then by its interval.

    Ours is equal as printed if, rounded to the published digits, it is the published number, whatever the interval is.
    Outside is outside however wide the interval is. Inside a wide one, or without one, nothing is decided.

    Parameters
    ----------
    difference : float
        Ours minus published.
    interval : float
        Half the width; NaN if there is none.
    published : float
    unit : float
        Of the last published digit.
    fixed : bool
        Runs and splits vary by no more than rounding, so that a number outside is a different one.
    """
    if judge_constant(difference, unit) is Verdict.EQUAL:
        return Verdict.AS_PRINTED
    if abs(difference) > interval:
        if fixed:
            return Verdict.DIFFERENT
        return Verdict.ABOVE if difference > 0 else Verdict.BELOW
    return Verdict.INSIDE if interval <= WIDEST * abs(published) else Verdict.UNDECIDED


def judge_constant(difference: float, unit: float) -> Verdict:
    """Judge a number without chance: it is equal within half a unit of the last published digit."""
    return Verdict.EQUAL if abs(difference) <= unit / 2 * ROUNDING else Verdict.DIFFERENT


class Tolerance(NamedTuple):
    """The largest difference of two equal numbers, and the largest share of the earlier one; the larger counts."""

    absolute: float = 0.0
    relative: float = 0.0


EXACT = Tolerance()


def judge_exactly(old: str, new: str, tolerance: Tolerance = EXACT) -> Verdict:
    """Judge a number of ours next to an earlier one: the same to the last bit or within a tolerance, or the same text.

    A cell that is blank or NaN has no number.
    """
    blank = [text == "" or math.isnan(as_float(text) or 0) for text in (old, new)]
    if any(blank):
        return Verdict.EQUAL if all(blank) else Verdict.NEW if blank[0] else Verdict.MISSING
    before, after = as_float(old), as_float(new)
    if before is None or after is None:
        return Verdict.EQUAL if old == new else Verdict.DIFFERENT
    allowed = max(tolerance.absolute, tolerance.relative * abs(before))
    return Verdict.EQUAL if before == after or abs(after - before) <= allowed else Verdict.DIFFERENT


def equal_line(counts: Mapping[Verdict, int], words: str = "cells equal") -> str:
    """Say how many cells are as before or as published: "38 of 44 cells equal, 4 different, 2 missing"."""
    total = sum(counts.values()) - counts.get(Verdict.NEW, 0)
    others = [f"{counts[one]} {one}" for one in Verdict if one is not Verdict.EQUAL and counts.get(one)]
    return ", ".join([f"{counts.get(Verdict.EQUAL, 0)} of {total} {words}", *others])


def measured_line(counts: Mapping[Verdict, int], words: str) -> str:
    """Count cells by verdict: "2 of 9 run again: 1 equal as printed, 1 inside, 0 outside +", and so on."""
    found = {one: counts.get(one, 0) for one in OUTCOMES}
    verdicts = ", ".join(f"{count} {one}" for one, count in found.items())
    ran = sum(found.values())
    return f"{ran} of {sum(counts.values())} {words}" + (f": {verdicts}" if ran else "")


def as_float(value: Any) -> float | None:
    """Return a value, or the text of one, as a number; None if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def difference(number: Number) -> float:
    """Return the value minus the published or earlier one; NaN if one is no number."""
    before, after = as_float(number.published), as_float(number.value)
    return math.nan if before is None or after is None else after - before


def unit_of_last_digit(text: str) -> float:
    """Return the value of one unit of the last published decimal; a number without decimals counts by ones."""
    exponent = Decimal(text).as_tuple().exponent
    return float(f"1e{min(exponent, 0)}") if isinstance(exponent, int) else 0.0


class Spread(NamedTuple):
    """How much one number of ours varies from run to run.

    Attributes
    ----------
    runs : int
        Runs, with seeds and splits of their own, that the deviation was taken from; at least two.
    deviation : float
        Standard deviation of one run (divisor: runs - 1), in the unit of the column.
    split_error : float or None
        Standard deviation of the number over splits of the same instances into training and test set, in the unit of
        the column; None if nobody measured it.
    """

    runs: int
    deviation: float
    split_error: float | None = None


def seeds_of(row: Row) -> int:
    """Return the number of seeds of a row's means."""
    return int(as_float(row[SEEDS].value) or 1) if SEEDS in row else 1


def spread_of(row: Row, quantity: str) -> Spread | None:
    """Return how much a number varies over the seeds of its row; None if it has one seed or is no measure."""
    if quantity not in row or seeds_of(row) == 1:
        return None
    in_file = row.get(quantity + DEVIATION)
    deviation = as_float(in_file.value) if in_file else row[quantity].deviation
    return None if deviation is None or math.isnan(deviation) else Spread(seeds_of(row), deviation)


def half_width(
    spread: Spread, unit: float, ours: int = 1, theirs: int = 1, other_split: bool = False
) -> tuple[float, bool]:
    """Return h: 95 of 100 faithful reproductions differ from the published number by at most h.

    The difference of a mean of ``ours`` runs and a published mean of ``theirs`` runs has the variance
    s^2 (1 / ours + 1 / theirs), s being the deviation of one run; rounding to a published digit adds u^2 / 12, u being
    the unit of that digit; two splits drawn apart add twice the square of the split error. Only s is estimated,
    from few runs, hence Student's t; its degrees of freedom are those of Welch and Satterthwaite, runs - 1 over the
    squared share of the variance that s has.

    Parameters
    ----------
    spread : Spread
    unit : float
        Of the last published digit, in the unit of the column.
    ours, theirs : int
        Runs that the two means are over.
    other_split : bool
        The paper's split is not known to be ours; the spread has the error of another split.

    Returns
    -------
    float, bool
        h, and whether runs and splits vary by no more than rounding does, as those of a model that draws nothing.
    """
    of_runs = spread.deviation * spread.deviation * (1 / ours + 1 / theirs)
    error = (spread.split_error or 0.0) if other_split else 0.0
    of_splits, of_rounding = 2 * error * error, unit * unit / 12
    variance = of_runs + of_splits + of_rounding
    share = of_runs / variance if variance else 0.0
    freedom = (spread.runs - 1) / (share * share) if share else math.inf
    return student_quantile(freedom) * math.sqrt(variance), of_runs + of_splits <= of_rounding


@dataclass(frozen=True)
class Judge:
    """Basis of judging: our runs, published runs, splits, settings fitted to published results."""

    #: How much our runs with several seeds vary.
    spreads: Mapping[Place, Spread] = field(default_factory=dict)
    #: By paper, the runs that its numbers are means of; 1 if it is not known.
    printed_runs: Mapping[str, int] = field(default_factory=dict)
    #: Paper and dataset, if the paper's split is known to be ours.
    same_split: frozenset[tuple[str, str]] = frozenset()
    #: By paper and dataset, the other split of the same instances on which the paper's measured numbers are counted.
    counted_on: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: By paper and model, the settings that were chosen because the published test results come out with them.
    calibrated: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of_project(cls, config: Path, spreads: Mapping[Place, Spread]) -> Judge:
        """Read the papers' configuration and the catalogue of datasets.

        Raises
        ------
        XmlcError
            A file breaks its schema.
        """
        catalogue = config / "datasets.yaml"
        suites = {file.stem: read_suite(file) for file in sorted((config / "papers").glob("*.yaml"))}
        entries = load_catalogue(catalogue) if catalogue.is_file() else {}
        splits = {(paper, name): split for name, entry in entries.items() for paper, split in entry.splits.items()}
        return cls(
            spreads,
            {paper: suite.printed_runs for paper, suite in suites.items()},
            frozenset(place for place, split in splits.items() if split["same"]),
            {place: split["counted_on"] for place, split in splits.items() if "counted_on" in split},
            {
                (paper, name): model.calibration
                for paper, suite in suites.items()
                for name, model in suite.all_models.items()
                if model.calibration
            },
        )

    def kind(self, paper: str, definition: TableDefinition, number: Number) -> Kind:
        """Return the kind of a published number; measured ones count on one split of the same instances."""
        kind = kind_of(number.quantity, definition, number.model)
        elsewhere = kind is Kind.MEASURED and (paper, number.dataset) in self.counted_on
        return Kind.OTHER_SPLIT if elsewhere else kind

    def judge(self, paper: str, table: str, number: Number, row: Row) -> Number:
        """Judge one number next to the published one.

        Parameters
        ----------
        paper, table : str
        number : Number
            Ours, with its kind, the published number, and the reason if it failed.
        row : dict
            Ours, with the number of seeds and deviations.

        Returns
        -------
        Number
            With verdict, interval and reason. The verdict is None if there is nothing to judge: a cost, a deviation, or
            no published number.
        """
        kind = number.kind
        expected, value = as_float(number.published), as_float(number.value)
        if kind is Kind.COST or number.quantity.endswith(DEVIATION) or expected is None or not math.isfinite(expected):
            return number
        if value is None or math.isnan(value):
            return replace(number, verdict=Verdict.FAILED if number.reason else Verdict.NOT_RUN)
        unit = unit_of_last_digit(number.published)
        if kind in (Kind.DATASET, Kind.CONFIGURATION):
            return replace(number, verdict=judge_constant(value - expected, unit), interval=unit / 2)
        interval, fixed, reason = self._interval(paper, table, number, row, unit)
        if kind is Kind.OTHER_SPLIT:
            reason += f"; the printed number is counted on {self.counted_on[paper, number.dataset]}"
        return replace(
            number,
            verdict=judge_measured(difference(number), interval, expected, unit, fixed),
            interval=interval,
            reason=reason,
            calibrated=self.calibrated.get((paper, number.model), ""),
        )

    def _interval(self, paper: str, table: str, number: Number, row: Row, unit: float) -> tuple[float, bool, str]:
        """Return half the width of an interval, whether nothing varies, and the parts of it; or NaN with the reason."""
        filed = self.spreads.get((paper, table, number.key, number.quantity))
        at_hand = spread_of(row, number.quantity)
        spread = at_hand._replace(split_error=filed.split_error if filed else None) if at_hand else filed
        other = (paper, number.dataset) not in self.same_split
        if spread is None:
            return math.nan, False, NO_RUNS
        if other and spread.split_error is None:
            return math.nan, False, NO_SPLIT_ERROR
        ours = seeds_of(row)
        interval, fixed = half_width(spread, unit, ours, self.printed_runs.get(paper, 1), other)
        parts = f"deviation {spread.deviation:.2g} of {spread.runs} runs, "
        parts += f"{ours} beside {self.printed_runs.get(paper, 1)}"
        if other:
            parts += f"; deviation {spread.split_error:.2g} over splits, as the paper's is not known"
        return interval, fixed, NO_CHANCE if fixed else parts


def repeats(number: Number, published: Rows) -> bool:
    """Say whether a paper publishes the same number elsewhere.

    nDCG@1 is P@1. Table 4 of plt2016 repeats Table 2's FTA and STO. FastXML's inner products do not depend on the
    threshold method, so they are one number for all methods: it counts in the first row that has it.
    """
    if number.quantity == "ndcg@1":
        own = published.get(number.key, {}).get("p@1")
        return own is not None and as_float(own.value) is not None
    if number.quantity == "inner_products":
        earlier = takewhile(lambda key: key != number.key, published)
        rows = (published[key] for key in earlier if key[:2] == number.key[:2])
        return any(number.quantity in row and row[number.quantity].value == number.published for row in rows)
    return number.quantity in ("fta", "sto")
