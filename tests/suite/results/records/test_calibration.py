"""Test the record of calibration errors."""

from record_cases import whole
from record_files import RecordFile
from report_cases import calibration

from xmlc.suite.results.records.calibration import CalibrationRecord

CONTENT = whole(calibration(), ["metrics", "isotonic"])


class TestFile(RecordFile):
    kind = CalibrationRecord
    content = CONTENT
    nan_at = ("metrics", "ece@1")
    broken = ((["metrics", "ece@3"], ...), (["isotonic", "ece@1"], 60.0))


def test_numbers_are_in_percent_before_and_after_calibration():
    ((variant, row),) = CalibrationRecord.of("calibration.json", CONTENT).numbers()
    assert variant == ""
    assert row["ece@1"] == 100 * CONTENT["metrics"]["ece@1"]
    assert row["isotonic_ece@1"] == 100 * CONTENT["isotonic"]["ece@1"]
