"""The benchmark of LdSM: ratios are to the scaled program, precision is the mean over seeds, and claims are judged."""

import json

import numpy as np
import pytest
from small_data import prepare_tiny

from xmlc.bench.calibration import calibration_of
from xmlc.bench.forests import ldsm as bench
from xmlc.bench.forests.ldsm_tables import to_text
from xmlc.cli.tools.bench import command
from xmlc.data.prepared import Prepared
from xmlc.metrics import precision_at_k
from xmlc.models.ldsm import LdSM


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(bench, "SETTING", {"max_nodes": 7, "epochs": 2, "unit_norm": True})
    monkeypatch.setattr(bench, "SIZES", (1, 3))


def test_ratios_and_precision_beside_the_program(tmp_path, monkeypatch, capsys, few):
    prepared, out = prepare_tiny(tmp_path, "delicious"), tmp_path / "bench.json"
    monkeypatch.setattr(bench, "calibration_work", lambda X, Y: lambda: None)
    monkeypatch.setattr(bench, "calibration_of", lambda name, seconds: calibration_of(name, 5.3))
    program = {1: bench.ProgramRun(1e4, 0.025, (0.0, 0.0, 0.0)), 3: bench.ProgramRun(1e-9, 0.31, (100.0,))}
    monkeypatch.setitem(bench.PROGRAM, "delicious", program)
    asked = ["ldsm", "--data", str(prepared), "--rounds", "1", "--seeds", "2", "--out", str(out)]
    command.main(asked, standalone_mode=False)
    result = json.loads(out.read_text())
    assert [(run["n_trees"], run["threads"]) for run in result["runs"]] == [(1, 1), (3, 1), (3, 2)]
    one, three, _ = result["runs"]
    assert one["train_ratio"] == pytest.approx(one["train_seconds"] / (1e4 / 2))
    assert three["difference"] == pytest.approx([three["p@k"][0] - 100])
    (X, Y), (X_test, Y_test) = (Prepared(prepared).part(part) for part in ("train", "test"))
    models = [LdSM(n_trees=1, random_state=seed, **bench.SETTING).fit(X, Y) for seed in (0, 1)]
    found = [precision_at_k(Y_test, model.predict_top_k(X_test, 5)[0], 1) for model in models]
    assert one["p@k"][0] == pytest.approx(100 * np.mean(found))
    lines = capsys.readouterr().out.splitlines()
    (claims,) = [lines[place:] for place, line in enumerate(lines) if "reached" in line]
    reached = {cells[1]: cells[-2] for cells in ([c.strip() for c in line.split("|")] for line in claims[2:])}
    assert reached["training, 1 tree"] == reached["P@k, 1 tree, above the program"] == "yes"
    assert reached["training, 3 trees"] == reached["P@k, 3 trees, above the program"] == "no"


def test_without_a_known_program_nothing_is_claimed(tmp_path, few):
    result = bench.compare_ldsm(prepare_tiny(tmp_path), rounds=1, seeds=1)
    assert result.calibration is None
    text = to_text(result)
    assert "xmlc, 3 trees, 2 threads" in text
    assert "C++" not in text
    assert "reached" not in text
