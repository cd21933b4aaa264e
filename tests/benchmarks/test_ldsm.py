"""Test that the benchmark of re-ranking compares the same trees of LdSM."""

import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import ldsm as bench
from benchmarks.harness import PREDICTION, ranking_task

SMALL = {"n_trees": 2, "max_nodes": 7, "epochs": 2, "learning_rate": 0.1}


def test_re_ranking_is_compared_on_same_trees(tmp_path, monkeypatch):
    models = []

    def noted_task(name, model, X):
        models.append(model)
        return ranking_task(name, model, X)

    monkeypatch.setattr(bench, "ranking_task", noted_task)
    monkeypatch.setattr(bench, "RE_RANKING", bench.RE_RANKING | SMALL)
    data = prepare_tiny(tmp_path, "delicious")
    rows = run_benchmark(tmp_path, "re-ranking", "--data", data, "--rounds", 1)
    plain, again = models
    assert plain.tail_ is None
    assert again.tail_ is not None
    assert plain.forest_ is again.forest_
    times = [rows[name, PREDICTION, "time", 1]["value"] for name in (bench.PLAIN, bench.RE_RANKED)]
    pair = f"{bench.RE_RANKED} / {bench.PLAIN}", f"{PREDICTION}, compared", "time", 1
    assert rows[pair]["value"] == pytest.approx(times[1] / times[0])
