"""The record of a ranking, and its frame."""

from record_cases import whole
from record_files import RecordFile
from report_cases import ranking

from xmlc.records.ranking import RankingRecord

CONTENT = whole(ranking(standard_errors={"p@1": 0.01}, certified=0.5), ["metrics", "standard_errors", "certified"])


class TestFile(RecordFile):
    kind, content, nan_at = RankingRecord, CONTENT, ["metrics", "p@1"]
    broken = (
        (["kind"], "thresholds", "$.kind", "'thresholds', expected ranking"),
        (["schema"], 2, "$.schema", "2, expected 1"),
        (["metrics", "ndcg@3"], ..., "$.metrics", "'ndcg@3' is a required property"),
        (["metrics", "p@1"], 75.0, "$.metrics.p@1", "75.0, expected a share"),
        (["costs", "train_seconds"], ..., "$.costs", "'train_seconds' is a required property"),
        (["seed"], "0", "$.seed", "Expected"),
    )
