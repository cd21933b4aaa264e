"""How what was measured is printed: tables in Markdown that can be read in a terminal too, and words they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from xmlc.bench.results import InTurns
from xmlc.passport import Passport


@dataclass(frozen=True)
class Claim:
    """Something that is asked.

    Attributes
    ----------
    what, asked, found : str
    reached : bool
    """

    what: str
    asked: str
    found: str
    reached: bool

    @property
    def cells(self) -> list[str]:
        """The cells of its row."""
        return [self.what, self.asked, self.found, yes_or_no(self.reached)]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", n_texts: int = 1) -> str:
    """Lay out a table in Markdown, columns padded.

    Parameters
    ----------
    headings : sequence of str
    rows : iterable of sequence of str
    title : str
        Stands above it in bold, if there is one.
    n_texts : int
        So many columns, from the left, are texts; the others are numbers, to the right.
    """
    align = ["left"] * n_texts + ["right"] * (len(headings) - n_texts)
    body = tabulate(rows, headings, tablefmt="pipe", disable_numparse=True, colalign=align)
    return f"**{title}**\n\n{body}" if title else body


def claims_table(claims: Iterable[Claim], found: str = "found", title: str = "", n_texts: int = 1) -> list[str]:
    """Lay out what is asked, what was found (the heading) and whether that reaches it; nothing if nothing is asked.

    Title and ``n_texts`` are those of `table`.
    """
    rows = [claim.cells for claim in claims]
    return [table(["", "asked", found, "reached"], rows, title, n_texts)] if rows else []


def yes_or_no(reached: bool) -> str:
    """Say whether something is reached."""
    return "yes" if reached else "no"


def counted(n: int, thing: str) -> str:
    """Say how many there are of a thing, such as 1 thread or 2 threads."""
    return f"{n} {thing}{'s' * (n > 1)}"


def same_bits(differing: Sequence[str]) -> str:
    """Say whether results are the same bits, and else which arrays differ."""
    return f"no: {', '.join(differing)}" if differing else "yes"


def shape_text(shape: Sequence[int], labels: str = "labels") -> str:
    """Say how large a training set is, of n, d and m."""
    n, d, m = shape
    return f"{n} training instances, {d} features, {m} {labels}"


def machine_text(passport: Passport) -> str:
    """Say what was measured with what, and when."""
    return f"{passport['cpu']}, xmlc {passport['xmlc']}, numba {passport['numba']}, {passport['time']}"


def turns_text(result: InTurns, more: str = "") -> str:
    """Say how tasks in turns were measured, ``more`` after their rounds."""
    return (
        f"best of {result.rounds} rounds in turns{more}; {machine_text(result.passport)}; "
        f"peak of the process {result.peak_bytes / 1e6:.0f} MB"
    )


def with_deviations(values: Iterable[float], deviations: Iterable[float] | None) -> list[str]:
    """Write percents, each with its standard deviation if there are some."""
    texts = [f"{value:.2f}" for value in values]
    if deviations is None:
        return texts
    return [f"{text} ± {deviation:.2f}" for text, deviation in zip(texts, deviations)]
