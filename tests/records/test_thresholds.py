"""The records of tuned thresholds, and the files beside estimates and thresholds."""

from record_cases import estimates, tuned, whole
from record_files import RecordFile
from report_cases import thresholds

from xmlc.records.thresholds import Estimates, ThresholdRecord, TunedThresholds

CONTENT = whole(thresholds(method="ofo"), ["method", "grid", "best"])


class TestFile(RecordFile):
    kind, content, nan_at = ThresholdRecord, CONTENT, ["grid", 0, "test", "macro_f"]
    broken = (
        (["grid", 1, "test"], ..., "$.grid[1]", "'test' is a required property"),
        (["grid", 1, "validation"], {}, "$.grid[1].validation", "'macro_f' is a required property"),
        (["best", "test", "macro_jaccard"], 50.0, "$.best.test.macro_jaccard", "50.0, expected a share"),
        (["best", "validation"], {"macro_f": -0.1}, "$.best.validation.macro_f", "share"),
    )


class TestEstimates(RecordFile):
    kind, content, nan_at = Estimates, estimates(), ["floor"]
    broken = ((["parts", "val", "instances"], ..., "$.parts[...]", "'instances' is a required property"),)


class TestTunedThresholds(RecordFile):
    kind, content, nan_at = TunedThresholds, tuned(), ["tune_seconds"]
    broken = ((["grid", 0, "c"], "2", "$.grid[0].c", "Expected"),)
