"""Specify the tables of a paper, and build them from the long table of all numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

import pandas as pd

from xmlc.suite.config.planned import STATISTICS, Declared
from xmlc.suite.config.suite import Suite
from xmlc.suite.results import titles
from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.methods import PAPER_METHODS
from xmlc.suite.results.numbers import (
    SEEDS,
    Key,
    index_of,
    is_missing,
    mean_over_seeds,
    pivot,
    with_published,
)

NOT_RUN = "Published in the paper, not run here"
PAPER = "(paper)"
GAP = "\u2003"  # Heading and cells of the empty column before the columns that only xmlc has.
MARK = "†"  # Methods whose model is trained on the whole training set, next to models of 80 % of it.
# Maps a key of a table to the function that returns the printed name of the key's value.
TITLES: dict[str, Callable[[str], str]] = {
    "model": titles.model_title,
    "subject": titles.model_title,
    "method": titles.method_title,
    "hyperparameter": titles.hyperparameter_title,
    "tuned_for": titles.tuned_for_title,
}
# If all rows have the same number in one of these columns, a note below the panel replaces the column.
SETTINGS = (
    "n_trees",
    "passes",
    "trials",
    SEEDS,
    "min_probability",
    "train_threads",
    "predict_threads",
)


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
        try:
            return float(column(self.quantity).printed(self.value))
        except ValueError:
            return None


Cells = dict[tuple[Key, str], Cell]


@dataclass(frozen=True)
class PanelColumn:
    """One printed column of a panel.

    Columns of one ``contest`` compete for the best number on a dataset, which is bold. ``own`` columns
    are those that the paper does not report.
    """

    heading: str
    quantity: str
    cells: list[Cell]
    contest: str = ""
    own: bool = False

    @property
    def texts(self) -> list[str]:
        """Return the printed numbers."""
        return [cell.text for cell in self.cells]


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
        The paper's columns, followed by the columns that only xmlc has.
    details : bool
        Whether the panel shows details of another panel. The results page folds panels of details.
    note : str
        Sentences that are printed below the panel.
    """

    title: str
    keys: tuple[str, ...]
    names: list[str]
    rows: Sequence[tuple[str, ...]]
    columns: list[PanelColumn]
    details: bool = False
    note: str = ""

    @property
    def rule(self) -> int | None:
        """Return the index of the first column that only xmlc has, or None if all or no columns are so."""
        for place, part in enumerate(self.columns):
            if part.own:
                return place or None
        return None

    def printed(self) -> tuple[list[str], list[list[tuple[str, bool]]]]:
        """Return the headings, and the cells of each row as texts with a flag for bold.

        Names come first, then our numbers in the paper's columns, the paper's numbers, a gap, and the
        columns that only xmlc has.
        """
        columns: list[tuple[str, Sequence[str], Collection[int]]] = []
        for place, name in enumerate(self.names):
            columns.append((name, [row[place] for row in self.rows], ()))
        measured = []
        for part, best in zip(self.columns, self.best, strict=True):
            measured.append((part.heading, part.texts, best))
        columns += measured[: self.rule]
        for part in self.columns:
            published = [cell.published for cell in part.cells]
            if any(published):
                heading = f"{part.heading.removesuffix(' (%)')} {PAPER}"
                columns.append((heading, [text or MISSING for text in published], ()))
        if self.rule:
            columns.append((GAP, [GAP] * len(self.rows), ()))
            columns += measured[self.rule :]
        rows = []
        for i in range(len(self.rows)):
            rows.append([(texts[i], i in best) for _, texts, best in columns])
        return [heading for heading, _, _ in columns], rows

    def compact(self) -> Panel:
        """Return the panel with notes instead of redundant columns.

        A setting that all of at least three rows share is redundant, and so is a column that equals an
        earlier one that the paper does not have either.
        """
        kept: list[PanelColumn] = []
        notes = [self.note]
        for part in self.columns:
            texts = part.texts
            same = [one for one in kept if one.own and (one.quantity, one.texts) == (part.quantity, texts)]
            if part.quantity in SETTINGS and len(texts) > 2 and len({*texts}) == 1 and texts[0] != MISSING:
                notes.append(f"{part.heading}: {texts[0]} in all rows.")
            elif part.own and same:
                notes.append(f"{part.heading}: equal to {same[0].heading} in all rows.")
            else:
                kept.append(part)
        if not kept:
            return self
        return replace(self, columns=kept, note=" ".join(notes).strip())

    @cached_property
    def best(self) -> list[set[int]]:
        """Return, for each column, the rows whose numbers are bold: the best of a dataset as printed.

        Methods that train on all data compete only with each other.
        """
        best: list[set[int]] = []
        groups: dict[tuple[Any, ...], list[tuple[float, int, int]]] = {}
        for j, part in enumerate(self.columns):
            best.append({i for i, cell in enumerate(part.cells) if cell.mark == "bold"})
            better = column(part.quantity).better
            if not part.contest or not better:
                continue
            for i, cell in enumerate(part.cells):
                about = dict(zip(self.keys, cell.key, strict=False))
                if cell.rounded is None or about.get("model") in titles.LIMITS:
                    continue
                score = cell.rounded
                if better == "lower":
                    score = -score
                group = part.contest, about.get("dataset"), cell.is_full
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
        Our numbers, one row for each cell (`mean_over_seeds`), with the column ``published``. Optional
        columns are ``words`` and ``mark`` (see `Cell`).
    details : DataFrame
        Rows that panels show but the CSV file lacks, such as the effects that decide a claim.
    panels : list of Panel
    notes : list of str
    """

    spec: TableSpec
    paper: str
    numbers: pd.DataFrame
    published: pd.DataFrame
    suite: Suite | None
    means: pd.DataFrame = field(default_factory=pd.DataFrame)
    details: pd.DataFrame = field(default_factory=pd.DataFrame)
    panels: list[Panel] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Quantities that the panels leave out.
    hidden: tuple[str, ...] = ()

    @property
    def own(self) -> pd.DataFrame:
        """Return the numbers of the variant that the table shows."""
        return self.numbers[self.numbers["variant"] == self.spec.variant]

    def of_need(self, place: int) -> pd.DataFrame:
        """Return the numbers that one entry of ``needs`` selects, of the variant that the table shows."""
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
    def cells(self) -> Cells:
        """Return all cells of the table by key and quantity, our rows first."""
        return cells_of(self.means, self.spec.keys)


def cells_of(means: pd.DataFrame, keys: Sequence[str]) -> Cells:
    """Return the cells of numbers by key and quantity."""
    known = [name for name in Cell._fields[1:] if name in means]
    means = means.astype({name: object for name in known})
    if "words" in known:
        means["words"] = means["words"].where(means["words"].notna(), None)
    cells = {}
    for row in means[[*keys, *known]].itertuples(index=False, name=None):
        cell = Cell(row[: len(keys)], **dict(zip(known, row[len(keys) :], strict=True)))
        cells[cell.key, cell.quantity] = cell
    return cells


def title_of_key(name: str, value: str) -> str:
    """Return the printed name of the value of a key. Methods on all training data are marked."""
    return TITLES.get(name, str)(value).replace(titles.ALL_DATA, f" {MARK}")


Notes = str | Callable[[Table], list[str]]


@dataclass(frozen=True, kw_only=True)
class PanelSpec:
    """Specification of one or more panels of a table.

    Attributes
    ----------
    quantities : tuple of str
        Quantities that have a column.
    optional : collection of str
        Quantities that are left out if the table lacks them.
    title : str
        Title of the panel. Keys and quantities in braces are replaced by their values in the first row.
    names : tuple of str
        Keys and quantities that name a row. By default, all keys but ``each`` name a row. If several
        rows have the same keys among ``names``, only the first row is shown.
    each : str
        A key of the table. Each value of ``each`` has a separate panel.
    across : str
        A key of the table. The first quantity has a separate column for each value of ``across``.
    own : collection of str
        Quantities that the paper does not report, and whose columns come last, after a gap. If
        ``across`` is "method", the columns of methods that plt2016 does not have also come last.
    having : str
        Rows without this quantity are left out.
    headings : mapping of str to str
        Headings that replace the headings of quantities, by quantity.
    contests : mapping of str to str, or None
        Maps each quantity to the name of its contest (see `PanelColumn`). By default, each quantity has
        a separate contest.
    published : {"", "also", "alone"}
        "also" appends the paper's rows that we did not run. "alone" shows only these rows.
    run_by : tuple of str
        A row of the paper counts as run if one of our rows has the same values of these keys. By
        default, these are all keys of the table.
    details : tuple of str
        Keys of the table's details, if the panel shows details instead of rows.
    """

    quantities: tuple[str, ...]
    optional: Collection[str] = ()
    title: str = ""
    names: tuple[str, ...] = ()
    each: str = ""
    across: str = ""
    own: Collection[str] = ()
    having: str = ""
    headings: Mapping[str, str] = field(default_factory=dict)
    contests: Mapping[str, str] | None = None
    published: Literal["", "also", "alone"] = ""
    run_by: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    def panels_of(self, table: Table) -> Iterator[Panel]:
        """Yield the panels of a table that have at least one number."""
        rows = self._rows(table)
        if rows.empty:
            return
        groups = [rows]
        if self.each:
            groups = [group for _, group in rows.groupby(self.each, sort=False)]
        for group in groups:
            panel = self._panel(table, group)
            cells = chain(*(part.cells for part in panel.columns))
            if not all(cell.is_empty for cell in cells):
                yield panel

    def _rows(self, table: Table) -> pd.DataFrame:
        """Return the keys of all rows, and whether we ran them."""
        if self.details:
            return table.details[[*self.details]].drop_duplicates().assign(is_run=True)
        keys = [*table.spec.keys]
        run = table.means[table.means["is_run"]]
        by = [*(self.run_by or keys)]
        others = table.published[table.published["quantity"].isin(self.quantities)]
        others = others[~index_of(others, by).isin(index_of(run, by))]
        if self.having:
            having = run[run["quantity"] == self.having]
            run = run[index_of(run, keys).isin(index_of(having, keys))]
        if self.published == "also" and self.each:
            others = others[others[self.each].isin(run[self.each])]
        shown = {"": [run], "also": [run, others], "alone": [others]}[self.published]
        rows = pd.concat([rows[keys].assign(is_run=rows is run) for rows in shown])
        return rows.drop_duplicates(keys)

    def _panel(self, table: Table, group: pd.DataFrame) -> Panel:
        keys = self.details or table.spec.keys
        cells = table.cells
        if self.details:
            cells = cells_of(table.details, keys)
        names = self.names or tuple(key for key in keys if key != self.each)
        # Rows that no key names are all shown, such as the statements of claims.
        named_by = [key for key in keys if key in names] or keys
        firsts = group.drop_duplicates([*named_by])
        rows = [*firsts[[*keys]].itertuples(index=False, name=None)]
        texts = {}
        for name in names:
            of_name = [
                self._text(table, cells, row, name, is_run) for row, is_run in zip(rows, firsts["is_run"], strict=True)
            ]
            if any(of_name):
                texts[name] = of_name
        title = self.title
        if not title and self.each:
            title = f"{{{self.each}}}"
        title = re.sub(r"{(.*?)}", lambda name: self._text(table, cells, rows[0], name[1]), title)
        columns = [*self._columns(table, keys, cells, group, rows)]
        return Panel(
            title=title,
            keys=keys,
            names=[column(name).title for name in texts],
            rows=[*zip(*texts.values(), strict=True)] or [()] * len(rows),
            columns=sorted(columns, key=lambda part: part.own),
            details=bool(self.details),
        )

    def _text(self, table: Table, cells: Cells, row: Key, name: str, is_run: bool = True) -> str:
        """Return the printed key or quantity of a row. Models that we did not run are marked."""
        keys = self.details or table.spec.keys
        if name not in keys:
            cell = cells.get((row, name))
            if cell is None:
                return ""
            return cell.text
        value = row[keys.index(name)]
        text = title_of_key(name, value)
        measured = table.spec.measured_models
        if name == "model" and measured and self.published and not is_run:
            if value not in measured:
                return f"{text}, quoted"
            if self.published == "also":
                return f"{text}, not run"
        return text

    def _columns(
        self, table: Table, keys: Sequence[str], cells: Cells, group: pd.DataFrame, rows: list[Key]
    ) -> Iterator[PanelColumn]:
        there = {*table.published["quantity"]}
        for key in group[[*keys]].itertuples(index=False, name=None):
            there |= {name for name in self.optional if (key, name) in cells}
        names = [name for name in self.quantities if name in there or name not in self.optional]
        if self.across and names:
            name = names.pop(0)
            values = [*group[self.across].unique()]
            if self.across == "method":
                values = titles.method_order(values)
            place = keys.index(self.across)
            for value in values:
                placed = [(*row[:place], value, *row[place + 1 :]) for row in rows]
                own = self.across == "method" and value not in PAPER_METHODS
                yield self._column(cells, placed, name, title_of_key(self.across, value), own)
        for name in names:
            if name not in table.hidden:
                heading = self.headings.get(name) or column(name).heading
                yield self._column(cells, rows, name, heading, name in self.own)

    def _column(self, cells: Cells, rows: list[Key], name: str, heading: str, own: bool) -> PanelColumn:
        of_column = []
        for row in rows:
            cell = cells.get((row, name), Cell(row, name))
            if self.published == "alone":
                cell = cell._replace(words=cell.published or None, published="")
            of_column.append(cell)
        if self.contests is None:
            contest = name
        else:
            contest = self.contests.get(name, "")
        return PanelColumn(heading, name, of_column, contest, own)


def columns(title: str, *quantities: str, **about: Any) -> PanelSpec:
    """Specify a panel of all rows, with a column for each quantity. ``about`` is passed to `PanelSpec`."""
    return PanelSpec(title=title, quantities=quantities, **about)


def datasets(*quantities: str) -> PanelSpec:
    """Specify a panel with one row for each dataset, for quantities that are equal in all its rows."""
    return columns("Datasets", *quantities, names=("dataset",))


def not_run(*quantities: str, run_by: tuple[str, ...] = ()) -> PanelSpec:
    """Specify a panel of the paper's rows that we did not run, which is left out if there are none."""
    return columns(NOT_RUN, *quantities, optional=quantities, published="alone", run_by=run_by, contests={})


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
        numbers over seeds.
    threads : tuple of str
        Quantities that count the threads of time measurements, such as ``train_threads``.
    variant : str
        The table uses only the numbers of this variant (`xmlc.suite.results.numbers`).
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
    notes: tuple[Notes, ...] = ()
    rows: Callable[[Table], pd.DataFrame] | None = None
    threads: tuple[str, ...] = ()
    variant: str = ""
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
        panels=(columns("", *quantities, contests={}), not_run(*quantities)),
        caption=caption,
        **about,
    )
