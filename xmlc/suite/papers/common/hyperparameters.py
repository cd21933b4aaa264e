"""Declare Table 3 of plt2016: the suite's and the paper's ranges of hyperparameters, and the values for training."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import Where
from xmlc.suite.config.ranges import AUTO
from xmlc.suite.config.suite import ModelSpec, Suite
from xmlc.suite.papers.tables import Table, TableSpec, columns
from xmlc.suite.results.numbers import ABOUT
from xmlc.suite.results.titles import search_title

HYPERPARAMETER_KEYS = ("dataset", "model", "hyperparameter")
EVERY_DATASET = "all"  # In rows of ranges, this name replaces the dataset, because ranges apply to all datasets.


def searched_models(suite: Suite | None) -> dict[str, ModelSpec]:
    """Return the suite's models whose hyperparameters have ranges, or are searched on some datasets.

    Hyperparameters are searched on datasets without tuned values.

    Raises
    ------
    XmlcError
        No suite is given, or no model of the suite has a range.
    """
    if suite is None:
        raise XmlcError(
            "table3: found no file with the ranges. Pass a paper's configuration, as in --suite config/papers/x.yaml"
        )
    searched = {name: model for name, model in suite.models.items() if model.search.ranges or model.search.auto}
    if not any(model.search.ranges for model in searched.values()):
        raise XmlcError(f"{suite.file}: found no model with search.ranges, expected one, because table3 lists ranges")
    return searched


def _names(model: ModelSpec) -> list[str]:
    """Return the names of a model's searched hyperparameters, those with ranges first."""
    names = dict.fromkeys(model.search.ranges)
    for trial in chain(*model.search.stages):
        names |= dict.fromkeys(trial)
    return list(names)


def _ranges_and_values(table: Table) -> pd.DataFrame:
    """Return the rows with each model's ranges, followed by the rows with each model's values on each dataset."""
    searched = searched_models(table.suite)
    shown = []
    for record, numbers in table.numbers.groupby("record", sort=False):
        model = searched.get(numbers["model"].iloc[0])
        search = _values_of(numbers, "").get("search_method")
        if model and (model.search.ranges or search == AUTO):
            shown.append(record)
    table.numbers = table.numbers[table.numbers["record"].isin(shown)]
    if table.numbers.empty:
        raise XmlcError(f"table3: found no record of a model with ranges, expected one of {', '.join(searched)}")
    rows: list[tuple[str, ...]] = []
    for name in table.numbers["model"].unique():
        rows += _ranges(name, searched[name])
    for (dataset, model), numbers in table.numbers.groupby(["dataset", "model"], sort=False):
        # All seeds have the same hyperparameters.
        first = numbers[numbers["record"] == numbers["record"].iloc[0]]
        rows += _values(dataset, model, first, searched[model])
    return pd.DataFrame(rows, columns=[*HYPERPARAMETER_KEYS, "quantity", "value"]).assign(
        deviation=math.nan, seeds=math.nan, records=[()] * len(rows)
    )


def _values_of(numbers: pd.DataFrame, variant: str) -> dict[str, Any]:
    own = numbers[numbers["variant"] == variant]
    return dict(zip(own["quantity"], own["value"], strict=True))


def _ranges(model: str, searched: ModelSpec) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for name, values in searched.search.ranges.items():
        key = EVERY_DATASET, model, name
        if isinstance(values, list):
            drawn = f"one of {', '.join(map(str, values))}"
        else:
            drawn = "uniform"
            if values.log:
                drawn = "logarithmic"
            if values.integer:
                drawn += ", integers"
            rows += [(*key, "low", values.low), (*key, "high", values.high)]
        rows.append((*key, "drawn", drawn))
    return rows


def _values(dataset: str, model: str, numbers: pd.DataFrame, searched: ModelSpec) -> list[tuple[Any, ...]]:
    """Return the rows of a model's values on a dataset, with their source and their P@1 on the validation set.

    The source is a search by the workflow, or the source that the suite's configuration states, or None.
    """
    found = _values_of(numbers, "")
    hyperparameters = _values_of(numbers, ABOUT)
    by = None
    p1 = None
    if found["search_method"]:
        by = search_title(found["search_method"], found["trials"])
        p1 = found["validation_p@1"]
    else:
        configured = searched.datasets.get(dataset, {})
        stated = searched.selected.get(dataset)
        # The source in the configuration is correct only if the model was trained with the configured values.
        if stated and all(hyperparameters.get(name) == value for name, value in configured.items()):
            by = stated.by
            if stated.p_at_1 is not None:
                p1 = 100 * stated.p_at_1
    rows = []
    for name in _names(searched):
        value = hyperparameters.get(name)
        # Truth values are printed as in YAML, because a table would show True as 1.
        if isinstance(value, bool):
            value = str(value).lower()
        key = dataset, model, name
        rows += [(*key, "value", value), (*key, "found_by", by), (*key, "validation_p@1", p1)]
    return rows


table3 = TableSpec(
    name="table3",
    needs=(Where("ranking", "full", searched=True),),
    keys=HYPERPARAMETER_KEYS,
    rows=_ranges_and_values,
    panels=(
        columns(
            "Ranges",
            "low",
            "high",
            "drawn",
            names=("model", "hyperparameter"),
            contests={},
        ),
        columns(
            "Values: ",
            *("value", "validation_p@1", "found_by"),
            names=("dataset",),
            each="model",
            across="hyperparameter",
            contests={},
        ),
    ),
    takes_suite=True,
    caption="Ranges and values of hyperparameters, with P@1 on the validation set (20 % of the training set).",
)
