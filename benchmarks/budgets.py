"""Budgets: limits that rows of benchmarks are checked against, by `python -m benchmarks ... --budgets`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from benchmarks.harness import YES_OR_NO, Row
from benchmarks.render import markdown, value_text
from xmlc.core.errors import XmlcError
from xmlc.core.schemas import read_yaml
from xmlc.suites.suite import converted

FILE = Path(__file__).with_name("budgets.yaml")


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A limit of one figure, or of several alike."""

    name: str
    benchmark: str
    #: Shell patterns: ``*`` stands for anything.
    dataset: str = "*"
    contender: str = "*"
    task: str = "*"
    measure: str
    threads: int = 1
    #: One of the two.
    at_most: float | None = None
    at_least: float | None = None
    why: str

    def concerns(self, row: Row) -> bool:
        """Whether the limit is for a row."""
        patterns = (self.dataset, row.dataset), (self.contender, row.contender), (self.task, row.task)
        exact = (self.benchmark, self.measure, self.threads) == (row.benchmark, row.measure, row.threads)
        return exact and all(fnmatchcase(value, pattern) for pattern, value in patterns)

    def allows(self, value: float) -> bool:
        """Whether a value is within the limit; NaN, which nothing was measured for, is not."""
        return value <= self.at_most if self.at_most is not None else value >= (self.at_least or 0.0)

    @property
    def limit(self) -> str:
        """The limit in words."""
        return f"at most {self.at_most:g}" if self.at_most is not None else f"at least {self.at_least:g}"


@dataclass(frozen=True)
class Verdict:
    """A budget beside a row that it concerns; None where there was no such row."""

    budget: Budget
    row: Row | None

    @property
    def within(self) -> bool:
        """Whether the row was measured and is within the budget."""
        return self.row is not None and self.budget.allows(self.row.value)

    @property
    def text(self) -> str:
        """The verdict in words."""
        return "not measured" if self.row is None else "within budget" if self.within else "over budget"


@cache
def read_budgets(file: Path = FILE) -> tuple[Budget, ...]:
    """Read all budgets.

    Raises
    ------
    XmlcError
        A budget has an unknown key, or not exactly one limit.
    """
    content = read_yaml(file)
    for one in content if isinstance(content, list) else []:
        unknown = sorted(set(one) - {own.name for own in fields(Budget)})
        if unknown:
            raise XmlcError(f"{file}: {one.get('name')} has unknown keys: {', '.join(unknown)}")
    budgets = converted(content, tuple[Budget, ...], str(file))
    for budget in budgets:
        if (budget.at_most is None) == (budget.at_least is None):
            raise XmlcError(f"{file}: {budget.name} needs one of at_most and at_least")
    return budgets


def check(rows: Sequence[Row], benchmark: str, dataset: str, budgets: Sequence[Budget] | None = None) -> list[Verdict]:
    """Check the rows of a benchmark against every budget for it and for this dataset."""
    found: list[Verdict] = []
    for budget in read_budgets() if budgets is None else budgets:
        if budget.benchmark == benchmark and fnmatchcase(dataset, budget.dataset):
            found += [Verdict(budget, row) for row in rows if budget.concerns(row)] or [Verdict(budget, None)]
    return found


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """Lay out verdicts as a table in Markdown."""
    if not verdicts:
        return "No budget is for this benchmark on this dataset."
    headings = ["budget", "what", "limit", "measured", "verdict"]
    lines = []
    for verdict in verdicts:
        row, budget = verdict.row, verdict.budget
        what = budget.measure if row is None else f"{row.contender}: {row.task}, {row.measure}"
        limit = "yes" if row is not None and row.unit == YES_OR_NO else budget.limit
        lines.append([budget.name, what, limit, "" if row is None else value_text(row), verdict.text])
    return f"**Budgets**\n\n{markdown(headings, lines, n_texts=5)}"
