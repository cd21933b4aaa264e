"""The record of a search."""

from record_cases import search
from record_files import RecordFile

from xmlc.records.search import SearchRecord


class TestFile(RecordFile):
    kind, content, nan_at = SearchRecord, search(), ["best", "p@1"]
    broken = (
        (["estimator"], ..., "$", "'estimator' is a required property"),
        (["trials"], [], "$.trials", "length"),
        (["best", "p@1"], 50.0, "$.best.p@1", "1"),
    )
