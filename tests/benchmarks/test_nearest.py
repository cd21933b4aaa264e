"""The benchmark of nearest neighbours: it measures both settings, and ratios are to scaled times."""

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import elsewhere
from benchmarks import nearest as bench
from benchmarks.harness import PREDICTION, TRAINING, Task
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.nearest import SparseWeightedNearestNeighbors
from xmlc.suite.steps.prepared import Prepared

SMALL, LARGE = "SWNN, S 20, alpha 1, beta 1", "SWNN, S 75, alpha 2, beta 1"


@pytest.fixture(autouse=True)
def calibrated(monkeypatch):
    """Nothing is repeated, and the calibration needs no napkinXC."""
    task = Task("napkinXC", elsewhere.CALIBRATION, lambda: None)
    monkeypatch.setattr(bench, "AT_LEAST", 0.0)
    monkeypatch.setattr(elsewhere, "calibration_task", lambda X, Y: task)


def test_both_settings_are_measured(tmp_path):
    data = prepare_tiny(tmp_path, "delicious")
    rows = run_benchmark(tmp_path, "nearest", "--data", data, "--rounds", 2)
    (X, Y), (X_test, Y_test) = (Prepared(data).part(part) for part in ("train", "test"))
    for name, setting in bench.swnn_settings().items():
        model = SparseWeightedNearestNeighbors(n_jobs=1, **setting).fit(X, Y)
        labels, _ = model.predict_top_k(X_test, 5)
        for k in (1, 3, 5):
            assert rows[name, PREDICTION, f"P@{k}", 1]["value"] == 100 * precision_at_k(Y_test, labels, k)
        assert rows[name, PREDICTION, "similarities per instance", 1]["value"] == model.inner_products_.mean()
        assert len(rows[name, PREDICTION, "time", 2]["rounds"]) == 2
        assert rows[name, PREDICTION, "same bits", 2]["value"] == 1
    assert list(bench.swnn_settings()) == [SMALL, LARGE]
    kept = sum(array.nbytes for array in model._state()[0].values())
    assert rows[bench.INDEX, TRAINING, "index with the label sets", 1]["value"] == kept / 1e6
    scaled = 0.15 * rows["napkinXC", "calibration", "time", 1]["value"] / 10.6
    found = rows[f"{LARGE} / authors' Go program", f"{PREDICTION}, compared", "time", 1]["value"]
    assert found == pytest.approx(rows[LARGE, PREDICTION, "time", 1]["value"] / scaled)


def test_other_distances_and_frequent_labels(tmp_path, monkeypatch):
    data = prepare_tiny(tmp_path, "delicious")
    rows = run_benchmark(tmp_path, "preliminary", "--data", data, "--rounds", 1)
    (X, Y), (X_test, Y_test) = (Prepared(data).part(part) for part in ("train", "test"))
    # Of rows of unit length L2 orders as the cosine, whose votes are equal with alpha 0.
    for S in (20, 75):
        labels, _ = SparseWeightedNearestNeighbors(S=S, alpha=0, beta=0).fit(X, Y).predict_top_k(X_test, 5)
        for k in (1, 3, 5):
            found = rows[f"L2, rows of unit length, S {S}", PREDICTION, f"P@{k}", 1]["value"]
            assert found == pytest.approx(100 * precision_at_k(Y_test, labels, k))
    nearest = np.lexsort((np.arange(X.shape[0]), abs(X.toarray() - X_test.toarray()[0]).sum(axis=1)))
    found = bench._nearest(X.toarray(), X_test.toarray(), "cityblock")
    assert found[0].tolist() == nearest[:75].tolist()
    assert rows["one-versus-rest of 8 labels", PREDICTION, "time", 1]["value"] > 0
    monkeypatch.setattr(bench, "DENSE", 0)
    rows = run_benchmark(tmp_path, "preliminary", "--data", data, "--rounds", 1)
    assert {contender for contender, *_ in rows} == {"one-versus-rest of 8 labels"}
