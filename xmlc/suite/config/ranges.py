"""Define the values that hyperparameters may take, and the bounds of the search of `tuning: auto`."""

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
        A finite choice, empty for an interval.
    low, high : float
        Ends of an interval, both included.
    log : bool
        Whether values are drawn uniformly on a logarithmic scale.
    integer : bool
        Whether values are rounded to integers.
    """

    values: tuple[object, ...] = ()
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    integer: bool = False

    @classmethod
    def parse(cls, name: str, content: object) -> Range:
        """Read a range from configuration: a list of values, or ``{low, high, log, integer}``.

        Raises
        ------
        XmlcError
            It is neither, the interval is empty, or a logarithmic interval reaches zero.
        """
        if isinstance(content, list) and content:
            return cls(values=tuple(content))
        if isinstance(content, dict) and {"low", "high"} <= set(content) <= {"low", "high", "log", "integer"}:
            result = cls(**content)
            if result.low < result.high and (result.low > 0 or not result.log):
                return result
        raise XmlcError(
            f"range of {name}: found {content!r}, expected a list of values, or low and high with optional log and "
            "integer. low must be less than high, and above 0 if log is true"
        )

    def at(self, u: float) -> object:
        """Return the value at ``u`` in [0, 1), rounded by `typed`."""
        if self.values:
            return self.values[int(u * len(self.values))]
        if self.log:
            from xmlc.kernels.float64 import exp, log  # reading ranges alone must not load numba

            low, high = float(self.low), float(self.high)
            return self.typed(exp(log(low) + u * (log(high) - log(low))))
        return self.typed(self.low + u * (self.high - self.low))

    def ends(self) -> tuple[object, ...]:
        """Return the values of a choice, or the ends of an interval."""
        return self.values or (self.typed(self.low), self.typed(self.high))

    def typed(self, value: float) -> int | float:
        """Round a number of an interval as a person would type it: to an integer, or to three significant digits."""
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
    """Read the ranges of several hyperparameters, in alphabetical order.

    Raises
    ------
    XmlcError
        There is none, or one of them is not a range.
    """
    if not content:
        raise XmlcError("--space: found no range, expected one for at least one hyperparameter")
    return {name: Range.parse(name, content[name]) for name in sorted(content)}


AUTO = "auto"
MOST_FITTED = 20_000  # instances of the 80 % that a trial is trained on
MOST_VALIDATED = 5_000  # instances of the 20 % that a trial is scored on
