"""Test that each benchmark runs on a tiny dataset and writes the costs and scores of each
contender.
"""

import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import elsewhere, inference, ldsm, nearest
from benchmarks.expected_f import PART, WHOLE
from benchmarks.harness import Task
from benchmarks.out_of_fold import HELD_OUT, OUT_OF_FOLD, REFITTED

SMALL = {"n_trees": 2, "max_nodes": 7, "epochs": 2, "learning_rate": 0.1}
ONLINE = {"OPLT-R, xmlc", "OPLT-R, napkinXC", "OPLT-R, xmlc / OPLT-R, napkinXC"}
WITH_BASELINES = "oplt --variant OPLT-R --seeds 2 --epochs 2"
RUNS = {
    "defaults --estimator swnn --trials 2": {"swnn"},
    "expected-f --model swnn --seeds 2": {f"swnn, {PART}", f"swnn, {WHOLE}"},
    "fastxml --trees 10": {"FastXML, 10 trees", "authors' C++ program: FastXML, 10 trees"},
    "inference --samples 20 --rounds 2": set(inference.METHODS),
    "ldsm --rounds 1 --seeds 2 --rows unit": {"LdSM, 1 tree", "LdSM, 10 trees"},
    "logistic --estimator pcc --rounds 1": {"PCC"},
    "nearest --rounds 2": set(nearest.swnn_settings()),
    WITH_BASELINES: ONLINE,
    "out-of-fold --seeds 2": {HELD_OUT, REFITTED, OUT_OF_FOLD},
    "preliminary --rounds 1": {"one-versus-rest of 8 labels", "L2, rows of unit length, S 20"},
    "re-ranking --rounds 1": {ldsm.PLAIN, ldsm.RE_RANKED, f"{ldsm.RE_RANKED} / {ldsm.PLAIN}"},
    "requests --program PLT --program SWNN --requests 3": {"PLT", "SWNN"},
}


@pytest.fixture
def quick(monkeypatch):
    """Run each measurement once with small models, and calibrate without napkinXC."""
    task = Task("napkinXC", elsewhere.CALIBRATION, lambda: None)
    monkeypatch.setattr(elsewhere, "calibration_task", lambda X, Y: task)
    monkeypatch.setattr(ldsm, "RE_RANKING", ldsm.RE_RANKING | SMALL)
    for bench in (inference, nearest):
        monkeypatch.setattr(bench, "AT_LEAST", 0.0)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "run",
    [
        *(run for run in RUNS if run != WITH_BASELINES),
        pytest.param(WITH_BASELINES, marks=pytest.mark.needs("baselines")),
    ],
)
def test_each_contender_has_rows(run, tmp_path):
    name, *options = run.split()
    rows = run_benchmark(tmp_path, name, "--data", prepare_tiny(tmp_path, "delicious"), *options)
    assert {key[0] for key in rows} >= RUNS[run]
    for (_, _, measure, _), row in rows.items():
        if measure == "time":
            assert row["value"] >= 0
        if measure == "same bits":
            assert row["value"] == 1
