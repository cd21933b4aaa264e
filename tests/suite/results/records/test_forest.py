"""Test the record of a forest, and its numbers."""

import math
from pathlib import Path

import pytest
from record_cases import environment, step
from record_files import RecordFile, as_record
from report_cases import forest

from xmlc.suite.results.records.forest import ForestRecord

KEYS = "kind schema dataset estimator model hyperparameters seed split settings rows costs trees"
RECORD = forest(estimator="ldsm", environment=environment(), step=step("forest"))
CONTENT = {key: RECORD[key] for key in (*KEYS.split(), "objectives", "environment", "step")}
for row in CONTENT["rows"]:
    row["resampled"] = {"p@1": [0.007, -0.008]}


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
    about = {"m": 14, "depth": 7, "arity": 2, "nodes": 13, "n_trees": 3}
    assert whole | parts["n_trees=3"] | about == whole
    assert whole["log_m"] == pytest.approx(math.log2(14))
    assert whole["depth_ratio"] == pytest.approx(7 / math.log2(14))
    assert "depth" not in dict(as_record(forest(trees=None)).numbers())[""]


def test_objectives_of_the_last_epoch_are_numbers_and_the_others_are_details():
    record = as_record(forest())
    last = {name: part for name, part in record.numbers() if name.startswith("tree")}
    earlier = dict(record.details())
    assert [name.replace("epoch 2", "epoch 1") for name in last] == list(earlier)
    place = {"tree": 1, "level": 3, "level_nodes": 4, "epoch": 2}
    values = {"minimum": -1.1, "mean": -0.6, "maximum": 0.4}
    assert last["tree 1, level 3, epoch 2"] == pytest.approx(place | values)
    assert earlier["tree 1, level 3, epoch 1"]["mean"] == pytest.approx(-0.3)


def test_measures_on_resampled_test_sets_are_of_every_prefix():
    drawn = ForestRecord.of(Path("forest.json"), CONTENT).resampled_numbers()
    assert list(drawn) == ["n_trees=1", "n_trees=2", "n_trees=3", ""]
    value = CONTENT["rows"][0]["metrics"]["p@1"]
    expected = [100 * (value + 0.007), 100 * (value - 0.008)]
    assert drawn["n_trees=1"]["p@1"].tolist() == pytest.approx(expected)
    assert drawn[""] is drawn["n_trees=3"]
