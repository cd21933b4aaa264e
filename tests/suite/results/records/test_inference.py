"""Test the record of inferred label sets, and its numbers."""

from record_cases import whole
from record_files import RecordFile
from report_cases import inferred_from_estimates

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
    broken = (
        (["finished"], 1),
        (["metrics", "instance_f"], 60.0),
        (["estimates", "min_probability"], ...),
    )
