"""Declare the tables of a paper, and build them from records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from xmlc.suite.config.planned import STATISTICS, Declared
from xmlc.suite.config.suite import Suite
from xmlc.suite.papers.panels import TITLES, Panel, PanelColumn, headings_of, marked, named
from xmlc.suite.results import frame as frames
from xmlc.suite.results.columns import column
from xmlc.suite.results.frame import Key, Number, Row, Rows, Source
from xmlc.suite.results.methods import PAPER_METHODS
from xmlc.suite.results.records.base import Record
from xmlc.suite.results.titles import method_order

NOT_RUN = "Published in the paper, not run here"


@dataclass
class Table:
    """Hold a table of a paper. The same object is used to build the table and to print the finished table.

    Attributes
    ----------
    definition : TableDefinition
    paper : str
    given : list of list of Source
        The records for each entry of the definition's ``needs``.
    printed : dict
        The paper's numbers in this table, as text.
    suite : Suite or None
        The suite's configuration, or None if the table does not use the configuration.
    columns : tuple of str
        Quantities in the CSV file.
    rows : dict
        Our numbers: a dict from key to row. Each row is a dict from quantity to number.
    details : dict
        Rows of numbers that panels show but the CSV file lacks, such as the effects that decide a claim.
    panels : list of Panel
    notes : list of str
    """

    definition: TableDefinition
    paper: str
    given: list[list[Source]]
    printed: Rows
    suite: Suite | None
    columns: tuple[str, ...]
    rows: Rows = field(default_factory=dict)
    details: Rows = field(default_factory=dict)
    panels: list[Panel] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return the name of the table."""
        return self.definition.name

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the names of the columns that identify a row."""
        return self.definition.keys

    @property
    def caption(self) -> str:
        """Return the caption of the table."""
        return self.definition.caption

    @property
    def frame(self) -> pd.DataFrame:
        """Return the content of the CSV file. The columns are the keys, followed by our numbers in full precision."""
        return frames.pivot(self.rows, self.keys, self.columns)

    @property
    def records(self) -> list[Any]:
        """Return the records for all entries of the definition's ``needs``, in the same order."""
        return [source.record for sources in self.given for source in sources]

    @property
    def digests(self) -> dict[str, str]:
        """Return the digest of each dataset. The dict is empty if a key names the dataset of each row."""
        about = [record.dataset for record in self.records if isinstance(record, Record)]
        return {} if "dataset" in self.keys else {dataset.name: dataset.digest for dataset in about}

    def numbers(self, *needs: int) -> list[Number]:
        """Return the numbers in the records for some entries of the definition's ``needs``, given their indices.

        Without indices, the numbers for all entries are returned.
        """
        sources = [source for place in needs or range(len(self.given)) for source in self.given[place]]
        return [number for number in frames.numbers_of(sources) if number.variant == self.definition.variant]

    def printed_of(self, key: Key, quantity: str) -> str:
        """Return a number of the paper as printed text, or an empty text if the paper does not have this number.

        A paper may print the statistic of a dataset in any row of the dataset.
        """
        found = frames.published_of(self.printed, self.keys, key, quantity)
        return found.value if found else ""


Notes = str | Callable[[Table], list[str]]


