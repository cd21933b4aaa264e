"""Compact weights: only weights above the threshold remain."""

from contextlib import nullcontext

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from plt_cases import TREES, drop_small, nbytes, random_nodes, weights_of

from xmlc.core.errors import InvalidDataError, XmlcError
from xmlc.models.plt import compact as compacting
from xmlc.models.plt.compact import DenseBlocks, rows_are_smaller, sibling_type


@settings(max_examples=20)
@given(d=st.integers(0, 12), cut=st.sampled_from([0.0, 0.3, 1.0, 99.0]), **TREES)
def test_compact_nodes_keep_exactly_weights_above_threshold(m, arity, d, seed, cut):
    _, nodes = random_nodes(m, arity, d, seed)
    compact = drop_small(nodes, cut, 1)
    expected = {
        place: value for place, value in weights_of(nodes).items() if abs(value) > np.float32(cut)
    }
    assert weights_of(compact) == expected
    assert compact.weights.size == len(expected)
    # each feature has a weight
    assert compact.features.size == len({place[:2] for place in expected})
    np.testing.assert_array_equal(compact.bias, nodes.bias)
    degrees = np.concatenate(([1], np.diff(nodes.children)))
    assert rows_are_smaller(DenseBlocks(*nodes[2:6]), degrees, cut) == (
        nbytes(compact) < nbytes(nodes)
    )
    nodes.weights[:1] = np.nan  # NaN is kept, so the check finds it
    with pytest.raises(InvalidDataError) if nodes.weights.size else nullcontext():
        drop_small(nodes, cut, 1)


def test_compact_nodes_are_equal_for_any_threads_and_pieces(monkeypatch):
    _, nodes = random_nodes(60, 4, 20, 1)
    whole = drop_small(nodes, 0.2)
    monkeypatch.setattr(compacting, "WEIGHTS_PER_TASK", 50)
    for n_jobs in (1, 2):
        for one, other in zip(whole, drop_small(nodes, 0.2, n_jobs), strict=True):
            np.testing.assert_array_equal(one, other)


def test_sibling_numbers_use_smallest_sufficient_type():
    assert sibling_type(np.array([1, 1 << 16])) is np.uint16
    assert sibling_type(np.array([1, (1 << 16) + 1])) is np.uint32


def test_blocks_with_too_many_weights_are_refused(monkeypatch):
    monkeypatch.setattr(compacting, "LARGEST_BLOCK", 3)
    with raises_with(XmlcError, "36 weights", "3"):
        drop_small(random_nodes(3, 2, 40, 1)[1], 0.0)
