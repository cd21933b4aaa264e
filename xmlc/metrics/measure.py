"""What is known of a measure besides its formula: its name in records, and how tables print it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

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
        Computes it, as a share or not, from `xmlc.metrics.ranking.Ranked` or `xmlc.metrics.classification.Sets`.
    unit : str
        ``%`` for a share, which tables print in percent; nothing for any other number.
    decimals : int
        Printed decimals.
    better : {"higher", "lower"} or None
    required : bool
        Whether every record must have it; records of earlier versions lack a measure that was added since.
    kind : {"measure", "constant"}
        Whether it depends on the prediction, or on the test set alone.
    """

    name: str
    title: str
    of: Callable[[Scored], float]
    unit: str = "%"
    decimals: int = 2
    better: Literal["higher", "lower"] | None = "higher"
    required: bool = False
    kind: Literal["measure", "constant"] = "measure"

    @property
    def is_share(self) -> bool:
        """Whether records hold a fraction of 1 that tables print in percent."""
        return self.unit == "%"

    def in_unit(self, value: float) -> float:
        """Convert a record's number to the unit of tables."""
        return 100 * value if self.is_share else value
