"""Specify tables, and build them from the long table of all numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd

from xmlc.suite.config.planned import STATISTICS, Declared
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
    quantities, optional : collection of str
        Columns, and which of them are left out if the table lacks them.
    names : tuple of str
        Keys that name a row, by default all but ``each``. Of several rows with the same names, the
        first number of each quantity is shown.
    each, across : str
        Keys whose values have separate panels, and separate columns for the first quantity.
    headings : mapping of str to str
        Replace the headings of quantities.
    contests : mapping of str to str, or None
        Quantities of one contest compete for the best number on a dataset, which is bold. By
        default, each has its own.
    is_rest : bool
        Whether the panel shows the paper's numbers in rows that the other panels leave out.
    """

    quantities: tuple[str, ...]
    optional: Collection[str] = ()
    title: str = ""
    names: tuple[str, ...] = ()
    each: str = ""
    across: str = ""
    headings: Mapping[str, str] = field(default_factory=dict)
    contests: Mapping[str, str] | None = None
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
        if means.empty:
            return
        if self.is_rest:
            means = means.assign(
                value=means["published"].where(means["published"] != ""), published=""
            )
        groups = [("", means)]
        if self.each:
            groups = means.groupby(self.each, sort=False)
        for value, rows in groups:
            panel = self._panel(table, f"{self.title}{title_of_key(self.each, value)}", rows)
            if any(cell.text != MISSING or cell.published for cell in chain(*panel.cells)):
                yield panel

    def _panel(self, table: Table, title: str, rows: pd.DataFrame) -> Panel:
        names = list(self.names) or [key for key in table.spec.keys if key != self.each]
        rows = rows.assign(part="")
        if self.across:
            rows["part"] = rows[self.across].where(rows["quantity"] == self.quantities[0], "")
        rows = rows.drop_duplicates([*names, "quantity", "part"])
        of_rows = [*rows[names].itertuples(index=False, name=None)]
        keys: dict[Key, Key] = {}  # The first key of each row
        cells = {}
        for row, part, cell in zip(
            of_rows, rows["part"], self._cells(rows, table.spec.keys), strict=True
        ):
            keys.setdefault(row, cell.key)
            cells[row, cell.quantity, part] = cell
        headings = []
        columns = []
        known = {*rows["quantity"], *table.published["quantity"]}
        for quantity in self.quantities:
            if quantity in table.hidden or (quantity in self.optional and quantity not in known):
                continue
            if self.across and quantity == self.quantities[0]:
                values = [*rows[self.across].unique()]
                if self.across == "method":
                    values = titles.method_order(values)
                headings += [title_of_key(self.across, value) for value in values]
                columns += [(quantity, value) for value in values]
            else:
                headings.append(self.headings.get(quantity) or column(quantity).heading)
                columns.append((quantity, ""))
        texts = []
        lines = []
        for row, key in keys.items():
            texts.append(
                tuple(title_of_key(name, value) for name, value in zip(names, row, strict=True))
            )
            lines.append([cells.get((row, *place), Cell(key, place[0])) for place in columns])
        return Panel(title, [column(name).title for name in names], headings, texts, lines)

    def _cells(self, rows: pd.DataFrame, keys: Collection[str]) -> list[Cell]:
        """Return cells with a dataset's best printed number in bold, for which methods that train
        on all data compete only with each other.
        """
        keys_of_rows = [*rows[[*keys]].itertuples(index=False, name=None)]
        texts = []
        scores = []
        is_full = []
        numbers = rows[["quantity", "value", "deviation", "mark"]].itertuples(
            index=False, name=None
        )
        for key, (quantity, value, deviation, mark) in zip(keys_of_rows, numbers, strict=True):
            about = column(quantity)
            text = about.printed(value)
            score = as_float(text)
            if score is None or about.better is None or {*key} & {*titles.LIMITS}:
                score = math.nan
            elif about.better == "lower":
                score = -score
            scores.append(score)
            is_full.append(any(name.endswith(titles.FULL) for name in key))
            if not math.isnan(deviation):
                text = f"{text} ± {about.printed(deviation, value)}"
            if mark == "brackets":
                text = f"[{text}]"
            texts.append(text)
        contests = rows["quantity"]
        if self.contests is not None:
            contests = contests.map(self.contests)
        groups = pd.Series(scores, rows.index).groupby(
            [contests, rows.get("dataset", contests), is_full]
        )
        is_best = (scores == groups.transform("max")) & (scores > groups.transform("min")) | (
            rows["mark"] == "bold"
        )
        return [
            *map(
                Cell,
                keys_of_rows,
                rows["quantity"],
                texts,
                rows["value"],
                rows["published"],
                is_best,
            )
        ]


