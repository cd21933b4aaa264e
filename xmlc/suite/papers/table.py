"""A paper's table: how it is declared, its panels beside the printed numbers, its footnotes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Any

import pandas as pd

from xmlc.data.synthetic import MARK
from xmlc.suite.config.planned import STATISTICS, Declared
from xmlc.suite.config.suite import Suite
from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.frame import (
    Key,
    Number,
    Rows,
    Source,
    TextRows,
    average,
    is_missing,
    numbers_of,
    pivot,
    quantities_of,
)
from xmlc.suite.results.records.base import Record, RecordFile
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.records.thresholds import ThresholdRecord
from xmlc.suite.results.titles import LIMITS, TITLES, model_title

PAPER = "(paper)"
NOTHING = Number(quantity="")


@dataclass(frozen=True)
class Cell:
    """One printed cell.

    Attributes
    ----------
    key : tuple
        Of the row of the table that the number stands in; empty where it is none of the table's.
    quantity : str
    mean : Number
        Ours; its value is a text where something else than the number is printed.
    printed : str or None
        The paper's, as it prints it.
    marked : bool
        Whether it is printed in brackets.
    bold : bool
        Whether it is bold whatever the others are.
    """

    key: Key
    quantity: str
    mean: Number = NOTHING
    printed: str | None = None
    marked: bool = False
    bold: bool = False

    @property
    def text(self) -> str:
        """Our number as it is printed, with its deviation over seeds."""
        about = column(self.quantity)
        text = about.printed(self.mean.value)
        if not is_missing(self.mean.deviation):
            text = f"{text} ± {about.printed(self.mean.deviation, self.mean.value)}"
        return f"[{text}]" if self.marked else text

    @property
    def number(self) -> float | None:
        """Our number, rounded as it is printed; None of a text and of a missing one."""
        text = column(self.quantity).printed(self.mean.value)
        try:
            return float(text)
        except ValueError:
            return None


@dataclass(frozen=True)
class PanelColumn:
    """One printed column; columns with the same name of contest compete for the best number of a dataset."""

    heading: str
    quantity: str
    cells: list[Cell]
    contest: str = ""

    @property
    def has_printed(self) -> bool:
        """Whether the paper prints any of it."""
        return any(cell.printed is not None for cell in self.cells)


@dataclass(frozen=True)
class Panel:
    """Rows of a table that belong together.

    Attributes
    ----------
    title : str
    names : list of str
        Headings of the texts that name a row.
    rows : sequence of tuple of str
        These texts, row by row.
    columns : list of PanelColumn
    keys : tuple of str
        Names of the parts of the keys of cells.
    detail : bool
        Whether it explains another panel, so that a page folds it away.
    """

    title: str
    names: list[str]
    rows: Sequence[tuple[str, ...]]
    columns: list[PanelColumn]
    keys: tuple[str, ...]
    detail: bool = False

    def headings(self) -> list[str]:
        """Return the headings: names, measured columns, then the paper's."""
        paper = [f"{part.heading.removesuffix(' (%)')} {PAPER}" for part in self.columns if part.has_printed]
        return [*self.names, *(part.heading for part in self.columns), *paper]

    def cells(self) -> list[list[tuple[str, bool]]]:
        """Return every printed text with whether it is bold."""
        best = self.best
        lines = []
        for i, names in enumerate(self.rows):
            line = [(name, False) for name in names]
            line += [(part.cells[i].text, (i, j) in best) for j, part in enumerate(self.columns)]
            line += [(part.cells[i].printed or MISSING, False) for part in self.columns if part.has_printed]
            lines.append(line)
        return lines

    @cached_property
    def best(self) -> set[tuple[int, int]]:
        """Places (row, column) of the best numbers, as printed, of each contest and dataset; ties share the prize."""
        best = {(i, j) for j, part in enumerate(self.columns) for i, cell in enumerate(part.cells) if cell.bold}
        entries: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
        lower = {part.contest for part in self.columns if column(part.quantity).better == "lower"}
        for j, part in enumerate(self.columns):
            for i, cell in enumerate(part.cells):
                about = dict(zip(self.keys, cell.key))
                if part.contest and column(part.quantity).better and about.get("model") not in LIMITS:
                    number = cell.number
                    if number is not None:
                        entries.setdefault((part.contest, about.get("dataset", "")), {})[i, j] = number
        for (contest, _), numbers in entries.items():
            top = (min if contest in lower else max)(numbers.values())
            if any(number != top for number in numbers.values()):
                best |= {place for place, number in numbers.items() if number == top}
        return best


