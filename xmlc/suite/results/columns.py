"""Define the columns of all tables: unit, printed decimals, whether higher is better, and whether a column is a cost.

A *cost* is measured by a clock or the operating system, so it differs from run to run. Tables and `xmlc compare` show
costs, but costs have no verdicts. Inner products are counted, so they are not costs in this sense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from xmlc.metrics.measures import OF_RANKINGS, OF_SETS, AnyMeasure

SUMMARY = {
    "minimum": "Minimum",
    "lower_quartile": "1st quartile",
    "median": "Median",
    "upper_quartile": "3rd quartile",
    "maximum": "Maximum",
    "mean": "Average",
}
CLAIMS = {
    "effect": "Effect",
    "lower": "Lower end",
    "upper": "Upper end",
    "supports": "For",
    "contradicts": "Against",
    "opposites": "Opposite sign",
    "lost": "Cases changed by bootstrap error",
    "verdict": "Verdict",
}
COST = "cost_"  # Names of columns for claims on costs begin with this prefix.
DIGITS = 3
MAX_DECIMALS = 6
MISSING = "–"


@dataclass(frozen=True)
class Column:
    """Describe one column of a table."""

    #: The name of the column in CSV files.
    name: str
    #: The printed heading, without the unit.
    title: str
    #: The unit: ``%``, ``min``, ``s``, ``ms``, ``MB`` (10^6 bytes) or an empty text.
    unit: str = ""
    #: Number of printed decimals. None prints a cost with three significant digits, and other numbers in format ``g``.
    decimals: int | None = None
    better: Literal["higher", "lower"] | None = None
    cost: bool = False
    #: How the values of the seeds are summarised. A measure is averaged, a constant must be equal for all seeds, and a
    #: choice lists all values.
    kind: Literal["measure", "constant", "choice"] = "measure"
    #: Numbers are rounded to this many decimals before printing. With None, numbers are not rounded.
    most: int | None = None

    @property
    def heading(self) -> str:
        """Return the title of the column, followed by its unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    def printed(self, value: float | str | None, beside: float | None = None) -> str:
        """Return one value as printed. A missing value is printed as a dash.

        To print a standard deviation, pass the mean as ``beside``. The mean and the standard deviation then have the
        same number of decimals.
        """
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return MISSING
        if isinstance(value, str):
            return value
        number = float(value) if self.most is None else round(float(value), self.most)
        decimals = self._decimals(number if beside is None else float(beside))
        if decimals is None and beside is not None:
            decimals = len(f"{beside:g}".partition(".")[2])
        return f"{number:g}" if decimals is None else f"{number:.{decimals}f}"

    def _decimals(self, number: float) -> int | None:
        if self.decimals is not None or math.isinf(number):
            return self.decimals
        if number.is_integer():
            return 0
        if not self.cost:
            return None
        return min(max(DIGITS - 1 - math.floor(math.log10(abs(number))), 0), MAX_DECIMALS)


def _percent(name: str, title: str) -> Column:
    return Column(name, title, "%", 2, "higher")


def _measure(measure: AnyMeasure) -> Column:
    return Column(measure.name, measure.title, measure.unit, measure.decimals, measure.better, kind=measure.kind)


def _cost(name: str, title: str, unit: str) -> Column:
    return Column(name, title, unit, better="lower", cost=True)


def _constant(name: str, title: str, decimals: int = 0) -> Column:
    return Column(name, title, decimals=decimals, kind="constant")


def _threads(name: str, title: str) -> Column:
    return Column(name, title, cost=True, kind="choice")


