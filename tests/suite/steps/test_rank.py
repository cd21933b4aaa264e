"""Test that rankings are stored, and that a measure is computed from the stored ranking."""

import numpy as np
from command_line import run
from small_data import prepare_tiny, train

from xmlc.metrics.ranking import K, ndcg_at_k, precision_at_k
from xmlc.models.plt import PLT
from xmlc.suite.results.records.ranking import RankedRecord, RankingRecord
from xmlc.suite.steps.prepared import Prepared


def test_ranking_is_stored_and_scored_without_the_model(tmp_path, capsys):
    data = prepare_tiny(tmp_path)
    about = train(tmp_path, data, "plt", epochs=1)
    folder = tmp_path / "ranking"
    record = tmp_path / "ranking.json"
    score = ("score", "--data", data, "--ranking", folder, "--out", record)
    assert run("rank", *about, "--out", folder) == 0
    X, Y = Prepared(data).part("test")
    expected, _ = PLT.load(tmp_path / "model").predict_top_k(X, RankedRecord.DEPTH)
    file = folder / RankedRecord.LABELS
    labels = np.load(file)
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(labels, expected)
    assert run(*score) == 0
    first = record.read_bytes()
    scored = RankingRecord.read(record)
    ranked = RankedRecord.read(folder / RankedRecord.FILE)
    for k in K:
        assert scored.metrics[f"p@{k}"] == precision_at_k(Y, expected, k)
        assert scored.metrics[f"ndcg@{k}"] == ndcg_at_k(Y, expected, k)
    for name in ("dataset", "hyperparameters", "costs", "certified", "environment", "step"):
        assert getattr(scored, name) == getattr(ranked, name), name
    assert scored.settings == ranked.settings | {"propensity": "0.55 1.5"}
    assert run(*score) == 0
    assert record.read_bytes() == first
    file.write_bytes(b"")
    assert run(*score) == 1
    assert str(file) in capsys.readouterr().err


def test_stored_rankings_are_deep_enough_for_all_measures():
    assert RankedRecord.DEPTH >= max(K)
