"""Define the printed panels of a table, which Markdown, LaTeX and the results page share.

Each row of a panel has texts that name the row, followed by numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xmlc.suite.results import titles
from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.frame import Number

PAPER = "(paper)"
GAP = "\u2003"  # Heading and cells of the empty column between the paper's columns and xmlc's columns.
MARK = "†"  # Marks methods whose model is trained on the whole training set, in tables of models trained on 80 % of it.
TITLES = {
    "model": titles.model_title,
    "subject": titles.model_title,
    "method": titles.method_title,
    "hyperparameter": titles.hyperparameter_title,
    "tuned_for": titles.tuned_for_title,
}  # Maps a key of a table to the function that returns the printed name of the key's value.
# If all rows have the same number in a column of `SETTINGS`, a note below the panel replaces the column.
SETTINGS = ("n_trees", "passes", "trials", "seeds", "min_probability", "train_threads", "predict_threads")


@dataclass(frozen=True)
class PanelColumn:
    """Hold one printed column of a panel, with a number for each row.

    Columns with the same ``contest`` compete for the best number on a dataset. ``own`` is true if the paper does not
    report the method or the quantity.
    """

    heading: str
    quantity: str
    numbers: list[Number]
    contest: str = ""
    own: bool = False

    @property
    def texts(self) -> list[str]:
        """Return the printed numbers."""
        return [number.text for number in self.numbers]

    @property
    def has_published(self) -> bool:
        """Return whether the paper contains any number of the column."""
        return any(number.published for number in self.numbers)

    @property
    def competes(self) -> bool:
        """Return whether the best numbers of the column are bold."""
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
        The paper's columns, followed by the columns that only xmlc has.
    detail : bool
        Whether the panel shows details of another panel. The results page folds panels of details.
    note : str
        Sentences that are printed below the panel.
    """

    title: str
    names: list[str]
    rows: Sequence[tuple[str, ...]]
    columns: list[PanelColumn]
    detail: bool = False
    note: str = ""

    @property
    def rule(self) -> int | None:
        """Return the index of the first column that only xmlc has.

        The index is None if the paper has all columns or none.
        """
        return next((j for j, part in enumerate(self.columns) if part.own), None) or None

    def headings(self) -> list[str]:
        """Return the headings of `parts`."""
        return [heading for heading, _ in self.parts]

    def cells(self) -> list[list[tuple[str, bool]]]:
        """Return the cells of each row. A cell has its printed text and a flag for bold."""
        return list(map(list, zip(*(cells for _, cells in self.parts))))

    @property
    def parts(self) -> list[tuple[str, list[tuple[str, bool]]]]:
        """Return the heading and the cells of each printed column.

        Names come first, then our numbers in the paper's columns, the paper's numbers, a gap, and xmlc's columns.
        """
        names = [(name, [(texts[k], False) for texts in self.rows]) for k, name in enumerate(self.names)]
        ours = [
            (part.heading, [(number.text, (i, j) in self.best) for i, number in enumerate(part.numbers)])
            for j, part in enumerate(self.columns)
        ]
        paper = [
            (f"{part.heading.removesuffix(' (%)')} {PAPER}", [(n.published or MISSING, False) for n in part.numbers])
            for part in self.columns
            if part.has_published
        ]
        if not self.rule:
            return [*names, *ours, *paper]
        return [*names, *ours[: self.rule], *paper, (GAP, [(GAP, False)] * len(self.rows)), *ours[self.rule :]]

    def compact(self) -> Panel:
        """Return the panel without redundant columns.

        In a panel of at least three rows, a column is redundant if all rows have the same setting. If the paper has
        neither of two columns with equal printed numbers, the second is redundant. The note below the panel describes
        the redundant columns.
        """
        kept: list[PanelColumn] = []
        said = [self.note] * bool(self.note)
        for part in self.columns:
            same = [one for one in kept if one.own and (one.quantity, one.texts) == (part.quantity, part.texts)]
            # Panels of one or two rows keep their settings, because two equal settings may be a coincidence.
            if part.quantity in SETTINGS and len(part.texts) > 2 and {*part.texts} == {part.texts[0]} != {MISSING}:
                said.append(f"{part.heading}: {part.texts[0]} in all rows.")
            elif part.own and same:
                said.append(f"{part.heading}: equal to {same[0].heading} in all rows.")
            else:
                kept.append(part)
        return replace(self, columns=kept, note=" ".join(said)) if kept else self

    @cached_property
    def best(self) -> set[tuple[int, int]]:
        """Return the places of the best printed numbers on each dataset, among columns with the same ``contest``.

        A place is (row, column). Several numbers can be the best. Methods that train on all data compete only with each
        other.
        """
        best: set[tuple[int, int]] = set()
        entries: dict[tuple[str, str, bool], dict[tuple[int, int], float]] = {}
        lower = {part.contest for part in self.columns if column(part.quantity).better == "lower"}
        for j, part in enumerate(self.columns):
            for i, number in enumerate(part.numbers):
                best |= {(i, j)} if number.mark == "bold" else set()
                rounded = number.rounded if part.competes and number.model not in titles.LIMITS else None
                if rounded is not None:
                    alike = part.contest, number.dataset, number.method.endswith(titles.FULL)
                    entries.setdefault(alike, {})[i, j] = rounded
        for (contest, *_), numbers in entries.items():
            top = (min if contest in lower else max)(numbers.values())
            if any(number != top for number in numbers.values()):
                best |= {place for place, number in numbers.items() if number == top}
        return best


def named(keys: Iterable[str], values: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that name a row. Models and methods are replaced by their printed names."""
    return tuple(TITLES.get(key, str)(value) for key, value in zip(keys, values))


def marked(title: str) -> str:
    """Return a printed name with `MARK` instead of the words for all training data."""
    return title.replace(titles.ALL_DATA, f" {MARK}")


def headings_of(keys: Iterable[str]) -> list[str]:
    """Return the headings of the columns whose texts name a row."""
    return [column(key).title for key in keys]
