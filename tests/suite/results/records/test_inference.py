"""Test the record of inferred label sets, and its numbers."""

import pandas as pd
from record_cases import whole
from record_files import RecordFile, as_record
from report_cases import inference, inferred_from_estimates

from xmlc.suite.results.records.inference import InferenceRecord

SIZES = {"weights": [0.5, 0.25], "learn_seconds": 0.125}
OWN = (
    "method samples time_limit estimates sizes finished metrics expected_f truncation_loss "
    "resampled"
)
CONTENT = whole(
    inferred_from_estimates(sizes=SIZES, resampled={"instance_f": [0.03, -0.04]}), OWN.split()
)


class TestFile(RecordFile):
    kind = InferenceRecord
    content = CONTENT
    nan_at = ("expected_f",)
    broken = (
        (["finished"], 1),
        (["metrics", "instance_f"], 60.0),
        (["estimates", "min_probability"], ...),
    )


def test_numbers_are_in_percent_or_missing_after_a_timeout():
    records = [inference(method="h", f=0.5), inference(finished=False), inferred_from_estimates()]
    numbers = pd.DataFrame([row for record in records for _, row in as_record(record).numbers()])
    expected = {
        "instance_f": [50, -1, 60],
        "expected_f": [52, -1, 62],
        "note": [-1, "stopped after 60 s", -1],
        "min_probability": [-1, -1, 1e-4],
        "missed_per_instance": [-1, -1, 0.25],
        "draw_ms": [0.5, 0.5, -1],
        "estimate_ms": [-1, -1, 0.125],
    }
    assert numbers[[*expected]].astype(object).fillna(-1).to_dict("list") == expected
