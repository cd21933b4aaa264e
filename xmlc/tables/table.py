"""What a table is, and how one is declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from xmlc.suites.needs import Declared, Need
from xmlc.tables.columns import DEVIATION
from xmlc.tables.panels import Panel


@dataclass
class Table:
    """A finished table."""

    name: str
    paper: str
    #: Columns that name a row of ``frame``.
    keys: tuple[str, ...]
    #: The CSV: measured values only, full precision, keys first.
    frame: pd.DataFrame
    caption: str
    #: What is printed, side by side with the published values.
    panels: list[Panel]
    notes: list[str] = field(default_factory=list)
    #: Of the data behind it, by dataset, where no key names the dataset of a row.
    digests: dict[str, str] = field(default_factory=dict)


# Of (paper, records, published), then the records of further needs, and the suite if `takes_suite`.
Builder = Callable[..., Table]


@dataclass(frozen=True)
class TableDefinition(Declared):
    """A declared table and the function that builds it, which a call runs.

    Attributes
    ----------
    keys : tuple of str
        Columns that name a row.
    build : callable
    takes_suite : bool
        Whether it uses the suite's configuration.
    printed_in : tuple of str
        Published tables that hold its values, the later over the earlier; its own if there is none.
    partial : bool
        Whether it is made of whatever records there are, even of none.
    contrasts : tuple of str
        Keys whose values the paper compares, such as the model: a number is of use if it can be told from those of the
        rows that differ in one of these only.
    measured_models : tuple of str
        Models whose printed numbers the paper measured itself, the others' being quoted; all if there is none.
    """

    keys: tuple[str, ...]
    build: Builder
    takes_suite: bool = False
    printed_in: tuple[str, ...] = ()
    partial: bool = False
    contrasts: tuple[str, ...] = ()
    measured_models: tuple[str, ...] = ()

    def __call__(self, *given: Any) -> Table:
        """Build the table."""
        return self.build(*given)


def table(
    name: str,
    keys: tuple[str, ...],
    *needs: Need,
    takes_suite: bool = False,
    printed_in: tuple[str, ...] = (),
    partial: bool = False,
    contrasts: tuple[str, ...] = (),
    measured_models: tuple[str, ...] = (),
) -> Callable[[Builder], TableDefinition]:
    """Declare the table that the function below builds; its module belongs to the paper that has it."""

    def declare(build: Builder) -> TableDefinition:
        return TableDefinition(name, needs, keys, build, takes_suite, printed_in, partial, contrasts, measured_models)

    return declare


def csv_frame(averaged: pd.DataFrame, keys: Sequence[str], wanted: Sequence[str]) -> pd.DataFrame:
    """Choose and order the columns of a CSV: keys, what is wanted, each with its deviation, number of seeds."""
    names = [name for base in wanted for name in (base, base + DEVIATION) if name in averaged]
    return averaged[[*keys, *names, "seeds"]].reset_index(drop=True)
