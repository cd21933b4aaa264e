"""The long table: a row for each number of each record; and means over seeds, which know the records behind them.

Tables that papers print, accepted tables and tables of ours are read in the same form: numbers by key and quantity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import reduce
from operator import add, attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.suite.results.columns import DEVIATION, column
from xmlc.suite.results.fingerprint import read_table
from xmlc.suite.results.records.base import RecordFile


class Source(NamedTuple):
    """A record and its file."""

    path: Path
    record: RecordFile


class LongRow(NamedTuple):
    """One number of one record; the value is in the unit of its column, NaN or None where it is missing.

    Model, method and variant are empty where the record has none. A variant is a part of a record, such as
    ``alpha=0.75`` of a sweep.
    """

    dataset: str
    model: str
    method: str
    variant: str
    seed: int | None
    quantity: str
    value: Any
    record: Path


Long = list[LongRow]
Key = tuple[Any, ...]


def long_of(sources: Iterable[Source]) -> Long:
    """Return the numbers of records, in their order."""
    return [
        LongRow(
            record.dataset_name, record.model_name, record.method_name, variant, getattr(record, "seed", None),
            quantity, value, path,
        )
        for path, record in sources
        for variant, numbers in record.numbers()
        for quantity, value in numbers.items()
    ]  # fmt: skip


class Mean(NamedTuple):
    """What a table shows of one quantity under one key.

    Attributes
    ----------
    value : float, int, str or None
        Mean over seeds of a measure, the value of a constant, the values of a choice as one text.
    deviation : float
        Standard deviation over seeds (divisor: seeds - 1); NaN with one seed, or of no measure.
    runs : dict
        Value by seed.
    records : tuple of Path
        Files that the values are from.
    """

    value: Any
    deviation: float = math.nan
    runs: dict[int | None, Any] = {}  # noqa: RUF012 (never written to)
    records: tuple[Path, ...] = ()


Row = dict[str, Mean]
Rows = dict[Key, Row]
TextRows = dict[Key, dict[str, str]]
SEEDS = "seeds"


def key_by(names: Sequence[str]) -> Callable[[LongRow], Key]:
    """Return a function that takes some fields of a number as its key."""
    first, *others = names
    return attrgetter(first, *others) if others else lambda number: (getattr(number, first),)


def average(numbers: Iterable[LongRow], key: Callable[[LongRow], Key]) -> Rows:
    """Return the means over seeds by key and quantity; the quantity ``seeds`` says how many there were.

    A mean needs all seeds of its key: one missing value leaves it missing. Different choices are listed in the order of
    the seeds.

    Raises
    ------
    ValueError
        Two numbers have the same key, quantity and seed.
    """
    groups: dict[Key, dict[str, dict[int | None, LongRow]]] = {}
    for number in numbers:
        runs = groups.setdefault(key(number), {}).setdefault(number.quantity, {})
        if number.seed in runs:
            raise ValueError(f"{number}: a second one of its key, quantity and seed")
        runs[number.seed] = number
    return {place: _means(quantities) for place, quantities in groups.items()}


def _means(quantities: dict[str, dict[int | None, LongRow]]) -> Row:
    seeds = sorted(
        {seed for runs in quantities.values() for seed in runs}, key=lambda seed: -1 if seed is None else seed
    )
    row = {}
    for name, runs in quantities.items():
        values = {seed: runs[seed].value if seed in runs else math.nan for seed in seeds}
        records = tuple(runs[seed].record for seed in seeds if seed in runs)
        row[name] = Mean(*_summary(name, list(values.values())), values, records)
    return row if seeds == [None] else row | {SEEDS: Mean(len(seeds))}


def _summary(name: str, values: list[Any]) -> tuple[Any, float]:
    kind = column(name).kind
    if kind == "measure" and not any(isinstance(value, str) for value in values):
        return _mean_and_deviation([math.nan if value is None else float(value) for value in values])
    return (values[0] if kind != "choice" else _chosen(name, values)), math.nan


def _mean_and_deviation(values: list[float]) -> tuple[float, float]:
    """Add up one value after the other, as pandas does with fewer than eight in the versions that are known."""
    n, mean = len(values), reduce(add, values) / len(values)
    squares = [(value - mean) * (value - mean) for value in values]
    return mean, math.sqrt(reduce(add, squares) / (n - 1)) if n > 1 else math.nan


def _chosen(name: str, values: list[Any]) -> Any:
    """Return the value of all seeds, a whole number as such, or the different ones as one text."""
    if all(value == values[0] or (is_missing(value) and is_missing(values[0])) for value in values):
        value = values[0]
        return int(value) if isinstance(value, float) and value.is_integer() else value
    return "/".join(column(name).printed(value) for value in values)


def is_missing(value: Any) -> bool:
    """Say whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def pivot(rows: Rows, keys: Sequence[str], wanted: Iterable[str]) -> pd.DataFrame:
    """Return a frame with a row for each key: the key, the wanted quantities that there are, the number of seeds.

    Behind each measure stands its deviation, ``<name>_std``, if any key has several seeds.
    """
    there = {name for row in rows.values() for name in row}
    several = SEEDS in there and any(row[SEEDS].value > 1 for row in rows.values() if SEEDS in row)
    content: dict[str, list[Any]] = {name: [key[place] for key in rows] for place, name in enumerate(keys)}
    nothing = Mean(math.nan)
    for name in [name for name in (*wanted, SEEDS) if name in there]:
        means = [row.get(name, nothing) for row in rows.values()]
        content[name] = [mean.value for mean in means]
        if several and any(mean.runs for mean in means) and column(name).kind == "measure":
            content[name + DEVIATION] = [mean.deviation for mean in means]
    return pd.DataFrame({name: _series(values) for name, values in content.items()})


