"""Test the record of progressive validation."""

from record_cases import progressive
from record_files import RecordFile

from xmlc.suite.results.records.progressive import ProgressiveRecord


class TestFile(RecordFile):
    kind, content, nan_at = ProgressiveRecord, progressive(), ["rows", 1, "entropy_reduction"]
    broken = (
        (["rows"], []),
        (["rows", 1, "accuracy"], 1.5),
        (["rows", 0, "entropy_reduction"], ...),
        (["constant_accuracy"], None),
    )
