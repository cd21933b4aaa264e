"""The record of calibration errors before and after isotonic calibration."""

from __future__ import annotations

from xmlc.metrics.ranking import CALIBRATION, K
from xmlc.suite.results.records.base import (
    Fractions,
    ModelRecord,
    Numbers,
    Quantities,
    check_scores,
    json_keys,
)

PRECISION = tuple(f"p@{k}" for k in K)
ERRORS = tuple(measure.name for measure in CALIBRATION)


@json_keys
class CalibrationRecord(ModelRecord, kind="calibration", command="thresholds"):
    """Calibration errors on the test set, which `xmlc thresholds` writes.

    ``metrics`` has ``p@k`` and ``ece@k`` of the k labels with the highest estimates, and
    ``isotonic`` the ``ece@k`` of the same labels after isotonic calibration on the validation set.
    """

    metrics: Fractions
    isotonic: Fractions

    def __post_init__(self) -> None:
        check_scores("metrics", self.metrics, (*PRECISION, *ERRORS))
        check_scores("isotonic", self.isotonic, ERRORS)

    def numbers(self) -> Numbers:
        """Yield both kinds of scores, in percent."""
        before: Quantities = {name: 100 * value for name, value in self.metrics.items()}
        yield (
            "",
            before | {f"isotonic_{name}": 100 * value for name, value in self.isotonic.items()},
        )
