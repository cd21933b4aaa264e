"""Test that the benchmark of BR and PCC writes all its measures."""

import pytest
from small_data import prepare_tiny

from benchmarks import logistic as bench
from benchmarks.logistic import largest_difference
from xmlc.models import BinaryRelevance, ProbabilisticClassifierChain
from xmlc.suite.steps.prepared import Prepared

BASELINE = bench.BASELINE
TRAINING = bench.TRAINING


@pytest.mark.parametrize("kind", [BinaryRelevance, ProbabilisticClassifierChain])
def test_wrong_weight_increases_largest_difference(tmp_path, kind):
    (X, Y), (X_test, Y_test) = (
        Prepared(prepare_tiny(tmp_path)).part(part) for part in ("train", "test")
    )
    model = kind(C=1.0).fit(X, Y)
    assert largest_difference(model, X, Y, X_test, Y_test) < 1e-6
    model.constants_[3] += 0.01
    assert 1e-4 < largest_difference(model, X, Y, X_test, Y_test) < 0.0026
