"""Table 3 of plt2016: ranges of hyperparameters, of the suite and the paper, and trained values."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.suite.config.ranges import AUTO
from xmlc.suite.config.suite import ModelSpec
from xmlc.suite.papers.tables import Table
from xmlc.suite.results.numbers import ABOUT
from xmlc.suite.results.titles import search_title

HYPERPARAMETER_KEYS = ("dataset", "model", "hyperparameter")
Rows = dict[tuple[str, str, str], dict[str, Any]]  # Values by quantity, for each key of a row
# Replaces the dataset in rows of ranges, which apply to all datasets.
EVERY_DATASET = "all"


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
