"""By how much a faithful reproduction may differ from a printed number: an interval of that cell's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xmlc.tables.intervals import student_quantile


@dataclass(frozen=True)
class Spread:
    """How much one number of ours varies from run to run.

    Attributes
    ----------
    runs : int
        Runs, with seeds and splits of their own, that the deviation was taken from; at least two.
    deviation : float
        Standard deviation of one run (divisor: runs - 1), in the unit of the column.
    split_error : float or None
        Standard deviation of the number over splits of the same instances into training and test set, in the unit of
        the column; None if nobody measured it.
    """

    runs: int
    deviation: float
    split_error: float | None = None

    @classmethod
    def of(cls, values: Sequence[float], split_error: float | None = None) -> Spread:
        """Return the spread of the values of some runs."""
        mean = math.fsum(values) / len(values)
        variance = math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1)
        return cls(len(values), math.sqrt(variance), split_error)


def half_width(spread: Spread, unit: float, ours: int = 1, theirs: int = 1, other_split: bool = False) -> float:
    """Return h: of 100 faithful reproductions 95 differ from the printed number by at most h.

    The difference of a mean of ``ours`` runs and a printed mean of ``theirs`` runs has the variance
    s^2 (1 / ours + 1 / theirs), s being the deviation of one run; rounding to a printed digit adds u^2 / 12, u being
    the unit of that digit; two splits drawn apart add twice the square of the split error. Only s is estimated,
    from few runs, hence Student's t; its degrees of freedom are those of Welch and Satterthwaite, runs - 1 over the
    squared share of the variance that s has. Where neither runs nor splits differ, h is half a unit.

    Parameters
    ----------
    spread : Spread
    unit : float
        Of the last printed digit, in the unit of the column.
    ours, theirs : int
        Runs that the two means are over.
    other_split : bool
        The paper's split is not known to be ours.

    Raises
    ------
    ValueError
        Splits differ and nobody measured what that matters.
    """
    if other_split and spread.split_error is None:
        raise ValueError("no error of another split was measured")
    of_runs = spread.deviation * spread.deviation * (1 / ours + 1 / theirs)
    error = (spread.split_error or 0.0) if other_split else 0.0
    of_splits = 2 * error * error
    variance = of_runs + of_splits + unit * unit / 12
    if of_runs + of_splits == 0:
        return unit / 2
    share = of_runs / variance
    freedom = (spread.runs - 1) / (share * share) if share else math.inf
    return max(unit / 2, student_quantile(freedom) * math.sqrt(variance))