_ALL = (
    Column("dataset", "Dataset", kind="constant"),
    Column("model", "Model", kind="constant"),
    Column("method", "Method", kind="constant"),
    Column("tuned_for", "Tuned for", kind="constant"),
    # These columns describe tuned hyperparameters (plt2016, Table 3).
    Column("hyperparameter", "Hyperparameter", kind="constant"),
    Column("low", "Low", kind="choice"),
    Column("high", "High", kind="choice"),
    Column("drawn", "Scale", kind="choice"),
    Column("value", "Value", kind="choice"),
    _percent("validation_p@1", "P@1, validation"),
    Column("found_by", "Found by", kind="choice"),
    # These columns describe a dataset (plt2016, Table 1). Averages are over the training part.
    _constant("m", "#labels"),
    _constant("d", "#features"),
    _constant("n_test", "#test"),
    _constant("n_train", "#train"),
    _constant("instances_per_label", "inst./lab.", 2),
    _constant("labels_per_instance", "lab./inst.", 2),
    # These columns contain five-number summaries and averages of counts in the training part (swnn2018, Tables 2-5).
    *(Column(name, title, most=2, kind="constant") for name, title in SUMMARY.items()),
    # These columns contain measures of rankings, and hyperparameters of nearest neighbours (swnn2018, Table 6).
    *map(_measure, OF_RANKINGS),
    *(replace(_measure(part), name=f"isotonic_{part.name}", title=f"{part.title}, calibrated")
      for part in OF_RANKINGS if part.name.startswith("ece@")),
    *(Column(name, name, kind="choice") for name in ("S", "alpha", "beta")),
    Column("trials", "Trials", kind="choice"),
    # These columns contain results on datasets with one label per instance, and the best number of training passes
    # (oplt2021).
    _percent("accuracy", "Accuracy"),
    Column("passes", "Passes", kind="constant"),
    # These columns describe the trees of an ensemble (ldsm2020, Table 4). Numbers of nodes include leaves.
    Column("n_trees", "Trees", kind="choice"),
    Column("depth", "Depth"),
    Column("arity", "Arity", kind="choice"),
    Column("nodes", "Nodes of a tree", decimals=0),
    Column("log_m", "log_M K", decimals=2, kind="constant"),
    Column("depth_ratio", "Depth / log_M K", decimals=2),
    # These columns contain measures of label sets, on the test set unless the title names another part.
    *map(_measure, OF_SETS),
    _percent("expected_f", "Expected F"),
    _percent("validation_macro_f", "Validation macro-F"),
    _percent("test_macro_f", "Test macro-F"),
    _percent("fta", "FTA"),
    _percent("sto", "STO"),
    _percent("ofo", "OFO"),
    Column("c", "c", kind="choice"),
    Column("a", "a", kind="choice"),
    Column("b", "b", kind="choice"),
    # These columns describe estimates above a minimum probability, and the loss of label sets inferred from them.
    _constant("samples", "Samples"),
    Column("min_probability", "Minimum probability", kind="constant"),
    Column("estimates_per_instance", "Estimates per instance", "", 2),
    Column("missed_per_instance", "True labels without estimate, per instance", "", 4),
    Column("truncation_loss", "Lost expected F, at most", "%", 4, "lower"),
    # These columns contain costs and the number of inner products.
    Column("inner_products", "Inner products", "", 0, "lower"),
    _cost("train_minutes", "Time", "min"),
    _cost("train_seconds", "Train", "s"),
    _cost("train_cpu_minutes", "Train, CPU", "min"),
    _cost("train_cpu_seconds", "Train, CPU", "s"),
    _cost("tune_seconds", "Tune", "s"),
    _cost("predict_ms", "Predict", "ms"),
    _cost("test_ms", "Test time", "ms"),
    _cost("inference_seconds", "Inference time", "s"),
    _cost("draw_ms", "Drawing", "ms"),
    _cost("estimate_ms", "Estimating", "ms"),
    _cost("infer_ms", "Inferring", "ms"),
    _cost("model_mb", "Model", "MB"),
    _cost("train_peak_mb", "Peak, train", "MB"),
    _cost("predict_peak_mb", "Peak, predict", "MB"),
    _threads("train_threads", "Threads, train"),
    _threads("predict_threads", "Threads, predict"),
    _threads("test_threads", "Threads"),
    _threads("inference_threads", "Threads"),
    # These columns describe the test of a paper's claims.
    *(Column(name, title, kind="constant")
      for name, title in (("claim", "Claim"), ("statement", "Statement"), ("source", "In the paper"),
                          ("stated", "Stated"))),
    *(part for name, title in CLAIMS.items()
      for part in (Column(name, title), Column(COST + name, f"{title}, times or memory", cost=True))),
    Column("printed", "Published", kind="constant"),
    Column("subject", "Subject", kind="constant"),
    Column("units", "Datasets and subjects", decimals=0, kind="constant"),
    Column("unit", "Unit of the effect", kind="constant"),
    Column("unit_effect", "Effect"),
    Column("on_tests", "With bootstrap error"),
    Column("side", "Decision", kind="constant"),
    Column("note", "Note", kind="constant"),
    Column("seeds", "Seeds", decimals=0, kind="constant"),
)  # fmt: skip

COLUMNS: dict[str, Column] = {column.name: column for column in _ALL}

DEVIATION = "_std"


def column(name: str) -> Column:
    """Return the definition of a column. An undefined column has no unit and no better direction, and is not a cost.

    The column of a standard deviation has the definition of its measure, but no better direction.
    """
    base = name.removesuffix(DEVIATION)
    if base in COLUMNS and base != name:
        return replace(COLUMNS[base], name=name, title=f"{COLUMNS[base].title}, std", better=None)
    return COLUMNS.get(name) or Column(name, name)
