"""Test the records of tuned thresholds, and the file next to estimates."""

from record_cases import estimates, whole
from record_files import RecordFile
from report_cases import thresholds

from xmlc.suite.results.records.thresholds import EstimatesRecord, ThresholdRecord

RESAMPLED = {"macro_f": [0.0125, -0.25]}
CONTENT = whole(
    thresholds(method="ofo", resampled=RESAMPLED), ["method", "grid", "best", "resampled"]
)


class TestFile(RecordFile):
    kind = ThresholdRecord
    content = CONTENT
    broken = (
        (["grid", 1, "test"], ...),
        (["grid", 1, "validation"], {}),
        (["best", "test", "macro_jaccard"], 50.0),
        (["best", "validation"], {"macro_f": -0.1}),
    )


class TestEstimates(RecordFile):
    kind = EstimatesRecord
    content = estimates()
    broken = ((["parts", "val", "ms_per_instance"], ...),)
