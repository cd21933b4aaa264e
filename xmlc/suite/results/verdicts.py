"""The words for verdicts on numbers and on statements, which docs/claims.md defines."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The result of comparing one of our numbers with a published number or an earlier run.

    A number that differs from a published one is inside, above or below its interval, or undecided
    if that is missing or wide. Between runs, numbers are just above or below, and the last four
    verdicts are a changed text, parts that only one run has, and tables of claims that are not
    compared.
    """

    EQUAL = "equal"
    INSIDE = "inside"
    ABOVE = "above"
    BELOW = "below"
    UNDECIDED = "undecided"
    NOT_RUN = "not run"
    CHANGED = "changed"
    MISSING = "missing"
    NEW = "new"
    OTHER_DATA = "of other or unknown data, not compared"


class ClaimVerdict(StrEnum):
    """The result of testing a statement of a paper on records."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    UNDECIDED = "undecided"
    NOT_RUN = "not run"
