"""Test that the benchmark of PLTs writes all its measures."""

from __future__ import annotations

import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import plt as bench
from benchmarks.harness import PREDICTION, TRAINING, Data
from xmlc.models.plt import PLT


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "AT_LEAST", 0.0)
    return prepare_tiny(tmp_path)


def stand_ins():
    """Return models of xmlc under the names of the baselines."""
    found = {}
    for names in bench.BASELINES_OF.values():
        for name in names:
            found[name] = PLT(tree="random", arity=2, n_jobs=1)
    return found


def test_benchmark_measures_every_model_and_search(prepared, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "make_baselines", stand_ins)
    rows = run_benchmark(tmp_path, "plt", "--data", prepared, "--rounds", 2)
    trained = {key: row for key, row in rows.items() if key[1:3] == (TRAINING, "time")}
    ranked = {key: row for key, row in rows.items() if key[1:3] == (PREDICTION, "time")}
    assert len(trained) == 2 * 2 + 3
    assert len(ranked) == 2 * 2 * len(bench.SEARCHES) + 3 + 1
    assert {len(row["rounds"]) for row in [*trained.values(), *ranked.values()]} == {2}
    pair = "PLT, batch / omikuji, one tree", f"{TRAINING}, compared", "time", 1
    times = [rows[name, TRAINING, "time", 1]["value"] for name in pair[0].split(" / ")]
    assert rows[pair]["value"] == times[0] / times[1]
    compared = [key for key in rows if key[1] == f"{PREDICTION}, compared" and key[2] == "time"]
    assert len(compared) == len(bench.SEARCHES) * (1 + 3)
    for solver in ("adagrad", "batch"):
        name = bench.name_of(solver)
        own = [rows[name, TRAINING, "time", n]["value"] for n in (1, 2)]
        assert rows[name, TRAINING, "speed-up", 2]["value"] == own[0] / own[1]
        assert rows[name, TRAINING, "same bits", 2]["value"] == 1
        median, high = (
            rows[f"{name}, exact", bench.SINGLE, m, 1]["value"]
            for m in ("median", "99th percentile")
        )
        assert 0 < median <= high
        shares = [
            rows[f"{name}, {search}", PREDICTION, bench.CERTIFIED, 1]["value"]
            for search in ("certified", "beam 10")
        ]
        assert shares[0] == shares[1] > 0  # Both searches have the same beam.
        exact = {
            search: rows[f"{name}, {search}", PREDICTION, bench.EXACT, 1]["value"]
            for search in bench.SEARCHES
        }
        assert exact["exact"] == exact["certified"] == 100 >= exact["beam 10"] >= shares[1]
        assert rows[f"{name}, beam 10", PREDICTION, bench.OPENED, 1]["value"] > 0
    assert f"| {rows[pair]['value']:.4f} |" in " ".join(capsys.readouterr().out.split())


@pytest.mark.needs("baselines")
def test_baselines_train_and_rank(prepared):
    data = Data.read(prepared)
    for name, model in bench.make_baselines().items():
        assert model.fit(data.X, data.Y).predict_top_k(data.X, 5)[0].shape == (120, 5), name
