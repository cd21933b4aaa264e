"""Test the preliminary experiments with nearest neighbours: other distances, frequent labels."""

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import nearest as bench
from benchmarks.harness import PREDICTION
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.nearest import SparseWeightedNearestNeighbors
from xmlc.suite.steps.prepared import Prepared

FREQUENT = "one-versus-rest of 8 labels"


def test_other_distances_and_frequent_labels_are_measured(tmp_path, monkeypatch):
    data = prepare_tiny(tmp_path, "delicious")
    arguments = ("preliminary", "--data", data, "--rounds", 1)
    rows = run_benchmark(tmp_path, *arguments)
    X, Y = Prepared(data).part("train")
    X_test, Y_test = Prepared(data).part("test")
    # For rows of unit length, L2 and the cosine give the same order. With alpha 0, all votes are
    # equal.
    model = SparseWeightedNearestNeighbors(S=20, alpha=0, beta=0).fit(X, Y)
    labels, _ = model.predict_top_k(X_test, 5)
    for k in (1, 3, 5):
        found = rows["L2, rows of unit length, S 20", PREDICTION, f"P@{k}", 1]["value"]
        assert found == pytest.approx(100 * precision_at_k(Y_test, labels, k))
    distances = abs(X.toarray() - X_test.toarray()[0]).sum(axis=1)
    found = bench._nearest(X.toarray(), X_test.toarray(), "cityblock")
    np.testing.assert_array_equal(found[0], np.argsort(distances, kind="stable")[:75])
    assert rows[FREQUENT, PREDICTION, "time", 1]["value"] > 0
    monkeypatch.setattr(bench, "DENSE", 0)  # The dataset is too large for brute force.
    assert {contender for contender, *_ in run_benchmark(tmp_path, *arguments)} == {FREQUENT}
