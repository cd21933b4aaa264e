"""The records of tuned thresholds, and the files beside estimates and thresholds."""

from record_cases import estimates, tuned, whole
from record_files import RecordFile
from report_cases import thresholds

from xmlc.records.thresholds import Estimates, ThresholdRecord, TunedThresholds

CONTENT = whole(thresholds(method="ofo"), ["method", "grid", "best"])


class TestFile(RecordFile):
    kind, content, nan_at = ThresholdRecord, CONTENT, ["grid", 0, "test", "macro_f"]
    broken = (
        (["grid", 1, "test"], ...),
        (["grid", 1, "validation"], {}),
        (["best", "test", "macro_jaccard"], 50.0),
        (["best", "validation"], {"macro_f": -0.1}),
    )


class TestEstimates(RecordFile):
    kind, content, nan_at = Estimates, estimates(), ["floor"]
    broken = ((["parts", "val", "instances"], ..., "$.parts[...]", "'instances' is a required property"),)


class TestTunedThresholds(RecordFile):
    kind, content, nan_at = TunedThresholds, tuned(), ["tune_seconds"]
    broken = ((["grid", 0, "c"], "2", "$.grid[0].c", "Expected"),)
