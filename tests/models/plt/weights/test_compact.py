"""Compact weights of the PLT hold what the dense ones hold above the cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plt_cases import TREES, random_nodes, weights_of

from xmlc.errors import XmlcError
from xmlc.models.plt.weights._compact import empty_blocks
from xmlc.models.plt.weights._kept import count_kept, fill_kept


@settings(deadline=None, max_examples=20)
@given(d=st.integers(0, 12), cut=st.sampled_from([0.0, 0.3, 1.0, 99.0]), **TREES)
def test_what_is_kept_is_what_exceeds_the_cut(m, arity, d, seed, cut):
    _, nodes = random_nodes(m, arity, d, seed)
    compact = nodes.drop(cut, n_jobs=1)
    expected = {place: value for place, value in weights_of(nodes).items() if abs(value) > np.float32(cut)}
    assert weights_of(compact) == expected
    assert compact.weights.size == len(expected)
    assert compact.features.size == len({place[:2] for place in expected})  # no feature without a weight
    np.testing.assert_array_equal(compact.bias, nodes.bias)


def test_blocks_made_compact_in_any_shares_are_the_same(monkeypatch):
    from xmlc.models.plt.weights import _compact

    _, nodes = random_nodes(60, 4, 20, 1)
    whole = nodes.drop(0.2)
    monkeypatch.setattr(_compact, "WEIGHTS_PER_PIECE", 50)
    for n_jobs in (1, 2):
        for one, other in zip(whole, nodes.drop(0.2, n_jobs)):
            np.testing.assert_array_equal(one, other)


def test_a_block_alone_is_numbered_from_zero():
    """As in training, where a thread holds a few blocks and nothing else."""
    weights = np.array([[0.5, 0.0], [0.1, -0.1], [0.0, -2.0]], dtype=np.float32).ravel()
    features, starts = np.array([3, 5, 8], dtype=np.uint32), np.array([0, 3])
    dense, cut = (weights, np.array([0, 6]), np.array([2])), np.float32(0.1)
    rows, entries = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    blocks = np.zeros(1, dtype=np.int64)
    count_kept(*dense, blocks, cut, rows, entries)
    assert (rows[0], entries[0]) == (2, 2)
    out = np.zeros(2, np.uint32), np.array([0, 2]), np.zeros(3, np.uint32), np.zeros(2, np.uint16), np.zeros(2, "f4")
    fill_kept(features, starts, *dense, blocks, cut, np.array([0, 2]), *out)
    assert [array.tolist() for array in out] == [[3, 8], [0, 2], [0, 1, 2], [0, 1], [0.5, -2.0]]


def test_siblings_are_numbered_by_what_they_need():
    none = np.zeros(3, dtype=np.int64)
    assert empty_blocks(none, none, 1 << 16).siblings.dtype == np.uint16
    assert empty_blocks(none, none, (1 << 16) + 1).siblings.dtype == np.uint32
    with pytest.raises(XmlcError, match="keep 4294967296 weights"):
        empty_blocks(none, np.array([0, 1 << 32, 0]), 2)


@pytest.mark.parametrize("cut", [-0.1, float("nan")])
def test_a_cut_that_is_none_is_refused(cut):
    _, nodes = random_nodes(5, 2, 3, 0)
    with pytest.raises(XmlcError, match="expected a number of at least 0"):
        nodes.drop(cut)
