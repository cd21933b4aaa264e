"""What is said of a number beside the one that is expected: one judgement for every comparison and every page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from xmlc.judging.tolerances import Tolerances

# Two decimal numbers that differ by exactly half a unit do so in floating point up to the last bits.
ROUNDING = 1 + 1e-9


class Verdict(StrEnum):
    """What a cell can be, beside a published number or in two tables of ours, in which nothing is tolerated."""

    EQUAL = "equal"
    WITHIN = "within tolerance"
    OUTSIDE = "outside"
    DIFFERENT = "different"
    NOT_RUN = "not run"
    FAILED = "failed"
    MISSING = "missing"
    NEW = "new"


@dataclass(frozen=True)
class Judgement:
    """A verdict, with the numbers that it rests on.

    ``difference`` is found minus expected, NaN where one is no number; ``allowed`` is what was tolerated: half a unit
    of the last printed digit and k standard deviations.
    """

    verdict: Verdict
    difference: float = math.nan
    allowed: float = 0.0


def judge(expected: float, found: float, printed: float, beyond: float) -> Judgement:
    """Judge one number beside a published one.

    It is equal within ``printed``, half a unit of the last digit, and tolerated within ``beyond`` more.
    """
    difference = found - expected
    if abs(difference) <= printed * ROUNDING:
        verdict = Verdict.EQUAL
    else:
        verdict = Verdict.WITHIN if abs(difference) <= (printed + beyond) * ROUNDING else Verdict.OUTSIDE
    return Judgement(verdict, difference, printed + beyond)


def judge_exactly(old: str, new: str) -> Judgement:
    """Judge a cell of ours beside an earlier one: the same number to the last bit, or the same text.

    A cell that is blank or NaN is none.
    """
    before, after = number(old), number(new)
    if is_blank(old) or is_blank(new):
        both = is_blank(old) and is_blank(new)
        return Judgement(Verdict.EQUAL if both else Verdict.NEW if is_blank(old) else Verdict.MISSING)
    if before is None or after is None:
        return Judgement(Verdict.EQUAL if old == new else Verdict.DIFFERENT)
    return Judgement(Verdict.EQUAL if before == after else Verdict.DIFFERENT, after - before)


def judge_published(
    published: str | None,
    measured: float | None,
    column: str,
    tolerances: Tolerances,
    model: str | None = None,
    dataset: str | None = None,
    failed: bool = False,
) -> Judgement | None:
    """Judge one measured number beside the published one.

    Parameters
    ----------
    published : str or None
        As printed in the paper, in the unit of the column: its digits say how exact it is.
    measured : float or None
        None or NaN where the experiment has not run.
    column : str
        Its name in CSV files.
    tolerances : Tolerances
    model, dataset : str or None
        As in the configuration; the deviation over seeds is theirs.
    failed : bool
        The experiment has run and ended without this number.

    Returns
    -------
    Judgement or None
        None where there is nothing to judge: the paper prints no number, or the column is a cost or is not judged.
    """
    expected = number(published or "")
    if expected is None or not math.isfinite(expected) or not tolerances.judged(column):
        return None
    printed = tolerances.units * unit_of_last_digit(published or "")
    beyond = tolerances.beyond_print(column, expected, model, dataset)
    if failed:
        return Judgement(Verdict.FAILED, allowed=printed + beyond)
    if measured is None or math.isnan(measured):
        return Judgement(Verdict.NOT_RUN, allowed=printed + beyond)
    return judge(expected, measured, printed, beyond)


def reproduced_line(counts: Mapping[Verdict, int]) -> str:
    """Say in one line how many cells were reproduced, as in "38 of 44 cells reproduced, 4 outside, 2 not run"."""
    good = counts.get(Verdict.EQUAL, 0) + counts.get(Verdict.WITHIN, 0)
    words = [f"{good} of {sum(counts.values()) - counts.get(Verdict.NEW, 0)} cells reproduced"]
    others = (Verdict.OUTSIDE, Verdict.DIFFERENT, Verdict.NOT_RUN, Verdict.FAILED, Verdict.MISSING, Verdict.NEW)
    return ", ".join(words + [f"{counts[verdict]} {verdict}" for verdict in others if counts.get(verdict)])


def number(text: str) -> float | None:
    """Read a cell as a number; None where it is none."""
    try:
        return float(text)
    except ValueError:
        return None


def is_blank(text: str) -> bool:
    """Say whether a cell holds nothing: it is empty or NaN."""
    value = number(text)
    return text == "" or (value is not None and math.isnan(value))


def unit_of_last_digit(text: str) -> float:
    """Return what one unit of the last digit of a decimal number is worth; numbers of whole units count by ones."""
    exponent = Decimal(text).as_tuple().exponent
    return float(f"1e{min(exponent, 0)}") if isinstance(exponent, int) else 0.0
