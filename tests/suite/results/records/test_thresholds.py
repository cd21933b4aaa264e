"""Test the records of tuned thresholds, and the file next to estimates."""

import pytest
from record_cases import estimates, whole
from record_files import RecordFile, as_record
from report_cases import thresholds

from xmlc.suite.results.records.thresholds import EstimatesRecord, ThresholdRecord

RESAMPLED = {"macro_f": [0.0125, -0.25]}
CONTENT = whole(
    thresholds(method="ofo", resampled=RESAMPLED), ["method", "grid", "best", "resampled"]
)


class TestFile(RecordFile):
    kind = ThresholdRecord
    content = CONTENT
    nan_at = ("grid", 0, "test", "macro_f")
    broken = (
        (["grid", 1, "test"], ...),
        (["grid", 1, "validation"], {}),
        (["best", "test", "macro_jaccard"], 50.0),
        (["best", "validation"], {"macro_f": -0.1}),
    )


class TestEstimates(RecordFile):
    kind = EstimatesRecord
    content = estimates()
    nan_at = ("min_probability",)
    broken = ((["parts", "val", "ms_per_instance"], ...),)


def test_grid_points_are_details():
    record = as_record(thresholds(f=0.5, chosen=10))
    ((name, best),) = record.numbers()
    assert (name, best["c"], best["macro_f"], best["validation_macro_f"]) == ("", 10, 50, 60)
    assert best["largest_c_validation_macro_f"] == pytest.approx(59.1)
    points = dict(record.details())
    assert list(points) == ["grid 0", "grid 1", "grid 2"]
    point = {"c": 2, "a": None, "b": None, "macro_f": 49}
    assert points["grid 0"] == point | {"validation_macro_f": pytest.approx(56)}
