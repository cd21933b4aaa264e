"""Define the record of calibration errors of estimates, before and after isotonic calibration."""

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
    """Represent the record in which `xmlc thresholds` writes calibration errors on the test set.

    Attributes
    ----------
    metrics : dict of str to float
        The scores ``p@k`` and ``ece@k``, which are measured on the k labels with the highest
        estimates.
    isotonic : dict of str to float
        The scores ``ece@k`` after isotonic calibration on the validation set, measured on the same
        labels as in ``metrics``.
    """

    metrics: Fractions
    isotonic: Fractions

    def __post_init__(self) -> None:
        check_scores("metrics", self.metrics, (*PRECISION, *ERRORS))
        check_scores("isotonic", self.isotonic, ERRORS)

    def numbers(self) -> Numbers:
        """Yield the scores in ``metrics`` and ``isotonic``, in percent."""
        before: Quantities = {name: 100 * value for name, value in self.metrics.items()}
        yield (
            "",
            before | {f"isotonic_{name}": 100 * value for name, value in self.isotonic.items()},
        )
