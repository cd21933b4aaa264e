"""Test the record of calibration errors."""

from record_cases import whole
from record_files import RecordFile
from report_cases import calibration

from xmlc.suite.results.records.calibration import CalibrationRecord


class TestFile(RecordFile):
    kind = CalibrationRecord
    content = whole(calibration(), ["metrics", "isotonic"])
    broken = ((["metrics", "ece@3"], ...), (["isotonic", "ece@1"], 60.0))
