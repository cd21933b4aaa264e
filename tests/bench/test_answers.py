"""Whether answers are the same bits, and how well they rank."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.bench.answers import differing, precisions


def test_bits_are_compared_not_values():
    zero, nan = np.zeros(2, dtype=np.float32), np.full(2, np.nan)
    assert differing({"a": zero, "b": nan}, {"a": zero.copy(), "b": nan.copy()}) == []
    assert differing({"a": zero}, {"a": -zero}) == ["a"]
    assert differing({"a": zero}, {"a": zero.astype(np.float64)}) == ["a"]
    assert differing({"a": zero}, {"a": zero[:1]}) == ["a"]
    assert differing({"a": zero}, {}) == ["a"]


def test_a_ranking_is_scored_at_1_3_and_5():
    Y = sparse.csr_array(np.array([[1, 0, 1, 0, 0, 1], [0, 1, 0, 0, 0, 0]], dtype=bool))
    labels = np.array([[0, 1, 2, 3, 5], [0, 1, 2, 3, 4]], dtype=np.int32)
    assert precisions(Y, labels) == pytest.approx([1 / 2, (2 + 1) / 6, (3 + 1) / 10])
