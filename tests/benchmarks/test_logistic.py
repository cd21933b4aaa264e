"""The benchmark of BR and PCC: it measures what it promises."""

import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import logistic as bench
from benchmarks.logistic import largest_difference
from xmlc.models import BinaryRelevance, ProbabilisticClassifierChain
from xmlc.suite.steps.prepared import Prepared

PEER, TRAINING = bench.PEER, bench.TRAINING


@pytest.mark.parametrize("estimator", ["br", "pcc"])
def test_everything_is_measured(tmp_path, estimator):
    data, name = prepare_tiny(tmp_path), estimator.upper()
    rows = run_benchmark(tmp_path, "logistic", "--data", data, "--estimator", estimator, "--rounds", 2)
    for contender, n in ((name, 1), (name, 2), (PEER, 1)):
        assert len(rows[contender, TRAINING, "time", n]["rounds"]) == 2
    ratio = rows[PEER, TRAINING, "time", 1]["value"] / rows[name, TRAINING, "time", 2]["value"]
    assert rows[name, TRAINING, f"{PEER}'s time / this", 2]["value"] == pytest.approx(ratio)
    decrement, difference = (row["value"] for (_, task, *_), row in rows.items() if task == bench.SOLUTION)
    assert decrement <= 1e-20
    assert 0 < difference < 1e-6
    assert rows[name, TRAINING, "same bits", 2]["value"] == 1


@pytest.mark.parametrize("kind", [BinaryRelevance, ProbabilisticClassifierChain])
def test_a_weight_that_is_off_shows(tmp_path, kind):
    (X, Y), (X_test, Y_test) = (Prepared(prepare_tiny(tmp_path)).part(part) for part in ("train", "test"))
    model = kind(C=1.0).fit(X, Y)
    assert largest_difference(model, X, Y, X_test, Y_test) < 1e-6
    model.constants_[3] += 0.01
    assert 1e-4 < largest_difference(model, X, Y, X_test, Y_test) < 0.0026
