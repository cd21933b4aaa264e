"""The record of condensed indexes, and its frame."""

from record_cases import passport, step
from record_files import RecordFile, as_record
from report_cases import condensed

from xmlc.records.condensed import WHOLE, CondensedRecord, frame

CONTENT = {"kind": "condensed", "schema": 1, "dataset": condensed()["dataset"], "estimator": "swnn", "model": "swnn"}
CONTENT |= {key: condensed()[key] for key in ("hyperparameters", "seed", "portion", "rows", "costs")}
CONTENT |= {"passport": passport(), "step": step("condense")}


class TestFile(RecordFile):
    kind, content, nan_at = CondensedRecord, CONTENT, ["rows", 0, "metrics", "p@1"]
    broken = (
        (["rows", 1, "metrics", "p@3"], ..., "$.rows[1].metrics", "'p@3' is a required property"),
        (["rows", 0, "index_bytes"], "much", "$.rows[0].index_bytes", "Expected"),
    )


def test_the_frame_has_a_row_for_each_similarity_and_shares_of_the_whole():
    found = frame([as_record(condensed(p1=0.8))])
    assert found["similarity"].tolist() == [WHOLE, "0.9", "0.5"]
    assert found["instances_share"].tolist() == found["index_share"].tolist() == [100, 50, 25]
    assert found["index_mb"].tolist() == [4, 2, 1]
    assert found["p@1"].tolist() == [80, 40, 20]
    assert found["predict_threads"].tolist() == [2, 2, 2]
