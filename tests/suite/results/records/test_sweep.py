"""Test the record of a sweep."""

from record_cases import environment, step
from record_files import RecordFile, save
from report_cases import sweep

from xmlc.suite.results.records.sweep import SweepRecord

KEYS = "kind schema dataset estimator model hyperparameters seed split settings hyperparameter rows"
RECORD = sweep(estimator="ldsm", environment=environment(), step=step("sweep"))
CONTENT = {key: RECORD[key] for key in (*KEYS.split(), "costs", "environment", "step")}
EARLIER = CONTENT["rows"]
CONTENT["rows"] = [
    {"value": row["max_nodes"], **row, "predict_ms_per_instance": 0.5} for row in EARLIER
]
for row in CONTENT["rows"]:
    del row["max_nodes"]


class TestFile(RecordFile):
    kind = SweepRecord
    content = CONTENT
    broken = ((["rows", 1, "value"], ...), (["rows", 1], 7))


def test_value_can_have_the_name_of_its_hyperparameter(tmp_path):
    record = SweepRecord.read(save(tmp_path, CONTENT | {"rows": EARLIER}))
    assert [row.value for row in record.rows] == [16, 64, 256]
