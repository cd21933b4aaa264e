"""Test that the benchmark of PLTs writes all its measures."""

import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import plt as bench
from benchmarks.harness import PREDICTION, TRAINING, Data
from xmlc.models.plt import PLT

COMPARED = f"{PREDICTION}, compared"


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "AT_LEAST", 0.0)
    return prepare_tiny(tmp_path)


def stand_ins():
    """Return models of xmlc under the names of the baselines."""
    names = (bench.NAPKINXC_ADAGRAD, bench.NAPKINXC_LIBLINEAR, bench.OMIKUJI)
    return {name: PLT(tree="random", arity=2, n_jobs=1) for name in names}


def test_benchmark_compares_models_threads_and_searches(prepared, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "make_baselines", stand_ins)
    rows = run_benchmark(tmp_path, "plt", "--data", prepared, "--rounds", 2)

    def value(contender, task, measure, threads=1):
        return rows[contender, task, measure, threads]["value"]

    ours = value("PLT, batch", TRAINING, "time")
    theirs = value(bench.OMIKUJI, TRAINING, "time")
    pair = f"PLT, batch / {bench.OMIKUJI}"
    assert value(pair, f"{TRAINING}, compared", "time") == ours / theirs
    compared = {key[0] for key in rows if key[1] == COMPARED}
    for search in bench.SEARCHES:
        assert f"PLT, adagrad, {search} / {bench.NAPKINXC_ADAGRAD}" in compared
        assert f"PLT, batch, {search} / {bench.OMIKUJI_DENSE}" in compared
    for name in ("PLT, adagrad", "PLT, batch"):
        assert value(name, TRAINING, "speed-up", 2) > 0
        assert value(name, TRAINING, "same bits", 2) == 1
        assert value(f"{name}, exact", bench.SINGLE, "99th percentile") > 0
        share = value(f"{name}, beam 10", PREDICTION, bench.CERTIFIED)
        assert share == value(f"{name}, certified", PREDICTION, bench.CERTIFIED) > 0
        assert share <= value(f"{name}, beam 10", PREDICTION, bench.EXACT) <= 100
        assert value(f"{name}, certified", PREDICTION, bench.EXACT) == 100
        assert value(f"{name}, beam 10", PREDICTION, bench.OPENED) > 0


@pytest.mark.needs("baselines")
def test_baselines_train_and_rank(prepared):
    data = Data.read(prepared)
    for name, model in bench.make_baselines().items():
        assert model.fit(data.X, data.Y).predict_top_k(data.X, 5)[0].shape == (120, 5), name
