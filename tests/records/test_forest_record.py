"""The record of a forest, and its frame."""

import pytest
from record_cases import passport, step
from record_files import check_nan_refused, check_refused, check_round_trip
from report_cases import forest

from xmlc.records.forest import ForestRecord

CONTENT = {"kind": "forest", "schema": 1, "dataset": forest()["dataset"], "estimator": "ldsm", "model": "ldsm"}
CONTENT |= {
    key: forest()[key] for key in ("hyperparameters", "seed", "portion", "rows", "costs", "trees", "objectives")
}
CONTENT |= {"passport": passport(), "step": step("forest")}


def test_what_is_read_is_written_again(tmp_path):
    check_round_trip(tmp_path, ForestRecord, CONTENT)


@pytest.mark.parametrize(
    ("keys", "value", "place", "found"),
    [
        (["rows"], [], "$.rows", "length >= 1"),
        (["rows", 2, "metrics", "ndcg@5"], ..., "$.rows[2].metrics", "'ndcg@5' is a required property"),
        (["trees", "depths"], [], "$.trees.depths", "length >= 1"),
        (["trees", "nodes", 1], -1, "$.trees.nodes[1]", ">= 0"),
        (["objectives", 0, "mean"], ..., "$.objectives[0]", "'mean' is a required property"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path, keys, value, place, found):
    check_refused(tmp_path, ForestRecord, CONTENT, keys, value, place, found)


def test_nan_is_refused(tmp_path):
    check_nan_refused(tmp_path, ForestRecord, CONTENT, ["objectives", 0, "mean", 0])
