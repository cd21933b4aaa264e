"""Compare each of our numbers with a published or earlier number, and give a verdict.

A verdict depends on the kind of the published number and on the variation between our runs.
"""

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
from xmlc.suite.config.suite import Suite, read_suite
from xmlc.suite.papers.declared import TableDefinition
from xmlc.suite.results.columns import DEVIATION, column
from xmlc.suite.results.frame import SEEDS, Key, Number, Row, Rows
from xmlc.suite.results.intervals import student_quantile
from xmlc.suite.results.verdicts import Verdict

NO_RUNS = "no runs with several seeds, which `xmlc seed-variation` collects"
NO_SPLIT_ERROR = "the paper's split is unknown, and the variation over splits was not measured"
NO_CHANCE = "no chance variation: runs vary by no more than the rounding of the published number"
PublishedKey = tuple[str, str, Key, str]  # paper, table, row, column


class NumberKind(StrEnum):
    """List the kinds of published numbers, which are counted separately."""

    MEASURED = "measured"
    OTHER_SPLIT = "measured, on a split that is not counted"
    DATASET = "statistics of datasets"
    CONFIGURATION = "configuration"
    QUOTED = "quoted from other work"
    COST = "costs"


def kind_of(name: str, definition: TableDefinition, model: str | None = None) -> NumberKind:
    """Return the kind of a published number.

    Parameters
    ----------
    name : str
        The number's column.
    definition : TableDefinition
        The definition of the number's table, which names the models that the paper measured itself.
    model : str or None
        The model in the same table row as the number, or None if the row names no model.
    """
    if (about := column(name)).cost:
        return NumberKind.COST
    if about.kind != "measure":
        return NumberKind.DATASET if about.kind == "constant" else NumberKind.CONFIGURATION
    own = definition.measured_models
    return NumberKind.QUOTED if own and model and model not in own else NumberKind.MEASURED


#: The largest useful half width of an interval, as a fraction of the published number. Intervals that are wider than
#: this contain almost any plausible number.
WIDEST = 0.05
# The factor allows for the rounding error of a difference of half a unit in floating point.
ROUNDING = 1 + 1e-9


def judge_measured(difference: float, interval: float, published: float, unit: float) -> Verdict:
    """Return the verdict on a measured number. The published digits are considered first, then the interval.

    Our number is equal if its rounded value is the published number, whatever the interval is. Any other number that
    is outside its interval is above or below, however wide the interval is. Numbers inside wide intervals, and numbers
    without intervals, are undecided.

    Parameters
    ----------
    difference : float
        Our number minus the published number.
    interval : float
        Half the width of the interval, or NaN if there is no interval.
    published : float
    unit : float
        The unit of the last published digit.
    """
    if judge_constant(difference, unit) is Verdict.EQUAL:
        return Verdict.EQUAL
    if abs(difference) > interval:
        return side_of(difference)
    return Verdict.INSIDE if interval <= WIDEST * abs(published) else Verdict.UNDECIDED


def side_of(difference: float) -> Verdict:
    """Return whether a number is above or below another number, given their difference, which is not 0."""
    return Verdict.ABOVE if difference > 0 else Verdict.BELOW


def judge_constant(difference: float, unit: float) -> Verdict:
    """Return the verdict on a number without randomness.

    Two numbers are equal if they differ by at most half a unit of the last published digit.
    """
    return Verdict.EQUAL if abs(difference) <= unit / 2 * ROUNDING else side_of(difference)


class Tolerance(NamedTuple):
    """Hold the largest difference at which two numbers count as equal.

    The limit is ``absolute``, or ``relative`` times the earlier number, whichever is larger.
    """

    absolute: float = 0.0
    relative: float = 0.0


EXACT = Tolerance()


def judge_exactly(old: str, new: str, tolerance: Tolerance = EXACT) -> Verdict:
    """Return the verdict on the new value of a number, given the old value.

    The values are equal if they differ by no more than the tolerance. Values that are not numbers are equal if their
    texts are equal. A blank cell or NaN is a missing value.
    """
    blank = [text == "" or math.isnan(as_float(text) or 0) for text in (old, new)]
    if any(blank):
        return Verdict.EQUAL if all(blank) else Verdict.NEW if blank[0] else Verdict.MISSING
    before, after = as_float(old), as_float(new)
    if before is None or after is None:
        return Verdict.EQUAL if old == new else Verdict.CHANGED
    allowed = max(tolerance.absolute, tolerance.relative * abs(before))
    if before == after or abs(after - before) <= allowed:
        return Verdict.EQUAL
    return side_of(after - before)


