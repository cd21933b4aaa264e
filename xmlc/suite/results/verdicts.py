"""The words for verdicts, on numbers and on statements. docs/claims.md defines them."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The result of comparing one of our numbers with a published number or with an earlier run.

    A number that is not equal to the other number is inside, above or below the interval of the
    published number. Other numbers have no interval, and are above or below the other number. The
    last four verdicts are for runs of xmlc: a text that changed, parts that only one run has, and
    tables of claims that are not compared.
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
