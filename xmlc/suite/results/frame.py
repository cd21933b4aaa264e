"""Read numbers from records and tables, average them over seeds, and select, join and pivot them.

A value is represented by a `Number` from the time it is read until it is printed. Published tables, reference tables
and tables of xmlc have the same data structure: a dict from key to row. A row of a table is a dict from quantity to
number.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import reduce
from operator import add
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.suite.results.columns import DEVIATION, column
from xmlc.suite.results.fingerprint import read_table
from xmlc.suite.results.records.base import RecordFile

Key = tuple[str, ...]
V = TypeVar("V")
SEEDS = "seeds"
NONE: Mapping[Any, Any] = MappingProxyType({})
OF_RECORDS = ("dataset", "model", "method")


class Source(NamedTuple):
    """Hold a record and the path of the record's file."""

    path: Path
    record: RecordFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """Hold one number: a value in a record, a mean over several records, or a number in a published or reference table.

    Attributes
    ----------
    quantity : str
        Name of the column that contains the number in tables.
    value : object
        The number in the unit of the column, or a text. If the value is missing, it is None or NaN.
    dataset, model, method : str
        Names of the dataset, the model and the method. If the number belongs to no dataset, model or method, the name
        is empty.
    variant : str
        Name of the part of the record that contains the number, such as ``alpha=0.75`` in the record of a sweep.
    seed : int or None
        Seed of the record. A mean over seeds has the seed None.
    key : tuple of str
        Values of the table's key columns, which identify the number's row.
    deviation : float
        Standard deviation of the value over seeds (divisor: seeds - 1). The deviation is NaN for a single seed, and in
        columns whose kind is not "measure".
    runs : mapping
        Maps each seed to the value with this seed.
    records : tuple of Path
        Paths of the records from which the value is read or computed.
    words : str or None
        Text that is printed instead of the value.
    mark : str
        Style of the printed number: ``bold``, ``brackets`` or ``hidden``.
    published : str
        The published number, exactly as the paper prints it.
    kind, verdict : StrEnum or None
        Kind of the published number, and the verdict of the comparison with it. If the number is not compared with a
        published number, ``kind`` and ``verdict`` are None.
    interval : float
        Half of the width of the interval around the published number. The field is NaN if there is no interval.
    reason : str
        A text about how the interval was computed, or why the value is missing.
    fitted_settings : str
        A text about hyperparameters that were fitted to published results.
    """

    quantity: str
    value: Any = None
    dataset: str = ""
    model: str = ""
    method: str = ""
    variant: str = ""
    seed: int | None = None
    key: Key = ()
    deviation: float = math.nan
    runs: Mapping[int | None, Any] = field(default_factory=lambda: NONE)
    records: tuple[Path, ...] = ()
    words: str | None = None
    mark: str = ""
    published: str = ""
    kind: StrEnum | None = None
    verdict: StrEnum | None = None
    interval: float = math.nan
    reason: str = ""
    fitted_settings: str = ""

    @property
    def is_missing(self) -> bool:
        """Return whether the number has no value."""
        return is_missing(self.value)

    @property
    def shown(self) -> Any:
        """Return the value, or the text that is printed instead of the value."""
        return self.value if self.words is None else self.words

    @property
    def text(self) -> str:
        """Return the text with which the number is printed, with its standard deviation over seeds."""
        about = column(self.quantity)
        text = about.printed(self.shown)
        if not math.isnan(self.deviation):
            text = f"{text} ± {about.printed(self.deviation, self.value)}"
        return f"[{text}]" if self.mark == "brackets" else text

    @property
    def rounded(self) -> float | None:
        """Return the value rounded as in print, or None if the value is a text or missing."""
        try:
            return float(column(self.quantity).printed(self.shown))
        except ValueError:
            return None


Row = dict[str, Number]  # A table row, as a dict from the name of a quantity to the number.
Rows = dict[Key, Row]


def is_missing(value: Any) -> bool:
    """Return whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def numbers_of(sources: Iterable[Source]) -> list[Number]:
    """Return all numbers in the records of ``sources``, in the order of the records."""
    return [
        Number(
            quantity=quantity,
            value=value,
            dataset=record.dataset_name,
            model=record.model_name,
            method=record.method_name,
            variant=variant,
            seed=getattr(record, "seed", None),
            records=(path,),
        )
        for path, record in sources
        for variant, numbers in record.numbers()
        for quantity, value in numbers.items()
    ]


def make_row(key: Key, values: Mapping[str, Any], records: tuple[Path, ...] = ()) -> Row:
    """Return a table row with the given values, which are not averaged over seeds.

    The keys of ``values`` are quantities.
    """
    return {name: Number(quantity=name, value=value, key=key, records=records) for name, value in values.items()}


def average(numbers: Iterable[Number], keys: Sequence[str]) -> Rows:
    """Average numbers over seeds, and return the means as table rows.

    A number's row is identified by the number's fields in ``keys``. Each row gets the quantity ``seeds``, which is the
    number of seeds in the row. If the value of one seed is missing, the mean is missing, too. In a column of the kind
    "choice", values that differ between seeds are listed instead of averaged.

    Raises
    ------
    ValueError
        Two numbers have the same key, quantity and seed.
    """
    groups: dict[Key, dict[str, dict[int | None, Number]]] = {}
    for number in numbers:
        key = tuple(getattr(number, name) for name in keys)
        runs = groups.setdefault(key, {}).setdefault(number.quantity, {})
        if number.seed in runs:
            raise ValueError(f"{number}: found a second number with the same key, quantity and seed")
        runs[number.seed] = number
    return {key: _means(key, quantities) for key, quantities in groups.items()}


def _means(key: Key, quantities: dict[str, dict[int | None, Number]]) -> Row:
    found = {seed for runs in quantities.values() for seed in runs}
    seeds = sorted(found, key=lambda seed: -1 if seed is None else seed)
    row = {}
    for name, numbers in quantities.items():
        runs = {seed: numbers[seed].value if seed in numbers else math.nan for seed in seeds}
        records = tuple(path for seed in seeds if seed in numbers for path in numbers[seed].records)
        value, deviation = _summary(name, list(runs.values()))
        first = next(iter(numbers.values()))
        row[name] = replace(first, key=key, seed=None, value=value, deviation=deviation, runs=runs, records=records)
    return row if seeds == [None] else row | make_row(key, {SEEDS: len(seeds)})


def _summary(name: str, values: list[Any]) -> tuple[Any, float]:
    kind = column(name).kind
    if kind == "measure" and not any(isinstance(value, str) for value in values):
        return _mean_and_deviation([math.nan if value is None else float(value) for value in values])
    return (values[0] if kind != "choice" else _chosen(name, values)), math.nan


def _mean_and_deviation(values: list[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation of ``values``.

    The values are added one after another, in order. Current versions of pandas also add in this order if there are
    fewer than eight values.
    """
    n, mean = len(values), reduce(add, values) / len(values)
    squares = [(value - mean) * (value - mean) for value in values]
    return mean, math.sqrt(reduce(add, squares) / (n - 1)) if n > 1 else math.nan


