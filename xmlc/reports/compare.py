"""Two tables, cell by cell: joined on their keys, each difference judged by its column's tolerance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Literal

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.reports.columns import COLUMNS, column
from xmlc.reports.tables import TABLES
from xmlc.reports.tolerances import Tolerance, Tolerances

ROUNDING = 1 + 1e-9


class Status(StrEnum):
    """What a cell of two tables can be."""

    EQUAL = "equal"
    WITHIN = "within tolerance"
    OUTSIDE = "outside"
    MISSING = "missing"
    NEW = "new"


@dataclass(frozen=True)
class Cell:
    """One cell of both tables; ``left`` and ``right`` are text as it stands in the files, "" where there is none.

    ``difference`` is right minus left, NaN where one is no number; ``allowed`` is what the column's tolerance permits.
    """

    key: tuple[str, ...]
    column: str
    left: str
    right: str
    status: Status
    judged: bool
    difference: float = math.nan
    allowed: float = 0.0


@dataclass(frozen=True)
class Part:
    """A column, a row or a whole table that only the left side has (missing) or only the right side (new)."""

    kind: Literal["table", "column", "row"]
    name: tuple[str, ...]
    status: Status


@dataclass
class Comparison:
    """One table compared.

    Attributes
    ----------
    name : str
    keys : tuple of str
    cells : list of Cell
    parts : list of Part
        Columns, rows or the whole table that only one side has.
    """

    name: str
    keys: tuple[str, ...]
    cells: list[Cell] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    @property
    def counts(self) -> Counter[Status]:
        """Count the judged cells by status."""
        return Counter(cell.status for cell in self.cells if cell.judged)

    @property
    def same(self) -> bool:
        """Say whether nothing is outside, missing or new."""
        changed = (Status.OUTSIDE, Status.MISSING, Status.NEW)
        return not (self.parts or any(self.counts[status] for status in changed))


def compare(left: Path, right: Path, tolerances: Tolerances, keys: Sequence[str] = ()) -> list[Comparison]:
    """Compare two CSV tables, or two folders of them file by file.

    Parameters
    ----------
    left : Path
        What is expected: published values or a reference.
    right : Path
        What is judged.
    tolerances : Tolerances
    keys : sequence of str
        Columns that name a row; by default those that the table is known to have, or the leading columns of text.

    Raises
    ------
    XmlcError
        A path does not exist, a file is no table, a key is missing or names two rows.
    """
    for path in (left, right):
        if not path.exists():
            raise XmlcError(f"{path}: no such table or folder of tables")
    if left.is_dir() != right.is_dir():
        raise XmlcError(f"{left} and {right}: one is a folder and one a file; expected two of a kind")
    if not left.is_dir():
        return [_compare_files(left, right, tolerances, keys)]
    names = sorted({file.name for folder in (left, right) for file in folder.glob("*.csv")})
    if not names:
        raise XmlcError(f"{left} and {right}: neither holds a table (*.csv)")
    comparisons = []
    for name in names:
        if not (right / name).exists():
            comparisons.append(Comparison(name, (), parts=[Part("table", (name,), Status.MISSING)]))
        elif not (left / name).exists():
            comparisons.append(Comparison(name, (), parts=[Part("table", (name,), Status.NEW)]))
        else:
            comparisons.append(_compare_files(left / name, right / name, tolerances, keys))
    return comparisons


def _compare_files(left: Path, right: Path, tolerances: Tolerances, keys: Sequence[str]) -> Comparison:
    tables = {side: _read(path) for side, path in (("left", left), ("right", right))}
    found = _keys(left, tables["left"], tables["right"], keys)
    for path, table in ((left, tables["left"]), (right, tables["right"])):
        _check_keys(path, table, found)
    return compare_frames(left.name, tables["left"], tables["right"], found, tolerances)


def _read(path: Path) -> pd.DataFrame:
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise XmlcError(f"{path}: no readable CSV table ({error})") from error


def _keys(path: Path, left: pd.DataFrame, right: pd.DataFrame, given: Sequence[str]) -> tuple[str, ...]:
    if given:
        return tuple(given)
    # Papers may have tables of the same name; that whose keys are all there, and the most of them, is meant.
    known = [table.keys for table in TABLES.named(path.stem) if all(key in left and key in right for key in table.keys)]
    if known:
        return max(known, key=len)
    leading = []
    for name in left.columns:
        if any(_number(text) is not None for text in left[name]):
            break
        leading.append(name)
    if not leading or len(leading) == len(left.columns):
        raise XmlcError(f"{path}: the columns that name a row are unclear; expected text in front, or give --keys")
    return tuple(leading)


def _check_keys(path: Path, table: pd.DataFrame, keys: tuple[str, ...]) -> None:
    for key in keys:
        if key not in table:
            raise XmlcError(f"{path}: no column {key!r}; expected the keys {', '.join(keys)}")
    twice = table[table.duplicated(list(keys))]
    if len(twice):
        named = ", ".join(twice.iloc[0][list(keys)])
        raise XmlcError(f"{path}: two rows for {named}; expected one row for each {', '.join(keys)}")


def compare_frames(
    name: str, left: pd.DataFrame, right: pd.DataFrame, keys: tuple[str, ...], tolerances: Tolerances
) -> Comparison:
    """Compare two frames of text on their keys; the rows come in the order of the left one."""
    result = Comparison(name, keys)
    every = [c for c in dict.fromkeys([*left, *right]) if c not in keys]
    result.parts += [Part("column", (c,), Status.MISSING) for c in every if c not in right]
    result.parts += [Part("column", (c,), Status.NEW) for c in every if c not in left]
    sides = [
        frame.set_index(list(keys), drop=False).add_prefix(side).assign(**{f"place {side}": range(len(frame))})
        for side, frame in (("left ", left), ("right ", right))
    ]
    merged = sides[0].join(sides[1], how="outer").sort_values(["place left ", "place right "])
    precision = {c: _printed_decimals(c, left[c] if c in left else right[c]) for c in every}
    for index, row in merged.iterrows():
        key = index if isinstance(index, tuple) else (index,)
        if pd.isna(row["place right "]):
            result.parts.append(Part("row", key, Status.MISSING))
        if pd.isna(row["place left "]):
            result.parts.append(Part("row", key, Status.NEW))
        for c in every:
            texts = [row.get(f"{side} {c}", "") for side in ("left", "right")]
            texts = ["" if pd.isna(text) else text for text in texts]
            # Where one side has no such row or column, a blank on the other side is no cell.
            if any(texts) or (c in left and c in right and row[["place left ", "place right "]].notna().all()):
                bounds = tolerances.of(c, dict(zip(keys, key, strict=True)).get("model"))
                result.cells.append(_judge(key, c, *texts, bounds, tolerances.units, precision[c]))
    return result


def _judge(
    key: tuple[str, ...], name: str, left: str, right: str, bounds: Tolerance, units: float, decimals: int | None
) -> Cell:
    judged = bounds.judged and not column(name).cost
    numbers = _number(left), _number(right)
    if _empty(left) or _empty(right):
        both = _empty(left) and _empty(right)
        status = Status.EQUAL if both else Status.NEW if _empty(left) else Status.MISSING
        return Cell(key, name, left, right, status, judged)
    if numbers[0] is None or numbers[1] is None or math.isinf(numbers[0]) or math.isinf(numbers[1]):
        same = left == right if None in numbers else numbers[0] == numbers[1]
        return Cell(key, name, left, right, Status.EQUAL if same else Status.OUTSIDE, judged)
    difference, allowed = numbers[1] - numbers[0], bounds.allowed(numbers[0])
    printed = 0.0 if decimals is None else units * 10.0**-decimals
    if abs(difference) <= printed * ROUNDING:
        status = Status.EQUAL
    else:
        status = Status.WITHIN if abs(difference) <= allowed * ROUNDING else Status.OUTSIDE
    return Cell(key, name, left, right, status, judged, difference, max(allowed, printed))


def _printed_decimals(name: str, texts: pd.Series) -> int | None:
    """Return the decimals that a column is printed with: as defined, or as many as its longest number shows."""
    definition = column(name)
    if definition.decimals is not None:
        return definition.decimals
    if name in COLUMNS and definition.kind == "choice":
        return None
    exponents = (Decimal(text).as_tuple().exponent for text in texts if _number(text) is not None and not _empty(text))
    return max((max(0, -exponent) for exponent in exponents if isinstance(exponent, int)), default=None)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _empty(text: str) -> bool:
    number = _number(text)
    return text == "" or (number is not None and math.isnan(number))
