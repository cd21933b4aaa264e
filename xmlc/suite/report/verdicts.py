"""Compare each of our numbers with a published or earlier number, and give a verdict.

A verdict depends on the kind of the published number and on the variation between our runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from xmlc.suite.config.catalogue import load_catalogue
from xmlc.suite.config.suite import read_suite
from xmlc.suite.papers.tables import TableSpec
from xmlc.suite.results.columns import column
from xmlc.suite.results.intervals import student_quantile
from xmlc.suite.results.numbers import SEEDS, Key, as_float, as_floats
from xmlc.suite.results.verdicts import Verdict

NO_RUNS = "no runs with several seeds, which `xmlc seed-variation` collects"
NO_SPLIT_ERROR = "the paper's split is unknown, and the variation over splits was not measured"
NO_CHANCE = "no chance variation: runs vary by no more than the rounding of the published number"
PublishedKey = tuple[str, str, Key, str]  # paper, table, row, column


class NumberKind(StrEnum):
    """The kinds of published numbers, which are counted separately."""

    MEASURED = "measured"
    OTHER_SPLIT = "measured, on a split that is not counted"
    DATASET = "statistics of datasets"
    CONFIGURATION = "configuration"
    QUOTED = "quoted from other work"
    COST = "costs"


def kind_of(quantity: str, spec: TableSpec, model: str = "") -> NumberKind:
    """Return the kind of a published number in the row of a model, or "" if the row has none."""
    about = column(quantity)
    if about.cost:
        return NumberKind.COST
    if about.kind == "constant":
        return NumberKind.DATASET
    if about.kind == "choice":
        return NumberKind.CONFIGURATION
    own = spec.measured_models
    if own and model and model not in own:
        return NumberKind.QUOTED
    return NumberKind.MEASURED


#: The largest useful half width of an interval, as a share of the published number. Wider intervals
#: contain almost any plausible number.
WIDEST = 0.05
# The factor allows for the rounding error of a difference of half a unit in floating point.
ROUNDING = 1 + 1e-9


def judge_measured(difference: float, interval: float, published: float, unit: float) -> Verdict:
    """Return the verdict on a measured number. The published digits are considered first, then the interval.

    Our number is equal if its rounded value is the published number, whatever the interval is. Any
    other number that is outside its interval is above or below, however wide the interval is.
    Numbers inside wide intervals, and numbers without intervals, are undecided.

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
    if interval <= WIDEST * abs(published):
        return Verdict.INSIDE
    return Verdict.UNDECIDED


def side_of(difference: float) -> Verdict:
    """Return whether a number is above or below another number, given their difference, which is not 0."""
    if difference > 0:
        return Verdict.ABOVE
    return Verdict.BELOW


def judge_constant(difference: float, unit: float) -> Verdict:
    """Return the verdict on a number without randomness.

    Two numbers are equal if they differ by at most half a unit of the last published digit.
    """
    if abs(difference) <= unit / 2 * ROUNDING:
        return Verdict.EQUAL
    return side_of(difference)


def judge_exactly(old: str, new: str, tolerance: float = 0.0) -> Verdict:
    """Return the verdict on the new value of a number, given the old value.

    The values are equal if they differ by no more than the tolerance. Values that are not numbers
    are equal if their texts are equal. A blank cell or NaN is a missing value.
    """
    before = as_float(old)
    after = as_float(new)
    is_blank = old == "" or (before is not None and math.isnan(before))
    if new == "" or (after is not None and math.isnan(after)):
        if is_blank:
            return Verdict.EQUAL
        return Verdict.MISSING
    if is_blank:
        return Verdict.NEW
    if before is None or after is None:
        if old == new:
            return Verdict.EQUAL
        return Verdict.CHANGED
    if before == after or abs(after - before) <= tolerance:
        return Verdict.EQUAL
    return side_of(after - before)


def unit_of_last_digit(text: str) -> float:
    """Return the value of one unit in the last decimal place of a published number, or 1 without decimals."""
    exponent = Decimal(text).as_tuple().exponent
    if isinstance(exponent, int):
        return float(f"1e{min(exponent, 0)}")
    return 0.0


class Spread(NamedTuple):
    """Variation of one of our numbers from run to run.

    Attributes
    ----------
    runs : int
        Number of runs from which the deviation is computed, at least two. Each run has its own seed
        and split.
    deviation : float
        Standard deviation between runs (divisor: runs - 1), in the unit of the column.
    split_error : float or None
        Standard deviation between random splits into training and test set, in the unit of the
        column. ``split_error`` is None if the deviation between splits was not measured.
    """

    runs: int
    deviation: float
    split_error: float | None = None


