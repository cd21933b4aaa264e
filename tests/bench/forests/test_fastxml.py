"""The benchmark of forests: what it prints is what it measured, and ratios are to the scaled program."""

from __future__ import annotations

import json

import pytest
from small_data import prepare_tiny

from xmlc.bench.calibration import calibration_of
from xmlc.bench.forests import fastxml as bench
from xmlc.bench.results import as_json
from xmlc.cli.tools.bench import command


@pytest.fixture
def prepared(tmp_path):
    return prepare_tiny(tmp_path, "delicious")


def test_ratios_are_to_the_program_scaled_by_the_calibration(prepared, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(bench, "calibration_work", lambda X, Y: lambda: asked.append(X.shape))
    monkeypatch.setattr(bench, "calibration_of", lambda name, seconds: calibration_of(name, 5.3))
    monkeypatch.setitem(bench.PROGRAM, "delicious", bench.ForestTimes(n_trees=4, train_seconds=19.3, predict_ms=0.427))
    out = tmp_path / "bench.json"
    command.main(["fastxml", "--data", str(prepared), "--out", str(out)], standalone_mode=False)
    result = json.loads(out.read_text())
    assert asked == [(120, 20)] * 2
    assert result["program"] == {"train_seconds": 19.3 / 2, "predict_ms": 0.427 / 2}
    assert result["train_ratio"] == pytest.approx(result["seconds"]["1"] / (19.3 / 2))
    assert result["speedup"] == pytest.approx(result["seconds"]["1"] / result["seconds"]["2"])
    printed = capsys.readouterr().out
    assert "delicious: 4 trees, rows of unit length" in printed
    assert "PLT on delicious: 5.30 s here, 10.6 s elsewhere, where the C++ program took 19.3 s" in printed


def test_without_a_known_program_there_is_no_ratio(prepared):
    result = bench.compare_with_program(prepared, n_trees=3, rounds=1)
    assert result.beside is None
    assert "train_ratio" not in as_json(result)
    assert set(result.seconds) == {1, 2}
