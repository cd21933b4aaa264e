"""The record of a forest, and its frame."""

import math

import pytest
from record_cases import passport, step
from record_files import RecordFile, as_record
from report_cases import forest

from xmlc.records.forest import ForestRecord, frame

CONTENT = {"kind": "forest", "schema": 1, "dataset": forest()["dataset"], "estimator": "ldsm", "model": "ldsm"}
CONTENT |= {
    key: forest()[key] for key in ("hyperparameters", "seed", "portion", "rows", "costs", "trees", "objectives")
}
CONTENT |= {"passport": passport(), "step": step("forest")}


class TestFile(RecordFile):
    kind, content, nan_at = ForestRecord, CONTENT, ["objectives", 0, "mean", 0]
    broken = (
        (["rows", 2, "metrics", "ndcg@5"], ..., "$.rows[2].metrics", "'ndcg@5' is a required property"),
        (["trees", "nodes", 1], -1, "$.trees.nodes[1]", ">= 0"),
        (["objectives", 0, "mean"], ..., "$.objectives[0]", "'mean' is a required property"),
    )


def test_the_frame_has_a_row_for_each_forest_that_tells_its_shape():
    found = frame([as_record(forest(seed=seed, **shape)) for seed, shape in ((0, {}), (1, {"trees": None}))])
    (row,) = found.to_dict("records")
    assert (row["dataset"], row["model"], row["seed"], row["m"]) == ("yeast", "ldsm", 0, 14)
    assert (row["depth"], row["arity"], row["nodes"], row["n_trees"]) == (7, 2, 13, 3)
    assert row["log_m"] == pytest.approx(math.log2(14))
    assert row["depth_ratio"] == pytest.approx(7 / math.log2(14))