def half_width(
    spread: Spread, unit: float, ours: int = 1, theirs: int = 1, other_split: bool = False
) -> tuple[float, bool]:
    """Return the half width h of an interval around the published number.

    In 95 of 100 cases, the number of a faithful reproduction differs from the published number by
    at most h.

    Let s be the standard deviation between runs, and u the unit of the last published digit. Our
    mean is over ``ours`` runs, and the published mean over ``theirs`` runs. The two means differ
    with variance s^2 (1 / ours + 1 / theirs). Rounding of the published number adds u^2 / 12 to the
    variance. Two independent splits add twice the square of the split error to the variance.

    The half width h is based on Student's t, because s is estimated from a few runs. Let q be the
    share of the variance that comes from s. The formula of Welch and Satterthwaite gives (runs - 1)
    / q^2 degrees of freedom.

    Parameters
    ----------
    spread : Spread
    unit : float
        The unit of the last published digit, in the unit of the column.
    ours, theirs : int
        Number of runs in our mean, and in the published mean.
    other_split : bool
        Whether the paper's split may differ from ours, so that the variance includes the split
        error of ``spread``.

    Returns
    -------
    float, bool
        The half width h, and whether runs and splits vary by no more than the rounding of the
        published number.
    """
    of_runs = spread.deviation * spread.deviation * (1 / ours + 1 / theirs)
    error = 0.0
    if other_split:
        error = spread.split_error or 0.0
    of_splits = 2 * error * error
    of_rounding = unit * unit / 12
    variance = of_runs + of_splits + of_rounding
    share = 0.0
    if variance:
        share = of_runs / variance
    if share:
        freedom = (spread.runs - 1) / (share * share)
    else:
        freedom = math.inf
    return student_quantile(freedom) * math.sqrt(variance), of_runs + of_splits <= of_rounding


class Judgement(NamedTuple):
    """The verdict on one number, which is "" for numbers that are not judged, such as costs.

    Attributes
    ----------
    kind : NumberKind
    verdict : Verdict or ""
    interval : float
        Half of the width of the interval around the published number, or NaN without an interval.
    reason : str
        How the interval was computed, or why there is none.
    fitted : str
        How hyperparameters were fitted to published results, or "".
    """

    kind: NumberKind
    verdict: Verdict | str = ""
    interval: float = math.nan
    reason: str = ""
    fitted: str = ""


@dataclass(frozen=True)
class Judge:
    """A judge of our numbers, who knows the variation of our runs, and the papers' splits and numbers of runs."""

    #: The variation of our number over runs with several seeds, for each published number.
    spreads: Mapping[PublishedKey, Spread] = field(default_factory=dict)
    #: The number of runs over which each paper averages its results, or 1 if this number is not
    #: known.
    printed_runs: Mapping[str, int] = field(default_factory=dict)
    #: Pairs of paper and dataset for which the paper's split is known to equal ours.
    same_split: frozenset[tuple[str, str]] = frozenset()
    #: Maps a paper and a dataset that is not counted to the dataset that is counted instead. The
    #: two datasets are splits of the same instances.
    report_on: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: Texts about the settings that were fitted to published test results, by paper and model, and about
    #: single quantities that helped to choose settings, by paper, model, dataset and quantity. The
    #: model is "" for a table of one model, such as Table 4 of ldsm2020.
    fitted: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    @classmethod
    def of_project(cls, config: Path, spreads: Mapping[PublishedKey, Spread]) -> Judge:
        """Return a judge for the papers and the catalogue of datasets in a configuration folder.

        Raises
        ------
        XmlcError
            A file violates its schema.
        """
        same_split = set()
        report_on = {}
        catalogue = config / "datasets.yaml"
        for dataset, entry in (load_catalogue(catalogue) if catalogue.is_file() else {}).items():
            for paper, split in entry.splits.items():
                if split["same"]:
                    same_split.add((paper, dataset))
                if "report_on" in split:
                    report_on[paper, dataset] = split["report_on"]
        runs = {}
        fitted: dict[tuple[str, ...], str] = {}
        for file in sorted((config / "papers").glob("*.yaml")):
            paper = file.stem
            suite = read_suite(file)
            runs[paper] = suite.printed_runs
            for name, model in suite.all_models.items():
                fitted[paper, name] = model.fitted_settings
                for dataset, origin in model.selected.items():
                    for quantity in origin.fitted:
                        fitted[paper, name, dataset, quantity] = origin.by
                        fitted[paper, "", dataset, quantity] = origin.by
        return cls(spreads, runs, frozenset(same_split), report_on, fitted)

    def judgement(self, paper: str, spec: TableSpec, number: Mapping[str, Any]) -> Judgement:
        """Return the verdict on one of our numbers.

        ``number`` is a row of `judged` as a dict. Its field ``is_repeated`` tells whether the paper
        prints the same number elsewhere, where it is judged.
        """
        dataset = number.get("dataset", "")
        model = number.get("model", "")
        quantity = number["quantity"]
        kind = kind_of(quantity, spec, model)
        if kind is NumberKind.MEASURED and (paper, dataset) in self.report_on:
            kind = NumberKind.OTHER_SPLIT
        published = float(number["published"])
        if kind is NumberKind.COST or number["is_repeated"]:
            return Judgement(kind)
        value = as_float(number["value"])
        if value is None or math.isnan(value):
            return Judgement(kind, Verdict.NOT_RUN)
        # A whole number is printed exactly. A mean of whole numbers is therefore not rounded before
        # the comparison.
        if column(quantity).whole:
            unit = 0.0
        else:
            unit = unit_of_last_digit(number["published"])
        if kind in (NumberKind.DATASET, NumberKind.CONFIGURATION):
            return Judgement(kind, judge_constant(value - published, unit), unit / 2)
        interval, reason = self._interval(paper, spec, number, unit)
        fitted = self.fitted.get((paper, model)) or self.fitted.get((paper, model, dataset, quantity), "")
        verdict = judge_measured(value - published, interval, published, unit)
        return Judgement(kind, verdict, interval, reason, fitted)

    def _interval(self, paper: str, spec: TableSpec, number: Mapping[str, Any], unit: float) -> tuple[float, str]:
        """Return the half width of a number's interval, or NaN, and an explanation."""
        key = tuple(number[name] for name in spec.keys)
        spread = self.spreads.get((paper, spec.name, key, number["quantity"]))
        ours = 1
        if number[SEEDS] > 0:
            ours = int(number[SEEDS])
        if ours > 1 and not math.isnan(number["deviation"]):
            split_error = None
            if spread:
                split_error = spread.split_error
            spread = Spread(ours, number["deviation"], split_error)
        if spread is None:
            return math.nan, NO_RUNS
        is_other_split = (paper, number.get("dataset", "")) not in self.same_split
        if is_other_split and spread.split_error is None:
            return math.nan, NO_SPLIT_ERROR
        theirs = self.printed_runs.get(paper, 1)
        interval, is_fixed = half_width(spread, unit, ours, theirs, is_other_split)
        if is_fixed:
            return interval, NO_CHANCE
        return interval, f"standard deviation {spread.deviation:.2g} of {spread.runs} runs"


