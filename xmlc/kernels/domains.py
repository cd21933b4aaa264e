"""Domains: the allowed values of hyperparameters and arguments.

Validation, documentation, suites and searches share them. The ends of an interval are chosen so
that no computation overflows and every loop ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, get_args

from xmlc.core.errors import InvalidParameterError, shown

LONGEST_NAME = 100  # bytes


@dataclass(frozen=True)
class NumberRange:
    """An interval of numbers, with its ends by default.

    Attributes
    ----------
    low, high : int or float
    whole : bool
        Whether only whole numbers are allowed.
    above : bool
        Whether ``low`` itself is excluded.
    none : bool
        Whether None is also allowed.
    text : str
        A text that is also allowed, or "".
    """

    low: float
    high: float
    whole: bool = False
    above: bool = False
    none: bool = False
    text: str = ""

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.none
        if isinstance(value, str):
            return value != "" and value == self.text
        if (
            isinstance(value, bool)
            or not isinstance(value, Real)
            or (self.whole and not isinstance(value, Integral))
        ):
            return False
        number: Any = value
        return bool(self.low <= number <= self.high and not (self.above and number == self.low))

    def __str__(self) -> str:
        kind = "number"
        low = f"{self.low:g}"
        high = f"{self.high:g}"
        if self.whole:
            kind = "whole number"
            low = str(self.low)
            high = str(self.high)
        text = f"a {kind} from {low} to {high}"
        if self.above:
            text = f"a {kind} above {low} and at most {high}"
        if self.text:
            text += f", {self.text!r}"
        if self.none:
            text += " or None"
        return text


@dataclass(frozen=True)
class OneOf:
    """The texts ``choices``."""

    choices: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and value in self.choices

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, self.choices))}"


@dataclass(frozen=True)
class Flag:
    """True and False."""

    def __contains__(self, value: object) -> bool:
        # NumPy's bool is recognised by its name, without an import
        return type(value).__name__ in ("bool", "bool_")

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Ascending:
    """Ascending sequences with entries in the domain ``each``."""

    each: NumberRange

    def __contains__(self, value: Any) -> bool:
        try:
            values = list(value)
        except TypeError:
            return False
        in_domain = len(values) > 0 and all(one in self.each for one in values)
        return in_domain and all(first < second for first, second in pairwise(values))

    def __str__(self) -> str:
        return f"an ascending list, each entry {self.each}"


@dataclass(frozen=True)
class Named:
    """None, or pairs (name, value), such as the members of an ensemble.

    Names are unique, without "__", not in ``taken``, and short enough for the name of a folder.
    """

    taken: tuple[str, ...]

    def __contains__(self, value: Any) -> bool:
        if value is None:
            return True
        names = set()
        try:
            for name, _ in value:
                if name.isidentifier() and "__" not in name and len(name.encode()) <= LONGEST_NAME:
                    names.add(name)
            return 0 < len(names - {*self.taken}) == len(value)
        except (TypeError, ValueError, AttributeError):
            return False

    def __str__(self) -> str:
        names = f"pairs of a unique name of at most {LONGEST_NAME} bytes and an estimator"
        return f"{names}, such as [('swnn', 'swnn'), ('plt', PLT())] or None"


#: A set of allowed values, which ``str(domain)`` describes in messages after "expected".
Domain = NumberRange | OneOf | Flag | Ascending | Named


def whole(low: int, high: int, none: bool = False) -> NumberRange:
    """Return the domain of the whole numbers from ``low`` to ``high``."""
    return NumberRange(low, high, whole=True, none=none)


def one_of(literal: Any) -> OneOf:
    """Return the domain of the texts in a ``Literal`` type."""
    return OneOf(get_args(literal))


def check(name: str, value: object, domain: Domain, advice: str = "") -> None:
    """Raise an `InvalidParameterError`, ending with ``advice``, if a value is not in its domain."""
    if value not in domain:
        message = f"found {name}={shown(value)}, expected {domain}"
        advice = advice or did_you_mean(value, domain)
        if advice:
            message += f". {advice}"
        raise InvalidParameterError(message)


def did_you_mean(value: object, domain: Domain) -> str:
    """Return a sentence that suggests the nearest allowed text, or ""."""
    if isinstance(domain, OneOf) and isinstance(value, str):
        for choice in get_close_matches(value.lower(), domain.choices, n=1):
            return f"Did you mean {choice!r}?"
    return ""


LARGE = 1e9
MANY = 2**31 - 1
PASSES = 1_000_000
TREES = 100_000
FLAG = Flag()
POSITIVE = NumberRange(0, LARGE, above=True)
POSITIVE_OR_NONE = NumberRange(0, LARGE, above=True, none=True)
NOT_NEGATIVE = NumberRange(0, LARGE)
NOT_NEGATIVE_OR_NONE = NumberRange(0, LARGE, none=True)
SHARE = NumberRange(0, 1)
POSITIVE_SHARE_OR_NONE = NumberRange(0, 1, above=True, none=True)
WEIGHT_THRESHOLD = NumberRange(0, LARGE, none=True, text="auto")
SEED = whole(1 - 2**63, 2**63 - 1)
N_JOBS = whole(-100_000, 100_000, none=True)

# A search replaces this text with the mean number of labels per training instance
LABELS_PER_INSTANCE = "labels-per-instance"
