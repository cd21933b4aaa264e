"""Specify tables, and build them from the long table of all numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd

from xmlc.suite.config.planned import Declared
from xmlc.suite.config.suite import Suite
from xmlc.suite.results import titles
from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.numbers import (
    Key,
    as_float,
    index_of,
    mean_over_seeds,
    pivot,
    with_published,
)

PAPER = "(paper)"
# Methods whose model is trained on the whole training set, next to models of 80 % of it
MARK = "†"
# Functions that return the printed name of a key's value
TITLES: dict[str, Callable[[str], str]] = {
    "model": titles.model_title,
    "subject": titles.model_title,
    "method": titles.method_title,
    "hyperparameter": titles.hyperparameter_title,
    "tuned_for": titles.tuned_for_title,
}


class Cell(NamedTuple):
    """One cell of a panel: printed text, our number, and the paper's."""

    key: Key
    quantity: str
    text: str = MISSING
    value: Any = None
    published: str = ""
    #: Whether the text is bold.
    is_best: bool = False


@dataclass(frozen=True)
class Panel:
    """Rows of a table that are printed together.

    They consist of names, with the headings ``names``, and cells, with ``headings``. The results
    page folds a panel with ``details`` of another.
    """

    title: str
    names: list[str]
    headings: list[str]
    rows: Sequence[tuple[str, ...]]
    cells: list[list[Cell]]
    details: bool = False

    def printed(self) -> tuple[list[str], list[list[tuple[str, bool]]]]:
        """Return the headings, and each row's texts with a flag for bold: names, our numbers, then
        the paper's.
        """
        headings = [*self.names, *self.headings]
        printed = []
        for names, cells in zip(self.rows, self.cells, strict=True):
            printed.append(
                [*((name, False) for name in names), *((cell.text, cell.is_best) for cell in cells)]
            )
        for heading, *column_cells in zip(self.headings, *self.cells, strict=True):
            if any(cell.published for cell in column_cells):
                headings.append(f"{heading.removesuffix(' (%)')} {PAPER}")
                for line, cell in zip(printed, column_cells, strict=True):
                    line.append((cell.published or MISSING, False))
        return headings, printed


@dataclass
class Table:
    """A table of a paper.

    ``numbers`` have the index ``need`` of the entry of ``needs`` that selects the record, and
    ``published`` are texts. ``means`` are our numbers, one row for each cell (`mean_over_seeds`),
    with ``published``, ``is_run`` (whether we ran the row) and the optional ``mark`` "bold" or
    "brackets". ``content`` is the CSV file, in full precision.
    """

    spec: TableSpec
    paper: str
    numbers: pd.DataFrame
    published: pd.DataFrame
    suite: Suite | None
    means: pd.DataFrame = field(default_factory=pd.DataFrame)
    content: pd.DataFrame = field(default_factory=pd.DataFrame)
    panels: list[Panel] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Quantities that the panels leave out.
    hidden: tuple[str, ...] = ()

    @property
    def own(self) -> pd.DataFrame:
        """Numbers without details."""
        return self.numbers[self.numbers["variant"] == ""]

    @property
    def digests(self) -> dict[str, str]:
        """Digests of the models' datasets, or {} if each row names its dataset."""
        if "dataset" in self.spec.keys:
            return {}
        digests = self.numbers[
            (self.numbers["quantity"] == "digest") & (self.numbers["model"] != "")
        ]
        return dict(zip(digests["dataset"], digests["value"], strict=True))


def title_of_key(name: str, value: str) -> str:
    """Return the printed name of a key's value, with a mark for methods on all training data."""
    return TITLES.get(name, str)(value).replace(titles.ALL_DATA, f" {MARK}")


