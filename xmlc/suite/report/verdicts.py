"""Compare each of our numbers with a published or earlier number, and give a verdict.

A verdict depends on the kind of the published number and on the variation between our runs.
"""

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
RUNS = "runs.csv"  # The file in the configuration folder with our results for several seeds.
RUN_COLUMNS = ["paper", "table", "row", "column", "seeds", "values", "split_error"]
BETWEEN = " / "  # Text between the keys of a row in a CSV file of runs.
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


def verdict_on(
    difference: float, tolerance: float, interval: float = 0.0, published: float = 0.0
) -> Verdict:
    """Return the verdict on a number, by its difference from a published number or an earlier one.

    The published digits are considered first, then the interval. Our number is equal if its rounded
    value is the published number, whatever the interval is. Any other number that is outside its
    interval is above or below, however wide the interval is. Numbers inside wide intervals, and
    numbers without intervals, are undecided.

    Parameters
    ----------
    difference : float
        Our number minus the other number.
    tolerance : float
        The largest difference of equal numbers.
    interval : float
        Half the width of the interval, or NaN if there is no interval. It is 0 for numbers without
        randomness.
    published : float
        The other number, if it has an interval.
    """
    if abs(difference) <= tolerance:
        return Verdict.EQUAL
    if abs(difference) > interval:
        return Verdict.ABOVE if difference > 0 else Verdict.BELOW
    if interval <= WIDEST * abs(published):
        return Verdict.INSIDE
    return Verdict.UNDECIDED


def unit_of_last_digit(text: str) -> float:
    """Return the value of one unit in the last decimal place of a published number, or 1 without
    decimals.
    """
    return float(f"1e{min(int(Decimal(text).as_tuple().exponent), 0)}")


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
    """Return the CSV file of runs as a data frame of texts.

    The data frame is empty if there is no file.

    Raises
    ------
    XmlcError
        The file cannot be read, or has other columns.
    """
    if not file.is_file():
        return pd.DataFrame(columns=RUN_COLUMNS, dtype=str)
    runs = read_table(file)
    if list(runs) != RUN_COLUMNS:
        raise XmlcError(
            f"{file}: found columns {', '.join(runs)}, expected {', '.join(RUN_COLUMNS)}"
        )
    return runs


def read_spreads(file: Path) -> dict[PublishedKey, Spread]:
    """Return how much each number in the CSV file of runs varies over seeds.

    Raises
    ------
    XmlcError
        The file cannot be read, or has a wrong or repeated line.
    """
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
    """A judge of our numbers, who knows the variation of our runs, and the papers' splits and
    numbers of runs.
    """

    #: The variation of our number over runs with several seeds, for each published number.
    spreads: Mapping[PublishedKey, Spread] = field(default_factory=dict)
    #: The number of runs over which each paper averages its results, or 1 if this number is not
    #: known.
    printed_runs: Mapping[str, int] = field(default_factory=dict)
    #: The entry ``splits`` of the catalogue for each paper and dataset: whether the paper's split
    #: is the ``same`` as ours, and ``report_on``, the dataset that is counted instead of this one.
    splits: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    #: Texts about the settings that were fitted to published test results, by paper and model, and
    #: about single quantities that helped to choose settings, by paper, model, dataset and
    #: quantity. The model is "" for a table of one model, such as Table 4 of ldsm2020.
    fitted: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    @classmethod
    def of_project(cls, config: Path) -> Judge:
        """Return a judge for the papers, the catalogue of datasets and the runs in a configuration
        folder.

        Raises
        ------
        XmlcError
            A file violates its schema.
        """
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
        """Return the verdict on one of our numbers.

        ``number`` is a row of `judged` as a dict.
        """
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
            unit = 0.0  # A mean of whole numbers is not rounded before the comparison.
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
    """Judge the published numbers of a table.

    Parameters
    ----------
    paper : str
    spec : TableSpec
    means : DataFrame or None
        Our numbers (`mean_over_seeds` or `read_cells` of `xmlc.suite.results.numbers`), if the
        table was built.
    published : DataFrame
        The paper's numbers as texts, in the order of the paper.
    judge : Judge

    Returns
    -------
    DataFrame
        One row for each published number that the paper does not repeat elsewhere: the keys of the
        table, ``quantity``, ``value``, ``deviation``, ``seeds``, ``published``, the ``place``
        (`xmlc.suite.results.numbers.places`), and the fields of `Judgement`. If a paper repeats a
        statistic in each row of a dataset, the dataset has a single row for it.
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

    nDCG@1 is P@1. Table 4 of plt2016 repeats the numbers of FTA and STO in Table 2. FastXML's inner
    products do not depend on the threshold method, so they count only in the row of the first
    method.
    """
    quantity = published["quantity"]
    has_precision = (quantity == "p@1").groupby([published[key] for key in keys]).transform("any")
    is_ndcg = (quantity == "ndcg@1") & has_precision
    is_earlier = (quantity == "inner_products") & published.duplicated(
        [*keys[:2], "quantity", "published"]
    )
    return is_ndcg | is_earlier | quantity.isin(["fta", "sto"])
