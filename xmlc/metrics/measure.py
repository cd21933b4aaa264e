"""Declare measures, and define the family of overlap measures of two sets: F_beta and Jaccard."""

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
    """Declare one number that measures how good predictions are.

    Attributes
    ----------
    name : str
        Name in records and CSV files, such as ``p@1`` or ``macro_f``.
    title : str
        Heading in printed tables.
    of : callable
        Function that computes the value, a share or not, from ``Ranked`` (rankings) or ``Agreement`` (label sets).
    unit : str
        ``%`` for a share, which tables print in percent. Empty for any other number.
    decimals : int
        Printed decimals.
    better : {"higher", "lower"} or None
        Which values are better, if any.
    kind : {"measure", "constant"}
        "constant" if it depends on the test set alone, "measure" if it also depends on the prediction.
    in_tables : bool
        Whether tables of the papers may contain it as a column. Records and the long table always contain it.
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
        """Return whether records contain a fraction of 1 that tables print in percent."""
        return self.unit == "%"

    def in_unit(self, value: float) -> float:
        """Return a number of a record in the unit of tables."""
        return 100 * value if self.is_share else value


class Overlap(NamedTuple):
    """Define the measure gain * TP / (recall * P + predicted - shared * TP) of two sets.

    It is 1 for equal sets.

    F_beta has gain 1 + beta^2, recall beta^2 and shared 0 (van Rijsbergen, 1979). With beta = 1 it is equation (1) of
    plt2016. Jaccard is ``|intersection| / |union|``, with gain 1, recall 1 and shared 1. Every such measure grows with
    TP / (recall * P + predicted). Measures with the same ``recall`` therefore rank the predictions of a set in the same
    order. In particular Jaccard = F / (2 - F).

    Attributes
    ----------
    gain, recall, shared : float
        Coefficients of the formula.
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
            Value for two empty sets.
        """
        total = self.recall * positives + predicted - self.shared * hits
        return np.where(total > 0, self.gain * hits / np.where(total > 0, total, 1.0), zero_division)


def checked_overlap(overlap: object) -> Overlap:
    """Return an overlap measure unchanged, and refuse anything else.

    Raises
    ------
    InvalidParameterError
        If ``overlap`` is no `Overlap`.
    """
    if not isinstance(overlap, Overlap):
        said = "expected a measure of xmlc.metrics.measure, such as F1, JACCARD or f_beta(2.0)"
        raise InvalidParameterError(f"found overlap={shown(overlap)}, {said}")
    return overlap


def f_beta(beta: float) -> Overlap:
    """Return F_beta, which weights recall beta times as much as precision.

    Raises
    ------
    XmlcError
        If ``beta`` is not a finite number above 0.
    """
    check("beta", beta, POSITIVE, "Use 1 for the F-measure, or 2 to favour recall.")
    return Overlap(1.0 + beta * beta, float(beta * beta), 0.0)


F1 = f_beta(1.0)
JACCARD = Overlap(1.0, 1.0, 1.0)

Average = Literal["macro", "micro", "instance"]
AVERAGES: tuple[Average, ...] = ("macro", "micro", "instance")
#: The overlaps that thresholds can be tuned for, with each average. Each name maps to a printed name and a measure.
OVERLAPS = {
    "f": ("F", F1),
    "f2": ("F2", f_beta(2.0)),
    "jaccard": ("Jaccard", JACCARD),
}
