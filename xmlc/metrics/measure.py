"""How a measure is declared, and the family of measures by the overlap of two sets: F_beta and Jaccard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np

from xmlc.core.errors import InvalidParameterError, shown
from xmlc.kernels.domains import POSITIVE, check

Scored = TypeVar("Scored")


@dataclass(frozen=True)
class Measure(Generic[Scored]):
    """One number that says how good predictions are.

    Attributes
    ----------
    name : str
        In records and CSV files, such as ``p@1`` or ``macro_f``.
    title : str
        Heading in print.
    of : callable
        Computes it, as a share or not, from ``Ranked`` (rankings) or ``Agreement`` (label sets).
    unit : str
        ``%`` for a share, which tables print in percent; nothing for any other number.
    decimals : int
        Printed decimals.
    better : {"higher", "lower"} or None
    kind : {"measure", "constant"}
        Whether it depends on the prediction, or on the test set alone.
    in_tables : bool
        Whether the papers' tables may have a column of it; records and the long table have it in any case.
    """

    name: str
    title: str
    of: Callable[[Scored], float]
    unit: str = "%"
    decimals: int = 2
    better: Literal["higher", "lower"] | None = "higher"
    kind: Literal["measure", "constant"] = "measure"
    in_tables: bool = True

    @property
    def is_share(self) -> bool:
        """Whether records hold a fraction of 1 that tables print in percent."""
        return self.unit == "%"

    def in_unit(self, value: float) -> float:
        """Convert a record's number to the unit of tables."""
        return 100 * value if self.is_share else value


class Overlap(NamedTuple):
    """The measure gain * TP / (recall * P + predicted - shared * TP) of two sets; 1 where they are equal.

    F_beta has gain 1 + beta^2, recall beta^2 and shared 0 (van Rijsbergen, 1979; beta = 1 is plt2016, equation (1)),
    Jaccard's ``|intersection| / |union|`` is 1, 1, 1. All of them grow with TP / (recall * P + predicted), so of
    several predictions of one set those with the same ``recall`` prefer the same; in particular Jaccard = F / (2 - F).

    Attributes
    ----------
    gain, recall, shared : float
    """

    gain: float
    recall: float
    shared: float

    def of(
        self, hits: np.ndarray, positives: np.ndarray, predicted: np.ndarray, zero_division: float = 1.0
    ) -> np.ndarray:
        """Return the measure elementwise, float64 of the arguments' common shape.

        Parameters
        ----------
        hits, positives, predicted : ndarray of int
            Sizes of the intersection (TP), of the true set (P) and of the predicted set.
        zero_division : float
            The value of two empty sets.
        """
        total = self.recall * positives + predicted - self.shared * hits
        return np.where(total > 0, self.gain * hits / np.where(total > 0, total, 1.0), zero_division)


def checked_overlap(overlap: object) -> Overlap:
    """Return a measure by the overlap of two sets, and refuse anything else.

    Raises
    ------
    InvalidParameterError
    """
    if not isinstance(overlap, Overlap):
        said = "expected a measure of xmlc.metrics.measure, such as F1, JACCARD or f_beta(2.0)"
        raise InvalidParameterError(f"overlap={shown(overlap)}: {said}")
    return overlap


def f_beta(beta: float) -> Overlap:
    """Return F_beta, in which recall counts beta times as much as precision.

    Raises
    ------
    XmlcError
        ``beta`` is not a finite number above 0.
    """
    check("beta", beta, POSITIVE, "; 1 is the F-measure, and 2 favours recall")
    return Overlap(1.0 + beta * beta, float(beta * beta), 0.0)


F1 = f_beta(1.0)
JACCARD = Overlap(1.0, 1.0, 1.0)

Average = Literal["macro", "micro", "instance"]
AVERAGES: tuple[Average, ...] = ("macro", "micro", "instance")
#: The overlaps that thresholds can be tuned for, with each average: by name, the name in print and the measure.
OVERLAPS = {
    "f": ("F", F1),
    "f2": ("F2", f_beta(2.0)),
    "jaccard": ("Jaccard", JACCARD),
}
