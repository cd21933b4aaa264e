"""Define classes for domains of hyperparameters, and the domains that all estimators share.

Each estimator's own domains are in a module of `xmlc.models.domains`, so that a change of these domains affects no
other estimator.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar

from xmlc.core.errors import InvalidParameterError, shown


@dataclass(frozen=True)
class NumberRange:
    """Define an interval of numbers, which includes its ends by default.

    Attributes
    ----------
    low, high : int or float
        The ends of the interval.
    whole : bool
        Whether only whole numbers are allowed.
    above : bool
        Whether ``low`` itself is excluded.
    none : bool
        Whether None is also allowed.
    text : str
        A text that is also allowed. If ``text`` is empty, no text is allowed.
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
        if isinstance(value, bool) or not isinstance(value, Real) or (self.whole and not isinstance(value, Integral)):
            return False
        number: Any = value
        return bool(self.low <= number <= self.high and not (self.above and number == self.low))

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        low, high = (str(end) if self.whole else f"{end:g}" for end in (self.low, self.high))
        interval = f"above {low} and at most {high}" if self.above else f"from {low} to {high}"
        text = f", {self.text!r}" if self.text else ""
        return f"{kind} {interval}{text}{' or None' if self.none else ''}"


@dataclass(frozen=True)
class OneOf:
    """Define the domain that contains the strings ``choices``."""

    choices: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and value in self.choices

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, self.choices))}"


@dataclass(frozen=True)
class Flag:
    """Define the domain of True and False."""

    def __contains__(self, value: object) -> bool:
        return type(value).__name__ in ("bool", "bool_")  # NumPy's bool is recognised by its name, without an import.

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Ascending:
    """Define the domain of ascending sequences whose entries are in the domain ``each``."""

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
    """Define the domain of sequences of pairs (name, value), and of None if ``none`` is true.

    Names are unique, not in ``taken``, without "__", and short enough for the name of a folder.
    """

    taken: tuple[str, ...] = ()
    none: bool = False
    longest: ClassVar[int] = 100  # bytes

    def __contains__(self, value: Any) -> bool:
        if value is None:
            return self.none
        try:
            names = [name for name, _ in value if name.isidentifier() and "__" not in name]
            names = [name for name in names if len(name.encode()) <= self.longest]
            return 0 < len(names) == len(value) == len({*names} - {*self.taken})
        except (TypeError, ValueError, AttributeError):
            return False

    def __str__(self) -> str:
        example = "[('swnn', 'swnn'), ('plt', PLT())]"
        end = " or None" if self.none else ""
        return f"pairs of a unique name of at most {self.longest} bytes and an estimator, such as {example}{end}"


#: A domain is a set of allowed values. ``str(domain)`` describes the allowed values in messages, after the word
#: "expected".
Domain = NumberRange | OneOf | Flag | Ascending | Named


def whole(low: int, high: int, none: bool = False) -> NumberRange:
    """Return the domain of the whole numbers from ``low`` to ``high``."""
    return NumberRange(low, high, whole=True, none=none)


def check(name: str, value: object, domain: Domain, advice: str = "") -> None:
    """Raise an error if the value of an argument is outside its domain.

    Raises
    ------
    InvalidParameterError
        If the value is outside the domain. The message ends with the sentence ``advice``.
    """
    if value not in domain:
        advice = advice or did_you_mean(value, domain)
        end = f". {advice}" if advice else ""
        raise InvalidParameterError(f"found {name}={shown(value)}, expected {domain}{end}")


def did_you_mean(value: object, domain: Domain) -> str:
    """Return a sentence that suggests the allowed text nearest to a value, or "" if no text is near."""
    choices = domain.choices if isinstance(domain, OneOf) and isinstance(value, str) else ()
    near = get_close_matches(str(value).lower(), choices, n=1)
    return f"Did you mean {near[0]!r}?" if near else ""


LARGE, MANY, PASSES, TREES = 1e9, 2**31 - 1, 1_000_000, 100_000
POSITIVE, NOT_NEGATIVE, SHARE = NumberRange(0, LARGE, above=True), NumberRange(0, LARGE), NumberRange(0, 1)
SOME = NumberRange(0, 1, above=True, none=True)
EXCEPT_NONE, POSITIVE_OR_NONE = NumberRange(0, LARGE, none=True), NumberRange(0, LARGE, above=True, none=True)

# A hyperparameter search replaces LABELS_PER_INSTANCE with the mean number of labels per training instance.
LABELS_PER_INSTANCE = "labels-per-instance"

COMMON: dict[str, Domain] = {"random_state": whole(1 - 2**63, 2**63 - 1), "n_jobs": whole(-100_000, 100_000, none=True)}
