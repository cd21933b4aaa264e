"""Define the printed panels of a table, which Markdown, LaTeX and the results page share.

Each row of a panel has texts that name the row, followed by numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.frame import Number
from xmlc.suite.results.titles import LIMITS, hyperparameter_title, method_title, model_title, tuned_for_title

PAPER = "(paper)"
TITLES = {
    "model": model_title,
    "subject": model_title,
    "method": method_title,
    "hyperparameter": hyperparameter_title,
    "tuned_for": tuned_for_title,
}  # Maps a key of a table to the function that returns the printed name of the key's value.


@dataclass(frozen=True)
class PanelColumn:
    """Hold one printed column of a panel, with a number for each row.

    Columns with the same ``contest`` compete for the best number on a dataset.
    """

    heading: str
    quantity: str
    numbers: list[Number]
    contest: str = ""

    @property
    def has_published(self) -> bool:
        """Return whether the paper contains any number of this column."""
        return any(number.published for number in self.numbers)

    @property
    def competes(self) -> bool:
        """Return whether the best numbers of this column are bold."""
        return bool(self.contest and column(self.quantity).better)


@dataclass(frozen=True)
class Panel:
    """Hold a panel: rows of a table that are printed together.

    Attributes
    ----------
    title : str
    names : list of str
        Headings of the columns with texts that name a row.
    rows : sequence of tuple of str
        The texts that name each row.
    columns : list of PanelColumn
    detail : bool
        Whether the panel explains another panel. The results page folds such panels.
    """

    title: str
    names: list[str]
    rows: Sequence[tuple[str, ...]]
    columns: list[PanelColumn]
    detail: bool = False

    def headings(self) -> list[str]:
        """Return the headings of the columns: names, then our numbers, then the paper's numbers."""
        paper = [f"{part.heading.removesuffix(' (%)')} {PAPER}" for part in self.columns if part.has_published]
        return [*self.names, *(part.heading for part in self.columns), *paper]

    def cells(self) -> list[list[tuple[str, bool]]]:
        """Return the cells of each row. A cell has its printed text and a flag for bold."""
        lines = []
        for i, names in enumerate(self.rows):
            line = [(name, False) for name in names]
            line += [(part.numbers[i].text, (i, j) in self.best) for j, part in enumerate(self.columns)]
            line += [(part.numbers[i].published or MISSING, False) for part in self.columns if part.has_published]
            lines.append(line)
        return lines

    @cached_property
    def best(self) -> set[tuple[int, int]]:
        """Return the places of the best numbers, as printed, of each contest on each dataset.

        A place is (row, column). Ties are included.
        """
        best: set[tuple[int, int]] = set()
        entries: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
        lower = {part.contest for part in self.columns if column(part.quantity).better == "lower"}
        for j, part in enumerate(self.columns):
            for i, number in enumerate(part.numbers):
                best |= {(i, j)} if number.mark == "bold" else set()
                rounded = number.rounded if part.competes and number.model not in LIMITS else None
                if rounded is not None:
                    entries.setdefault((part.contest, number.dataset), {})[i, j] = rounded
        for (contest, _), numbers in entries.items():
            top = (min if contest in lower else max)(numbers.values())
            if any(number != top for number in numbers.values()):
                best |= {place for place, number in numbers.items() if number == top}
        return best


def named(keys: Iterable[str], values: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that name a row. Models and methods are replaced by their printed names."""
    return tuple(TITLES.get(key, str)(value) for key, value in zip(keys, values))


def headings_of(keys: Iterable[str]) -> list[str]:
    """Return the headings of the columns whose texts name a row."""
    return [column(key).title for key in keys]
