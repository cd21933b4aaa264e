"""Specify the tables of a paper, and build them from the long table of all numbers."""

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
# Methods whose model is trained on the whole training set, next to models of 80 % of it.
MARK = "†"
# Maps a key of a table to the function that returns the printed name of the key's value.
TITLES: dict[str, Callable[[str], str]] = {
    "model": titles.model_title,
    "subject": titles.model_title,
    "method": titles.method_title,
    "hyperparameter": titles.hyperparameter_title,
    "tuned_for": titles.tuned_for_title,
}


class Cell(NamedTuple):
    """One cell of a panel: the text that is printed, our number, and the paper's number."""

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

    Attributes
    ----------
    title : str
    names, headings : list of str
        Headings of the columns with texts that name a row, and of the columns with numbers.
    rows : sequence of tuple of str
        The texts that name each row.
    cells : list of list of Cell
        The cells of each row.
    details : bool
        Whether the panel shows details of another panel. The results page folds panels of details.
    """

    title: str
    names: list[str]
    headings: list[str]
    rows: Sequence[tuple[str, ...]]
    cells: list[list[Cell]]
    details: bool = False

    def printed(self) -> tuple[list[str], list[list[tuple[str, bool]]]]:
        """Return the headings, and the cells of each row as texts with a flag for bold.

        Names come first, then our numbers, then the paper's numbers.
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

    Attributes
    ----------
    spec : TableSpec
    paper : str
    numbers : DataFrame
        The numbers of the table's records (`xmlc.suite.results.numbers`), with a column ``need``:
        the index of the entry of the specification's ``needs`` that selects the record.
    published : DataFrame
        The paper's numbers in this table, as texts.
    suite : Suite or None
        The suite's configuration, or None if the table does not use it.
    means : DataFrame
        Our numbers, one row for each cell (`mean_over_seeds`), with the columns ``published`` and
        ``is_run``: whether we ran the row. In the optional column ``mark``, "bold" and "brackets"
        are styles of the printed number.
    content : DataFrame
        The content of the CSV file, in full precision.
    panels : list of Panel
    notes : list of str
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
        """Return the numbers of the records' results, without their details."""
        return self.numbers[self.numbers["variant"] == ""]

    @property
    def digests(self) -> dict[str, str]:
        """Return the digests of the models' datasets, or {} if each row of the table names its
        dataset.
        """
        if "dataset" in self.spec.keys:
            return {}
        digests = self.numbers[
            (self.numbers["quantity"] == "digest") & (self.numbers["model"] != "")
        ]
        return dict(zip(digests["dataset"], digests["value"], strict=True))


def title_of_key(name: str, value: str) -> str:
    """Return the printed name of the value of a key. Methods on all training data are marked."""
    return TITLES.get(name, str)(value).replace(titles.ALL_DATA, f" {MARK}")


@dataclass(frozen=True, kw_only=True)
class PanelSpec:
    """Specification of one or more panels of a table.

    Rows without one of the quantities are left out.

    Attributes
    ----------
    quantities : tuple of str
        Quantities that have a column.
    optional : collection of str
        Quantities that are left out if the table lacks them.
    title : str
    names : tuple of str
        Keys that name a row: by default, all keys but ``each``. If several rows have the same
        names, the first number of each quantity is shown.
    each : str
        A key of the table. Each of its values has a separate panel, whose title ends with the
        value.
    across : str
        A key of the table. The first quantity has a separate column for each value of ``across``.
    headings : mapping of str to str
        Headings that replace the headings of quantities, by quantity.
    contests : mapping of str to str, or None
        Maps each quantity to the name of its contest. Quantities of one contest compete for the
        best number on a dataset, which is bold. By default, each quantity has a separate contest.
    is_rest : bool
        Whether the panel shows the paper's numbers in the rows that the other panels leave out.
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
        keys: dict[Key, Key] = {}  # The first key of each row.
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
        """Return the cells of numbers. The best number of a dataset, as printed, is bold.

        Methods that train on all data compete only with each other.
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
    """Specify a panel of all rows, with a column for each quantity.

    ``about`` is passed to `PanelSpec`.
    """
    return PanelSpec(title=title, quantities=quantities, **about)


def datasets(*quantities: str) -> PanelSpec:
    """Specify a panel with one row for each dataset, for quantities that are equal in all its
    rows.
    """
    return columns("Datasets", *quantities, names=("dataset",))


def not_run(*quantities: str) -> PanelSpec:
    """Specify a panel of the paper's rows that we did not run, which is left out if there are
    none.
    """
    return columns(
        "Published in the paper, not run here",
        *quantities,
        optional=quantities,
        contests={},
        is_rest=True,
    )


def by_method(quantity: str, title: str, **about: Any) -> PanelSpec:
    """Specify a panel of one quantity, with a row for each dataset and model and a column for each
    method.
    """
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
        Quantities in the CSV file: ``columns``, by default the quantities of the panels, then
        ``more``.
    caption : str
    panels : tuple of PanelSpec
    notes : tuple of str or callable
        Footnotes, and functions that return footnotes, after the footnotes that all tables have.
    rows : callable or None
        Function that returns our numbers, one row for each cell: by default, the means of all
        numbers over seeds. Rows of the table that differ only in the last key are consecutive.
    takes_suite : bool
        Whether the table uses the suite's configuration.
    printed_in : tuple of str
        Published tables that contain this table's numbers: by default, the one of the same name. If
        several contain a row, the last of them is used.
    quotes : bool
        Whether panels append the paper's rows that we did not run, on the datasets that we ran.
    measured_models : tuple of str
        Models that the paper measured itself, or () for all. The paper quotes the numbers of
        others.
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
    quotes: bool = False
    measured_models: tuple[str, ...] = ()
    partial: bool = False

    @property
    def first(self) -> tuple[Any, ...]:
        """Return entries of ``needs``.

        The table is built only if at least one of them has records.
        """
        if self.partial:
            return self.needs
        return super().first

    @property
    def quantities(self) -> tuple[str, ...]:
        """Return the quantities in the CSV file."""
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
    """Specify a table of dataset statistics: ours next to the paper's, then those of datasets not
    used.
    """
    return TableSpec(
        name=name,
        needs=(STATISTICS,),
        keys=("dataset",),
        panels=(columns("", *quantities), not_run(*quantities)),
        caption=caption,
        **about,
    )
