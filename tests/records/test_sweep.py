"""The record of a sweep, whose rows have the value under the name of the hyperparameter."""

from record_cases import passport, step
from record_files import RecordFile, check_round_trip
from report_cases import sweep

from xmlc.records.sweep import SweepRecord, frame

CONTENT = {"kind": "sweep", "schema": 1, "dataset": sweep()["dataset"], "estimator": "ldsm", "model": "ldsm"}
CONTENT |= {key: sweep()[key] for key in ("seed", "portion", "hyperparameters", "hyperparameter")}
CONTENT |= {"rows": [row | {"predict_ms_per_instance": 0.5} for row in sweep()["rows"]], "costs": {"threads": 2}}
CONTENT |= {"passport": passport(), "step": step("sweep")}


class TestFile(RecordFile):
    kind, content, nan_at = SweepRecord, CONTENT, ["rows", 0, "train_seconds"]
    broken = (
        (["rows", 1, "max_nodes"], ..., "$.rows[1]", "'max_nodes' is a required property"),
        (["hyperparameter"], "arity", "$.rows[0]", "'arity' is a required property"),
        (["rows", 1], 7, "$.rows[1]", "Expected"),
    )


def test_a_row_has_its_value(tmp_path):
    record = check_round_trip(tmp_path, SweepRecord, CONTENT)
    assert [row.value for row in record.rows] == [16, 64, 256]
    assert record.hyperparameter == "max_nodes"


def test_a_frame_has_a_row_for_each_value(tmp_path):
    record = check_round_trip(tmp_path, SweepRecord, CONTENT)
    rows = frame([record, record])
    assert rows["max_nodes"].tolist() == 2 * [16, 64, 256]
    assert rows[["dataset", "model", "seed"]].drop_duplicates().to_numpy().tolist() == [["yeast", "ldsm", 0]]
    assert rows["p@1"].tolist() == [100 * row.metrics["p@1"] for row in 2 * record.rows]
    assert rows["depth"].tolist()[:3] == [3, 5, 7]
    assert (rows["train_seconds"].tolist()[0], rows["predict_ms"].tolist()[0]) == (1.5, 0.5)
