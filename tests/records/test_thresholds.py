"""The records of tuned thresholds, and their frame."""

from record_cases import whole
from record_files import RecordFile
from report_cases import thresholds

from xmlc.records.thresholds import ThresholdRecord

CONTENT = whole(thresholds(method="ofo"), ["method", "grid", "best"])


class TestFile(RecordFile):
    kind, content, nan_at = ThresholdRecord, CONTENT, ["grid", 0, "test", "macro_f"]
    broken = (
        (["grid", 1, "test"], ...),
        (["grid", 1, "validation"], {}),
        (["best", "test", "macro_jaccard"], 50.0),
        (["best", "validation"], {"macro_f": -0.1}),
    )
