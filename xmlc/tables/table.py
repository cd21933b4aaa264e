"""What a table is, and how its builder becomes known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from xmlc.tables.columns import DEVIATION
from xmlc.tables.panels import Panel
from xmlc.tables.registry import Registry

Records = list[dict[str, Any]]


@dataclass
class Table:
    """A finished table.

    Attributes
    ----------
    name, paper : str
    keys : tuple of str
        Columns that name a row of ``frame``.
    frame : DataFrame
        The CSV: measured values only, full precision, keys first.
    caption : str
    panels : list of Panel
        What is printed, side by side with the published values.
    notes : list of str
    """

    name: str
    paper: str
    keys: tuple[str, ...]
    frame: pd.DataFrame
    caption: str
    panels: list[Panel]
    notes: list[str] = field(default_factory=list)


# Of (paper, records, published), then of the records of thresholds and of the paper's configuration (a file or None)
# where `takes_thresholds` and `takes_suite` say so.
Builder = Callable[..., Table]


@dataclass(frozen=True)
class TableDefinition:
    """What is known of a table before there are records: its keys, the records it takes, who builds it.

    ``printed_in`` names the published tables that hold its values, the later over the earlier; none stands for its own.
    """

    keys: tuple[str, ...]
    kind: str
    portion: str
    build: Builder
    takes_suite: bool = False
    takes_thresholds: bool = False
    printed_in: tuple[str, ...] = ()


TABLES: Registry[TableDefinition] = Registry("table")


def register(
    name: str,
    keys: tuple[str, ...],
    kind: str,
    portion: str,
    takes_suite: bool = False,
    takes_thresholds: bool = False,
    paper: str | None = None,
    printed_in: tuple[str, ...] = (),
) -> Callable[[Builder], Builder]:
    """Make a builder known under the name of its table: to every suite, or as that of one ``paper``."""

    def add(build: Builder) -> Builder:
        definition = TableDefinition(keys, kind, portion, build, takes_suite, takes_thresholds, printed_in)
        TABLES.add(name, definition, paper)
        return build

    return add


def csv_frame(averaged: pd.DataFrame, keys: Sequence[str], wanted: Sequence[str]) -> pd.DataFrame:
    """Choose and order the columns of a CSV: keys, what is wanted, each with its deviation, number of seeds."""
    names = [name for base in wanted for name in (base, base + DEVIATION) if name in averaged]
    return averaged[[*keys, *names, "seeds"]].reset_index(drop=True)
