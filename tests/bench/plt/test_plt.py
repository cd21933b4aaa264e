"""The benchmark of PLTs: it measures everything it promises, and what it prints is what it measured."""

from __future__ import annotations

import json

import numpy as np
import pytest
from small_data import prepare_tiny

from xmlc.bench.plt import comparison as bench
from xmlc.bench.plt import contenders, limits
from xmlc.bench.plt import tables as plt_tables
from xmlc.bench.plt.threads import SpeedUp, speed_up
from xmlc.bench.results import Data
from xmlc.cli.tools.bench import command
from xmlc.models.plt import PLT


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "DRAM_BYTES", 1 << 18)
    monkeypatch.setattr(bench, "AT_LEAST", 0.0)
    return prepare_tiny(tmp_path)


def stand_ins():
    """Models of ours under the names of the peers."""
    return {name: PLT(arity=2, n_jobs=1) for names in contenders.PEERS_OF.values() for name in names}


def test_everything_is_measured_and_printed(prepared, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "make_peers", stand_ins)
    out = tmp_path / "bench.json"
    command.main(["plt", "--data", str(prepared), "--rounds", "2", "--json", str(out)], standalone_mode=False)
    result = json.loads(out.read_text())
    assert result["shape"] == [120, 20, 8]
    assert result["settings"]["batch"] == contenders.BATCH[contenders.LIKE]
    assert {len(measured["seconds"]) for measured in result["training"].values()} == {2}
    assert len(result["training"]) == 2 * 2 + 3
    assert len(result["prediction"]) == 2 * 2 * 2 + 3 + 1
    best = {name: min(measured["seconds"]) for name, measured in result["training"].items()}
    pair = "PLT, batch, 1 thread / omikuji, one tree"
    assert result["ratios"]["training"][pair] == best["PLT, batch, 1 thread"] / best["omikuji, one tree"]
    assert len(result["ratios"]["training"]) == 3
    assert len(result["ratios"]["prediction"]) == 2 * 1 + 2 * 3
    speed_up = best["PLT, adagrad, 1 thread"] / best["PLT, adagrad, 2 threads"]
    assert result["threads_of"]["adagrad"]["training"] == speed_up
    for solver in ("adagrad", "batch"):
        assert result["threads_of"][solver]["differing_arrays"] == []
        assert 0 < result["latency"][solver]["exact"]["median_ms"] <= result["latency"][solver]["exact"]["p99_ms"]
        assert result["cost"][solver]["pairs"] > 0
    printed = capsys.readouterr().out
    assert f"{result['ratios']['training'][pair]:.4f} |" in printed
    ratios = {(what, name) for what, pairs in result["ratios"].items() for name in pairs}
    assert all(ratios >= goals.keys() for goals in plt_tables.GOALS.values())
    assert f"{speed_up:.2f} |" in printed
    assert printed.count("yes |") == 2
    assert "half a gigabyte" in printed


def test_without_peers_there_are_no_ratios(prepared, capsys):
    command.main(["plt", "--data", str(prepared), "--no-peers", "--rounds", "1"], standalone_mode=False)
    printed = capsys.readouterr().out
    assert "omikuji" not in printed
    assert "Ratios" not in printed
    assert "**Speed-up of 2 threads**" in printed


@pytest.mark.needs("peers")
def test_the_peers_themselves(prepared):
    data = Data.read(prepared)
    for name, model in contenders.make_peers().items():
        contenders.fit(model, data)()
        assert model.predict_top_k(data.X, 5)[0].shape == (120, 5), name
    assert bench._conversion(data)["train_seconds"] > 0


def test_settings_of_known_datasets_are_settings_of_plts():
    for settings in (contenders.ADAGRAD, *contenders.BATCH.values()):
        PLT(**settings)._check_hyperparameters()


def test_a_planted_difference_between_threads_is_reported(multilabel):
    X, Y = multilabel(60, 10, 6)
    one, two = (PLT(solver="adagrad", epochs=1).fit(X, Y) for _ in range(2))
    ours = {("adagrad", 1): one, ("adagrad", 2): two}
    names = [contenders.name_of("adagrad", n, search) for n in (1, 2) for search in contenders.SEARCHES]
    seconds = {contenders.name_of("adagrad", n): 1.0 / n for n in (1, 2)}
    ms = dict.fromkeys(names, 1.0)
    answers = {name: one.predict_top_k(X, 5) for name in names}

    def compared():
        return speed_up("adagrad", 2, ours, seconds, ms, answers)

    assert compared() == SpeedUp(2.0, [], {"exact": 1.0, "beam 10": 1.0})
    two.nodes_.weights[3] = np.nextafter(two.nodes_.weights[3], np.float32(9))
    labels, scores = answers[names[2]]
    answers[names[2]] = labels, np.nextafter(scores, np.float32(9))
    assert compared().differing_arrays == ["weights", "scores, exact"]