def judged(
    paper: str,
    spec: TableSpec,
    means: pd.DataFrame,
    published: pd.DataFrame,
    judge: Judge,
) -> pd.DataFrame:
    """Judge the published numbers of a table.

    Parameters
    ----------
    paper : str
    spec : TableSpec
    means : DataFrame
        Our numbers (`mean_over_seeds` or `read_cells` of `xmlc.suite.results.numbers`).
    published : DataFrame
        The paper's numbers as texts, in the order of the paper.
    judge : Judge

    Returns
    -------
    DataFrame
        One row for each published number: the keys of the table, ``quantity``, ``value``,
        ``deviation``, ``seeds``, ``published``, and the fields of `Judgement`. If a paper repeats a
        statistic in each row of a dataset, the dataset has a single row for it.
    """
    keys = list(spec.keys)
    cell = [*keys, "quantity"]
    is_number = np.isfinite(as_floats(published["value"]))
    numbers = published.loc[is_number, [*cell, "value"]].rename(columns={"value": "published"})
    numbers["is_repeated"] = _repeats(numbers, keys)
    means = means.reindex(columns=[*cell, "value", "deviation", SEEDS]).astype({"value": object})
    joined = numbers.merge(means, how="left", on=cell)
    if "dataset" in keys:
        # A statistic may be in other rows of the dataset than in the paper.
        of_dataset = ["dataset", "quantity"]
        known = means.dropna(subset="value").drop_duplicates(of_dataset)[[*of_dataset, "value"]]
        joined = joined.merge(known, how="left", on=of_dataset, suffixes=("", "_of_dataset"))
        is_constant = joined["quantity"].map(lambda name: column(name).kind == "constant").astype(bool)
        joined["value"] = joined["value"].where(~is_constant, joined.pop("value_of_dataset"))
        joined = joined[~(is_constant & joined.duplicated(of_dataset))]
    judgements = [judge.judgement(paper, spec, number) for number in joined.to_dict("records")]
    verdicts = pd.DataFrame(judgements, columns=Judgement._fields, index=joined.index)
    return joined.drop(columns="is_repeated").join(verdicts)


def _repeats(published: pd.DataFrame, keys: list[str]) -> pd.Series:
    """Return which numbers a paper also prints in another column, table or row.

    nDCG@1 is P@1. Table 4 of plt2016 repeats the numbers of FTA and STO in Table 2. FastXML's inner
    products do not depend on the threshold method, so they count only in the row of the first
    method.
    """
    quantity = published["quantity"]
    has_precision = (quantity == "p@1").groupby([published[key] for key in keys]).transform("any")
    is_ndcg = (quantity == "ndcg@1") & has_precision
    is_earlier = (quantity == "inner_products") & published.duplicated([*keys[:2], "quantity", "published"])
    return is_ndcg | is_earlier | quantity.isin(["fta", "sto"])
