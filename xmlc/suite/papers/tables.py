"""Specify the tables of a paper, and build them from the long table of all numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

import pandas as pd

from xmlc.suite.config.planned import STATISTICS, Declared
from xmlc.suite.config.suite import Suite
from xmlc.suite.results import titles
from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.numbers import (
    Key,
    grouped,
    index_of,
    is_missing,
    mean_over_seeds,
    pivot,
    with_published,
)

PAPER = "(paper)"
MARK = "†"  # Methods whose model is trained on the whole training set, next to models of 80 % of it.
# Maps a key of a table to the function that returns the printed name of the key's value.
TITLES: dict[str, Callable[[str], str]] = {
    "model": titles.model_title,
    "subject": titles.model_title,
    "method": titles.method_title,
    "hyperparameter": titles.hyperparameter_title,
    "tuned_for": titles.tuned_for_title,
}


class Cell(NamedTuple):
    """One cell of a panel: a number of ours, the paper's number, and the text that is printed."""

    key: Key
    quantity: str
    value: Any = None
    deviation: float = math.nan
    published: str = ""
    #: Text that is printed instead of the value.
    words: str | None = None
    #: Style of the printed number: ``bold``, ``brackets`` or "".
    mark: str = ""

    @property
    def text(self) -> str:
        """Return the printed number with its standard deviation over seeds."""
        if self.words is not None:
            return self.words
        about = column(self.quantity)
        text = about.printed(self.value)
        if not math.isnan(self.deviation):
            text = f"{text} ± {about.printed(self.deviation, self.value)}"
        if self.mark == "brackets":
            return f"[{text}]"
        return text

    @property
    def is_empty(self) -> bool:
        """Return whether the cell has neither a number nor a text."""
        return is_missing(self.value) and self.words is None and not self.published

    @property
    def is_full(self) -> bool:
        """Return whether the number is of a method on all training data."""
        return any(part.endswith(titles.FULL) for part in self.key)

    @property
    def rounded(self) -> float | None:
        """Return the value as printed, or None if it is a text or missing."""
        if is_missing(self.value) or isinstance(self.value, str):
            return None
        return float(column(self.quantity).printed(self.value))


@dataclass(frozen=True)
class PanelColumn:
    """One printed column of a panel.

    Columns of one ``contest`` compete for the best number on a dataset, which is bold.
    """

    heading: str
    quantity: str
    cells: list[Cell]
    contest: str = ""


@dataclass(frozen=True)
class Panel:
    """Rows of a table that are printed together.

    Attributes
    ----------
    title : str
    keys : tuple of str
        Keys of the table's rows.
    names : list of str
        Headings of the columns with texts that name a row.
    rows : sequence of tuple of str
        The texts that name each row.
    columns : list of PanelColumn
    details : bool
        Whether the panel shows details of another panel. The results page folds panels of details.
    """

    title: str
    keys: tuple[str, ...]
    names: list[str]
    rows: Sequence[tuple[str, ...]]
    columns: list[PanelColumn]
    details: bool = False

    def printed(self) -> tuple[list[str], list[list[tuple[str, bool]]]]:
        """Return the headings, and the cells of each row as texts with a flag for bold.

        Names come first, then our numbers, then the paper's numbers.
        """
        columns: list[tuple[str, Sequence[str], Collection[int]]] = []
        for place, name in enumerate(self.names):
            columns.append((name, [row[place] for row in self.rows], ()))
        for part, best in zip(self.columns, self.best, strict=True):
            columns.append((part.heading, [cell.text for cell in part.cells], best))
        for part in self.columns:
            published = [cell.published for cell in part.cells]
            if any(published):
                heading = f"{part.heading.removesuffix(' (%)')} {PAPER}"
                columns.append((heading, [text or MISSING for text in published], ()))
        rows = []
        for i in range(len(self.rows)):
            rows.append([(texts[i], i in best) for _, texts, best in columns])
        return [heading for heading, _, _ in columns], rows

    @cached_property
    def best(self) -> list[set[int]]:
        """Return, for each column, the rows whose numbers are bold: the best of a dataset as printed.

        Methods that train on all data compete only with each other.
        """
        best: list[set[int]] = []
        groups: dict[tuple[Any, ...], list[tuple[float, int, int]]] = {}
        for j, part in enumerate(self.columns):
            best.append({i for i, cell in enumerate(part.cells) if cell.mark == "bold"})
            about = column(part.quantity)
            for i, cell in enumerate(part.cells):
                key = dict(zip(self.keys, cell.key, strict=False))
                score = cell.rounded
                if part.contest and about.better and score is not None and key.get("model") not in titles.LIMITS:
                    if about.better == "lower":
                        score = -score
                    group = part.contest, key.get("dataset"), cell.is_full
                    groups.setdefault(group, []).append((score, i, j))
        for numbers in groups.values():
            top = max(score for score, _, _ in numbers)
            winners = [(i, j) for score, i, j in numbers if score == top]
            if len(winners) < len(numbers):
                for i, j in winners:
                    best[j].add(i)
        return best


