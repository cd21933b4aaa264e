"""The records of tuned thresholds, and their frame."""

import pytest
from record_cases import whole
from record_files import check_nan_refused, check_refused, check_round_trip
from report_cases import thresholds

from xmlc.records.thresholds import ThresholdRecord

CONTENT = whole(thresholds(method="ofo"), ["method", "grid", "best"])


def test_what_is_read_is_written_again(tmp_path):
    check_round_trip(tmp_path, ThresholdRecord, CONTENT)


@pytest.mark.parametrize(
    ("keys", "value", "place", "found"),
    [
        (["grid", 1, "test"], ..., "$.grid[1]", "'test' is a required property"),
        (["grid", 1, "validation"], {}, "$.grid[1].validation", "'macro_f' is a required property"),
        (["best", "test", "micro_f"], ..., "$.best.test", "'micro_f' is a required property"),
        (["best", "test", "macro_jaccard"], 50.0, "$.best.test.macro_jaccard", "50.0, expected a share"),
        (["best", "validation"], {"macro_f": -0.1}, "$.best.validation.macro_f", "share"),
        (["best", "c"], "2", "$.best.c", "Expected"),
        (["costs", "tune_seconds"], ..., "$.costs", "'tune_seconds' is a required property"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path, keys, value, place, found):
    check_refused(tmp_path, ThresholdRecord, CONTENT, keys, value, place, found)


def test_nan_is_refused(tmp_path):
    check_nan_refused(tmp_path, ThresholdRecord, CONTENT, ["grid", 0, "test", "macro_f"])