@dataclass
class Table:
    """A table while it is made, and finished.

    Attributes
    ----------
    definition : TableDefinition
    paper : str
    given : list of list of Source
        The records of each need.
    printed : dict
        What the paper prints of the table: texts by key and quantity.
    suite : Suite or None
        Where the table takes it.
    rows : dict
        Our numbers by key and quantity, with the records behind them.
    columns : tuple of str
        Quantities of the CSV.
    caption : str
    panels : list of Panel
        What is printed, beside the numbers of the paper.
    notes : list of str
    digests : dict of str to str
        Of the data behind it, by dataset, where no key names the dataset of a row.
    """

    definition: TableDefinition
    paper: str
    given: list[list[Source]]
    printed: TextRows = field(default_factory=dict)
    suite: Suite | None = None
    rows: Rows = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    caption: str = ""
    panels: list[Panel] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name."""
        return self.definition.name

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that name a row."""
        return self.definition.keys

    @property
    def frame(self) -> pd.DataFrame:
        """The CSV: keys, then our numbers in full precision."""
        return pivot(self.rows, self.keys, self.columns)

    @property
    def records(self) -> list[Any]:
        """The records of all needs, one need after the other."""
        return [source.record for sources in self.given for source in sources]

    def numbers(self, *needs: int) -> list[Number]:
        """Return the numbers of the records of all needs, or of some."""
        return numbers_of(source for place in needs or range(len(self.given)) for source in self.given[place])

    def means(self) -> Rows:
        """Return the means over seeds of the numbers of all needs."""
        about = self.definition
        numbers = (number for number in self.numbers() if about.variant == number.variant)
        return average(numbers, about.keys)

    def column(
        self, keys: Sequence[Key], quantity: str, heading: str | None = None, contest: str | None = None
    ) -> PanelColumn:
        """Return the cells of one quantity under some keys; they compete with each other if ``contest`` is None."""
        cells = [
            Cell(key, quantity, self.rows.get(key, {}).get(quantity, NOTHING), self.printed_of(key, quantity))
            for key in keys
        ]
        return PanelColumn(
            heading or column(quantity).heading, quantity, cells, quantity if contest is None else contest
        )

    def printed_of(self, key: Key, quantity: str) -> str | None:
        """Return a number as the paper prints it; one of a dataset it may print in any row of the dataset."""
        return printed_of(self.printed, self.keys, tuple(map(str, key)), quantity)


def printed_of(printed: TextRows, keys: tuple[str, ...], key: Key, quantity: str) -> str | None:
    """Return a printed number; what a paper prints once for each dataset is that of all rows of the dataset."""
    text = printed.get(key, {}).get(quantity)
    if text is None and "dataset" in keys and column(quantity).kind == "constant":
        place = keys.index("dataset")
        rows = (row for other, row in printed.items() if other[place] == key[place])
        text = next(rows, {}).get(quantity)
    return text


Panels = Callable[[Table], list[Panel]]
Notes = Callable[[Table], list[str]]


