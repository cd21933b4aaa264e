"""Means and their confidence intervals by Student's t distribution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

CONFIDENCE = 0.95
# Quantiles are rounded, because their last bits differ between numerical libraries.
QUANTILE_DIGITS = 9


@dataclass(frozen=True)
class Estimate:
    """A mean and its 95 % confidence interval, with NaN as bounds if there are too few values."""

    mean: float
    lower: float = math.nan
    upper: float = math.nan

    @property
    def has_interval(self) -> bool:
        """Whether there were enough values for an interval."""
        return not math.isnan(self.lower)

    def mapped(self, function: Callable[[float], float]) -> Estimate:
        """Apply an increasing function to the mean and both bounds."""
        values = (self.mean, self.lower, self.upper)
        return Estimate(*(value if math.isnan(value) else function(value) for value in values))

    def side_of(self, margin: float) -> int:
        """Return 1 if the interval lies above ``margin``, -1 if below, else 0."""
        return int(self.lower > margin) - int(self.upper < margin)


def estimate_of(values: Sequence[float], fewest: int = 2) -> Estimate:
    """Return the mean of independent samples of a normal distribution, with a 95 % confidence
    interval.

    The interval is mean ± t s / sqrt(n), with the standard deviation s (divisor n - 1) and the 97.5
    % quantile t of Student's distribution with n - 1 degrees of freedom. It needs ``fewest`` values
    and at least 2, and has no width if all are equal.
    """
    n = len(values)
    mean, variance = mean_and_variance(values)
    if n < max(fewest, 2):
        return Estimate(mean)
    # Rounding errors may move the computed mean away from equal values
    if min(values) == max(values):
        return Estimate(values[0], values[0], values[0])
    return estimate_from(mean, math.sqrt(variance / n), n)


def mean_and_variance(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the variance (divisor n - 1), which is NaN for a single value."""
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return mean, math.nan
    return mean, math.fsum((value - mean) * (value - mean) for value in values) / (n - 1)


def estimate_from(mean: float, error: float, n: int) -> Estimate:
    """Return an estimate from mean and standard error of n values."""
    half = round(student_quantile(n - 1), QUANTILE_DIGITS) * error
    return Estimate(mean, mean - half, mean + half)


@cache
def student_quantile(freedom: float) -> float:
    """Return the two-sided 95 % quantile of Student's t, or of the normal distribution if
    ``freedom`` is infinite.
    """
    from scipy.stats import norm, t

    level = (1 + CONFIDENCE) / 2
    if math.isinf(freedom):
        return float(norm.ppf(level))
    quantile = float(t.ppf(level, freedom))
    # A step of Newton's method, because SciPy 1.11 computes only eight digits
    return quantile - float((t.cdf(quantile, freedom) - level) / t.pdf(quantile, freedom))
