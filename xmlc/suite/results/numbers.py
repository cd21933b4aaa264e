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
NOT_PRINTED = ("", "-")  # Cells without a number in transcribed tables
# Variant of a record's hyperparameters, and of the size and digest of its dataset
ABOUT = "about"
Key = tuple[str, ...]


def as_float(value: Any) -> float | None:
    """Return a value as a float, or None if it is no number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def as_floats(texts: pd.Series) -> pd.Series:
    """Return texts as floats, with NaN for other texts."""
    # `pandas.to_numeric` is wrong in the last bit of some numbers in pandas 2.1.
    return pd.Series([as_float(text) for text in texts], index=texts.index, dtype=float)


def read(records: Mapping[Path, RecordFile], details: bool = True) -> pd.DataFrame:
    """Return the numbers of records in their order, with `RecordFile.details` unless excluded."""
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
                rows.append(
                    (*names, variant, split, seed, quantity, value, path, drawn.get(quantity))
                )
    return pd.DataFrame(rows, columns=NUMBER, dtype=object)


def mean_over_seeds(numbers: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Average numbers over seeds: one row for each key and quantity.

    The columns are ``keys``, ``quantity``, ``value``, ``deviation`` (divisor: seeds - 1), ``seeds``
    (of the table row, NaN without a seed), ``runs`` (pairs of seed and value) and ``records``
    (paths). A measure is missing if one seed lacks it, and values of other kinds are equal for all
    seeds or listed (`xmlc.suite.results.columns`).
    """
    counts = numbers.groupby([*keys])["seed"].transform("nunique")
    place = [*keys, "quantity"]
    groups: dict[Key, list[Any]] = {key: [] for key in index_of(numbers, place)}
    sorted_runs = numbers.assign(seeds=counts).sort_values("seed", kind="stable")
    for row in sorted_runs[[*place, "seed", "value", "record", SEEDS]].itertuples(
        index=False, name=None
    ):
        groups[row[:-4]].append(row[-4:])
    rows = []
    for (*key, quantity), runs in groups.items():
        seeds, values, records, (n_seeds, *_) = zip(*runs, strict=True)
        if len({*seeds}) < len(seeds):
            raise ValueError(f"{key}: found two numbers {quantity} of one seed, expected one")
        about = column(quantity)
        value = values[0]
        deviation = math.nan
        if about.kind == "choice" and len({None if pd.isna(one) else one for one in values}) > 1:
            value = "/".join(map(about.printed, values))
        elif about.kind == "choice" and isinstance(value, float) and value.is_integer():
            value = int(value)
        elif about.kind == "measure" and not any(isinstance(one, str) for one in values):
            n = n_seeds or 1
            measured = [math.nan if one is None else float(one) for one in values]
            measured += [math.nan] * (n - len(measured))
            # pandas and NumPy add in other orders, and `sum` of Python 3.12 compensates errors.
            value = reduce(add, measured, 0.0) / n
            if n > 1:
                squares = [(one - value) * (one - value) for one in measured]
                deviation = math.sqrt(reduce(add, squares, 0.0) / (n - 1))
        pairs = tuple(zip(seeds, values, strict=True))
        rows.append((*key, quantity, n_seeds or math.nan, value, deviation, pairs, records))
    columns = [*place, SEEDS, "value", "deviation", "runs", "records"]
    return pd.DataFrame(rows, columns=columns, dtype=object).astype(
        {SEEDS: float, "deviation": float}
    )


def index_of(rows: pd.DataFrame, keys: Sequence[str]) -> pd.Index:
    """Return some columns as an index, to look up rows."""
    return rows.set_index([*keys]).index


def read_cells(file: Path, keys: Sequence[str]) -> pd.DataFrame:
    """Read a CSV table as one row for each cell: ``keys``, ``quantity``, and ``value`` as text.

    ``deviation`` and ``seeds`` repeat columns of the table, whose cells also have rows. No two rows
    may have the same key.
    """
    table = read_table(file)
    for key in keys:
        if key not in table:
            raise XmlcError(
                f"{file}: found no column {key!r}, expected the columns {', '.join(keys)} first"
            )
    repeated = table.duplicated(list(keys))
    if repeated.any():
        place = ", ".join(table[repeated].iloc[0][list(keys)])
        raise XmlcError(
            f"{file}: found two rows for {place}, expected one for each {', '.join(keys)}"
        )
    return cells_of(table, keys)