@dataclass(frozen=True, kw_only=True)
class TableDefinition(Declared):
    """A declared table.

    Attributes
    ----------
    name : str
    needs : tuple of Where
        Records that it is made from.
    keys : tuple of str
        Columns that name a row.
    columns : tuple of str
        Quantities of its CSV, as far as records have them.
    caption : str
    panels : tuple of callable
        Each makes some of the printed panels.
    notes : tuple of callable
        Each makes some of the footnotes behind those that all tables have.
    threads : tuple of str
        Quantities that say how many threads the times had.
    best_of : str
        Among what the best is sought.
    variant : str
        The variant of the records' numbers.
    rows : callable or None
        Makes the rows, where they are not the means over seeds of all numbers.
    build : callable or None
        Makes rows, panels and notes, where the table is none of numbers of records.
    takes_suite : bool
        Whether it uses the suite's configuration.
    printed_in : tuple of str
        Published tables that hold its values, the later over the earlier; its own if there is none.
    partial : bool
        Whether it is made of whatever records there are, even of none.
    measured_models : tuple of str
        Models whose printed numbers the paper measured itself, the others' being quoted; all if there is none.
    printed_models : tuple of str
        Models whose printed numbers it shows; all if there is none.
    words : tuple of str
        What it says of docstrings.
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...] = ()
    caption: str = ""
    panels: tuple[Panels, ...] = ()
    notes: tuple[Notes, ...] = ()
    threads: tuple[str, ...] = ()
    best_of: str = "each dataset"
    variant: str = ""
    rows: Callable[[Table], Rows] | None = None
    build: Callable[[Table], None] | None = None
    takes_suite: bool = False
    printed_in: tuple[str, ...] = ()
    partial: bool = False
    measured_models: tuple[str, ...] = ()
    printed_models: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def first(self) -> tuple[Any, ...]:
        """The needs of which one must be met."""
        return self.needs if self.partial else super().first

    def __call__(
        self, paper: str, given: list[list[Source]], printed: TextRows | None = None, suite: Suite | None = None
    ) -> Table:
        """Make the table of a paper from the records of each need."""
        table = Table(self, paper, given, printed or {}, suite, columns=self.columns, caption=self.caption)
        if self.build:
            self.build(table)
            return table
        table.rows = self.rows(table) if self.rows else table.means()
        table.panels = [panel for make in self.panels for panel in make(table)]
        table.notes = notes_of(table) + [line for make in self.notes for line in make(table)]
        return table


def named(keys: Iterable[str], values: Iterable[object]) -> tuple[str, ...]:
    """Return the texts that name a row: models and methods by their names in print."""
    return tuple(TITLES.get(key, str)(str(value)) for key, value in zip(keys, values))


def headings_of(keys: Iterable[str]) -> list[str]:
    """Return the headings of such texts."""
    return [column(key).title for key in keys]


def panel_of(
    table: Table,
    title: str,
    keys: Sequence[Key],
    quantities: Iterable[str],
    shown: Sequence[str] | None = None,
    headings: Sequence[str | None] | None = None,
    contests: str | Sequence[str] | None = None,
) -> Panel:
    """Return a panel of some rows.

    Parameters
    ----------
    table : Table
    title : str
    keys : sequence of tuple
        Of its rows.
    quantities : iterable of str
        Of its columns.
    shown : sequence of str or None
        The parts of a key that name a row; None for all.
    headings : sequence of str or None
        Of its columns, where they are not those of the quantities.
    contests : str, sequence of str or None
        The contest that all columns or each is in, nothing for none; None for one of each column.
    """
    of_table = table.keys
    places = [of_table.index(name) for name in shown or of_table]
    quantities = list(quantities)
    columns = [
        table.column(
            keys,
            quantity,
            headings[j] if headings else None,
            contests if isinstance(contests, str) or contests is None else contests[j],
        )
        for j, quantity in enumerate(quantities)
    ]
    rows = [named(shown or of_table, (key[place] for place in places)) for key in keys]
    return Panel(title, headings_of(shown or of_table), rows, columns, of_table)


def columns(title: str, *quantities: str, **about: Any) -> Panels:
    """Declare a panel of all rows with these columns; the other arguments are those of `panel_of`."""
    return lambda table: [panel_of(table, title, list(table.rows), quantities, **about)]


def datasets(*quantities: str) -> Panels:
    """Declare a panel with a row for each dataset, of numbers that all its rows have."""

    def make(table: Table) -> list[Panel]:
        place = table.keys.index("dataset")
        first: dict[str, Key] = {}
        for key in table.rows:
            first.setdefault(key[place], key)
        return [panel_of(table, "Datasets", list(first.values()), quantities, shown=("dataset",))]

    return make


def each(name: str, *quantities: str, title: Callable[[str], str] = str, **about: Any) -> Panels:
    """Declare a panel for each value of a part of the key, such as each model."""

    def make(table: Table) -> list[Panel]:
        place = table.keys.index(name)
        values = dict.fromkeys(key[place] for key in table.rows)
        return [
            panel_of(table, title(value), [key for key in table.rows if key[place] == value], quantities, **about)
            for value in values
        ]

    return make


def not_run(
    *quantities: str, by: Sequence[str] = (), own: str | None = None, title: str = "Printed in the paper, not run here"
) -> Panels:
    """Declare a panel of what the paper prints and we did not run, if there is any.

    Parameters
    ----------
    *quantities : str
        Rows with none of them are left out.
    by : sequence of str
        Parts of the key by which a row is ours; all of them where none is given.
    own : str or None
        The model that the paper measured itself: the others are marked as quoted. None: all of them.
    """

    def make(table: Table) -> list[Panel]:
        keys = table.keys
        places = [keys.index(name) for name in by or keys]
        ours = {tuple(str(key[place]) for place in places) for key in table.rows}
        rest = {
            key: row
            for key, row in table.printed.items()
            if tuple(key[place] for place in places) not in ours and any(name in row for name in quantities)
        }
        if not rest:
            return []
        there = quantities_of([row for row in table.printed.values()])
        parts = [
            PanelColumn(
                column(name).heading,
                name,
                [Cell(key, name, Number(quantity=name, value=row.get(name))) for key, row in rest.items()],
            )
            for name in quantities
            if name in there
        ]
        names = [named(keys, key) for key in rest]
        if own:
            place = keys.index("model")
            names = [
                (*name[:place], name[place] + ", quoted" * (key[place] != own), *name[place + 1 :])
                for name, key in zip(names, rest)
            ]
        return [Panel(title, headings_of(keys), names, parts, keys)]

    return make


def table_of_datasets(name: str, *quantities: str, caption: str, **about: Any) -> TableDefinition:
    """Declare a table of the statistics of datasets, which stand beside the paper's; below are those not run."""
    panels = (columns("", *quantities, contests=""), not_run(*quantities))
    keys, needs = ("dataset",), (STATISTICS,)
    return TableDefinition(
        name=name, needs=needs, keys=keys, columns=quantities, panels=panels, caption=caption, **about
    )


