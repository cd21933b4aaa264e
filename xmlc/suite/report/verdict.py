"""Kinds of printed numbers, and the verdict on a number beside the expected one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from xmlc.suite.papers.declared import TableDefinition
from xmlc.suite.results.columns import column


class Kind(StrEnum):
    """The kinds of printed cells, each of which is counted apart."""

    MEASURED = "measured"
    OTHER_SPLIT = "measured, on a split that is not counted"
    DATASET = "statistics of datasets"
    CONFIGURATION = "configuration"
    QUOTED = "quoted from other work"
    COST = "costs"


def kind_of(name: str, definition: TableDefinition, model: str | None = None) -> Kind:
    """Return the kind of a printed cell.

    Parameters
    ----------
    name : str
        Its column.
    definition : TableDefinition
        Its table, which names the models that the paper measured itself.
    model : str or None
        The model of its row.
    """
    about = column(name)
    if about.cost:
        return Kind.COST
    if about.kind != "measure":
        return Kind.DATASET if about.kind == "constant" else Kind.CONFIGURATION
    own = definition.measured_models
    return Kind.QUOTED if own and model is not None and model not in own else Kind.MEASURED


class Verdict(StrEnum):
    """Verdicts on a cell.

    A number that a paper measured is equal as printed, inside its interval, outside with the sign of ours minus
    printed, different where no chance can be the reason, or undecided; a printed constant, or a number of ours beside
    an earlier one, is equal or different; the others were not compared.
    """

    AS_PRINTED = "equal as printed"
    INSIDE = "inside"
    ABOVE = "outside +"
    BELOW = "outside -"
    DIFFERENT = "different"
    UNDECIDED = "undecided"
    EQUAL = "equal"
    NOT_RUN = "not run"
    FAILED = "failed"
    MISSING = "missing"
    NEW = "new"
    OTHER_DATA = "of other or unknown data, not compared"


#: What can become of a measured cell that was run.
OUTCOMES = (
    Verdict.AS_PRINTED,
    Verdict.INSIDE,
    Verdict.ABOVE,
    Verdict.BELOW,
    Verdict.DIFFERENT,
    Verdict.UNDECIDED,
)
#: The share of a printed number that half its interval may be at most: inside of a wider one lies nearly everything.
WIDEST = 0.05
# Two decimal numbers that differ by exactly half a unit do so in floating point up to the last bits.
ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Judgement:
    """A verdict, with the numbers that it rests on."""

    verdict: Verdict
    #: Found minus expected; NaN where one is no number.
    difference: float = math.nan
    #: Half the width of the cell's interval, or half a unit of the last printed digit of a constant; NaN where there is
    #: none.
    interval: float = math.nan
    #: What the interval is made of, or why there is none.
    reason: str = ""
    #: Which settings were chosen because the printed test results come out with them; empty if none.
    calibrated: str = ""


def judge_measured(difference: float, interval: float, printed: float, unit: float, fixed: bool = False) -> Verdict:
    """Judge a measured number by its printed digits, then by its interval.

    Ours is equal as printed where, rounded to the printed digits, it is the printed number, whatever the interval is.
    Outside is outside however wide the interval is; inside of a wide one, or without one, nothing is decided.

    Parameters
    ----------
    difference : float
        Ours minus printed.
    interval : float
        Half the width; NaN where there is none.
    printed : float
    unit : float
        Of the last printed digit.
    fixed : bool
        Runs and splits vary by no more than rounding, so that a number outside is a different one.
    """
    if judge_constant(difference, unit).verdict is Verdict.EQUAL:
        return Verdict.AS_PRINTED
    if abs(difference) > interval:
        if fixed:
            return Verdict.DIFFERENT
        return Verdict.ABOVE if difference > 0 else Verdict.BELOW
    return Verdict.INSIDE if interval <= WIDEST * abs(printed) else Verdict.UNDECIDED


def judge_constant(difference: float, unit: float) -> Judgement:
    """Judge a number without chance: it is equal within half a unit of the last printed digit."""
    equal = abs(difference) <= unit / 2 * ROUNDING
    return Judgement(Verdict.EQUAL if equal else Verdict.DIFFERENT, difference, unit / 2)


@dataclass(frozen=True)
class Tolerance:
    """By how much two numbers may differ and be equal: by so much, or by so large a share of the earlier one."""

    absolute: float = 0.0
    relative: float = 0.0


EXACT = Tolerance()


def judge_exactly(old: str, new: str, tolerance: Tolerance = EXACT) -> Judgement:
    """Judge a cell of ours beside an earlier one: the same number, to the last bit if no tolerance is given, or text.

    A cell that is blank or NaN is none.
    """
    before, after = number(old), number(new)
    if is_blank(old) or is_blank(new):
        both = is_blank(old) and is_blank(new)
        return Judgement(Verdict.EQUAL if both else Verdict.NEW if is_blank(old) else Verdict.MISSING)
    if before is None or after is None:
        return Judgement(Verdict.EQUAL if old == new else Verdict.DIFFERENT)
    difference, allowed = after - before, max(tolerance.absolute, tolerance.relative * abs(before))
    equal = before == after or abs(difference) <= allowed
    return Judgement(Verdict.EQUAL if equal else Verdict.DIFFERENT, difference)


def equal_line(counts: Mapping[Verdict, int], words: str = "cells equal") -> str:
    """Say how many cells are as before or as printed: "38 of 44 cells equal, 4 different, 2 missing"."""
    total = sum(counts.values()) - counts.get(Verdict.NEW, 0)
    others = [f"{counts[one]} {one}" for one in Verdict if one is not Verdict.EQUAL and counts.get(one)]
    return ", ".join([f"{counts.get(Verdict.EQUAL, 0)} of {total} {words}", *others])


def measured_line(counts: Mapping[Verdict, int], words: str) -> str:
    """Count cells by verdict: "2 of 9 run again: 1 equal as printed, 1 inside, 0 outside +", and so on."""
    found = {one: counts.get(one, 0) for one in OUTCOMES}
    verdicts = ", ".join(f"{count} {one}" for one, count in found.items())
    ran = sum(found.values())
    return f"{ran} of {sum(counts.values())} {words}" + (f": {verdicts}" if ran else "")


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
    """Return the value of one unit of the last printed decimal; a number without decimals counts by ones."""
    exponent = Decimal(text).as_tuple().exponent
    return float(f"1e{min(exponent, 0)}") if isinstance(exponent, int) else 0.0
