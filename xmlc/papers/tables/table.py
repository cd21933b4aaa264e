"""A table: panels beside published values, how it is declared, means over seeds, its footnotes, and its files.

CSV has numbers at full precision, Markdown and LaTeX have them as printed.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from io import StringIO
from operator import add
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.papers.tables.columns import DEVIATION, MISSING, SUMMARY_TITLES, Column, column
from xmlc.papers.tables.fingerprint import Fingerprint, of_table, read_table
from xmlc.papers.tables.titles import LIMITS, model_title
from xmlc.records.base import Record
from xmlc.records.ranking import RankingRecord
from xmlc.records.statistics import Statistics
from xmlc.records.thresholds import ThresholdRecord
from xmlc.suites.needs import Declared, Need

PAPER = "(paper)"
WIDTH = 110
LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "–": "--",
    "−": "$-$",
}


@dataclass(frozen=True)
class PanelColumn:
    """One printed column: its heading, its values row by row, and its contest for bold."""

    heading: str
    column: Column
    #: Numbers, choices as text, or NaN.
    values: list[Any]
    #: Standard deviations over seeds, where there are several.
    deviations: list[float] | None
    #: As the paper prints them; None if it prints none of them.
    published: list[str | None] | None
    #: Columns with the same name of contest compete for the best value of a dataset; none for an empty name.
    contest: str
    #: Rows whose value is printed in brackets; none if empty.
    marked: Sequence[bool] = ()
    #: Rows whose value is bold whatever the others have; none if empty.
    bold: Sequence[bool] = ()
    #: Columns of the table's frame that name a cell.
    keys: tuple[str, ...] = ()
    #: Row by row, the values of ``keys``; none if empty: then nothing of this column was measured.
    places: Sequence[tuple[Any, ...]] = ()


@dataclass(frozen=True)
class Panel:
    """Rows of a table that belong together, one for each printed row; they have at least the columns ``keys``."""

    title: str
    rows: pd.DataFrame
    keys: tuple[str, ...]
    columns: list[PanelColumn]
    #: Whether it explains another panel, so that a page folds it away.
    detail: bool = False

    def headings(self) -> list[str]:
        """Return the headings: keys, measured columns, then the paper's."""
        measured = [part.heading for part in self.columns]
        paper = [f"{part.heading.removesuffix(' (%)')} {PAPER}" for part in self.columns if part.published]
        return [column(key).title for key in self.keys] + measured + paper

    def cells(self) -> list[list[tuple[str, bool]]]:
        """Return every printed cell with whether it is bold."""
        bold = self._best()
        printed = []
        for i, row in enumerate(self.rows[list(self.keys)].itertuples(index=False)):
            line = [
                (model_title(value) if key == "model" else str(value), False)
                for key, value in zip(self.keys, row, strict=True)
            ]
            line += [
                (_cell(part, i), (i, j) in bold or bool(part.bold and part.bold[i]))
                for j, part in enumerate(self.columns)
            ]
            line += [(part.published[i] or MISSING, False) for part in self.columns if part.published]
            printed.append(line)
        return printed

    def _best(self) -> set[tuple[int, int]]:
        """Return the places of the best printed values of each contest and dataset; ties share the prize."""
        best: set[tuple[int, int]] = set()
        contests = dict.fromkeys(part.contest for part in self.columns if part.contest and part.column.better)
        if not contests:
            return best
        models = self.rows["model"].tolist() if "model" in self.keys else [None] * len(self.rows)
        datasets = self.rows["dataset"].tolist()
        for contest in contests:
            entries: dict[str, dict[tuple[int, int], float]] = {}
            for j, part in enumerate(self.columns):
                for i in range(len(self.rows)):
                    number = _printed_number(part, i) if part.contest == contest and models[i] not in LIMITS else None
                    if number is not None:
                        entries.setdefault(datasets[i], {})[i, j] = number
            choose = max if any(p.column.better == "higher" for p in self.columns if p.contest == contest) else min
            for numbers in entries.values():
                top = choose(numbers.values())
                if any(number != top for number in numbers.values()):
                    best |= {place for place, number in numbers.items() if number == top}
        return best


def _cell(part: PanelColumn, i: int) -> str:
    text = part.column.printed(part.values[i])
    deviation = part.deviations[i] if part.deviations else None
    if deviation is not None and not pd.isna(deviation):
        text = f"{text} ± {part.column.printed(deviation, part.values[i])}"
    return f"[{text}]" if part.marked and part.marked[i] else text


