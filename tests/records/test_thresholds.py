"""The records of tuned thresholds, and their frame."""

from record_cases import whole
from record_files import RecordFile
from report_cases import thresholds

from xmlc.records.thresholds import ThresholdRecord

CONTENT = whole(thresholds(method="ofo"), ["method", "grid", "best"])


class TestFile(RecordFile):
    kind, content, nan_at = ThresholdRecord, CONTENT, ["grid", 0, "test", "macro_f"]
    broken = (
        (["grid", 1, "test"], ..., "$.grid[1]", "'test' is a required property"),
        (["grid", 1, "validation"], {}, "$.grid[1].validation", "'macro_f' is a required property"),
        (["best", "test", "macro_jaccard"], 50.0, "$.best.test.macro_jaccard", "50.0, expected a share"),
        (["best", "validation"], {"macro_f": -0.1}, "$.best.validation.macro_f", "share"),
    )
