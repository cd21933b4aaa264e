"""Test the record of a forest, and its numbers."""

from pathlib import Path

import pytest
from record_cases import environment, step
from record_files import RecordFile
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
    broken = (
        (["rows", 2, "metrics", "ndcg@5"], ...),
        (["trees", "nodes", 1], -1),
        (["objectives", 0, "mean"], ...),
    )


def test_measures_on_resampled_test_sets_are_of_every_prefix():
    drawn = ForestRecord.of(Path("forest.json"), CONTENT).resampled_numbers()
    assert list(drawn) == ["n_trees=1", "n_trees=2", "n_trees=3", ""]
    value = CONTENT["rows"][0]["metrics"]["p@1"]
    expected = [100 * (value + 0.007), 100 * (value - 0.008)]
    assert drawn["n_trees=1"]["p@1"].tolist() == pytest.approx(expected)
    assert drawn[""] is drawn["n_trees=3"]