def _printed_number(part: PanelColumn, i: int) -> float | None:
    text = part.column.printed(part.values[i])
    try:
        return float(text)
    except ValueError:
        return None


class Published:
    """A table as a paper prints it: text, so that a value is shown with the paper's own digits."""

    def __init__(self, cells: dict[tuple[str, ...], dict[str, str]], keys: tuple[str, ...]) -> None:
        self._cells, self.keys = cells, keys

    @classmethod
    def read(cls, file: Path | None, keys: tuple[str, ...]) -> Published:
        """Read a transcribed table; no file means nothing is published.

        Raises
        ------
        XmlcError
            A key column is missing or two rows have the same key.
        """
        if file is None or not file.exists():
            return cls({}, keys)
        frame = pd.read_csv(file, dtype=str, keep_default_na=False)
        if absent := [key for key in keys if key not in frame]:
            raise XmlcError(f"{file}: no column {absent[0]!r}; expected the keys {', '.join(keys)} first")
        cells: dict[tuple[str, ...], dict[str, str]] = {}
        for row in frame.to_dict("records"):
            key = tuple(row[name] for name in keys)
            if key in cells:
                raise XmlcError(f"{file}: two rows for {', '.join(key)}; expected one")
            cells[key] = row
        return cls(cells, keys)

    def over(self, earlier: Published) -> Published:
        """Return both, these values where both have a row; it must hold all of its columns."""
        return Published(earlier._cells | self._cells, self.keys)

    def keyed_by(self, key: str) -> Published:
        """Return the numbers published about one key alone, from the first row that has it."""
        place = self.keys.index(key)
        cells: dict[tuple[str, ...], dict[str, str]] = {}
        for name, row in self._cells.items():
            cells.setdefault((name[place],), row)
        return Published(cells, (key,))

    def of_models(self, names: Sequence[str]) -> Published:
        """Return the rows of some models."""
        place = self.keys.index("model")
        return Published({key: row for key, row in self._cells.items() if key[place] in names}, self.keys)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the keys of all rows, in their order."""
        return list(self._cells)

    def columns(self) -> list[str]:
        """Return the names of all columns but the keys."""
        names = dict.fromkeys(name for row in self._cells.values() for name in row)
        return [name for name in names if name not in self.keys]

    def frame(self) -> pd.DataFrame:
        """Return all rows as they are printed, in their order; no rows and columns where nothing is published."""
        return pd.DataFrame(list(self._cells.values()), dtype=object)

    def value(self, key: tuple[str, ...], name: str) -> str | None:
        """Return one printed value, or None."""
        return self._cells.get(key, {}).get(name) or None


def side_by_side(
    frame: pd.DataFrame,
    published: Published,
    name: str,
    heading: str | None = None,
    contest: str | None = None,
) -> PanelColumn:
    """Return a printed column of one column of a frame, with the published values of the same rows."""
    places = list(frame[list(published.keys)].itertuples(index=False, name=None))
    values = [published.value(key, name) for key in places]
    return PanelColumn(
        heading=heading or column(name).heading,
        column=column(name),
        values=[None if pd.isna(value) else value for value in frame[name]],
        deviations=frame[name + DEVIATION].tolist() if name + DEVIATION in frame else None,
        published=values if any(value is not None for value in values) else None,
        contest=name if contest is None else contest,
        keys=published.keys,
        places=places,
    )


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
    measured_models : tuple of str
        Models whose printed numbers the paper measured itself, the others' being quoted; all if there is none.
    words : tuple of str
        What it says of docstrings.
    """

    keys: tuple[str, ...]
    build: Builder
    takes_suite: bool = False
    printed_in: tuple[str, ...] = ()
    partial: bool = False
    measured_models: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def first(self) -> tuple[Need, ...]:
        """The needs of which one must be met."""
        return self.needs if self.partial else super().first

    def __call__(self, *given: Any) -> Table:
        """Build the table."""
        return self.build(*given)


def table(name: str, keys: tuple[str, ...], *needs: Need, **about: Any) -> Callable[[Builder], TableDefinition]:
    """Declare the table that the function below builds, with further attributes of `TableDefinition`.

    Its module belongs to the paper that has it.
    """
    return lambda build: TableDefinition(name, needs, keys, build, **about)


