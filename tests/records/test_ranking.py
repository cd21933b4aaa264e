"""The record of a ranking, and its frame."""

import pytest
from record_cases import whole
from record_files import check_nan_refused, check_refused, check_round_trip
from report_cases import ranking

from xmlc.records.ranking import RankingRecord

CONTENT = whole(ranking(), ["metrics"])


def test_what_is_read_is_written_again(tmp_path):
    check_round_trip(tmp_path, RankingRecord, CONTENT)


@pytest.mark.parametrize(
    ("keys", "value", "place", "found"),
    [
        (["kind"], "thresholds", "$.kind", "'thresholds', expected ranking"),
        (["schema"], 2, "$.schema", "2, expected 1"),
        (["metrics", "ndcg@3"], ..., "$.metrics", "'ndcg@3' is a required property"),
        (["metrics", "p@1"], 75.0, "$.metrics.p@1", "75.0, expected a share"),
        (["costs", "train_seconds"], ..., "$.costs", "'train_seconds' is a required property"),
        (["seed"], "0", "$.seed", "Expected"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path, keys, value, place, found):
    check_refused(tmp_path, RankingRecord, CONTENT, keys, value, place, found)


def test_nan_is_refused(tmp_path):
    check_nan_refused(tmp_path, RankingRecord, CONTENT, ["metrics", "p@1"])
