"""The columns of all tables: unit, printed decimals, and whether higher values are better.

`xmlc.metrics.measures` declares those of measures, and ``columns.yaml`` the others.

Values of a *cost* come from a clock or the operating system and differ from run to run, so tables
and `xmlc compare` show costs without judging them. Inner products are counted, so their number is
no cost.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from xmlc.core.errors import XmlcError, nearest
from xmlc.metrics.measures import OF_RANKINGS, OF_SETS, AnyMeasure
from xmlc.suite.schemas import read_yaml

COST = "cost_"  # Begins the names of columns for claims about costs.
DIGITS = 3
MAX_DECIMALS = 6
MISSING = "–"


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    title: str
    #: One of ``%``, ``min``, ``s``, ``ms``, ``MB`` (10^6 bytes), or "".
    unit: str = ""
    #: Printed decimals. None means three significant digits for a cost, else the format ``g``.
    decimals: int | None = None
    better: Literal["higher", "lower"] | None = None
    cost: bool = False
    #: How seeds are combined: measures are averaged, constants are equal, choices are listed.
    kind: Literal["measure", "constant", "choice"] = "measure"
    #: Rounds numbers to these decimals before they are printed.
    most: int | None = None
    #: Whether a single run's value is a whole number.
    whole: bool = False

    @property
    def heading(self) -> str:
        """Return the title, followed by the unit in brackets."""
        if self.unit:
            return f"{self.title} ({self.unit})"
        return self.title

    def printed(self, value: float | str | None, deviation: float = math.nan) -> str:
        """Return the printed value, followed by its standard deviation, if any, or a dash if it is
        missing.

        The standard deviation limits the decimals of both, so that it has at most `DIGITS` digits.
        """
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return MISSING
        if isinstance(value, str):
            return value
        number = float(value)
        if self.most is not None:
            number = round(number, self.most)
        decimals = self.decimals
        if decimals is None and number.is_integer():
            decimals = 0
        elif decimals is None and self.cost and math.isfinite(number):
            decimals = min(decimals_of(number), MAX_DECIMALS)
        elif decimals is None and math.isnan(deviation):
            return f"{number:g}"
        elif decimals is None:
            decimals = len(f"{number:g}".partition(".")[2])
        if deviation > 0:
            decimals = min(decimals, decimals_of(deviation))
        text = f"{number:.{decimals}f}"
        if math.isnan(deviation):
            return text
        return f"{text} ± {deviation:.{decimals}f}"


def decimals_of(number: float) -> int:
    """Return the decimals with which a number that is not 0 has at most `DIGITS` digits."""
    return max(DIGITS - 1 - math.floor(math.log10(abs(number))), 0)


def _measure(measure: AnyMeasure) -> Column:
    return Column(
        measure.name,
        measure.title,
        measure.unit,
        measure.decimals,
        measure.better,
        kind=measure.kind,
    )


FILE = Path(__file__).with_suffix(".yaml")
_groups: Any = read_yaml(FILE)
_ALL = [_measure(measure) for measure in (*OF_RANKINGS, *OF_SETS)]
for _part in OF_RANKINGS:
    if _part.name.startswith("ece@"):
        _title = f"{_part.title}, calibrated"
        _ALL.append(replace(_measure(_part), name=f"isotonic_{_part.name}", title=_title))
for _group in _groups.values():
    _ALL += [Column(name, title, **_group) for name, title in _group.pop("titles").items()]
COLUMNS: dict[str, Column] = {column.name: column for column in _ALL}

DEVIATION = "_std"


def column(name: str) -> Column:
    """Return the definition of a column.

    A standard deviation resembles its column, but has no best value. Neither have unknown names,
    which have no unit and are a cost only if they begin with `COST`.
    """
    if name in COLUMNS:
        return COLUMNS[name]
    measured = COLUMNS.get(name.removesuffix(DEVIATION))
    if measured is None:
        return Column(name, name, cost=name.startswith(COST))
    return replace(measured, name=name, title=f"{measured.title}, std", better=None)


def check_quantities(place: str, names: Collection[str], recorded: Collection[str] = ()) -> None:
    """Raise an error that begins with ``place`` if one of the names is neither a column nor
    ``recorded``.
    """
    for name in names:
        if name not in COLUMNS and name not in recorded:
            known = {*COLUMNS, *recorded}
            raise XmlcError(f"{place}: found no quantity {name!r}, expected {nearest(name, known)}")