def marked(part: PanelColumn, marks: Iterable[bool]) -> PanelColumn:
    """Return a column with some cells in brackets."""
    return replace(part, cells=[replace(cell, marked=mark) for cell, mark in zip(part.cells, marks, strict=True)])


def notes_of(table: Table) -> list[str]:
    """Return the footnotes that tables have in common: data, seeds, threads, and the meaning of columns."""
    records, definition = table.records, table.definition
    lines = [digests_line(records), *synthetic_line(records)]
    seeds = sorted({record.seed for record in records if isinstance(record, Record)})
    if seeds:
        spread = "; mean ± standard deviation" if len(seeds) > 1 else ""
        lines.append(f"Seed{'s' * (len(seeds) > 1)}: {', '.join(map(str, seeds))}{spread}.")
    if counts := threads_of(table.rows, definition.threads):
        lines.append(f"Times are wall-clock times with {counts}.")
    lines += searches(records) + undefined_note(records)
    limits = [model_title(name) for name in LIMITS if any(record.model_name == name for record in records)]
    if any(part.contest and column(part.quantity).better for panel in table.panels for part in panel.columns):
        lines.append(
            f"Bold: the best of {definition.best_of}" + (f"; {', '.join(limits)} left out." if limits else ".")
        )
    if limits:
        lines.append("oracle: the true posteriors of a synthetic dataset in place of a model's estimates.")
    methods = {record.method_name for record in records}
    if "fta-labelwise" in methods:
        lines.append("FTA label-wise: the fixed thresholds searched label by label instead of one for all labels.")
    if any(method.startswith("expected-f") for method in methods):
        lines.append(
            "Expected F: ours, not in the paper: thresholds of greatest expected macro-F by the test set's estimates "
            "and the labels' shares of the training set, without a validation set; a label without positives and "
            "predictions counts 0, or 1 where 0/0 = 1. 100 %: with the model of the whole training set."
        )
    if any(part.has_printed for panel in table.panels for part in panel.columns):
        times = "; its times are of another machine" if seeds else ""
        lines.append(f"{PAPER}: the value that {table.paper} prints{times}.")
    return lines


