"""Test the benchmark of online label trees: least costs and mean P@k over shuffles, and ratios to
napkinXC.
"""

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks.harness import PREDICTION, TRAINING
from xmlc.metrics import precision_at_k
from xmlc.models.registry import make_estimator
from xmlc.suite.steps.prepared import Prepared


@pytest.mark.slow
@pytest.mark.needs("baselines")
def test_training_is_timed_and_precision_is_measured(tmp_path):
    prepared = prepare_tiny(tmp_path)
    chosen = ("--variant", "OPLT-R", "--variant", "IPLT", "--seeds", 2, "--epochs", 2)
    rows = run_benchmark(tmp_path, "oplt", "--data", prepared, *chosen)
    assert {key[0].partition(",")[0] for key in rows} == {"OPLT-R", "IPLT"}
    (X, Y), (X_test, Y_test) = (Prepared(prepared).part(part) for part in ("train", "test"))
    parameters = {"policy": "random", "arity": 2, "max_leaf": 100, "eps": 0.01, "epochs": 2}
    for program, estimator in (
        ("xmlc", "oplt"),
        ("napkinXC", "benchmarks/baselines/napkinxc_trees.py:NapkinXCOPLT"),
    ):
        models = [make_estimator(estimator, parameters, seed, 1).fit(X, Y) for seed in (0, 1)]
        found = [precision_at_k(Y_test, model.predict_top_k(X_test, 5)[0], 1) for model in models]
        assert rows[f"OPLT-R, {program}", PREDICTION, "P@1", 1]["value"] == pytest.approx(
            100 * np.mean(found)
        )
        time = rows[f"OPLT-R, {program}", TRAINING, "time", 1]
        assert time["value"] == min(time["rounds"]) > 0
    assert ("IPLT, xmlc / IPLT, napkinXC", f"{TRAINING}, compared", "time", 1) in rows