@dataclass
class Table:
    """A table of a paper.

    Attributes
    ----------
    spec : TableSpec
    paper : str
    numbers : DataFrame
        The numbers of the table's records (`xmlc.suite.results.numbers`), with a column ``need``: the
        index of the entry of the specification's ``needs`` that selects the record.
    published : DataFrame
        The paper's numbers in this table, as texts.
    suite : Suite or None
        The suite's configuration, or None if the table does not use it.
    means : DataFrame
        Our numbers, one row for each cell (`mean_over_seeds`), with the columns ``published`` and
        ``is_run``: whether we ran the row. Optional columns are ``words`` and ``mark`` (see `Cell`).
    panels : list of Panel
    notes : list of str
    """

    spec: TableSpec
    paper: str
    numbers: pd.DataFrame
    published: pd.DataFrame
    suite: Suite | None
    means: pd.DataFrame = field(default_factory=pd.DataFrame)
    panels: list[Panel] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Quantities that the panels leave out.
    hidden: tuple[str, ...] = ()

    @property
    def own(self) -> pd.DataFrame:
        """Return the numbers of the records' results, without their details."""
        return self.numbers[self.numbers["variant"] == ""]

    def of_need(self, place: int) -> pd.DataFrame:
        """Return the results of the records that one entry of ``needs`` selects."""
        own = self.own
        return own[own["need"] == place]

    @property
    def digests(self) -> dict[str, str]:
        """Return the digests of the models' datasets, or {} if each row of the table names its dataset."""
        if "dataset" in self.spec.keys:
            return {}
        digests = self.numbers[(self.numbers["quantity"] == "digest") & (self.numbers["model"] != "")]
        return dict(zip(digests["dataset"], digests["value"], strict=True))

    @cached_property
    def content(self) -> pd.DataFrame:
        """Return the content of the CSV file, in full precision."""
        return pivot(self.means[self.means["is_run"]], self.spec.keys, self.spec.quantities)

    @cached_property
    def cells(self) -> dict[tuple[Key, str], Cell]:
        """Return all cells of the table by key and quantity, our rows first."""
        return {(cell.key, cell.quantity): cell for cell in cells_of(self.means, self.spec.keys)}


def cells_of(means: pd.DataFrame, keys: Sequence[str]) -> Iterator[Cell]:
    """Yield the cells of numbers."""
    known = [name for name in Cell._fields[1:] if name in means]
    means = means.astype({name: object for name in known})
    if "words" in known:
        means["words"] = means["words"].where(means["words"].notna(), None)
    for row in means[[*keys, *known]].itertuples(index=False, name=None):
        yield Cell(row[: len(keys)], **dict(zip(known, row[len(keys) :], strict=True)))