def threads_of(rows: Rows, names: Collection[str]) -> str:
    """Say how many threads times had, such as ``1 or 2 threads``; nothing where it is not known."""
    means = [row[name] for row in rows.values() for name in names if name in row]
    counts = sorted({value for mean in means for value in mean.runs.values() if not is_missing(value)})
    return f"{' or '.join(f'{count:g}' for count in counts)} thread{'s' * (counts != [1])}" if counts else ""


def digests_line(records: Iterable[RecordFile]) -> str:
    """Say which data records are about: by name, the first digits of the digest."""
    digests = {record.dataset_name: record.data_digest for record in records}
    return "Data (digest): " + ", ".join(f"{name} ({digest[:12]})" for name, digest in digests.items()) + "."


def synthetic_line(records: Iterable[RecordFile], left_out: str = "") -> list[str]:
    """Return a sentence on the synthetic datasets of some records; none if there are none."""
    names = dict.fromkeys(record.dataset_name for record in records if record.dataset_name.endswith(MARK))
    said = "made by `xmlc synth`, so not compared with published numbers" + left_out
    return [f"{', '.join(names)}: {said}."] if names else []


def undefined_note(records: Iterable[RecordFile]) -> list[str]:
    """Say which share of a dataset's labels has 0/0 on the test set; nothing of records without macro-F.

    It is the difference of macro-F with 0/0 = 1 and with 0/0 = 0, and depends on which labels are predicted.
    """
    shares: dict[str, list[float]] = {}
    for record in records:
        scores = record.best.test if isinstance(record, ThresholdRecord) else getattr(record, "metrics", None) or {}
        if "macro_f_zero" in scores:
            shares.setdefault(record.dataset_name, []).append(100 * (scores["macro_f"] - scores["macro_f_zero"]))
    parts = [f"{name} {' to '.join(sorted({f'{min(some):.1f}', f'{max(some):.1f}'}, key=float))} %"
             for name, some in shares.items()]  # fmt: skip
    about = "Labels neither in the test set nor predicted, each of which macro-F counts as 1 (0/0 = 1): "
    return [about + ", ".join(parts) + "."] if parts else []


def searches(records: Sequence[RecordFile]) -> list[str]:
    """Say how label trees were searched for the labels that are ranked, and where a beam's answer is proved."""
    exactly: dict[str, None] = {}
    by_beam: dict[str, dict[str, list[float]]] = {}
    for record in records:
        if not isinstance(record, RankingRecord):
            continue
        search = record.hyperparameters.get("search")
        if search in ("exact", "certified"):
            exactly[model_title(record.model)] = None
        elif search == "beam":
            name = f"{model_title(record.model)} by a beam of width {record.hyperparameters['beam']}"
            by_beam.setdefault(name, {}).setdefault(record.dataset.name, []).append(record.certified or 0.0)
    parts = [f"{', '.join(exactly)} exactly"] if exactly else []
    for name, shares in by_beam.items():
        proved = ", ".join(f"{100 * fmean(some):.0f} % of {data}" for data, some in shares.items())
        parts.append(f"{name} (provably exact for {proved})")
    return [f"Search of label trees for the labels ranked: {'; '.join(parts)}."] if parts else []
