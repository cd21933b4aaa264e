"""Verdicts on our numbers, by the published number's kind and the variation between our runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.suite.config.catalogue import load_catalogue
from xmlc.suite.config.suite import read_suite
from xmlc.suite.papers.tables import TableSpec
from xmlc.suite.results.columns import column
from xmlc.suite.results.fingerprint import read_table
from xmlc.suite.results.intervals import mean_and_variance, student_quantile
from xmlc.suite.results.numbers import SEEDS, Key, as_float, as_floats, places
from xmlc.suite.results.verdicts import Verdict

NO_RUNS = "no runs with several seeds, which `xmlc seed-variation` collects"
NO_SPLIT_ERROR = "the paper's split is unknown, and the variation over splits was not measured"
NO_CHANCE = "no chance variation: runs vary by no more than the rounding of the published number"
RUNS = "runs.csv"  # In the configuration folder, with our results for several seeds
RUN_COLUMNS = ["paper", "table", "row", "column", "seeds", "values", "split_error"]
BETWEEN = " / "  # Between the keys of a row in a CSV file of runs
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
    """Return the kind of a published number in the row of a model, which may be ""."""
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


#: Widest useful half width of an interval, as a share of the published number, because wider ones
#: contain almost any plausible number.
WIDEST = 0.05
# Allows for the rounding error of a difference of half a unit in floating point.
ROUNDING = 1 + 1e-9


def verdict_on(
    difference: float, tolerance: float, interval: float = 0.0, published: float = 0.0
) -> Verdict:
    """Return the verdict on a number, by its difference from a published or earlier one.

    The published digits come first: our number is equal if the difference is at most ``tolerance``,
    whatever the interval. It is above or below outside the interval, however wide that is.
    Otherwise, it is inside, or undecided without an interval or with a half width above `WIDEST` of
    ``published``.

    ``interval`` is a half width, 0 for numbers without randomness, or NaN if there is none.
    """
    if abs(difference) <= tolerance:
        return Verdict.EQUAL
    if abs(difference) > interval:
        return Verdict.ABOVE if difference > 0 else Verdict.BELOW
    if interval <= WIDEST * abs(published):
        return Verdict.INSIDE
    return Verdict.UNDECIDED


def unit_of_last_digit(text: str) -> float:
    """Return the unit of a number's last decimal place, or 1 without decimals."""
    return float(f"1e{min(int(Decimal(text).as_tuple().exponent), 0)}")


class Spread(NamedTuple):
    """The variation of one of our numbers between at least two runs, each with its seed and split.

    The ``deviation`` (divisor: runs - 1) is in the unit of the column, as is ``split_error``,
    between random training and test splits, if measured.
    """

    runs: int
    deviation: float
    split_error: float | None = None


def half_width(
    spread: Spread, unit: float, ours: int = 1, theirs: int = 1, other_split: bool = False
) -> tuple[float, bool]:
    """Return the half width h of an interval around the published number, and whether runs and
    splits vary by no more than its rounding.

    The number of a faithful reproduction differs by at most h in 95 of 100 cases. Let s be the
    standard deviation between runs, and u the ``unit`` of the last published digit. Our mean over
    ``ours`` runs and the published mean over ``theirs`` runs differ with variance s^2 (1 / ours + 1
    / theirs). To this, rounding of the published number adds u^2 / 12, and two independent splits
    add twice the square of the split error, if the paper may have an ``other_split``.

    Because s is estimated from a few runs, h is based on Student's t. If q is the share of the
    variance that comes from s, the formula of Welch and Satterthwaite gives (runs - 1) / q^2
    degrees of freedom.
    """
    of_runs = spread.deviation * spread.deviation * (1 / ours + 1 / theirs)
    of_splits = 0.0
    if other_split and spread.split_error:
        of_splits = 2 * spread.split_error * spread.split_error
    of_rounding = unit * unit / 12
    variance = of_runs + of_splits + of_rounding
    freedom = math.inf
    if of_runs:
        share = of_runs / variance
        freedom = (spread.runs - 1) / (share * share)
    return student_quantile(freedom) * math.sqrt(variance), of_runs + of_splits <= of_rounding


def read_runs(file: Path) -> pd.DataFrame:
    """Return the CSV file of runs as texts, without rows if there is no file."""
    if not file.is_file():
        return pd.DataFrame(columns=RUN_COLUMNS, dtype=str)
    runs = read_table(file)
    if list(runs) != RUN_COLUMNS:
        raise XmlcError(
            f"{file}: found columns {', '.join(runs)}, expected {', '.join(RUN_COLUMNS)}"
        )
    return runs


def read_spreads(file: Path) -> dict[PublishedKey, Spread]:
    """Return the variation over seeds of each number in the file of runs."""
    spreads: dict[PublishedKey, Spread] = {}
    for line, run in enumerate(read_runs(file).to_dict("records"), start=2):
        key = run["paper"], run["table"], tuple(run["row"].split(BETWEEN)), run["column"]
        texts = run["values"].split()
        values = [value for value in map(as_float, texts) if value is not None]
        if (
            key in spreads
            or len(values) < 2
            or not len(values) == len(texts) == len(run["seeds"].split())
        ):
            raise XmlcError(
                f"{file}:{line}: found {run}, expected one line with a value for each of several "
                "seeds"
            )
        _, variance = mean_and_variance(values)
        spreads[key] = Spread(len(values), math.sqrt(variance), as_float(run["split_error"]))
    return spreads


class Judgement(NamedTuple):
    """The verdict on one number, "" for numbers that are not judged, such as costs.

    ``interval`` is half the width of the interval around the published number, or NaN, ``reason``
    how it was computed or why there is none, and ``fitted`` how hyperparameters were fitted to
    published results, or "".
    """

    kind: NumberKind
    verdict: Verdict | str = ""
    interval: float = math.nan
    reason: str = ""
    fitted: str = ""


