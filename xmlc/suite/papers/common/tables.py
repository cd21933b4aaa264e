"""The constants and functions of the tables of every suite (``tables.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.metrics import measures
from xmlc.metrics.ranking import OVER_LABELS
from xmlc.suite.config.planned import Where
from xmlc.suite.config.suite import ModelSpec
from xmlc.suite.papers.common.hyperparameters import ranges_and_values as ranges_and_values
from xmlc.suite.papers.tables import Table
from xmlc.suite.results.numbers import mean_over_seeds
from xmlc.suite.results.records.base import DATASET_COLUMNS as DATASET_COLUMNS
from xmlc.suite.results.records.inference import ESTIMATES as ESTIMATES
from xmlc.suite.results.titles import METHODS, measure_of, method_title, model_title

MODEL_KEYS = ("dataset", "model")
METHOD_KEYS = (*MODEL_KEYS, "method")
PRECISION = ("p@1", "p@3", "p@5")
PROPENSITY_SCORED = ("psp@1", "psp@3", "psp@5")
OF_LABELS = tuple(measure.name for measure in OVER_LABELS)
THREADS = ("train_threads", "predict_threads")
COSTS = ("train_seconds", "predict_ms", "model_mb", "train_peak_mb", "predict_peak_mb")
OF_THRESHOLDS = (
    *("macro_f", "test_ms", "inner_products", *measures.SET_METRICS),
    *(*measures.FURTHER_SET_METRICS, "predicted_per_instance", "validation_macro_f"),
    *("c", "a", "b", "tune_seconds", "test_threads"),
)
INFERRED_MEASURES = (
    *("instance_f", "expected_f", "truncation_loss"),
    *("predicted_per_instance", "infer_ms", "estimate_ms"),
)
# Costs of a threshold, shown as costs of inference
COSTS_OF_THRESHOLD = {"test_ms": "estimate_ms", "test_threads": "inference_threads"}
# Only the tables `table4` and `measures` show these methods.
FOR_OTHERS = ("ofo-ab", *measures.MEASURE_METHODS)
OF_80 = Where("thresholds", "80", but_methods=FOR_OTHERS)
OF_FULL = Where("thresholds", "full", but_methods=FOR_OTHERS)

CONVENTIONS = (
    "Macro-F is the mean over all m labels. A label with neither positives nor predictions counts "
    "1 (0/0 = 1).",
    "Thresholds are tuned on 20 % of the training set, for models that are trained on the other "
    "80 %.",
)
INSTANCE_F_CONVENTION = (
    "F is the mean over the test instances. F is 1 if both sets are empty (gfm2011's equation 1)."
)
CPU = (
    "CPU times of training are sums over all threads and processes, without reading and writing "
    "files."
)


def _baselines(table: Table) -> Mapping[str, ModelSpec]:
    if table.suite:
        return table.suite.baselines
    return {}


def with_macro_f(table: Table) -> pd.DataFrame:
    """Return rankings with macro-F of each threshold method as columns, baselines last."""
    own = table.own
    means = mean_over_seeds(own[own["need"] == 0], MODEL_KEYS)
    tuned = mean_over_seeds(own[(own["need"] == 1) & (own["quantity"] == "macro_f")], METHOD_KEYS)
    tuned = tuned.merge(means[[*MODEL_KEYS]].drop_duplicates(), on=MODEL_KEYS)
    rows = pd.concat([means, tuned.assign(quantity=tuned["method"])], ignore_index=True)
    places = {model: place for place, model in enumerate(_baselines(table), start=1)}
    return rows.iloc[rows["model"].map(places).fillna(0).argsort(kind="stable")]


def about_baselines(table: Table) -> list[str]:
    """Return notes on missing and untuned baselines."""
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


def tuned_ofo(table: Table) -> pd.DataFrame:
    """Return OFO with both parameters tuned, with macro-F of FTA and STO as columns."""
    means = mean_over_seeds(table.own, METHOD_KEYS)
    tuned = means[means["method"] == "ofo-ab"]
    macro_f = means[means["quantity"] == "macro_f"]
    others = macro_f[macro_f["method"].isin(["fta", "sto"])]
    others = others.merge(tuned[[*MODEL_KEYS]].drop_duplicates(), on=MODEL_KEYS)
    ofo = tuned[tuned["quantity"] == "macro_f"].assign(quantity="test_macro_f")
    return pd.concat([tuned, ofo, others.assign(quantity=others["method"])], ignore_index=True)


def by_measure(table: Table) -> pd.DataFrame:
    """Return the means over seeds, with a row for each measure that thresholds were tuned for.

    This measure is in brackets. Measures without such a row are hidden, as are records of methods
    that xmlc does not have.
    """
    numbers = table.own
    numbers = numbers.assign(tuned_for=numbers["method"].replace(measures.MEASURE_METHODS))
    numbers = numbers[numbers["tuned_for"].isin([*measures.TUNABLE_MEASURES, *METHODS])]
    means = mean_over_seeds(numbers, ("dataset", "model", "tuned_for"))
    tuned = means["tuned_for"].map(measure_of)
    table.hidden = tuple(name for name in measures.TUNABLE_MEASURES if name not in {*tuned})
    return means.assign(mark=np.where(means["quantity"] == tuned, "brackets", ""))


def timeouts(table: Table) -> list[str]:
    """Return notes on runs that reached the time limit, whose numbers are dashes."""
    stopped = table.means[table.means["quantity"] == "note"].dropna(subset="value")
    notes = []
    for row in stopped.itertuples():
        notes.append(
            f"A dash: {row.value} on {row.dataset} with {model_title(row.model)} "
            f"{method_title(row.method)}."
        )
    return notes


def beside_thresholds(table: Table) -> pd.DataFrame:
    """Return inference from sparse estimates, after the best threshold of the same model."""
    numbers = table.numbers
    truncated = numbers[(numbers["quantity"] == "min_probability") & (numbers["need"] == 0)].dropna(
        subset="value"
    )
    if truncated.empty:
        raise XmlcError(
            "instance-f: found no record of estimates with a minimum probability. Run `xmlc "
            "thresholds --infer` first"
        )
    table.numbers = numbers[(numbers["need"] == 1) | numbers["record"].isin({*truncated["record"]})]
    own = table.own
    inferred = mean_over_seeds(own[own["need"] == 0], METHOD_KEYS)
    tuned = own[own["need"] == 1]
    best = mean_over_seeds(
        tuned.assign(quantity=tuned["quantity"].replace(COSTS_OF_THRESHOLD)), METHOD_KEYS
    )
    best = best.merge(inferred[[*MODEL_KEYS]].drop_duplicates(), on=MODEL_KEYS)
    return pd.concat([best, inferred], ignore_index=True)
