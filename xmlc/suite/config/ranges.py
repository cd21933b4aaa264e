"""Define ranges of hyperparameters, and the maximum sample sizes of a search with `tuning: auto`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters

Space = dict[str, "Range"]
TrialObjective = Callable[[Hyperparameters], float]


@dataclass(frozen=True)
class Range:
    """Describe the values that one hyperparameter may take.

    Attributes
    ----------
    values : tuple
        The values, if the hyperparameter takes one of finitely many values. The tuple is empty if the hyperparameter
        takes any value of an interval.
    low, high : float
        The two ends of an interval. The interval contains both ends.
    log : bool
        Whether the logarithms of the values are drawn uniformly, instead of the values.
    integer : bool
        Whether the values of the interval are rounded to integers.
    """

    values: tuple[object, ...] = ()
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    integer: bool = False

    @classmethod
    def parse(cls, name: str, content: object) -> Range:
        """Convert a configured range, which is a list of values or a mapping ``{low, high, log, integer}``.

        Raises
        ------
        XmlcError
            The content is neither a list nor a mapping with the keys of a range, or the interval is empty. An error is
            also raised for a logarithmic interval that contains zero.
        """
        if isinstance(content, list) and content:
            return cls(values=tuple(content))
        if isinstance(content, dict) and {"low", "high"} <= set(content) <= {"low", "high", "log", "integer"}:
            result = cls(**content)
            are_numbers = all(type(end) in (int, float) for end in (result.low, result.high))
            are_flags = all(isinstance(flag, bool) for flag in (result.log, result.integer))
            if are_numbers and are_flags and result.low < result.high and (result.low > 0 or not result.log):
                return result
        expected = "a list of values, or low and high with optional log and integer"
        advice = "low must be less than high, and above 0 if log is true"
        raise XmlcError(f"range of {name}: found {content!r}, expected {expected}. {advice}")

    def at(self, u: float) -> object:
        """Return the value at position ``u`` of the range, with ``u`` in [0, 1).

        If the range is an interval, the value is rounded by `typed`.
        """
        if self.values:
            return self.values[int(u * len(self.values))]
        if self.log:
            # This import loads numba, which is not needed to read ranges.
            from xmlc.kernels.float64 import exp, log

            low = float(self.low)
            high = float(self.high)
            return self.typed(exp(log(low) + u * (log(high) - log(low))))
        return self.typed(self.low + u * (self.high - self.low))

    def ends(self) -> tuple[object, ...]:
        """Return all values of a finite range, or both ends of an interval."""
        return self.values or (self.typed(self.low), self.typed(self.high))

    def samples(self) -> tuple[object, ...]:
        """Return values of the range that stand for all its values: `ends`, and the second whole number."""
        second = (self.typed(self.low + 1),) if self.integer and not self.values and self.low + 1 < self.high else ()
        return (*self.ends(), *second)

    def typed(self, value: float) -> int | float:
        """Round a value of an interval to an integer or to three significant digits, as a person would type it."""
        if self.integer:
            return round(value)
        return float(min(max(float(f"{value:.3g}"), self.low), self.high))

    def __contains__(self, value: object) -> bool:
        """Return whether the range contains a value."""
        if self.values:
            return value in self.values
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.low <= value <= self.high and (not self.integer or value == round(value))


def parse_space(content: Mapping[str, object]) -> Space:
    """Convert the configured ranges of hyperparameters. The names of the hyperparameters are sorted alphabetically.

    Raises
    ------
    XmlcError
        ``content`` is empty, or one of its values is not a range.
    """
    if not content:
        raise XmlcError("--space: found no range, expected one for at least one hyperparameter")
    return {name: Range.parse(name, content[name]) for name in sorted(content)}


AUTO = "auto"
# Maximum number of training instances of a trial, drawn from 80 % of the training set.
MOST_FITTED = 20_000
# Maximum number of validation instances of a trial, drawn from the 20 % of the training set that are held out.
MOST_VALIDATED = 5_000