@dataclass(frozen=True)
class Judge:
    """A judge of our numbers, with the variation of our runs, and the papers' splits and runs."""

    #: Variation of our number over seeds, for each published number.
    spreads: Mapping[PublishedKey, Spread] = field(default_factory=dict)
    #: Number of runs over which a paper averages, or 1 if it is unknown.
    printed_runs: Mapping[str, int] = field(default_factory=dict)
    #: Entry ``splits`` of the catalogue for each paper and dataset: whether the paper's split is
    #: the ``same`` as ours, and ``report_on``, the dataset that is counted instead.
    splits: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    #: Texts about settings that were fitted to published test results, by paper and model, and
    #: about single quantities that helped to choose them, by paper, model, dataset and quantity.
    #: The model is "" for a table of one model, such as Table 4 of ldsm2020.
    fitted: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    @classmethod
    def of_project(cls, config: Path) -> Judge:
        """Return a judge for the papers, the catalogue and the runs in a configuration folder."""
        splits = {}
        catalogue = config / "datasets.yaml"
        if catalogue.is_file():
            for dataset, entry in load_catalogue(catalogue).items():
                for paper, split in entry.splits.items():
                    splits[paper, dataset] = split
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
        return cls(read_spreads(config / RUNS), runs, splits, fitted)

    def judgement(self, paper: str, spec: TableSpec, number: Mapping[str, Any]) -> Judgement:
        """Return the verdict on a row of `judged`, as a dict."""
        dataset = number.get("dataset", "")
        model = number.get("model", "")
        quantity = number["quantity"]
        split = self.splits.get((paper, dataset), {})
        kind = kind_of(quantity, spec, model)
        if kind is NumberKind.MEASURED and "report_on" in split:
            kind = NumberKind.OTHER_SPLIT
        if kind is NumberKind.COST:
            return Judgement(kind)
        value = as_float(number["value"])
        if value is None or math.isnan(value):
            return Judgement(kind, Verdict.NOT_RUN)
        published = float(number["published"])
        unit = unit_of_last_digit(number["published"])
        if column(quantity).whole:
            unit = 0.0  # A mean of whole numbers is not rounded before the comparison
        rounding = unit / 2 * ROUNDING
        if kind in (NumberKind.DATASET, NumberKind.CONFIGURATION):
            return Judgement(kind, verdict_on(value - published, rounding), unit / 2)
        fitted = self.fitted.get((paper, model)) or self.fitted.get(
            (paper, model, dataset, quantity), ""
        )
        spread = self.spreads.get(
            (paper, spec.name, tuple(number[name] for name in spec.keys), quantity)
        )
        ours = max(int(np.nan_to_num(number[SEEDS])), 1)
        if ours > 1 and not math.isnan(number["deviation"]):
            spread = Spread(ours, number["deviation"], spread and spread.split_error)
        is_other_split = not split.get("same")
        interval = math.nan
        if spread is None:
            reason = NO_RUNS
        elif is_other_split and spread.split_error is None:
            reason = NO_SPLIT_ERROR
        else:
            interval, is_fixed = half_width(
                spread, unit, ours, self.printed_runs.get(paper, 1), is_other_split
            )
            reason = NO_CHANCE
            if not is_fixed:
                reason = f"standard deviation {spread.deviation:.2g} of {spread.runs} runs"
        return Judgement(
            kind,
            verdict_on(value - published, rounding, interval, published),
            interval,
            reason,
            fitted,
        )


def judged(
    paper: str, spec: TableSpec, means: pd.DataFrame | None, published: pd.DataFrame, judge: Judge
) -> pd.DataFrame:
    """Judge the published numbers of a table, which are texts in the order of the paper.

    Our ``means`` come from `mean_over_seeds` or `read_cells`, if there are any.

    Returns
    -------
    DataFrame
        One row for each published number that the paper does not repeat elsewhere: the keys of the
        table, ``quantity``, ``value``, ``deviation``, ``seeds``, ``published``, the ``place``
        (`xmlc.suite.results.numbers.places`), and the fields of `Judgement`. A statistic that a
        paper repeats for a dataset has a single row.
    """
    keys = spec.keys
    numbers = published[np.isfinite(as_floats(published["value"]))].rename(
        columns={"value": "published"}
    )
    numbers = numbers.loc[~_repeats(numbers, keys), [*keys, "quantity", "published"]]
    numbers = numbers.assign(place=places(numbers, keys))
    if means is None:
        means = published.iloc[:0]
    means = means.assign(place=places(means, keys)).dropna(subset="value").drop_duplicates("place")
    means = means.reindex(columns=["place", "value", "deviation", SEEDS])
    joined = numbers.drop_duplicates("place").merge(means, "left", "place")
    judgements = [judge.judgement(paper, spec, number) for number in joined.to_dict("records")]
    return joined.join(pd.DataFrame(judgements, columns=Judgement._fields))


def _repeats(published: pd.DataFrame, keys: Sequence[str]) -> pd.Series:
    """Return which numbers a paper also prints in another column, table or row.

    nDCG@1 is P@1, and Table 4 of plt2016 repeats FTA and STO from Table 2. FastXML's inner products
    do not depend on the threshold method, so they count only in the row of the first.
    """
    quantity = published["quantity"]
    has_precision = (quantity == "p@1").groupby([published[key] for key in keys]).transform("any")
    is_ndcg = (quantity == "ndcg@1") & has_precision
    is_earlier = (quantity == "inner_products") & published.duplicated(
        [*keys[:2], "quantity", "published"]
    )
    return is_ndcg | is_earlier | quantity.isin(["fta", "sto"])
