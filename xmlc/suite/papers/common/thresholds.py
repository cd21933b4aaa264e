"""Declare Tables 2 and 4 of plt2016 on tuned thresholds, and a table of measures for all threshold methods."""

from __future__ import annotations

import numpy as np
import pandas as pd

from xmlc.metrics import measures as known
from xmlc.suite.config.planned import Where
from xmlc.suite.papers.tables import Table, TableSpec, by_method, columns
from xmlc.suite.results.columns import column
from xmlc.suite.results.numbers import mean_over_seeds
from xmlc.suite.results.titles import CONVENTIONS, METHODS, measure_of

FOR_OTHERS = (
    "ofo-ab",
    *known.MEASURE_METHODS,
)  # Methods that only the tables `table4` and `measures` show.
OF_80, OF_FULL = (Where("thresholds", split, but_methods=FOR_OTHERS) for split in ("80", "full"))
METHOD_KEYS = ("dataset", "model", "method")


table2 = TableSpec(
    name="table2",
    needs=(OF_80, OF_FULL),
    keys=METHOD_KEYS,
    columns=(
        *("macro_f", "test_ms", "inner_products"),
        *(name for name in known.SET_METRICS if name != "macro_f"),
        *(*known.FURTHER_SET_METRICS, "predicted_per_instance", "validation_macro_f"),
        *("c", "a", "b", "tune_seconds", "test_threads"),
    ),
    panels=(
        by_method("macro_f", "Macro-F on the test set (%)"),
        by_method("test_ms", "Time per test instance (ms)"),
        by_method("inner_products", "Inner products per test instance"),
    ),
    notes=(
        *CONVENTIONS,
        "A label without test instances counts 0 if it is predicted. The CSV file has more variants of macro-F.",
        "FTA: fixed thresholds approach, STO: search-based threshold optimization, OFO: online F-measure optimization.",
    ),
    caption="Macro-F and costs of prediction on the test set, with thresholds tuned on the validation set.",
)


def _tuned_ofo(table: Table) -> pd.DataFrame:
    """Return the rows of OFO with tuned a and b, with the macro-F of FTA and STO in each row."""
    means = mean_over_seeds(table.own, METHOD_KEYS)
    tuned = means[means["method"] == "ofo-ab"]
    macro_f = means[means["quantity"] == "macro_f"]
    others = macro_f[macro_f["method"].isin(["fta", "sto"])]
    others = others.merge(tuned[["model", "dataset"]].drop_duplicates(), on=["model", "dataset"])
    others = others.assign(quantity=others["method"])
    ofo = tuned[tuned["quantity"] == "macro_f"].assign(quantity="test_macro_f")
    return pd.concat([tuned, ofo, others], ignore_index=True)


table4 = TableSpec(
    name="table4",
    needs=tuple(Where("thresholds", "80", methods=names) for names in (("ofo-ab",), ("fta", "sto"))),
    keys=("model", "dataset"),
    rows=_tuned_ofo,
    more=(
        *(
            "micro_f",
            "instance_f",
            "predicted_per_instance",
            "inner_products",
            "test_ms",
            "tune_seconds",
        ),
        "test_threads",
    ),
    panels=(
        columns(
            "",
            *("a", "b", "validation_macro_f", "test_macro_f", "fta", "sto"),
            headings={"validation_macro_f": "OFO, valid. (%)", "test_macro_f": "OFO (%)"},
            contests=dict.fromkeys(("test_macro_f", "fta", "sto"), "test"),
        ),
    ),
    notes=CONVENTIONS,
    caption="Macro-F on the test set when both parameters of OFO, a and b, are tuned on the validation set.",
)


def _by_measure(table: Table) -> pd.DataFrame:
    """Return the means over seeds, with a row for each measure that thresholds were tuned for.

    Brackets mark the measure that a row was tuned for. The column of a measure is hidden if no row was tuned for it.
    Records of methods that xmlc does not have are left out.
    """
    numbers = table.own
    numbers = numbers.assign(tuned_for=numbers["method"].replace(known.MEASURE_METHODS))
    numbers = numbers[numbers["tuned_for"].isin([*known.TUNABLE_MEASURES, *METHODS])]
    means = mean_over_seeds(numbers, ("dataset", "model", "tuned_for"))
    tuned = means["tuned_for"].map(measure_of)
    means["mark"] = np.where(means["quantity"] == tuned, "brackets", "")
    table.hidden = tuple(name for name in known.TUNABLE_MEASURES if name not in {*tuned})
    return means


measures = TableSpec(
    name="measures",
    needs=(
        Where("thresholds", "80", methods=(*known.MEASURE_METHODS, *known.UNLABELLED_METHODS)),
        OF_FULL,
    ),
    keys=("dataset", "model", "tuned_for"),
    rows=_by_measure,
    more=("c", "inner_products", "test_ms", "tune_seconds", "test_threads"),
    panels=(
        columns(
            "",
            *(*known.TUNABLE_MEASURES, "predicted_per_instance"),
            each="model",
            headings={name: column(name).title for name in known.TUNABLE_MEASURES}
            | {"predicted_per_instance": "pred./inst."},
        ),
    ),
    notes=(
        *CONVENTIONS,
        "Each label has a separate threshold for macro measures, and all labels share one for the other measures.",
        "F2 weights recall twice as much as precision.",
    ),
    caption="All measures on the test set (%). In each row, thresholds are tuned for the measure in brackets.",
)
