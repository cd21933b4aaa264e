"""Test the record of a ranking, and its frame."""

from dataclasses import replace
from pathlib import Path

import pytest
from record_cases import whole
from record_files import RecordFile
from report_cases import ranking

from xmlc.suite.results.records.ranking import RankingRecord

SCORED = ranking(
    standard_errors={"p@1": 0.01}, certified=0.5, resampled={"p@1": [0.001, -0.002, 0.3], "ndcg@3": [0.0, 0.005, 0.0]}
)
CONTENT = whole(SCORED, ["metrics", "standard_errors", "certified", "resampled"])


class TestFile(RecordFile):
    kind, content, nan_at = RankingRecord, CONTENT, ["metrics", "p@1"]
    broken = (
        (["kind"], "thresholds"),
        (["schema"], 2),
        (["metrics", "ndcg@3"], ...),
        (["metrics", "p@1"], 75.0),
        (["costs", "train_seconds"], ...),
        (["seed"], "0"),
        (["resampled", "p@1"], ["0.5"]),
    )


def test_replicate_differs_only_in_its_measures():
    record = RankingRecord.of(Path("ranking.json"), SCORED)
    for number, apart in enumerate((0.001, -0.002, 1 - SCORED["metrics"]["p@1"])):  # a share is at most one
        found = record.replicate(number)
        assert found.metrics["p@1"] == pytest.approx(record.metrics["p@1"] + apart)
        assert found.metrics["p@5"] == record.metrics["p@5"]
        assert replace(found, metrics=record.metrics) == record
