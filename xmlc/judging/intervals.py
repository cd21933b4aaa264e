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
    standard_error : float or None
        By how much the number varies with the test set that was drawn, in the unit of the column; None if nobody
        measured it.
    """

    runs: int
    deviation: float
    standard_error: float | None = None

    @classmethod
    def of(cls, values: Sequence[float], standard_error: float | None = None) -> Spread:
        """Return the spread of the values of some runs."""
        mean = math.fsum(values) / len(values)
        variance = math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1)
        return cls(len(values), math.sqrt(variance), standard_error)


def half_width(spread: Spread, unit: float, ours: int = 1, theirs: int = 1, other_test_set: bool = False) -> float:
    """Return h: of 100 faithful reproductions 95 differ from the printed number by at most h.

    The difference of a mean of ``ours`` runs and a printed mean of ``theirs`` runs has the variance
    s^2 (1 / ours + 1 / theirs), s being the deviation of one run; rounding to a printed digit adds u^2 / 12, u being
    the unit of that digit; two test sets drawn apart add twice the square of the standard error. Only s is estimated,
    from few runs, hence Student's t; its degrees of freedom are those of Welch and Satterthwaite, runs - 1 over the
    squared share of the variance that s has. Where neither runs nor test sets differ, h is half a unit.

    Parameters
    ----------
    spread : Spread
    unit : float
        Of the last printed digit, in the unit of the column.
    ours, theirs : int
        Runs that the two means are over.
    other_test_set : bool
        The paper's split is not known to be ours.

    Raises
    ------
    ValueError
        Test sets differ and nobody measured what that matters.
    """
    if other_test_set and spread.standard_error is None:
        raise ValueError("no standard error of another test set was measured")
    of_runs = spread.deviation * spread.deviation * (1 / ours + 1 / theirs)
    error = (spread.standard_error or 0.0) if other_test_set else 0.0
    of_tests = 2 * error * error
    variance = of_runs + of_tests + unit * unit / 12
    if of_runs + of_tests == 0:
        return unit / 2
    share = of_runs / variance
    freedom = (spread.runs - 1) / (share * share) if share else math.inf
    return max(unit / 2, student_quantile(freedom) * math.sqrt(variance))