def as_float(value: Any) -> float | None:
    """Return a value or text as a float, or None if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def difference(number: Number) -> float:
    """Return our value minus the published or earlier value, or NaN if one of these values is not a number."""
    before, after = as_float(number.published), as_float(number.value)
    return math.nan if before is None or after is None else after - before


def unit_of_last_digit(text: str) -> float:
    """Return the value of one unit in the last decimal place of a published number, or 1 without decimals."""
    exponent = Decimal(text).as_tuple().exponent
    return float(f"1e{min(exponent, 0)}") if isinstance(exponent, int) else 0.0


class Spread(NamedTuple):
    """Hold the variation of one of our numbers from run to run.

    Attributes
    ----------
    runs : int
        Number of runs from which the deviation is computed, at least two. Each run has its own seed and split.
    deviation : float
        Standard deviation between runs (divisor: runs - 1), in the unit of the column.
    split_error : float or None
        Standard deviation between random splits into training and test set, in the unit of the column. ``split_error``
        is None if the deviation between splits was not measured.
    """

    runs: int
    deviation: float
    split_error: float | None = None


def seeds_of(row: Row) -> int:
    """Return the number of seeds over which the numbers of a row are averaged."""
    return int(as_float(row[SEEDS].value) or 1) if SEEDS in row else 1


def spread_of(row: Row, quantity: str) -> Spread | None:
    """Return the variation of a number over the seeds of the number's row.

    The result is None if the row has a single seed, or if the number has no standard deviation.
    """
    if quantity not in row or seeds_of(row) == 1:
        return None
    in_file = row.get(quantity + DEVIATION)
    deviation = as_float(in_file.value) if in_file else row[quantity].deviation
    return None if deviation is None or math.isnan(deviation) else Spread(seeds_of(row), deviation)


def half_width(
    spread: Spread, unit: float, ours: int = 1, theirs: int = 1, other_split: bool = False
) -> tuple[float, bool]:
    """Return the half width h of an interval around the published number.

    In 95 of 100 cases, the number of a faithful reproduction differs from the published number by at most h.

    Let s be the standard deviation between runs, and u the unit of the last published digit. Our mean is over ``ours``
    runs, and the published mean over ``theirs`` runs. The two means differ with variance s^2 (1 / ours + 1 / theirs).
    Rounding of the published number adds u^2 / 12 to the variance. Two independent splits add twice the square of the
    split error to the variance.

    The half width h is based on Student's t, because s is estimated from a few runs. Let q be the share of the variance
    that comes from s. The formula of Welch and Satterthwaite gives (runs - 1) / q^2 degrees of freedom.

    Parameters
    ----------
    spread : Spread
    unit : float
        The unit of the last published digit, in the unit of the column.
    ours, theirs : int
        Number of runs in our mean, and in the published mean.
    other_split : bool
        Whether the paper's split may differ from ours, so that the variance includes the split error of ``spread``.

    Returns
    -------
    float, bool
        The half width h, and whether runs and splits vary by no more than the rounding of the published number.
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
    """Compare our numbers with published numbers, and give verdicts.

    The verdicts depend on the variation between our runs, on the paper's number of runs, and on the paper's split.
    """

    #: The variation of our number over runs with several seeds, for each published number.
    spreads: Mapping[PublishedKey, Spread] = field(default_factory=dict)
    #: The number of runs over which each paper averages its results, or 1 if this number is not known.
    printed_runs: Mapping[str, int] = field(default_factory=dict)
    #: Pairs of paper and dataset for which the paper's split is known to equal ours.
    same_split: frozenset[tuple[str, str]] = frozenset()
    #: Maps a paper and a dataset that is not counted to the dataset that is counted instead. The two datasets are
    #: splits of the same instances.
    report_on: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: Texts about the settings that were fitted to published test results, by paper and model.
    fitted_settings: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: Texts about single quantities that helped to choose settings, by paper, model, dataset and quantity. The model is
    #: "" for a table of one model, such as Table 4 of ldsm2020.
    fitted_quantities: Mapping[tuple[str, str, str, str], str] = field(default_factory=dict)

    @classmethod
    def of_project(cls, config: Path, spreads: Mapping[PublishedKey, Spread]) -> Judge:
        """Return a judge for the papers and the catalogue of datasets in a configuration folder.

        Raises
        ------
        XmlcError
            A file violates its schema.
        """
        catalogue = config / "datasets.yaml"
        suites = {file.stem: read_suite(file) for file in sorted((config / "papers").glob("*.yaml"))}
        entries = load_catalogue(catalogue) if catalogue.is_file() else {}
        splits = {(paper, name): split for name, entry in entries.items() for paper, split in entry.splits.items()}
        return cls(
            spreads,
            {paper: suite.printed_runs for paper, suite in suites.items()},
            frozenset(place for place, split in splits.items() if split["same"]),
            {place: split["report_on"] for place, split in splits.items() if "report_on" in split},
            {
                (paper, name): model.fitted_settings
                for paper, suite in suites.items()
                for name, model in suite.all_models.items()
                if model.fitted_settings
            },
            fitted_quantities_of(suites),
        )

    def kind(self, paper: str, definition: TableDefinition, number: Number) -> NumberKind:
        """Return the kind of a published number.

        If the same instances are split into several datasets, only the numbers of one split have the kind "measured".
        """
        kind = kind_of(number.quantity, definition, number.model)
        elsewhere = kind is NumberKind.MEASURED and (paper, number.dataset) in self.report_on
        return NumberKind.OTHER_SPLIT if elsewhere else kind

    def judge(self, paper: str, table: str, number: Number, row: Row) -> Number:
        """Return one of our numbers with the verdict from the comparison with the published number.

        Parameters
        ----------
        paper, table : str
        number : Number
            Our number with its kind, the published number, and the reason if the number is missing.
        row : dict
            Our table row, which contains the number of seeds and may contain standard deviations.

        Returns
        -------
        Number
            The number with its verdict, interval and reason. The verdict is None for costs, for standard deviations,
            and if there is no published number.
        """
        kind = number.kind
        expected, value = as_float(number.published), as_float(number.value)
        if kind is NumberKind.COST or number.quantity.endswith(DEVIATION):
            return number
        if expected is None or not math.isfinite(expected):
            return number
        if value is None or math.isnan(value):
            return replace(number, verdict=Verdict.NOT_RUN)
        # A whole number is printed exactly. A mean of whole numbers is therefore not rounded before the comparison.
        unit = 0.0 if column(number.quantity).whole else unit_of_last_digit(number.published)
        if kind in (NumberKind.DATASET, NumberKind.CONFIGURATION):
            return replace(number, verdict=judge_constant(value - expected, unit), interval=unit / 2)
        interval, reason = self._interval(paper, table, number, row, unit)
        if kind is NumberKind.OTHER_SPLIT:
            reason += f"; only the published number on {self.report_on[paper, number.dataset]} is counted"
        verdict = judge_measured(value - expected, interval, expected, unit)
        fitted = self.fitted_settings.get((paper, number.model), "")
        fitted = fitted or self.fitted_quantities.get((paper, number.model, number.dataset, number.quantity), "")
        return replace(number, verdict=verdict, interval=interval, reason=reason, fitted_settings=fitted)

    def _interval(self, paper: str, table: str, number: Number, row: Row, unit: float) -> tuple[float, str]:
        """Return the half width of a number's interval, and an explanation.

        Without an interval, the half width is NaN, and the explanation states why there is no interval.
        """
        filed = self.spreads.get((paper, table, number.key, number.quantity))
        at_hand = spread_of(row, number.quantity)
        spread = at_hand._replace(split_error=filed.split_error if filed else None) if at_hand else filed
        other = (paper, number.dataset) not in self.same_split
        if spread is None:
            return math.nan, NO_RUNS
        if other and spread.split_error is None:
            return math.nan, NO_SPLIT_ERROR
        ours = seeds_of(row)
        interval, fixed = half_width(spread, unit, ours, self.printed_runs.get(paper, 1), other)
        parts = f"standard deviation {spread.deviation:.2g} of {spread.runs} runs, "
        parts += f"mean of {ours} compared with {self.printed_runs.get(paper, 1)}"
        if other:
            parts += f"; {spread.split_error:.2g} over splits, because the paper's split is unknown"
        return interval, NO_CHANCE if fixed else parts


