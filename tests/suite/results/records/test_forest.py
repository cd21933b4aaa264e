"""Test the record of a forest, and its numbers."""

import math
from pathlib import Path

import pytest
from record_cases import environment, step
from record_files import RecordFile, as_record
from report_cases import forest

from xmlc.suite.results.records.forest import ForestRecord

CONTENT = {"kind": "forest", "schema": 1, "dataset": forest()["dataset"], "estimator": "ldsm", "model": "ldsm"}
CONTENT |= {
    key: forest()[key]
    for key in ("hyperparameters", "seed", "split", "settings", "rows", "costs", "trees", "objectives")
}
CONTENT |= {"environment": environment(), "step": step("forest")}
CONTENT["rows"] = [row | {"resampled": {"p@1": [0.007, -0.008]}} for row in CONTENT["rows"]]


class TestFile(RecordFile):
    kind, content, nan_at = ForestRecord, CONTENT, ["objectives", 0, "mean", 0]
    broken = ((["rows", 2, "metrics", "ndcg@5"], ...), (["trees", "nodes", 1], -1), (["objectives", 0, "mean"], ...))


def test_numbers_have_a_variant_per_forest_size_and_the_known_shape():
    variants = [variant for variant, _ in as_record(forest(trees=None)).numbers()]
    assert variants == [f"n_trees={n}" for n in (1, 2, 3)]
    (_, row), (_, first), *_ = as_record(forest()).numbers()
    assert first["p@1"] == 100 * forest()["rows"][0]["metrics"]["p@1"]
    assert row["m"] == 14
    assert (row["depth"], row["arity"], row["nodes"], row["n_trees"]) == (7, 2, 13, 3)
    assert row["log_m"] == pytest.approx(math.log2(14))
    assert row["depth_ratio"] == pytest.approx(7 / math.log2(14))


def test_replicate_has_resampled_measures_for_every_size():
    record = ForestRecord.of(Path("forest.json"), CONTENT)
    for row, drawn in zip(record.rows, record.replicate(1).rows, strict=True):
        assert drawn.metrics["p@1"] == pytest.approx(row.metrics["p@1"] - 0.008)
        assert drawn.metrics["p@3"] == row.metrics["p@3"]
