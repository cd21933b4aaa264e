"""Test the comparison of BR and PCC with scikit-learn's solution."""

import pytest
from small_data import prepare_tiny

from benchmarks.logistic import largest_difference
from xmlc.models import BinaryRelevance, ProbabilisticClassifierChain
from xmlc.suite.steps.prepared import Prepared


@pytest.mark.parametrize("kind", [BinaryRelevance, ProbabilisticClassifierChain])
def test_wrong_weight_increases_largest_difference(tmp_path, kind):
    prepared = Prepared(prepare_tiny(tmp_path))
    data = (*prepared.part("train"), *prepared.part("test"))
    model = kind(C=1.0).fit(*data[:2])
    assert largest_difference(model, *data) < 1e-6
    model.constants_[3] += 0.01
    assert 1e-4 < largest_difference(model, *data) < 0.0026
