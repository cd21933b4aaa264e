"""Test the record of a forest, and its numbers."""

import math
from pathlib import Path

import pytest
from record_cases import environment, step
from record_files import RecordFile, as_record
from report_cases import forest

from xmlc.suite.results.records.forest import ForestRecord

CONTENT = {
    "kind": "forest",
    "schema": 1,
    "dataset": forest()["dataset"],
    "estimator": "ldsm",
    "model": "ldsm",
}
CONTENT |= {
    key: forest()[key]
    for key in (
        "hyperparameters",
        "seed",
        "split",
        "settings",
        "rows",
        "costs",
        "trees",
        "objectives",
    )
}
CONTENT |= {"environment": environment(), "step": step("forest")}
CONTENT["rows"] = [row | {"resampled": {"p@1": [0.007, -0.008]}} for row in CONTENT["rows"]]


class TestFile(RecordFile):
    kind = ForestRecord
    content = CONTENT
    nan_at = ("objectives", 0, "mean", 0)
    broken = (
        (["rows", 2, "metrics", "ndcg@5"], ...),
        (["trees", "nodes", 1], -1),
        (["objectives", 0, "mean"], ...),
    )


def test_numbers_are_of_all_trees_and_of_each_prefix():
    parts = dict(as_record(forest(objectives=[])).numbers())
    assert list(parts) == ["", "n_trees=1", "n_trees=2", "n_trees=3"]
    assert parts["n_trees=1"]["p@1"] == 100 * forest()["rows"][0]["metrics"]["p@1"]
    whole = parts[""]
    assert parts["n_trees=3"].items() <= whole.items()
    assert (whole["m"], whole["depth"], whole["arity"], whole["nodes"], whole["n_trees"]) == (
        14,
        7,
        2,
        13,
        3,
    )
    assert whole["log_m"] == pytest.approx(math.log2(14))
    assert whole["depth_ratio"] == pytest.approx(7 / math.log2(14))
    assert "depth" not in dict(as_record(forest(trees=None)).numbers())[""]


def test_objectives_of_the_last_epoch_are_numbers_and_the_others_are_details():
    record = as_record(forest())
    last = {name: part for name, part in record.numbers() if name.startswith("tree")}
    earlier = dict(record.details())
    assert [name.removesuffix(", epoch 2") for name in last] == [
        name.removesuffix(", epoch 1") for name in earlier
    ]
    found = last["tree 1, level 3, epoch 2"]
    assert (found["tree"], found["level"], found["level_nodes"], found["epoch"]) == (1, 3, 4, 2)
    assert [found[name] for name in ("minimum", "mean", "maximum")] == pytest.approx(
        [-1.1, -0.6, 0.4]
    )
    assert earlier["tree 1, level 3, epoch 1"]["mean"] == pytest.approx(-0.3)


def test_measures_on_resampled_test_sets_are_of_every_prefix():
    drawn = ForestRecord.of(Path("forest.json"), CONTENT).resampled_numbers()
    assert list(drawn) == ["n_trees=1", "n_trees=2", "n_trees=3", ""]
    for row in CONTENT["rows"]:
        expected = [100 * (row["metrics"]["p@1"] + apart) for apart in (0.007, -0.008)]
        assert drawn[f"n_trees={row['n_trees']}"]["p@1"].tolist() == pytest.approx(expected)
    assert drawn[""] is drawn["n_trees=3"]
