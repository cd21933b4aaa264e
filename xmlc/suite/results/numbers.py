"""One long table of all numbers: read records, average over seeds, and join published numbers.

A row of the table is one number. Its columns are

    dataset, model, method    names, "" for a number that belongs to none
    variant                   part of the record: "" for the result itself, else a point of a grid,
                              a step of a sweep, a prefix of a forest, such as ``n_trees=5``
    split                     training split of the model, ``full`` or ``80``, or ""
    seed                      seed of the record, or None
    quantity                  name of a column of tables (`xmlc.suite.results.columns`), which
                              defines the unit, or of a hyperparameter
    value                     number in the quantity's unit, text, or None
    record                    path of the record
    resampled                 values on resampled test sets (`xmlc.metrics.resampling`), or None

Published numbers and the cells of finished tables have the same form, with texts as values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.suite.results.columns import DEVIATION, column
from xmlc.suite.results.fingerprint import read_table
from xmlc.suite.results.records.base import RecordFile

NUMBER = [
    *("dataset", "model", "method", "variant", "split", "seed"),
    *("quantity", "value", "record", "resampled"),
]
SEEDS = "seeds"
NOT_PRINTED = ("", "-")  # Texts of cells without a number in transcribed tables.
# The variant of a record's hyperparameters, and of the size and digest of its dataset.
ABOUT = "about"
Key = tuple[str, ...]


def is_missing(value: Any) -> bool:
    """Return whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_float(value: Any) -> float | None:
    """Return a value or text as a float, or None if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def as_floats(texts: pd.Series) -> pd.Series:
    """Return texts as floats, which are NaN for texts that are not numbers."""
    # `pandas.to_numeric` is wrong in the last bit of some numbers in pandas 2.1.
    return pd.Series([as_float(text) for text in texts], index=texts.index, dtype=float)


def read(records: Mapping[Path, RecordFile], details: bool = True) -> pd.DataFrame:
    """Return the numbers of records, in the order of the records.

    Parameters
    ----------
    records : dict of Path to RecordFile
    details : bool
        Whether to include the numbers that only figures show (`RecordFile.details`).
    """
    rows: list[tuple[Any, ...]] = []
    for path, record in records.items():
        names = record.dataset_name, record.model_name, record.method_name
        split = getattr(record, "split", "")
        seed = getattr(record, "seed", None)
        resampled = record.resampled_numbers()
        parts = [*record.numbers(), (ABOUT, record.facts)]
        if details:
            parts += record.details()
        for variant, quantities in parts:
            drawn = resampled.get(variant, {})
            for quantity, value in quantities.items():
                number = quantity, value, path, drawn.get(quantity)
                rows.append((*names, variant, split, seed, *number))
    return pd.DataFrame(rows, columns=NUMBER, dtype=object)


def mean_over_seeds(numbers: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return the means of numbers over seeds: one row for each key and quantity.

    The columns are ``keys``, ``quantity``, ``value``, ``deviation`` (standard deviation over seeds,
    divisor: seeds - 1), ``seeds`` (number of seeds of the table row, NaN for numbers without a
    seed), ``runs`` (pairs of seed and value) and ``records`` (paths). A measure is averaged: it is
    missing if the value of one seed is missing. Values of other kinds are equal for all seeds, or
    are listed (`xmlc.suite.results.columns`).

    Raises
    ------
    ValueError
        Two numbers have the same keys, quantity and seed.
    """
    by = [*keys, "quantity"]
    repeated = numbers.duplicated([*by, "seed"])
    if repeated.any():
        first = numbers[repeated].iloc[0].to_dict()
        raise ValueError(f"{first}: found a second number of this key and seed")
    order = numbers.groupby(by, sort=False).ngroup()
    counts = numbers.groupby(list(keys))["seed"].transform("nunique")
    numbers = numbers.assign(order=order, seeds=counts).sort_values(["order", "seed"], kind="stable")
    means = numbers.drop_duplicates("order")[[*by, SEEDS]].reset_index(drop=True)
    # Slices of lists are much faster than an aggregation with a Python function.
    values = numbers["value"].tolist()
    records = numbers["record"].tolist()
    runs = list(zip(numbers["seed"], values, strict=True))
    bounds = [*np.flatnonzero(~numbers["order"].duplicated()), len(numbers)]
    summaries = []
    for quantity, seeds, start, end in zip(means["quantity"], means[SEEDS], bounds, bounds[1:], strict=False):
        summary = _summary(quantity, values[start:end], seeds or 1)
        summaries.append((*summary, tuple(runs[start:end]), tuple(records[start:end])))
    means[SEEDS] = means[SEEDS].astype(float).replace(0, np.nan)
    found = pd.DataFrame(summaries, columns=["value", "deviation", "runs", "records"], dtype=object)
    return pd.concat([means, found.astype({"deviation": float})], axis=1)


def index_of(rows: pd.DataFrame, keys: Sequence[str]) -> pd.Index:
    """Return some columns as an index, to look up rows by their keys."""
    if len(keys) == 1:
        return pd.Index(rows[keys[0]])
    return pd.MultiIndex.from_frame(rows[list(keys)])