@dataclass(frozen=True, kw_only=True)
class PanelSpec:
    """The specification of one or more panels, without rows that lack all quantities.

    Attributes
    ----------
    quantities, optional : tuple of str
        Columns, and which of them are left out if the table lacks them.
    names : tuple of str
        Keys that name a row, by default all but ``each`` and ``across``. Of several rows with the
        same names, the first number of each quantity is shown.
    each, across : str
        Keys whose values have separate panels, and separate columns for the first quantity.
    headings : mapping of str to str
        Replace the headings of quantities.
    units : bool
        Whether other headings have units.
    contests : mapping of str to str
        Quantities of one contest compete for the best number on a dataset, which is bold. By
        default, each has its own.
    unmarked : tuple of str
        Quantities without a contest.
    is_rest : bool
        Whether the panel shows the paper's numbers in rows that the other panels leave out.
    """

    quantities: tuple[str, ...]
    optional: tuple[str, ...] = ()
    title: str = ""
    names: tuple[str, ...] = ()
    each: str = ""
    across: str = ""
    headings: Mapping[str, str] = field(default_factory=dict)
    units: bool = True
    contests: Mapping[str, str] = field(default_factory=dict)
    unmarked: tuple[str, ...] = ()
    is_rest: bool = False

    def panels_of(self, table: Table) -> Iterator[Panel]:
        """Yield the panels of a table that have at least one number."""
        keys = table.spec.keys
        means = table.means
        run = means[means["is_run"]]
        shown = index_of(means, keys).isin(index_of(run, keys))
        if table.spec.quotes:
            shown |= means["dataset"].isin(run["dataset"])
        means = means[(shown != self.is_rest) & means["quantity"].isin(self.quantities)]
        if self.is_rest:
            means = means.assign(text=means["published"].replace("", MISSING), published="")
        groups: Iterable[tuple[Any, pd.DataFrame]] = [("", means)]
        if self.each:
            groups = means.groupby(self.each, sort=False)
        for value, rows in groups:
            if (rows["text"] != MISSING).any() or (rows["published"] != "").any():
                yield self._panel(table, f"{self.title}{title_of_key(self.each, value)}", rows)

    def _panel(self, table: Table, title: str, rows: pd.DataFrame) -> Panel:
        keys = [*table.spec.keys]
        names = [*self.names] or [key for key in keys if key not in (self.each, self.across)]
        rows = rows.assign(part="")
        if self.across:
            rows["part"] = rows[self.across].where(rows["quantity"] == self.quantities[0], "")
        rows = rows.drop_duplicates([*names, "quantity", "part"])
        cells: dict[Key, dict[tuple[str, str], Cell]] = {}
        for row, key, part, *shown in zip(
            rows[names].itertuples(index=False, name=None),
            rows[keys].itertuples(index=False, name=None),
            *(rows[name] for name in ("part", "quantity", "text", "value", "published")),
            self._is_best(rows, keys),
            strict=True,
        ):
            cell = Cell(key, *shown)
            cells.setdefault(row, {})[cell.quantity, part] = cell
        known = {*rows["quantity"], *table.published["quantity"]}
        headings: dict[tuple[str, str], str] = {}
        for quantity in self.quantities:
            if quantity in table.hidden or (quantity in self.optional and quantity not in known):
                continue
            about = column(quantity)
            heading = about.heading if self.units else about.title
            parts = {"": self.headings.get(quantity, heading)}
            if self.across and quantity == self.quantities[0]:
                values = [*rows[self.across].unique()]
                if self.across == "method":
                    values = titles.method_order(values)
                parts = {value: title_of_key(self.across, value) for value in values}
            headings |= {(quantity, part): heading for part, heading in parts.items()}
        texts = []
        lines = []
        for row, of_row in cells.items():
            texts.append(tuple(map(title_of_key, names, row)))
            first = next(iter(of_row.values()))
            lines.append([of_row.get(place, Cell(first.key, place[0])) for place in headings])
        titles_of_names = [column(name).title for name in names]
        return Panel(title, titles_of_names, [*headings.values()], texts, lines)

    def _is_best(self, rows: pd.DataFrame, keys: Sequence[str]) -> pd.Series:
        """Return which numbers are a dataset's best, for which methods that train on all data
        compete only with each other, or marked as bold.
        """
        quantity = rows["quantity"]
        signs = {"higher": 1, "lower": -1}
        scores = rows["score"] * [
            signs.get(str(column(name).better), math.nan) for name in quantity
        ]
        names = rows[[*keys]]
        is_left_out = names.isin(titles.LIMITS).any(axis=1) | quantity.isin(self.unmarked)
        is_full = names.apply(lambda values: values.str.endswith(titles.FULL)).any(axis=1)
        contests = quantity.replace(self.contests)
        groups = scores.mask(is_left_out).groupby(
            [contests, rows.get("dataset", contests), is_full]
        )
        best = groups.transform("max")
        return (scores == best) & (best > groups.transform("min")) | (rows["mark"] == "bold")


