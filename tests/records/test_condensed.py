"""The record of condensed indexes, and its frame."""

import pytest
from record_cases import passport, step
from record_files import as_record, check_nan_refused, check_refused, check_round_trip
from report_cases import condensed

from xmlc.records.condensed import WHOLE, CondensedRecord, frame

CONTENT = {"kind": "condensed", "schema": 1, "dataset": condensed()["dataset"], "estimator": "swnn", "model": "swnn"}
CONTENT |= {key: condensed()[key] for key in ("hyperparameters", "seed", "portion", "rows", "costs")}
CONTENT |= {"passport": passport(), "step": step("condense")}


def test_what_is_read_is_written_again(tmp_path):
    check_round_trip(tmp_path, CondensedRecord, CONTENT)


@pytest.mark.parametrize(
    ("keys", "value", "place", "found"),
    [
        (["rows"], [], "$.rows", "length >= 1"),
        (["rows", 1, "metrics", "p@3"], ..., "$.rows[1].metrics", "'p@3' is a required property"),
        (["rows", 0, "index_bytes"], "much", "$.rows[0].index_bytes", "Expected"),
        (["costs"], {}, "$.costs", "'predict_threads' is a required property"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path, keys, value, place, found):
    check_refused(tmp_path, CondensedRecord, CONTENT, keys, value, place, found)


def test_nan_is_refused(tmp_path):
    check_nan_refused(tmp_path, CondensedRecord, CONTENT, ["rows", 0, "metrics", "p@1"])


def test_the_frame_has_a_row_for_each_similarity_and_shares_of_the_whole():
    found = frame([as_record(condensed(p1=0.8))])
    assert found["similarity"].tolist() == [WHOLE, "0.9", "0.5"]
    assert found["instances_share"].tolist() == found["index_share"].tolist() == [100, 50, 25]
    assert found["index_mb"].tolist() == [4, 2, 1]
    assert found["p@1"].tolist() == [80, 40, 20]
    assert found["predict_threads"].tolist() == [2, 2, 2]