def read_published(file: Path, keys: Sequence[str]) -> pd.DataFrame:
    """Read a table of a paper (see `read_cells`), whose measures must be numbers or in
    `NOT_PRINTED`, and whose constants must be equal in all rows of a dataset.
    """
    cells = read_cells(file, keys)
    is_measure = cells["quantity"].map(lambda name: column(name).kind == "measure").astype(bool)
    is_text = as_floats(cells["value"]).isna() & ~cells["value"].isin(NOT_PRINTED)
    for cell in cells[is_measure & is_text].to_dict("records"):
        place = ", ".join(cell[key] for key in keys)
        raise XmlcError(
            f"{file}: {place}: found {cell['value']!r} as {cell['quantity']}, expected a number, "
            "or - for none"
        )
    numbers = cells.assign(number=as_floats(cells["value"]), place=places(cells, keys))
    for place, rows in numbers.groupby("place"):
        if rows["number"].nunique() > 1:
            found = " and ".join(rows["value"].unique())
            raise XmlcError(
                f"{file}: {', '.join(place)}: found {found}, expected one number for each dataset. "
                "Give each edition of a dataset a separate name"
            )
    return cells


def cells_of(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return one row for each cell of a table (see `read_cells`)."""
    cells = []
    for row in table.to_dict("records"):
        key = [row[name] for name in keys]
        for name, text in row.items():
            if name not in keys:
                deviation = as_float(row.get(name + DEVIATION))
                cells.append((*key, name, text, deviation, as_float(row.get(SEEDS))))
    frame = pd.DataFrame(cells, columns=[*keys, "quantity", "value", "deviation", SEEDS])
    return frame.astype({"deviation": float, SEEDS: float})


def with_published(
    means: pd.DataFrame, published: pd.DataFrame, keys: Sequence[str]
) -> pd.DataFrame:
    """Join the texts of a paper's numbers to ours, as a column ``published``, "" if not published.

    Rows that we did not run come last, with a missing value. A constant that a paper prints in one
    row of a dataset applies to all of them.
    """
    place = [*keys, "quantity"]
    printed = published[::-1]  # The first of several constants of a dataset counts
    texts = dict(zip(places(printed, keys), printed["value"], strict=True))
    joined = means.assign(published=[texts.get(number, "") for number in places(means, keys)])
    rest = published[~index_of(published, place).isin(index_of(means, place))][[*place, "value"]]
    if len(rest):
        return pd.concat([joined, rest.rename(columns={"value": "published"})], ignore_index=True)
    return joined


def places(rows: pd.DataFrame, keys: Sequence[str]) -> list[Key]:
    """Return the keys and quantity of each number, but only dataset and quantity of a constant,
    which tables repeat in rows of a dataset.
    """
    return [
        place_of(keys, *row) for row in rows[[*keys, "quantity"]].itertuples(index=False, name=None)
    ]


def place_of(keys: Sequence[str], *place: str) -> Key:
    """Return a number's place (see `places`)."""
    if "dataset" in keys and column(place[-1]).kind == "constant":
        return place[keys.index("dataset")], place[-1]
    return place


def pivot(means: pd.DataFrame, keys: Sequence[str], quantities: Iterable[str]) -> pd.DataFrame:
    """Return the content of a CSV file: a row for each key, with our numbers in full precision.

    With several seeds, each measure is followed by its standard deviations, ``<name>_std``, and the
    last column counts the seeds.
    """
    rows = means.set_index([*keys])
    several = (rows[SEEDS] > 1).any()
    table = pd.DataFrame(index=rows.index.unique())
    for quantity in quantities:
        own = rows[rows["quantity"] == quantity]
        if own.empty:
            continue
        table[quantity] = own["value"].astype(object)
        if several and own[SEEDS].notna().any() and column(quantity).kind == "measure":
            table[quantity + DEVIATION] = own["deviation"].astype(object)
    if rows[SEEDS].notna().any():
        table[SEEDS] = rows.groupby(level=[*keys], sort=False)[SEEDS].first().astype("Int64")
    return table.reset_index()