@dataclass(frozen=True, kw_only=True)
class TableSpec(Declared):
    """The specification of a table.

    Attributes
    ----------
    keys : tuple of str
        Columns that identify a row.
    columns, more : tuple of str
        Quantities in the CSV file: ``columns``, by default the panels' and ``more``.
    rest : tuple of str
        Columns of the paper's rows that we did not run, in a last panel.
    notes, noted_by : tuple of str, tuple of callable
        Footnotes, and functions that return some, after those of all tables.
    variant, rows : str, callable or None
        The part of the records that is shown, as means over seeds, or else a function that returns
        our numbers, one row for each cell.
    printed_in : tuple of str
        Published tables with this table's numbers, by default the one of the same name. The last
        that contains a row counts.
    quotes : bool
        Whether panels append the paper's rows that we did not run, on our datasets.
    measured_models : tuple of str
        Models that the paper measured and did not quote, or () for all.
    takes_suite : bool
        Whether the table uses the suite's configuration.
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    caption: str = ""
    panels: tuple[PanelSpec, ...] = ()
    rest: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    #: As functions, of which ``tables.yaml`` has the names
    noted_by: tuple[Any, ...] = ()
    variant: str = ""
    rows: Any = None
    takes_suite: bool = False
    printed_in: tuple[str, ...] = ()
    quotes: bool = False
    measured_models: tuple[str, ...] = ()

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities in the CSV file."""
        shown = chain(*(panel.quantities for panel in self.panels), self.rest, self.more)
        return tuple(dict.fromkeys(self.columns or shown))

    def build(
        self, paper: str, numbers: pd.DataFrame, published: pd.DataFrame, suite: Suite | None = None
    ) -> Table:
        """Build the table, without the footnotes that all tables have."""
        table = Table(self, paper, numbers, published, suite)
        if self.rows is None:
            means = mean_over_seeds(numbers[numbers["variant"] == self.variant], self.keys)
        else:
            means = self.rows(table)
        # Rows that differ only in the last key are consecutive.
        places = means.groupby([*(self.keys[:-1] or self.keys)], sort=False).ngroup()
        means = means.iloc[places.argsort(kind="stable")]
        table.content = pivot(means, self.keys, self.quantities)
        means = with_published(
            means.assign(is_run=True, mark=means.get("mark", "")), published, self.keys
        )
        means["is_run"] = means["is_run"].notna()
        texts = []
        scores = []
        cells = means[["quantity", "value", "deviation", "mark"]].itertuples(index=False, name=None)
        for quantity, value, deviation, mark in cells:
            about = column(quantity)
            text = about.printed(value, deviation)
            scores.append(as_float(about.printed(value)))  # Compared whatever the deviations
            if mark == "brackets":
                text = f"[{text}]"
            texts.append(text)
        score = pd.Series(scores, means.index, dtype=float)
        table.means = means.assign(text=texts, score=score)
        rest = PanelSpec(
            title="Published in the paper, not run here",
            quantities=self.rest,
            optional=self.rest,
            unmarked=self.rest,
            is_rest=True,
        )
        table.panels = [*chain(*(panel.panels_of(table) for panel in (*self.panels, rest)))]
        return table