def frame_of(records: Iterable[RecordFile], keys: Sequence[str], wanted: Iterable[str]) -> pd.DataFrame:
    """Return the means over seeds of records as a frame, see `pivot`."""
    numbers = long_of(Source(Path(), record) for record in records)
    return pivot(average(numbers, key_by(keys)), keys, wanted)


def _series(values: list[Any]) -> pd.Series:
    """Keep whole numbers as such, beside missing ones and beside others."""
    there = [value for value in values if not is_missing(value)]
    if all(isinstance(value, float) for value in there):
        return pd.Series([math.nan if value is None else value for value in values], dtype=float)
    if all(isinstance(value, int) for value in there):
        return pd.Series([None if is_missing(value) else value for value in values],
                         dtype="Int64" if len(there) < len(values) else int)  # fmt: skip
    return pd.Series(values, dtype=object)


def read_rows(file: Path, keys: Sequence[str]) -> TextRows:
    """Read a table (CSV) as text, by the values of its key columns and by quantity.

    Raises
    ------
    XmlcError
        The file is no table, a key column is missing, or two rows have the same key.
    """
    return text_rows(read_table(file), keys, str(file))


def text_rows(frame: pd.DataFrame, keys: Sequence[str], source: str) -> TextRows:
    """Return a frame of text by key and quantity; ``source`` names it in messages."""
    if absent := [key for key in keys if key not in frame]:
        raise XmlcError(f"{source}: no column {absent[0]!r}; expected the keys {', '.join(keys)} first")
    found: TextRows = {}
    for row in frame.to_dict("records"):
        key = tuple(row[name] for name in keys)
        if key in found:
            raise XmlcError(f"{source}: two rows for {', '.join(key)}; expected one for each {', '.join(keys)}")
        found[key] = {str(name): text for name, text in row.items() if name not in keys}
    return found


def quantities_of(rows: Collection[Row] | Collection[dict[str, str]]) -> list[str]:
    """Name the quantities of some rows, in the order of their first use."""
    return list(dict.fromkeys(name for row in rows for name in row))
