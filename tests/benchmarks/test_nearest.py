"""Test the benchmark of nearest neighbours: it measures both settings, and divides by scaled
times.
"""

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import elsewhere
from benchmarks import nearest as bench
from benchmarks.harness import PREDICTION, Task
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.nearest import SparseWeightedNearestNeighbors
from xmlc.suite.steps.prepared import Prepared

SMALL = "SWNN, S 20, alpha 1, beta 1"
LARGE = "SWNN, S 75, alpha 2, beta 1"


@pytest.fixture(autouse=True)
def calibrated(monkeypatch):
    """Run each measurement once, and calibrate without napkinXC."""
    task = Task("napkinXC", elsewhere.CALIBRATION, lambda: None)
    monkeypatch.setattr(bench, "AT_LEAST", 0.0)
    monkeypatch.setattr(elsewhere, "calibration_task", lambda X, Y: task)


def test_other_distances_and_frequent_labels_are_measured(tmp_path, monkeypatch):
    data = prepare_tiny(tmp_path, "delicious")
    rows = run_benchmark(tmp_path, "preliminary", "--data", data, "--rounds", 1)
    (X, Y), (X_test, Y_test) = (Prepared(data).part(part) for part in ("train", "test"))
    # For rows of unit length, L2 and the cosine give the same order. With alpha 0, all votes are
    # equal.
    for S in (20, 75):
        labels, _ = (
            SparseWeightedNearestNeighbors(S=S, alpha=0, beta=0).fit(X, Y).predict_top_k(X_test, 5)
        )
        for k in (1, 3, 5):
            found = rows[f"L2, rows of unit length, S {S}", PREDICTION, f"P@{k}", 1]["value"]
            assert found == pytest.approx(100 * precision_at_k(Y_test, labels, k))
    nearest = np.lexsort(
        (np.arange(X.shape[0]), abs(X.toarray() - X_test.toarray()[0]).sum(axis=1))
    )
    found = bench._nearest(X.toarray(), X_test.toarray(), "cityblock")
    assert found[0].tolist() == nearest[:75].tolist()
    assert rows["one-versus-rest of 8 labels", PREDICTION, "time", 1]["value"] > 0
    monkeypatch.setattr(bench, "DENSE", 0)
    rows = run_benchmark(tmp_path, "preliminary", "--data", data, "--rounds", 1)
    assert {contender for contender, *_ in rows} == {"one-versus-rest of 8 labels"}