def _chosen(name: str, values: list[Any]) -> Any:
    """Return the value that all seeds share, or a text with all values if they differ.

    If the shared value is a float without a fraction, it is returned as an integer.
    """
    if all(value == values[0] or (is_missing(value) and is_missing(values[0])) for value in values):
        value = values[0]
        return int(value) if isinstance(value, float) and value.is_integer() else value
    return "/".join(column(name).printed(value) for value in values)


def join(left: Rows, right: Rows) -> Iterator[tuple[Key, str, Number | None, Number | None]]:
    """Yield (key, quantity, left number, right number) for each number in one of the two tables.

    Rows of the left table come first. If a table lacks the number, None is yielded instead.
    """
    for key in dict.fromkeys([*left, *right]):
        one, other = left.get(key, {}), right.get(key, {})
        for quantity in dict.fromkeys([*one, *other]):
            yield key, quantity, one.get(quantity), other.get(quantity)


def pivot(rows: Rows, keys: Sequence[str], wanted: Iterable[str]) -> pd.DataFrame:
    """Return a DataFrame with a row for each key.

    The columns of the DataFrame are the keys, the ``wanted`` quantities, and the number of seeds. A quantity is left
    out if no row contains it. If a row has several seeds, each column of a measure is followed by a column of standard
    deviations, ``<name>_std``.
    """
    there = {name for row in rows.values() for name in row}
    several = SEEDS in there and any(row[SEEDS].value > 1 for row in rows.values() if SEEDS in row)
    content: dict[str, list[Any]] = {name: [key[place] for key in rows] for place, name in enumerate(keys)}
    for name in [name for name in (*wanted, SEEDS) if name in there]:
        nothing = Number(quantity=name, value=math.nan)
        numbers = [row.get(name, nothing) for row in rows.values()]
        content[name] = [number.value for number in numbers]
        if several and any(number.runs for number in numbers) and column(name).kind == "measure":
            content[name + DEVIATION] = [number.deviation for number in numbers]
    return pd.DataFrame({name: _series(values) for name, values in content.items()})


def _series(values: list[Any]) -> pd.Series:
    """Return values as a pandas Series.

    Integers remain integers, even if other values are missing or have another type.
    """
    there = [value for value in values if not is_missing(value)]
    if all(isinstance(value, float) for value in there):
        return pd.Series([math.nan if value is None else value for value in values], dtype=float)
    if all(isinstance(value, int) for value in there):
        return pd.Series([None if is_missing(value) else value for value in values],
                         dtype="Int64" if len(there) < len(values) else int)  # fmt: skip
    return pd.Series(values, dtype=object)


def read_numbers(file: Path, keys: Sequence[str]) -> Rows:
    """Read a CSV table, and return its cells as numbers whose values are texts.

    A row is identified by its values in the columns ``keys``.

    Raises
    ------
    XmlcError
        The file is not a table, lacks a key column, or has two rows with the same key.
    """
    frame = read_table(file)
    if absent := [key for key in keys if key not in frame]:
        raise XmlcError(f"{file}: found no column {absent[0]!r}, expected the columns {', '.join(keys)} first")
    found: Rows = {}
    for row in frame.to_dict("records"):
        if (key := tuple(row.pop(name) for name in keys)) in found:
            raise XmlcError(f"{file}: found two rows for {', '.join(key)}, expected one for each {', '.join(keys)}")
        about = {name: text for name, text in zip(keys, key) if name in OF_RECORDS}
        found[key] = {str(name): Number(quantity=str(name), value=text, key=key, **about) for name, text in row.items()}
    return found


def published_of(published: Mapping[Key, Mapping[str, V]], keys: Sequence[str], key: Key, quantity: str) -> V | None:
    """Return the published number of a quantity in the row ``key``, or None if the quantity is not published.

    If a paper prints a constant once for a dataset, the constant applies to all rows of the dataset.
    """
    number = published.get(key, {}).get(quantity)
    if number is None and "dataset" in keys and column(quantity).kind == "constant":
        place = keys.index("dataset")
        rows = (row for other, row in published.items() if other[place] == key[place])
        number = next(rows, {}).get(quantity)
    return number


def quantities_of(rows: Collection[Mapping[str, Any]]) -> list[str]:
    """Return the distinct quantities in ``rows``, in the order in which they first occur."""
    return list(dict.fromkeys(name for row in rows for name in row))
