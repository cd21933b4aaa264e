"""Measures, among them F_beta and Jaccard, which compare two sets by their overlap."""

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
    """A measure of the quality of predictions.

    Attributes
    ----------
    name : str
        Name in records and CSV files, such as ``p@1`` or ``macro_f``.
    title : str
        Heading in printed tables.
    of : callable
        Computes the value from ``Ranked`` (rankings) or ``Agreement`` (label sets).
    unit : str
        ``%`` for a share, which tables print in percent, and otherwise empty.
    decimals : int
        Number of decimals in tables.
    better : {"higher", "lower"} or None
    kind : {"measure", "constant"}
        "constant" if the value depends only on the test set.
    in_tables : bool
        Whether tables of the papers may have it as a column, besides records and the long table.

    See Also
    --------
    xmlc.metrics.classification_metrics

    Examples
    --------
    >>> from xmlc.metrics.measure import Measure
    >>> accuracy = Measure("subset", "Subset accuracy", of=lambda counts: 0.25)
    >>> accuracy.in_unit(accuracy.of(None))
    25.0
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
        """Whether the measure is a fraction in records and a percentage in tables."""
        return self.unit == "%"

    def in_unit(self, value: float) -> float:
        """Convert a value from the unit of records to the unit of tables.

        Parameters
        ----------
        value : float

        Returns
        -------
        float
        """
        return 100 * value if self.is_share else value


class Overlap(NamedTuple):
    """A measure gain * TP / (recall * P + predicted - shared * TP) of two sets, 1 for equal ones.

    F_beta has gain 1 + beta^2, recall beta^2 and shared 0 (van Rijsbergen, 1979), and F_1 is
    equation (1) of plt2016. Jaccard is ``|intersection| / |union|``, with gain, recall and shared
    1. Every `Overlap` grows with the ratio TP / (recall * P + predicted), so measures with the same
    ``recall`` rank predictions in the same order. For example, Jaccard is F / (2 - F).

    Attributes
    ----------
    gain, recall, shared : float
        Coefficients of the formula.

    See Also
    --------
    f_beta, xmlc.thresholds.STO, xmlc.thresholds.CommonThreshold

    Examples
    --------
    >>> import numpy as np
    >>> from xmlc.metrics.measure import JACCARD
    >>> JACCARD.of(np.array([1]), positives=np.array([2]), predicted=np.array([3]))
    array([0.25])
    """

    gain: float
    recall: float
    shared: float

    def of(
        self,
        hits: np.ndarray,
        positives: np.ndarray,
        predicted: np.ndarray,
        zero_division: float = 1.0,
    ) -> np.ndarray:
        """Return the measure of pairs of sets, from the sizes of the sets.

        Parameters
        ----------
        hits, positives, predicted : ndarray of int, of one shape
            Sizes of the intersection (TP), of the true set (P) and of the predicted set.
        zero_division : float
            The measure of two empty sets.

        Returns
        -------
        ndarray of float64, of this shape
        """
        total = self.recall * positives + predicted - self.shared * hits
        return np.where(
            total > 0, self.gain * hits / np.where(total > 0, total, 1.0), zero_division
        )


def checked_overlap(overlap: object) -> Overlap:
    """Return an `Overlap` unchanged, or raise an error."""
    if not isinstance(overlap, Overlap):
        said = "expected a measure of xmlc.metrics.measure, such as F1, JACCARD or f_beta(2.0)"
        raise InvalidParameterError(f"found overlap={shown(overlap)}, {said}")
    return overlap


def f_beta(beta: float) -> Overlap:
    """Return the `Overlap` of F_beta, which weights recall beta times as much as precision.

    Parameters
    ----------
    beta : float

    Returns
    -------
    Overlap

    Raises
    ------
    XmlcError
        ``beta`` is no finite number above 0.

    See Also
    --------
    Overlap, xmlc.metrics.macro_f

    Examples
    --------
    >>> from xmlc.metrics.measure import f_beta
    >>> f_beta(2)
    Overlap(gain=5.0, recall=4.0, shared=0.0)
    """
    check("beta", beta, POSITIVE, "Use 1 for the F-measure, or 2 to favour recall.")
    return Overlap(1.0 + beta * beta, float(beta * beta), 0.0)


F1 = f_beta(1.0)
JACCARD = Overlap(1.0, 1.0, 1.0)

Average = Literal["macro", "micro", "instance"]
AVERAGES: tuple[Average, ...] = ("macro", "micro", "instance")
#: Overlaps for which thresholds can be tuned, with their printed names. A key ends the name of a
#: measure, such as ``f`` in ``macro_f``.
OVERLAPS = {
    "f": ("F", F1),
    "f2": ("F2", f_beta(2.0)),
    "jaccard": ("Jaccard", JACCARD),
}