def csv_frame(averaged: pd.DataFrame, keys: Sequence[str], wanted: Sequence[str]) -> pd.DataFrame:
    """Choose and order the columns of a CSV: keys, wanted columns, each with its deviation, number of seeds."""
    names = [name for base in wanted for name in (base, base + DEVIATION) if name in averaged]
    return averaged[[*keys, *names, "seeds"]].reset_index(drop=True)


def _mean_and_deviation(values: list[float]) -> tuple[float, float]:
    """Add up one value after the other, as pandas does with fewer than eight in the versions that are known."""
    n, mean = len(values), reduce(add, values) / len(values)
    squares = [(value - mean) * (value - mean) for value in values]
    return mean, math.sqrt(reduce(add, squares) / (n - 1)) if n > 1 else math.nan


def average_seeds(frame: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return one row for each key: means over seeds, their standard deviations, and how many seeds there were.

    Columns ``<name>_std`` (divisor: seeds - 1) stand behind each measure if any key has more than one seed. A mean
    needs all its seeds: one missing value leaves it missing. Different choices are listed in the order of the seeds.
    """
    several = frame.groupby(list(keys), sort=False).size().max() > 1
    rows = []
    for key, group in frame.groupby(list(keys), sort=False):
        group = group.sort_values("seed")
        row = dict(zip(keys, key, strict=True))
        for name in group.columns.drop([*keys, "seed"]):
            values = group[name]
            if (kind := column(name).kind) == "measure":
                row[name], deviation = _mean_and_deviation(values.astype(float).tolist())
                if several:
                    row[name + DEVIATION] = deviation
            else:
                row[name] = values.iloc[0] if kind == "constant" else _chosen(values)
        rows.append(row | {"seeds": len(group)})
    averaged = pd.DataFrame(rows)
    choices = [name for name in averaged if column(name).kind == "choice"]
    # Whole numbers as whole numbers, although some may be missing.
    return averaged.astype({name: "Int64" for name in choices if _whole(averaged[name])})


def _whole(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values) and bool((values.dropna() % 1 == 0).all())


def _chosen(values: pd.Series) -> float | str:
    if values.nunique(dropna=False) == 1:
        return values.iloc[0]
    return "/".join(column(str(values.name)).printed(value) for value in values)


def notes(
    paper: str,
    records: Sequence[Record],
    threads: Iterable[int | None],
    panels: Sequence[Panel],
    best_of: str = "each dataset",
) -> list[str]:
    """Return the footnotes of a table: data, seeds, threads, and the meaning of the other columns.

    Parameters
    ----------
    records : sequence of Record
    threads : iterable of int or None
        How many the times of the records had; nothing where no times are shown.
    panels : sequence of Panel
        What is printed; says whether published values stand beside the measured ones.
    best_of : str
        Among what the best is sought.
    """
    digests = {record.dataset.name: record.dataset.digest for record in records}
    lines = [digests_line(digests)]
    seeds = sorted({record.seed for record in records})
    spread = "; mean ± standard deviation" if len(seeds) > 1 else ""
    lines.append(f"Seed{'s' * (len(seeds) > 1)}: {', '.join(map(str, seeds))}{spread}.")
    if counts := sorted({count for count in threads if count is not None}):
        number = " or ".join(f"{count:g}" for count in counts)
        lines.append(f"Times are wall-clock times with {number} thread{'s' * (counts != [1])}.")
    lines += searches(records) + undefined_note(records)
    limits = [model_title(name) for name in LIMITS if any(record.model == name for record in records)]
    if any(part.contest and part.column.better for panel in panels for part in panel.columns):
        lines.append(f"Bold: the best of {best_of}" + (f"; {', '.join(limits)} left out." if limits else "."))
    if limits:
        lines.append("oracle: the true posteriors of a synthetic dataset in place of a model's estimates.")
    if any(record.method_name == "fta-unbounded" for record in records):
        lines.append("FTA, 1/c: as the authors' program, without the lower bound nu_j that Section 6.2 prints for FTA.")
    if any(record.method_name == "fta-labelwise" for record in records):
        lines.append("FTA label-wise: the fixed thresholds searched label by label instead of one for all labels.")
    if any((record.method_name or "").startswith("expected-f") for record in records):
        lines.append(
            "Expected F: ours, not in the paper: thresholds of greatest expected macro-F by the test set's estimates "
            "and the labels' shares of the training set, without a validation set; a label without positives and "
            "predictions counts 0, or 1 where 0/0 = 1. 100 %: with the model of the whole training set."
        )
    if any(part.published for panel in panels for part in panel.columns):
        lines.append(f"(paper): the value that {paper} prints; its times are of another machine.")
    return lines


def digests_line(digests: dict[str, str]) -> str:
    """Say which data a table is about: by name, the first digits of its digest."""
    return "Data (digest): " + ", ".join(f"{name} ({digest[:12]})" for name, digest in digests.items()) + "."


def undefined_note(records: Iterable[Record]) -> list[str]:
    """Say which share of a dataset's labels has 0/0 on the test set; nothing of records without macro-F.

    It is the difference of macro-F with 0/0 = 1 and with 0/0 = 0, and depends on which labels are predicted.
    """
    shares: dict[str, list[float]] = {}
    for record in records:
        scores = record.best.test if isinstance(record, ThresholdRecord) else getattr(record, "metrics", None) or {}
        if "macro_f_zero" in scores:
            shares.setdefault(record.dataset.name, []).append(100 * (scores["macro_f"] - scores["macro_f_zero"]))
    parts = [f"{name} {' to '.join(sorted({f'{min(some):.1f}', f'{max(some):.1f}'}, key=float))} %"
             for name, some in shares.items()]  # fmt: skip
    about = "Labels neither in the test set nor predicted, each of which macro-F counts as 1 (0/0 = 1): "
    return [about + ", ".join(parts) + "."] if parts else []


def searches(records: Sequence[Record]) -> list[str]:
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


NOT_PRINTED = (None, "", "-")  # in a transcribed table
SUMMARY_KEYS = ("dataset",)
AVERAGES = ("labels_per_instance", "instances_per_label")
# Key of the statistics for each column of `SUMMARY_TITLES`.
NUMBERS = dict(zip(SUMMARY_TITLES, ("min", "lower_quartile", "median", "upper_quartile", "max", "mean"), strict=True))
# What of the training part statistics summarise by five numbers and an average.
COUNTED = (
    "instances_per_label_seen", "labels_per_instance", "activations_per_instance", "occurrences_per_feature_seen",
)  # fmt: skip


def summaries(records: Sequence[Statistics], counted: Sequence[str] = COUNTED) -> pd.DataFrame:
    """Return the five-number summary and average of each dataset and each counted ``variant``."""
    rows = [
        {"dataset": record.name, "variant": name}
        | {title: getattr(record.train.summary(name), key) for title, key in NUMBERS.items()}
        for record in records
        for name in counted
    ]
    return pd.DataFrame(rows)


def dataset_table(
    name: str,
    paper: str,
    records: Sequence[Statistics],
    published: Published,
    frame: pd.DataFrame,
    caption: str,
    decimals: int | None = None,
    left_out: Sequence[str] = (),
) -> Table:
    """Assemble a table whose rows are datasets.

    Parameters
    ----------
    frame : DataFrame
        ``dataset``, then what is printed.
    decimals : int or None
        To which values are rounded in print.
    left_out : sequence of str
        Footnotes on what is in no number of the table.
    """
    columns = list(frame.columns.drop("dataset"))
    printed = frame if decimals is None else frame.round(decimals)
    measured = [side_by_side(printed, published, column, contest="") for column in columns]
    panels = [Panel("", printed, SUMMARY_KEYS, measured), *papers_others(published, frame, columns)]
    footnotes = [digests_line({record.name: record.digest for record in records}), *left_out]
    if any(part.published for part in measured):
        footnotes.append(f"(paper): the value that {paper} prints.")
    return Table(name, paper, SUMMARY_KEYS, frame, caption, panels, footnotes)


def papers_others(
    published: Published, frame: pd.DataFrame, names: Sequence[str], by: Sequence[str] = (), own: str | None = None
) -> list[Panel]:
    """Return a panel of the paper's rows that are not in the frame, if there are any.

    Parameters
    ----------
    published : Published
    frame : DataFrame
        Measured.
    names : sequence of str
        Columns; rows with none of them are left out.
    by : sequence of str
        Keys by which rows are in the frame; all of them where none is given.
    own : str or None
        The model that the paper measured itself: the others are marked as quoted. None: all of them.
    """
    rows = published.frame()
    if len(rows) == 0:
        return []
    keys = list(by or published.keys)
    measured = set(frame[keys].itertuples(index=False, name=None))
    rows = rows[[key not in measured for key in rows[keys].itertuples(index=False, name=None)]]
    shown = [name for name in names if name in rows]
    rows = rows[~rows[shown].isin(NOT_PRINTED).all(axis=1)].reset_index(drop=True)
    nothing = Published({}, published.keys)
    columns = [side_by_side(rows, nothing, name, contest="") for name in shown]
    if own:
        rows["model"] = [model_title(name) + ", quoted" * (name != own) for name in rows["model"]]
    return [Panel("Printed in the paper, not run here", rows, published.keys, columns)] if len(rows) else []


def write_table(table: Table, prefix: Path) -> list[Path]:
    """Write PREFIX.csv, PREFIX.md and PREFIX.tex, each whole or not at all; return their paths."""
    texts = {".csv": to_csv(table), ".md": to_markdown(table), ".tex": to_latex(table)}
    files = []
    for suffix, text in texts.items():
        # Not with_suffix: a prefix may contain a dot.
        path = prefix.with_name(prefix.name + suffix)
        with atomic_file(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
        files.append(path)
    return files


def to_csv(table: Table) -> str:
    """Return the measured values: every number with all its digits, a missing one empty."""
    return table.frame.to_csv(index=False, lineterminator="\n")


def fingerprint_of(table: Table) -> Fingerprint:
    """Return the fingerprint of a table's CSV."""
    return of_table(read_table(StringIO(to_csv(table))))


def title_of(table: Table) -> str:
    """Return the table's name in print, such as ``Table 2``."""
    number = table.name.removeprefix("table")
    return f"Table {number}" if number.isdecimal() else table.name.capitalize()


def to_markdown(table: Table) -> str:
    """Return the printed table as Markdown that can also be read in a terminal."""
    parts = [_wrapped(f"**{title_of(table)}, {table.paper}.** {table.caption}")]
    for panel in table.panels:
        parts.append(panel_to_markdown(panel))
    notes = [*table.notes, f"Fingerprint of all numbers but costs: {fingerprint_of(table).word}"]
    parts.append("\n".join(_wrapped(f"- {note}", hanging="  ") for note in notes))
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str, hanging: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


def panel_to_markdown(panel: Panel) -> str:
    """Return one printed panel as Markdown, under its title if it has one."""
    cells = [[f"**{text}**" if bold else text for text, bold in line] for line in panel.cells()]
    frame = pd.DataFrame([[text.replace("|", r"\|") for text in line] for line in cells], columns=panel.headings())
    align = ["left"] * len(panel.keys) + ["right"] * (len(panel.headings()) - len(panel.keys))
    title = f"**{panel.title}**\n\n" if panel.title else ""
    return title + frame.to_markdown(index=False, disable_numparse=True, colalign=align)


def to_latex(table: Table) -> str:
    """Return the printed table as a LaTeX ``table`` for documents with the package booktabs."""
    lines = [
        f"% {title_of(table)} of {table.paper}; needs \\usepackage{{booktabs}}",
        f"% Fingerprint of all numbers but costs: {fingerprint_of(table).word}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(table.caption)}}}",
        rf"\label{{tab:{table.paper}-{table.name}}}",
    ]
    for panel in table.panels:
        lines += _latex_panel(panel)
    lines += [r"\par\raggedright\footnotesize", *(f"{latex(note)}\\\\" for note in table.notes), r"\end{table}"]
    return "\n".join(lines) + "\n"


def _latex_panel(panel: Panel) -> list[str]:
    headings = panel.headings()
    lines = [rf"\par\medskip {latex(panel.title)}\par\smallskip"] if panel.title else []
    lines.append(rf"\begin{{tabular}}{{{'l' * len(panel.keys)}{'r' * (len(headings) - len(panel.keys))}}}")
    lines += [r"\toprule", " & ".join(map(latex, headings)) + r" \\", r"\midrule"]
    for line in panel.cells():
        lines.append(" & ".join(rf"\textbf{{{latex(text)}}}" if bold else latex(text) for text, bold in line) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def latex(text: str) -> str:
    """Escape characters that LaTeX reads as commands."""
    return "".join(LATEX.get(character, character) for character in text)