def _summary(quantity: str, values: list[Any], seeds: int) -> tuple[Any, float]:
    """Return the value that stands for all seeds, and its standard deviation or NaN."""
    kind = column(quantity).kind
    first = values[0]
    if kind == "choice":
        if not all(value == first or (is_missing(value) and is_missing(first)) for value in values):
            first = "/".join(column(quantity).printed(value) for value in values)
        elif isinstance(first, float) and first.is_integer():
            first = int(first)
        return first, math.nan
    if kind == "constant" or any(isinstance(value, str) for value in values):
        return first, math.nan
    measured = [math.nan if value is None else float(value) for value in values]
    measured += [math.nan] * (seeds - len(measured))
    # pandas and NumPy add in an order of their own, and `sum` of Python 3.12 compensates errors.
    mean = reduce(add, measured, 0.0) / seeds
    if seeds == 1:
        return mean, math.nan
    squares = [(value - mean) * (value - mean) for value in measured]
    return mean, math.sqrt(reduce(add, squares, 0.0) / (seeds - 1))


def read_cells(file: Path, keys: Sequence[str], deviations: bool = False) -> pd.DataFrame:
    """Read a CSV table as one row for each cell: ``keys``, ``quantity``, and ``value`` as text.

    The columns ``deviation`` and ``seeds`` are read from the table's columns of deviations and
    seeds. With ``deviations``, the cells of deviations have rows, too.

    Raises
    ------
    XmlcError
        The file is not a table, lacks a key column, or has two rows with the same key.
    """
    table = read_table(file)
    for key in keys:
        if key not in table:
            raise XmlcError(f"{file}: found no column {key!r}, expected the columns {', '.join(keys)} first")
    repeated = table.duplicated(list(keys))
    if repeated.any():
        place = ", ".join(table[repeated].iloc[0][list(keys)])
        raise XmlcError(f"{file}: found two rows for {place}, expected one for each {', '.join(keys)}")
    return cells_of(table, keys, deviations)


def read_published(file: Path, keys: Sequence[str]) -> pd.DataFrame:
    """Read a table of a paper (see `read_cells`).

    Raises
    ------
    XmlcError
        A measure is neither a number nor a text of `NOT_PRINTED`, or `read_cells` raises an error.
    """
    cells = read_cells(file, keys)
    is_measure = cells["quantity"].map(lambda name: column(name).kind == "measure").astype(bool)
    is_text = pd.to_numeric(cells["value"], errors="coerce").isna() & ~cells["value"].isin(NOT_PRINTED)
    for cell in cells[is_measure & is_text].to_dict("records"):
        place = ", ".join(cell[key] for key in keys)
        raise XmlcError(
            f"{file}: {place}: found {cell['value']!r} as {cell['quantity']}, expected a number, or - for none"
        )
    return cells


def cells_of(table: pd.DataFrame, keys: Sequence[str], deviations: bool = False) -> pd.DataFrame:
    """Return one row for each cell of a table, row by row (see `read_cells`)."""
    cells = []
    for row in table.to_dict("records"):
        key = [row[name] for name in keys]
        for name, text in row.items():
            if name not in keys and (deviations or not name.endswith(DEVIATION)):
                deviation = as_float(row.get(name + DEVIATION))
                cells.append((*key, name, text, deviation, as_float(row.get(SEEDS))))
    frame = pd.DataFrame(cells, columns=[*keys, "quantity", "value", "deviation", SEEDS])
    return frame.astype({"deviation": float, SEEDS: float})


def with_published(means: pd.DataFrame, published: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Join our numbers with the numbers of a paper: a column ``published`` of texts, "" if not published.

    Rows of the paper that we did not run follow our rows, with a missing value. A paper may print a
    constant of a dataset in one row of the dataset, and then the constant applies to all of them.
    """
    place = [*keys, "quantity"]
    published = published.rename(columns={"value": "published"})[[*place, "published"]]
    texts = dict(zip(index_of(published, place), published["published"], strict=True))
    constants: dict[tuple[str, str], str] = {}
    if "dataset" in keys:
        for dataset, quantity, text in published[["dataset", "quantity", "published"]].itertuples(index=False):
            if column(quantity).kind == "constant":
                constants.setdefault((dataset, quantity), text)
    found = []
    of_dataset = zip(means.get("dataset", means["quantity"]), means["quantity"], strict=True)
    for cell, constant in zip(index_of(means, place), of_dataset, strict=True):
        found.append(texts.get(cell, constants.get(constant, "")))
    joined = means.assign(published=pd.Series(found, index=means.index, dtype=object))
    rest = published[~index_of(published, place).isin(index_of(means, place))]
    if len(rest):
        return pd.concat([joined, rest], ignore_index=True)
    return joined


def pivot(means: pd.DataFrame, keys: Sequence[str], quantities: Iterable[str]) -> pd.DataFrame:
    """Return the content of a CSV file: a row for each key, and our numbers in full precision.

    A quantity that no row has is left out. If a row has several seeds, a column of standard
    deviations, ``<name>_std``, follows each measure. The last column counts the seeds.
    """
    keys = list(keys)
    rows = index_of(means.drop_duplicates(keys), keys)
    cells = means.pivot(index=keys, columns="quantity", values=["value", "deviation"]).reindex(rows)
    several = (means[SEEDS] > 1).any()
    measured = {*means.loc[means[SEEDS].notna(), "quantity"]}
    table = pd.DataFrame(index=rows)
    for quantity in quantities:
        if ("value", quantity) not in cells:
            continue
        table[quantity] = cells["value", quantity].astype(object)
        if several and quantity in measured and column(quantity).kind == "measure":
            table[quantity + DEVIATION] = cells["deviation", quantity].astype(object)
    if measured:
        table[SEEDS] = means.groupby(keys, sort=False)[SEEDS].first().reindex(rows).astype("Int64")
    return table.reset_index()
