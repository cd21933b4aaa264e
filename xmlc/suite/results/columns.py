"""The columns of all tables: unit, printed decimals, and whether higher values are better.

Values of a *cost* come from a clock or the operating system and differ from run to run, so tables
and `xmlc compare` show costs without judging them. Inner products are counted, so their number is
no cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from xmlc.metrics.measures import OF_RANKINGS, OF_SETS, AnyMeasure

COST = "cost_"  # Begins the names of columns for claims about costs.
DIGITS = 3
MAX_DECIMALS = 6
MISSING = "–"


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    title: str
    #: One of ``%``, ``min``, ``s``, ``ms``, ``MB`` (10^6 bytes), or "".
    unit: str = ""
    #: Printed decimals. None means three significant digits for a cost, else the format ``g``.
    decimals: int | None = None
    better: Literal["higher", "lower"] | None = None
    cost: bool = False
    #: How seeds are combined: measures are averaged, constants are equal, choices are listed.
    kind: Literal["measure", "constant", "choice"] = "measure"
    #: Rounds numbers to these decimals before they are printed.
    most: int | None = None
    #: Whether a single run's value is a whole number.
    whole: bool = False

    @property
    def heading(self) -> str:
        """Return the title, followed by the unit in brackets."""
        if self.unit:
            return f"{self.title} ({self.unit})"
        return self.title

    def printed(self, value: float | str | None, beside: float | None = None) -> str:
        """Return the printed value, or a dash if it is missing.

        The mean ``beside`` a standard deviation determines its decimals.
        """
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return MISSING
        if isinstance(value, str):
            return value
        number = float(value)
        if self.most is not None:
            number = round(number, self.most)
        decimals = self._decimals(number)
        if beside is not None:
            decimals = self._decimals(float(beside))
            if decimals is None:
                decimals = len(f"{beside:g}".partition(".")[2])
        if decimals is None:
            return f"{number:g}"
        return f"{number:.{decimals}f}"

    def _decimals(self, number: float) -> int | None:
        if self.decimals is not None or math.isinf(number):
            return self.decimals
        if number.is_integer():
            return 0
        if not self.cost:
            return None
        return min(max(DIGITS - 1 - math.floor(math.log10(abs(number))), 0), MAX_DECIMALS)


def _measure(measure: AnyMeasure) -> Column:
    return Column(
        measure.name,
        measure.title,
        measure.unit,
        measure.decimals,
        measure.better,
        kind=measure.kind,
    )


def _columns(about: dict[str, Any], **titles: str) -> list[Column]:
    return [Column(name, title, **about) for name, title in titles.items()]


_ALL = (
    *map(_measure, (*OF_RANKINGS, *OF_SETS)),
    *(
        replace(_measure(part), name=f"isotonic_{part.name}", title=f"{part.title}, calibrated")
        for part in OF_RANKINGS
        if part.name.startswith("ece@")
    ),
    Column("validation_p@1", "P@1, validation", "%", 2, "higher"),
    # Scores of label sets, on the test set unless the title names another part. plt2016 compares
    # FTA, STO and OFO, and oplt2021 has the accuracy on datasets with one label per instance.
    *_columns(
        {"unit": "%", "decimals": 2, "better": "higher"},
        expected_f="Expected F",
        validation_macro_f="Validation macro-F",
        test_macro_f="Test macro-F",
        fta="FTA",
        sto="STO",
        ofo="OFO",
        accuracy="Accuracy",
    ),
    # Keys and texts of rows, also of claims.
    *_columns(
        {"kind": "constant"},
        dataset="Dataset",
        model="Model",
        method="Method",
        tuned_for="Tuned for",
        hyperparameter="Hyperparameter",
        passes="Passes",
        min_probability="Minimum probability",
        claim="Claim",
        statement="Statement",
        source="In the paper",
        stated="Stated",
        printed="Published",
        subject="Subject",
        unit="Unit of the effect",
        side="Decision",
        note="Note",
    ),
    # Statistics of a dataset (plt2016, Table 1), of simulations and of claims.
    *_columns(
        {"kind": "constant", "decimals": 0},
        m="#labels",
        d="#features",
        n_test="#test",
        n_train="#train",
        samples="Samples",
        units="Datasets and subjects",
        seeds="Seeds",
    ),
    # Averages over the training set. log_M K is for the trees of ldsm2020.
    *_columns(
        {"kind": "constant", "decimals": 2},
        instances_per_label="inst./lab.",
        labels_per_instance="lab./inst.",
        log_m="log_M K",
    ),
    # Five-number summaries and averages of counts in the training set (swnn2018, Tables 2-5).
    *_columns(
        {"kind": "constant", "most": 2},
        minimum="Minimum",
        lower_quartile="1st quartile",
        median="Median",
        upper_quartile="3rd quartile",
        maximum="Maximum",
        mean="Average",
    ),
    # Hyperparameters: ranges and values (plt2016, Table 3), of nearest neighbours (swnn2018, Table
    # 6), of ensembles (ldsm2020, Table 4) and of thresholds.
    *_columns(
        {"kind": "choice"},
        low="Low",
        high="High",
        drawn="Scale",
        value="Value",
        found_by="Found by",
        S="S",
        alpha="alpha",
        beta="beta",
        trials="Trials",
        n_trees="Trees",
        arity="Arity",
        c="c",
        a="a",
        b="b",
    ),
    # The trees of an ensemble (ldsm2020, Table 4). Leaves count as nodes.
    Column("depth", "Depth", whole=True),
    Column("nodes", "Nodes of a tree", decimals=0),
    Column("depth_ratio", "Depth / log_M K", decimals=2),
    # Estimates above a minimum probability, and the loss that this minimum causes in label sets.
    Column("estimates_per_instance", "Estimates per instance", "", 2),
    Column("missed_per_instance", "True labels without estimate, per instance", "", 4),
    Column("truncation_loss", "Lost expected F, at most", "%", 4, "lower"),
    # Costs, and the number of inner products.
    Column("inner_products", "Inner products", "", 0, "lower"),
    *_columns(
        {"unit": "min", "better": "lower", "cost": True},
        train_minutes="Time",
        train_cpu_minutes="Train, CPU",
    ),
    *_columns(
        {"unit": "s", "better": "lower", "cost": True},
        train_seconds="Train",
        train_cpu_seconds="Train, CPU",
        tune_seconds="Tune",
        inference_seconds="Inference time",
    ),
    *_columns(
        {"unit": "ms", "better": "lower", "cost": True},
        predict_ms="Predict",
        test_ms="Test time",
        draw_ms="Drawing",
        estimate_ms="Estimating",
        infer_ms="Inferring",
    ),
    *_columns(
        {"unit": "MB", "better": "lower", "cost": True},
        model_mb="Model",
        train_peak_mb="Peak, train",
        predict_peak_mb="Peak, predict",
    ),
    *_columns(
        {"kind": "choice", "cost": True},
        train_threads="Threads, train",
        predict_threads="Threads, predict",
        test_threads="Threads",
        inference_threads="Threads",
    ),
    # Tests of the claims of a paper.
    *_columns(
        {},
        effect="Effect",
        lower="Lower end",
        upper="Upper end",
        supports="For",
        contradicts="Against",
        opposites="Opposite sign",
        lost="Cases changed by bootstrap error",
        verdict="Verdict",
        unit_effect="Effect",
        on_tests="With bootstrap error",
    ),
)

COLUMNS: dict[str, Column] = {column.name: column for column in _ALL}

DEVIATION = "_std"


def column(name: str) -> Column:
    """Return the definition of a column.

    A standard deviation resembles its column, but has no best value. Neither have unknown names,
    which have no unit and are a cost only if they begin with `COST`.
    """
    if name in COLUMNS:
        return COLUMNS[name]
    measured = COLUMNS.get(name.removesuffix(DEVIATION))
    if measured is None:
        return Column(name, name, cost=name.startswith(COST))
    return replace(measured, name=name, title=f"{measured.title}, std", better=None)