def columns(title: str, *quantities: str, **about: Any) -> PanelSpec:
    """Specify a panel of all rows, with a column for each quantity and ``about`` for
    `PanelSpec`.
    """
    return PanelSpec(title=title, quantities=quantities, **about)


def datasets(*quantities: str) -> PanelSpec:
    """Specify a panel with a row for each dataset, for quantities that are equal in all its
    rows.
    """
    return columns("Datasets", *quantities, names=("dataset",))


def not_run(*quantities: str) -> PanelSpec:
    """Specify a panel of the paper's rows that we did not run, if there are any."""
    return columns(
        "Published in the paper, not run here",
        *quantities,
        optional=quantities,
        contests={},
        is_rest=True,
    )


def by_method(quantity: str, title: str, **about: Any) -> PanelSpec:
    """Specify a panel of one quantity, with rows of datasets and models and columns of methods."""
    return columns(title, quantity, names=("dataset", "model"), across="method", **about)


@dataclass(frozen=True, kw_only=True)
class TableSpec(Declared):
    """The specification of a table.

    Attributes
    ----------
    keys : tuple of str
        Columns that identify a row.
    columns, more : tuple of str
        Quantities in the CSV file: ``columns``, by default the panels' and ``more``.
    notes : tuple of str or callable
        Footnotes, or functions that return them, after those of all tables.
    rows : callable or None
        Returns our numbers, one row for each cell, by default means over seeds.
    printed_in : tuple of str
        Published tables with this table's numbers, by default the one of the same name. The last
        that contains a row counts.
    quotes : bool
        Whether panels append the paper's rows that we did not run, on our datasets.
    measured_models : tuple of str
        Models that the paper measured and did not quote, or () for all.
    takes_suite, partial : bool
        Whether the table uses the suite's configuration, and may lack records.
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    caption: str = ""
    panels: tuple[PanelSpec, ...] = ()
    notes: tuple[str | Callable[[Table], list[str]], ...] = ()
    rows: Callable[[Table], pd.DataFrame] | None = None
    takes_suite: bool = False
    printed_in: tuple[str, ...] = ()
    quotes: bool = False
    measured_models: tuple[str, ...] = ()
    partial: bool = False

    @property
    def first(self) -> tuple[Any, ...]:
        """Entries of ``needs``, one of which must have records."""
        if self.partial:
            return self.needs
        return super().first

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities in the CSV file."""
        shown = chain(*(panel.quantities for panel in self.panels), self.more)
        return tuple(dict.fromkeys(self.columns or shown))

    def build(
        self, paper: str, numbers: pd.DataFrame, published: pd.DataFrame, suite: Suite | None = None
    ) -> Table:
        """Build the table, without the footnotes that all tables have."""
        table = Table(self, paper, numbers, published, suite)
        if self.rows is None:
            means = mean_over_seeds(numbers[numbers["variant"] == ""], self.keys)
        else:
            means = self.rows(table)
        # Rows that differ only in the last key are consecutive.
        places = means.groupby([*(self.keys[:-1] or self.keys)], sort=False).ngroup()
        means = means.iloc[places.argsort(kind="stable")]
        table.content = pivot(means, self.keys, self.quantities)
        means = with_published(
            means.assign(is_run=True, mark=means.get("mark", "")), published, self.keys
        )
        table.means = means.assign(is_run=means["is_run"].notna())
        table.panels = [*chain(*(panel.panels_of(table) for panel in self.panels))]
        return table


def table_of_datasets(name: str, *quantities: str, caption: str, **about: Any) -> TableSpec:
    """Specify a table of dataset statistics, with datasets that we did not use at the end."""
    return TableSpec(
        name=name,
        needs=(STATISTICS,),
        keys=("dataset",),
        panels=(columns("", *quantities), not_run(*quantities)),
        caption=caption,
        **about,
    )
