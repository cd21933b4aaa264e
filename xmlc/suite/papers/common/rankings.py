"""Declare the tables of rankings.

The tables show P@k and training time (Table 1 of plt2016), baselines, and a comparison of 1 and 3 passes.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from xmlc.metrics.measures import FURTHER_RANKING_METRICS, RANKING_METRICS
from xmlc.suite.config.planned import BASELINE_METHODS, RANKINGS, Where
from xmlc.suite.config.suite import ModelSpec
from xmlc.suite.papers.tables import Table, TableSpec, columns, datasets
from xmlc.suite.results.numbers import mean_over_seeds
from xmlc.suite.results.records.base import DATASET_COLUMNS
from xmlc.suite.results.titles import CONVENTIONS, method_title, model_title

MODEL_KEYS = ("dataset", "model")
PRECISION = ("p@1", "p@3", "p@5")
PROPENSITY_SCORED = ("psp@1", "psp@3", "psp@5")
THREADS = ("train_threads", "predict_threads")
CPU = "CPU times of training are sums over all threads and processes, without reading and writing files."

table1 = TableSpec(
    name="table1",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    more=(
        *(name for name in RANKING_METRICS if name not in PRECISION),
        *(
            *FURTHER_RANKING_METRICS,
            "predict_ms",
            "inner_products",
            "model_mb",
            "train_peak_mb",
            "predict_peak_mb",
        ),
        *THREADS,
    ),
    panels=(
        datasets(*DATASET_COLUMNS),
        columns("Ranking on the test set, and training time", *PRECISION, "train_minutes"),
    ),
    caption="The datasets, precision@k on the test set, and training time on the whole training set.",
)

PASSES = (
    *PRECISION,
    *PROPENSITY_SCORED,
    "train_cpu_seconds",
    "predict_ms",
    "model_mb",
    "train_peak_mb",
)


passes = TableSpec(
    name="passes",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    more=THREADS,
    panels=(columns("", *PASSES),),
    notes=(CPU,),
    caption="Every method with 1 and with 3 passes over the training set.",
)


COSTS = ("train_seconds", "predict_ms", "model_mb", "train_peak_mb", "predict_peak_mb")


def _baselines(table: Table) -> Mapping[str, ModelSpec]:
    if table.suite:
        return table.suite.baselines
    return {}


def _with_macro_f(table: Table) -> pd.DataFrame:
    """Return a row for each ranking, with the macro-F of thresholds that were tuned for the same model.

    Baselines come last on each dataset.
    """
    own = table.own
    means = mean_over_seeds(own[own["need"] == 0], MODEL_KEYS)
    tuned = own[(own["need"] == 1) & (own["quantity"] == "macro_f")]
    tuned = mean_over_seeds(tuned, (*MODEL_KEYS, "method"))
    tuned = tuned.merge(means[[*MODEL_KEYS]].drop_duplicates(), on=MODEL_KEYS)
    rows = pd.concat([means, tuned.assign(quantity=tuned["method"])], ignore_index=True)
    places = {model: place for place, model in enumerate(_baselines(table), start=1)}
    return rows.iloc[rows["model"].map(places).fillna(0).argsort(kind="stable")]


def _about(table: Table) -> list[str]:
    """Return notes on baselines that are missing, have no tuned thresholds, or have untuned hyperparameters."""
    notes = []
    for name, model in _baselines(table).items():
        title = model_title(name)
        run = {*table.means.loc[table.means["model"] == name, "dataset"]}
        for dataset in table.means["dataset"].unique():
            if dataset not in run:
                reason = model.without.get(dataset, "not run, needs the extra `baselines`")
                notes.append(f"{title} is missing on {dataset}: {reason}.")
        if run and model.skip_thresholds:
            notes.append(f"{title} has no macro-F: {model.skip_thresholds}.")
        if run and model.untuned:
            notes.append(f"{title} is not tuned: {model.untuned}.")
    return notes


baselines = TableSpec(
    name="baselines",
    needs=(
        Where("ranking", "full", baselines=True),
        Where("thresholds", "80", methods=BASELINE_METHODS, baselines=True),
    ),
    keys=MODEL_KEYS,
    rows=_with_macro_f,
    panels=(
        columns(
            "Quality and cost",
            *(*PRECISION, *BASELINE_METHODS, *COSTS, *THREADS),
            optional=BASELINE_METHODS,
            headings={name: f"Macro-F, {method_title(name)} (%)" for name in BASELINE_METHODS},
            contests={name: name for name in (*PRECISION, *COSTS)} | dict.fromkeys(BASELINE_METHODS, "macro_f"),
        ),
        columns("Propensity-scored precision", *PROPENSITY_SCORED),
    ),
    notes=(
        "Rankings: models are trained on the whole training set, and predict the five best labels of each instance.",
        "Times include the conversion of data from Python to the format of a program.",
        "MB are 10^6 bytes. A model's size is the size of its files. Peak memory includes the whole process.",
        *CONVENTIONS,
        _about,
    ),
    takes_suite=True,
    caption="Quality and cost of xmlc's models and of baselines on the same data and machine.",
)