def fitted_quantities_of(suites: Mapping[str, Suite]) -> dict[tuple[str, str, str, str], str]:
    """Return the quantities that helped to choose settings, as `Judge.fitted_quantities`."""
    found = {}
    for paper, suite in suites.items():
        for name, model in suite.all_models.items():
            for dataset, origin in model.selected.items():
                for quantity in origin.fitted:
                    found[paper, name, dataset, quantity] = origin.by
                    found[paper, "", dataset, quantity] = origin.by
    return found


def repeats(number: Number, published: Rows) -> bool:
    """Return whether a paper prints the same number in another column, table or row.

    nDCG@1 is P@1. Table 4 of plt2016 repeats the numbers of FTA and STO in Table 2. FastXML's inner products do not
    depend on the threshold method. FastXML's inner products are therefore counted only in the row of the first
    threshold method.
    """
    if number.quantity == "ndcg@1":
        own = published.get(number.key, {}).get("p@1")
        return own is not None and as_float(own.value) is not None
    if number.quantity == "inner_products":
        earlier = takewhile(lambda key: key != number.key, published)
        rows = (published[key] for key in earlier if key[:2] == number.key[:2])
        return any(number.quantity in row and row[number.quantity].value == number.published for row in rows)
    return number.quantity in ("fta", "sto")