@dataclass(frozen=True, kw_only=True)
class PanelDefinition:
    """Declare one or more panels of a table.

    Attributes
    ----------
    quantities : tuple of str
        Quantities that have a column. Columns whose numbers are all marked as hidden are left out.
    optional : collection of str
        Quantities that are left out if the table lacks them.
    title : str
        Title of the panel. Keys and quantities in braces are replaced by their values in the first row.
    names : tuple of str
        Keys and quantities that name a row. By default, all keys but ``each`` name a row. If several rows have the same
        keys among ``names``, only the first row is shown.
    each : str
        A key of the table. Each value of ``each`` has a separate panel.
    across : str
        A key of the table. The first quantity has a separate column for each value of ``across``.
    own : collection of str
        Quantities that the paper does not report, and whose columns come last, after a rule. If ``across`` is "method",
        the columns of methods that plt2016 does not have also come last.
    having : str
        A quantity. Rows without the quantity ``having`` are left out.
    headings : mapping of str to str
        Headings that replace the headings of quantities, by quantity.
    contests : mapping of str to str, or None
        Maps each quantity to the name of its contest. Columns with the same contest compete for the best number on
        a dataset, which is bold. By default, each quantity has a separate contest.
    published : {"", "also", "alone"}
        "also" appends the paper's rows that we did not run. "alone" shows only these rows.
    run_by : tuple of str
        A row of the paper counts as run if one of our rows has the same values of these keys. By default, ``run_by``
        contains all keys of the table.
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
        """Yield the panels of a table that this definition describes."""
        rows, keys = table.details if self.details else table.rows, self.details or table.keys
        if self.published == "alone":
            rows = self._not_run(table)
        groups: dict[str, Rows] = {}
        for key, row in rows.items():
            if not self.having or self.having in row:
                groups.setdefault(dict(zip(keys, key)).get(self.each, ""), {})[key] = row
        for value, group in groups.items():
            panel = self._panel(table, keys, group, value)
            if any(not one.is_missing or one.published for part in panel.columns for one in part.numbers):
                yield panel

    def _not_run(self, table: Table) -> Rows:
        places = [table.keys.index(name) for name in self.run_by or table.keys]
        run = {tuple(key[place] for place in places) for key in table.rows}
        return {
            key: row
            for key, row in table.printed.items()
            if tuple(key[place] for place in places) not in run and not row.keys().isdisjoint(self.quantities)
        }

    def _panel(self, table: Table, keys: tuple[str, ...], rows: Rows, value: str) -> Panel:
        names = self.names or tuple(key for key in keys if key != self.each)
        firsts: dict[tuple[str, ...], Key] = {}
        for key in rows:
            of_row = tuple(part for name, part in zip(keys, key) if name in names)
            firsts.setdefault(of_row or key, key)  # Statements name rows without a key.
        shown = list(firsts.values())
        if self.published == "also":
            place = keys.index(self.each)
            shown += [key for key in self._not_run(table) if key[place] == value]
        texts = [self._texts(table, keys, key, rows.get(key, {})) for key in shown]
        used = [name for name in names if any(text[name] for text in texts)]
        return Panel(
            (self.title or f"{{{self.each}}}" * bool(self.each)).format_map(texts[0]),
            headings_of(used),
            [tuple(text[name] for name in used) for text in texts],
            sorted(self._columns(table, keys, rows, shown), key=lambda part: part.own),
            bool(self.details),
        )

    def _texts(self, table: Table, keys: tuple[str, ...], key: Key, row: Row) -> dict[str, str]:
        """Return the printed text of each number and key of a row.

        Models that we did not run, or that the paper only quotes, are marked.
        """
        texts = {name: number.text for name, number in row.items()} | dict(zip(keys, map(marked, named(keys, key))))
        measured = table.definition.measured_models
        if self.published and measured and key not in table.rows:
            own = key[keys.index("model")] in measured
            texts["model"] += ", quoted" if not own else ", not run" if self.published == "also" else ""
        return texts

    def _columns(self, table: Table, keys: tuple[str, ...], rows: Rows, shown: list[Key]) -> Iterator[PanelColumn]:
        there = frames.quantities_of([*rows.values(), *table.printed.values()])
        quantities = [name for name in self.quantities if name in there or name not in self.optional]
        if self.across and quantities:
            place, name = keys.index(self.across), quantities.pop(0)
            values = list(dict.fromkeys(key[place] for key in rows))
            for value in method_order(values) if self.across == "method" else values:
                heading = marked(TITLES.get(self.across, str)(value))
                placed = [(*key[:place], value, *key[place + 1 :]) for key in shown]
                own = self.across == "method" and value not in PAPER_METHODS
                yield replace(self._column(table, rows, placed, name, heading), own=own)
        for name in quantities:
            part = self._column(table, rows, shown, name, self.headings.get(name) or column(name).heading)
            if any(number.mark != "hidden" for number in part.numbers):
                yield part

    def _column(self, table: Table, rows: Rows, keys: list[Key], name: str, heading: str) -> PanelColumn:
        show = self.published != "alone" and not self.details
        numbers = [
            rows.get(key, {}).get(name)
            or Number(quantity=name, key=key, published=table.printed_of(key, name) if show else "")
            for key in keys
        ]
        contest = name if self.contests is None else self.contests.get(name, "")
        return PanelColumn(heading, name, numbers, contest, name in self.own)


def columns(title: str, *quantities: str, **about: Any) -> PanelDefinition:
    """Declare a panel of all rows, with a column for each quantity. ``about`` is passed to `PanelDefinition`."""
    return PanelDefinition(title=title, quantities=quantities, **about)


def datasets(*quantities: str) -> PanelDefinition:
    """Declare a panel with one row for each dataset, for quantities that are equal in all rows of a dataset."""
    return columns("Datasets", *quantities, names=("dataset",))


def not_run(*quantities: str, run_by: tuple[str, ...] = ()) -> PanelDefinition:
    """Declare a panel of the paper's rows that we did not run.

    The panel is left out if we ran all rows of the paper.
    """
    return columns(NOT_RUN, *quantities, optional=quantities, published="alone", run_by=run_by, contests={})


def by_method(quantity: str, title: str, **about: Any) -> PanelDefinition:
    """Declare a panel of one quantity, with a row for each dataset and model and a column for each method."""
    return columns(title, quantity, names=("dataset", "model"), across="method", **about)


@dataclass(frozen=True, kw_only=True)
class TableDefinition(Declared):
    """Declare a table.

    Attributes
    ----------
    name : str
    needs : tuple of Where
        Records that the table needs.
    keys : tuple of str
        Columns that identify a row.
    columns : tuple of str
        Quantities that the CSV file contains: by default, the quantities of the panels, followed by ``more``.
    more : tuple of str
        Quantities that the CSV file contains in addition to the quantities of the panels.
    caption : str
    panels : tuple of PanelDefinition
    notes : tuple of str or callable
        Footnotes, and functions that return footnotes. Footnotes in ``notes`` come after the footnotes that all tables
        have.
    rows : callable or None
        Function that returns the rows of a table. By default, rows are means of all numbers over seeds.
    threads : tuple of str
        Names of the quantities that count the threads of time measurements, such as ``train_threads``.
    variant : str
        The table uses only the numbers of this variant (see `Number`).
    takes_suite : bool
        Whether the table uses the suite's configuration.
    printed_in : tuple of str
        Published tables that contain this table's numbers: by default, the published table of the same name. If several
        published tables contain a row, the last of these tables is used.
    measured_models : tuple of str
        Models that the paper measured itself. The paper quotes the numbers of models that are not in
        ``measured_models``. An empty tuple means that the paper measured all models.
    partial : bool
        Whether the table is built even if some or all of its records are missing.
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    caption: str = ""
    panels: tuple[PanelDefinition, ...] = ()
    notes: tuple[Notes, ...] = ()
    rows: Callable[[Table], Rows] | None = None
    threads: tuple[str, ...] = ()
    variant: str = ""
    takes_suite: bool = False
    printed_in: tuple[str, ...] = ()
    measured_models: tuple[str, ...] = ()
    partial: bool = False

    @property
    def first(self) -> tuple[Any, ...]:
        """Return entries of ``needs``. The table is built only if at least one of them has records."""
        return self.needs if self.partial else super().first

    def table(
        self, paper: str, given: list[list[Source]], printed: Rows | None = None, suite: Suite | None = None
    ) -> Table:
        """Build the table of a paper from the records for each entry of ``needs``. The returned table has no notes."""
        shown = dict.fromkeys(name for panel in self.panels for name in panel.quantities)
        table = Table(self, paper, given, printed or {}, suite, self.columns or (*shown, *self.more))
        rows = self.rows(table) if self.rows else frames.average(table.numbers(), self.keys)
        table.rows = {
            key: {
                name: replace(number, key=key, quantity=name, published=table.printed_of(key, name))
                for name, number in row.items()
            }
            for key, row in rows.items()
        }
        table.panels = [panel for definition in self.panels for panel in definition.panels_of(table)]
        return table


def table_of_datasets(name: str, *quantities: str, caption: str, **about: Any) -> TableDefinition:
    """Declare a table of dataset statistics: our statistics next to the paper's statistics.

    A second panel contains the paper's statistics of datasets that we did not use.
    """
    return TableDefinition(
        name=name,
        needs=(STATISTICS,),
        keys=("dataset",),
        panels=(columns("", *quantities, contests={}), not_run(*quantities)),
        caption=caption,
        **about,
    )
