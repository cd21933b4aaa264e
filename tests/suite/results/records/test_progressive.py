"""Test the record of progressive validation."""

from record_cases import progressive
from record_files import RecordFile, as_record

from xmlc.suite.results.records.progressive import ProgressiveRecord


class TestFile(RecordFile):
    kind = ProgressiveRecord
    content = progressive()
    broken = (
        (["rows"], []),
        (["rows", 1, "accuracy"], 1.5),
        (["rows", 0, "entropy_reduction"], ...),
        (["constant_accuracy"], None),
    )


def test_numbers_are_of_the_whole_stream_and_details_of_its_beginnings():
    record = as_record(progressive())
    whole = {"instances": 10, "accuracy": 50, "entropy_reduction": 2}
    assert dict(record.numbers()) == {"": whole | {"constant_accuracy": 12.5}}
    first = {"instances": 1, "accuracy": 0, "entropy_reduction": None}
    assert dict(record.details()) == {"instances=1": first, "instances=10": whole}
