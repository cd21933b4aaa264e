"""Test the record of a ranking, and its frame."""

from pathlib import Path

import pytest
from record_cases import whole
from record_files import RecordFile
from report_cases import ranking

from xmlc.suite.results.records.ranking import RankingRecord

SCORED = ranking(
    standard_errors={"p@1": 0.01},
    certified=0.5,
    resampled={"p@1": [0.001, -0.002, 0.3], "ndcg@3": [0.0, 0.005, 0.0]},
)
CONTENT = whole(SCORED, ["metrics", "standard_errors", "certified", "resampled"])


class TestFile(RecordFile):
    kind = RankingRecord
    content = CONTENT
    broken = (
        (["kind"], "thresholds"),
        (["schema"], 2),
        (["metrics", "ndcg@3"], ...),
        (["metrics", "p@1"], 75.0),
        (["costs", "train_seconds"], ...),
        (["seed"], "0"),
        (["resampled", "p@1"], ["0.5"]),
    )


def test_shares_on_resampled_test_sets_are_at_most_one():
    drawn = RankingRecord.of(Path("ranking.json"), SCORED).resampled_numbers()[""]
    assert {*drawn} == {"p@1", "ndcg@3"}
    assert drawn["p@1"].tolist() == pytest.approx([75.1, 74.8, 100])
