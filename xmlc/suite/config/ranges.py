"""Ranges of hyperparameters, and the largest samples of a search with `tuning: auto`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from xmlc.core.errors import XmlcError
from xmlc.suite.schemas import converted

IntOrFloat = int | float  # a whole number in the file stays an integer


class Interval(msgspec.Struct, frozen=True, omit_defaults=True):
    """A closed interval of a hyperparameter's values.

    With ``log``, logarithms of the values are drawn uniformly, and with ``integer`` values are
    rounded.
    """

    low: IntOrFloat
    high: IntOrFloat
    log: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(
                f"found low {self.low} and high {self.high}, expected low less than high, and "
                "above 0 if log is true"
            )

    def at(self, u: float) -> int | float:
        """Return the value at position ``u`` in [0, 1)."""
        if not self.log:
            return self.typed(self.low + u * (self.high - self.low))
        # Loads numba, which reading ranges does not need.
        from xmlc.kernels.float64 import exp, log

        low = float(self.low)
        high = float(self.high)
        return self.typed(exp(log(low) + u * (log(high) - log(low))))

    def typed(self, value: float) -> int | float:
        """Round to an integer or three significant digits, as a person would type it."""
        if self.integer:
            return round(value)
        return float(min(max(float(f"{value:.3g}"), self.low), self.high))

    def __contains__(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.low <= value <= self.high and (not self.integer or value == round(value))


#: The values that a hyperparameter may take.
Range = Annotated[list[object], msgspec.Meta(min_length=1)] | Interval
Space = dict[str, Range]


def ends_of(values: Range) -> list[object]:
    """Return a list itself, or the two ends of an interval."""
    if isinstance(values, Interval):
        return [values.typed(values.low), values.typed(values.high)]
    return values


def parse_space(content: Mapping[str, object]) -> Space:
    """Convert ranges of hyperparameters, at least one, sorted by name."""
    if not content:
        raise XmlcError("--space: found no range, expected one for at least one hyperparameter")
    space = converted(content, Space, "--space")
    return dict(sorted(space.items()))


AUTO = "auto"
# Most training instances of a trial, drawn from 80 % of the training set
MOST_FITTED = 20_000
# Most validation instances of a trial, drawn from the other 20 %
MOST_VALIDATED = 5_000