def title_of_key(name: str, value: str) -> str:
    """Return the printed name of the value of a key. Methods on all training data are marked."""
    return TITLES.get(name, str)(value).replace(titles.ALL_DATA, f" {MARK}")


@dataclass(frozen=True, kw_only=True)
class PanelSpec:
    """Specification of one or more panels of a table. Rows without one of the quantities are left out.

    Attributes
    ----------
    quantities : tuple of str
        Quantities that have a column.
    optional : collection of str
        Quantities that are left out if the table lacks them.
    title : str
    names : tuple of str
        Keys that name a row: by default, all keys but ``each``. If several rows have the same names,
        the first number of each quantity is shown.
    each : str
        A key of the table. Each of its values has a separate panel, whose title ends with the value.
    across : str
        A key of the table. The first quantity has a separate column for each value of ``across``.
    headings : mapping of str to str
        Headings that replace the headings of quantities, by quantity.
    contests : mapping of str to str, or None
        Maps each quantity to the name of its contest (see `PanelColumn`). By default, each quantity has
        a separate contest.
    published : {"", "also", "alone"}
        "also" appends the paper's rows that we did not run, with ``each`` only for its values that we ran.
        "alone" shows only the paper's rows that no other panel shows.
    """

    quantities: tuple[str, ...]
    optional: Collection[str] = ()
    title: str = ""
    names: tuple[str, ...] = ()
    each: str = ""
    across: str = ""
    headings: Mapping[str, str] = field(default_factory=dict)
    contests: Mapping[str, str] | None = None
    published: Literal["", "also", "alone"] = ""

    def panels_of(self, table: Table) -> Iterator[Panel]:
        """Yield the panels of a table that have at least one number."""
        keys = table.spec.keys
        means = table.means
        run = means[means["is_run"]]
        shown = index_of(means, keys).isin(index_of(run, keys))
        for spec in table.spec.panels:
            if spec.published == "also" and self.published:
                if spec.each:
                    shown |= means[spec.each].isin(run[spec.each])
                else:
                    shown[:] = True
        if self.published == "alone":
            shown = ~shown
        means = means[shown & means["quantity"].isin(self.quantities)]
        groups = [("", means)]
        if self.each:
            groups = means.groupby(self.each, sort=False)
        for value, group in groups:
            panel = self._panel(table, f"{self.title}{title_of_key(self.each, value)}", group)
            cells = chain(*(part.cells for part in panel.columns))
            if not all(cell.is_empty for cell in cells):
                yield panel

    def _panel(self, table: Table, title: str, means: pd.DataFrame) -> Panel:
        keys = table.spec.keys
        names = self.names or tuple(key for key in keys if key != self.each)
        named_by = [keys.index(name) for name in keys if name in names]
        rows: dict[Key, Key] = {}  # The first key of each row.
        cells: dict[tuple[Key, str, str], Cell] = {}
        for cell in cells_of(means, keys):
            row = tuple(cell.key[place] for place in named_by)
            rows.setdefault(row, cell.key)
            part = ""
            if self.across and cell.quantity == self.quantities[0]:
                part = cell.key[keys.index(self.across)]
            if self.published == "alone":
                cell = cell._replace(words=cell.published or None, published="")
            cells.setdefault((row, cell.quantity, part), cell)
        columns = []
        for name, part in self._columns(means, {*table.published["quantity"]}):
            if name in table.hidden:
                continue
            heading = self.headings.get(name) or column(name).heading
            if part:
                heading = title_of_key(self.across, part)
            of_column = [cells.get((row, name, part), Cell(key, name)) for row, key in rows.items()]
            contest = name
            if self.contests is not None:
                contest = self.contests.get(name, "")
            columns.append(PanelColumn(heading, name, of_column, contest))
        texts = []
        for key in rows.values():
            texts.append(tuple(title_of_key(name, key[keys.index(name)]) for name in names))
        headings = [column(name).title for name in names]
        return Panel(title, keys, headings, texts, columns)

    def _columns(self, means: pd.DataFrame, published: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the quantity of each column, and its value of ``across``."""
        there = {*means["quantity"], *published}
        for name in self.quantities:
            if name in self.optional and name not in there:
                continue
            if self.across and name == self.quantities[0]:
                values = [*means[self.across].unique()]
                if self.across == "method":
                    values = titles.method_order(values)
                for value in values:
                    yield name, value
            else:
                yield name, ""


def columns(title: str, *quantities: str, **about: Any) -> PanelSpec:
    """Specify a panel of all rows, with a column for each quantity. ``about`` is passed to `PanelSpec`."""
    return PanelSpec(title=title, quantities=quantities, **about)


def datasets(*quantities: str) -> PanelSpec:
    """Specify a panel with one row for each dataset, for quantities that are equal in all its rows."""
    return columns("Datasets", *quantities, names=("dataset",))


def not_run(*quantities: str) -> PanelSpec:
    """Specify a panel of the paper's rows that we did not run, which is left out if there are none."""
    return columns("Published in the paper, not run here", *quantities, optional=quantities, published="alone")


def by_method(quantity: str, title: str, **about: Any) -> PanelSpec:
    """Specify a panel of one quantity, with a row for each dataset and model and a column for each method."""
    return columns(title, quantity, names=("dataset", "model"), across="method", **about)


@dataclass(frozen=True, kw_only=True)
class TableSpec(Declared):
    """Specification of a table.

    Attributes
    ----------
    name : str
    needs : tuple of Where
        Records that the table needs.
    keys : tuple of str
        Columns that identify a row.
    columns, more : tuple of str
        Quantities in the CSV file: ``columns``, by default the quantities of the panels, then ``more``.
    caption : str
    panels : tuple of PanelSpec
    notes : tuple of str or callable
        Footnotes, and functions that return footnotes, after the footnotes that all tables have.
    rows : callable or None
        Function that returns our numbers, one row for each cell. By default, these are the means of all
        numbers over seeds, and rows that differ only in the last key are consecutive.
    takes_suite : bool
        Whether the table uses the suite's configuration.
    printed_in : tuple of str
        Published tables that contain this table's numbers: by default, the one of the same name. If
        several contain a row, the last of them is used.
    measured_models : tuple of str
        Models that the paper measured itself, or () for all. The paper quotes the numbers of others.
    partial : bool
        Whether the table is built even if some or all of its records are missing.
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
    measured_models: tuple[str, ...] = ()
    partial: bool = False

    @property
    def first(self) -> tuple[Any, ...]:
        """Return entries of ``needs``. The table is built only if at least one of them has records."""
        if self.partial:
            return self.needs
        return super().first

    @property
    def quantities(self) -> tuple[str, ...]:
        """Return the quantities in the CSV file."""
        shown = chain(*(panel.quantities for panel in self.panels), self.more)
        return self.columns or tuple(dict.fromkeys(shown))

    def build(self, paper: str, numbers: pd.DataFrame, published: pd.DataFrame, suite: Suite | None = None) -> Table:
        """Build the table, without the footnotes that all tables have."""
        table = Table(self, paper, numbers, published, suite)
        if self.rows is None:
            means = mean_over_seeds(table.own, self.keys)
            if self.keys[:-1]:
                means = grouped(means, *self.keys[:-1])
        else:
            means = self.rows(table)
        means = with_published(means.assign(is_run=True), published, self.keys)
        table.means = means.assign(is_run=means["is_run"].notna())
        table.panels = [*chain(*(panel.panels_of(table) for panel in self.panels))]
        return table


def table_of_datasets(name: str, *quantities: str, caption: str, **about: Any) -> TableSpec:
    """Specify a table of dataset statistics: ours next to the paper's, then those of datasets not used."""
    return TableSpec(
        name=name,
        needs=(STATISTICS,),
        keys=("dataset",),
        panels=(columns("", *quantities), not_run(*quantities)),
        caption=caption,
        **about,
    )
