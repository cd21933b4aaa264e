"""The record of progressive validation."""

import pytest
from record_cases import progressive
from record_files import check_nan_refused, check_refused, check_round_trip

from xmlc.records.progressive import ProgressiveRecord

CONTENT = progressive()


def test_what_is_read_is_written_again(tmp_path):
    check_round_trip(tmp_path, ProgressiveRecord, CONTENT)


@pytest.mark.parametrize(
    ("keys", "value", "place", "found"),
    [
        (["rows"], [], "$.rows", "length >= 1"),
        (["rows", 1, "accuracy"], 1.5, "$.rows[1].accuracy", "<= 1"),
        (["rows", 0, "macro_f"], ..., "$.rows[0]", "'macro_f' is a required property"),
        (["constant_accuracy"], None, "$.constant_accuracy", "Expected"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path, keys, value, place, found):
    check_refused(tmp_path, ProgressiveRecord, CONTENT, keys, value, place, found)


def test_nan_is_refused(tmp_path):
    check_nan_refused(tmp_path, ProgressiveRecord, CONTENT, ["rows", 1, "entropy_reduction"])
