"""The constants and functions of the tables of every suite (``tables.yaml``)."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.metrics import measures
from xmlc.metrics.ranking import OVER_LABELS
from xmlc.suite.config.ranges import AUTO
from xmlc.suite.config.suite import ModelSpec
from xmlc.suite.papers.tables import Table
from xmlc.suite.results.numbers import ABOUT, mean_over_seeds
from xmlc.suite.results.records.base import DATASET_COLUMNS as DATASET_COLUMNS
from xmlc.suite.results.records.inference import ESTIMATES as ESTIMATES
from xmlc.suite.results.titles import METHODS, measure_of, method_title, model_title, search_title

MODEL_KEYS = ("dataset", "model")
METHOD_KEYS = (*MODEL_KEYS, "method")
PRECISION = ("p@1", "p@3", "p@5")
HYPERPARAMETER_KEYS = ("dataset", "model", "hyperparameter")
Rows = dict[tuple[str, str, str], dict[str, Any]]  # Values by quantity, for each key of a row
# Costs of a threshold, shown as costs of inference
COSTS_OF_THRESHOLD = {"test_ms": "estimate_ms", "test_threads": "inference_threads"}
# Replaces the dataset in rows of ranges, which apply to all datasets.
EVERY_DATASET = "all"
OF_LABELS = tuple(measure.name for measure in OVER_LABELS)
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


def _baselines(table: Table) -> dict[str, ModelSpec]:
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


def ranges_and_values(table: Table) -> pd.DataFrame:
    """Return the ranges of all datasets, and the values on each."""
    if table.suite is None:
        raise XmlcError(
            "table3: found no file with ranges, expected one, as in --suite config/papers/x.yaml"
        )
    ranges: Rows = {}
    values: Rows = {}
    shown = []
    for record, numbers in table.numbers.groupby("record", sort=False):
        dataset, name = numbers[["dataset", "model"]].iloc[0]
        about = numbers["variant"] == ABOUT
        result = numbers[~about].set_index("quantity")["value"]
        model = table.suite.models.get(name)
        if model and (
            model.search.ranges or (model.search.auto and result["search_method"] == AUTO)
        ):
            shown.append(record)
            ranges |= _ranges(name, model)
            # All seeds have the same hyperparameters.
            hyperparameters = numbers[about].set_index("quantity")["value"].to_dict()
            for key, row in _values(dataset, name, result, hyperparameters, model).items():
                values.setdefault(key, row)
    if not any(model.search.ranges for model in table.suite.models.values()) or not shown:
        raise XmlcError(
            f"{table.suite.file}: found no record of a model with search.ranges, expected one for "
            "table3"
        )
    table.numbers = table.numbers[table.numbers["record"].isin(shown)]
    cells = []
    for key, row in (ranges | values).items():
        cells += [(*key, quantity, value) for quantity, value in row.items()]
    found = pd.DataFrame(cells, columns=[*HYPERPARAMETER_KEYS, "quantity", "value"])
    return found.assign(deviation=math.nan, seeds=math.nan, records=[()] * len(cells))


def _ranges(name: str, model: ModelSpec) -> Rows:
    rows: Rows = {}
    for hyperparameter, values in model.search.ranges.items():
        key = EVERY_DATASET, name, hyperparameter
        if isinstance(values, list):
            rows[key] = {"drawn": f"one of {', '.join(map(str, values))}"}
            continue
        drawn = "uniform"
        if values.log:
            drawn = "logarithmic"
        if values.integer:
            drawn += ", integers"
        rows[key] = {"low": values.low, "high": values.high, "drawn": drawn}
    return rows


def _values(
    dataset: str, name: str, result: pd.Series, hyperparameters: dict[str, Any], model: ModelSpec
) -> Rows:
    """Return the rows of a model's values on a dataset, with validation P@1 and their source: the
    workflow's search, the one in the configuration, or None.
    """
    by = None
    p1 = None
    stated = model.selected.get(dataset)
    configured = model.datasets.get(dataset, {})
    if result["search_method"]:
        by = search_title(result["search_method"], result["trials"])
        p1 = result["validation_p@1"]
    # The stated source is wrong for a model that was trained with other values.
    elif stated and configured.items() <= hyperparameters.items():
        by = stated.by
        if stated.p_at_1 is not None:
            p1 = 100 * stated.p_at_1
    rows: Rows = {}
    # Hyperparameters with ranges come first.
    for hyperparameter in chain(model.search.ranges, *chain(*model.search.stages)):
        value = hyperparameters.get(hyperparameter)
        # As in YAML, because a table would show True as 1.
        if isinstance(value, bool):
            value = str(value).lower()
        rows[dataset, name, hyperparameter] = {"value": value, "found_by": by, "validation_p@1": p1}
    return rows


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
