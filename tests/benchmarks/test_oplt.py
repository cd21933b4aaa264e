"""Test the benchmark of online label trees: least times and mean P@k over shuffles."""

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks.harness import PREDICTION, TRAINING
from xmlc.metrics import precision_at_k
from xmlc.models.registry import make_estimator
from xmlc.suite.steps.prepared import Prepared

ESTIMATORS = {"xmlc": "oplt", "napkinXC": "benchmarks/baselines/napkinxc_trees.py:NapkinXCOPLT"}


@pytest.mark.slow
@pytest.mark.needs("baselines")
def test_training_is_timed_and_precision_is_measured(tmp_path):
    prepared = prepare_tiny(tmp_path)
    chosen = ("--variant", "OPLT-R", "--variant", "IPLT", "--seeds", 2, "--epochs", 2)
    rows = run_benchmark(tmp_path, "oplt", "--data", prepared, *chosen)
    (X, Y), (X_test, Y_test) = (Prepared(prepared).part(part) for part in ("train", "test"))
    parameters = {"policy": "random", "arity": 2, "max_leaf": 100, "eps": 0.01, "epochs": 2}
    for program, estimator in ESTIMATORS.items():
        found = []
        for seed in (0, 1):
            model = make_estimator(estimator, parameters, seed, 1).fit(X, Y)
            found.append(100 * precision_at_k(Y_test, model.predict_top_k(X_test, 5)[0], 1))
        name = f"OPLT-R, {program}"
        assert rows[name, PREDICTION, "P@1", 1]["value"] == pytest.approx(np.mean(found))
        time = rows[name, TRAINING, "time", 1]
        assert time["value"] == min(time["rounds"]) > 0
    assert ("IPLT, xmlc / IPLT, napkinXC", f"{TRAINING}, compared", "time", 1) in rows
