"""Hyperparameter search on the 80/20 split (plt2016, Section 6.1 and Appendix C)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xmlc.counter_random import random_unit, stream_key
from xmlc.errors import XmlcError

TRIAL_STREAM = 0x70E


@dataclass(frozen=True)
class Range:
    """The values that one hyperparameter may take.

    Attributes
    ----------
    values : tuple
        A finite choice; empty for an interval.
    low, high : float
        Ends of an interval.
    log : bool
        Whether values are drawn uniformly on a logarithmic scale.
    integer : bool
        Whether values are rounded to integers.
    """

    values: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    integer: bool = False

    @classmethod
    def parse(cls, name: str, content: Any) -> Range:
        """Read a range from configuration: a list of values, or ``{low, high, log, integer}``."""
        if isinstance(content, list) and content:
            return cls(values=tuple(content))
        if isinstance(content, dict) and {"low", "high"} <= set(content) <= {"low", "high", "log", "integer"}:
            result = cls(**content)
            if result.low < result.high and (result.low > 0 or not result.log):
                return result
        raise XmlcError(
            f"range of {name}: found {content!r}; expected a list of values, or low < high with optional log and "
            "integer (low > 0 where log is true)"
        )

    def at(self, u: float) -> Any:
        """Return the value at ``u`` in [0, 1); three significant digits, so that it can be read and typed."""
        if self.values:
            return self.values[int(u * len(self.values))]
        if self.log:
            value = math.exp(math.log(self.low) + u * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + u * (self.high - self.low)
        return round(value) if self.integer else float(f"{value:.3g}")


def random_trials(space: dict[str, Range], n_trials: int, seed: int) -> Iterator[dict[str, Any]]:
    """Draw hyperparameters at random; trial i depends on (seed, i) alone, so a longer search extends a shorter."""
    for trial in range(n_trials):
        key = stream_key(seed, TRIAL_STREAM + trial)
        yield {name: space[name].at(_unit(key, i)) for i, name in enumerate(sorted(space))}


def _unit(key: int, counter: int) -> float:
    import numpy as np

    return float(random_unit(np.uint64(key), counter))
