"""The columns and labels of a node for the solver, compared with plain implementations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.kernels.csr import kernel_csr
from xmlc.models.fastxml._node import gather_columns, labels_of_leaf, new_workspace, number_labels

SMALL = settings(max_examples=40)


@SMALL
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.05, 0.3, 1.0]))
def test_gathered_columns_are_columns_that_can_get_a_weight(seed, scale):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((12, 9), density=0.5, rng=rng, dtype=np.float32, format="csr")
    X.data *= rng.choice([-scale, scale], X.nnz).astype(np.float32)
    node = np.sort(rng.choice(12, 7, replace=False)).astype(np.uint32)
    side = rng.choice([-1, 1], 7).astype(np.int8)
    work = new_workspace(12, 0, 9, X.nnz)
    p = gather_columns(kernel_csr(X), node, side, (np.float32(2.5), np.float32(1.5)), work)
    arrays = (work.values, work.rows, work.starts[: p + 1])
    columns = sparse.csc_array(arrays, shape=(7, p)).toarray()
    dense = np.hstack([X.toarray()[node], np.ones((7, 1))])
    pull = dense * np.where(side > 0, 2.5, -1.5)[:, None]
    up = np.maximum(pull, 0).sum(axis=0)
    down = np.maximum(-pull, 0).sum(axis=0)
    matters = np.maximum(up, down) > 1
    matters[9] = True
    assert sorted(work.features[:p]) == np.flatnonzero(matters).tolist()
    assert np.array_equal(columns, dense[:, work.features[:p]])
    assert not work.feature_counts.any()
    assert not work.bounds.any()


def test_labels_of_a_node_are_renumbered():
    Y = np.array([[0, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1]], dtype=bool)
    scratch = np.zeros(4, dtype=np.uint32)
    node = np.array([3, 1, 0], dtype=np.uint32)
    starts, labels, found = number_labels(kernel_csr(sparse.csr_array(Y)), node, scratch)
    assert found.tolist() == [0, 1, 3]
    assert starts.tolist() == [0, 2, 2, 4]
    assert labels.tolist() == [0, 2, 1, 2]
    assert not scratch.any()


@pytest.mark.parametrize("choices", [[1], [0.5, 1, 2]])
@pytest.mark.parametrize("most", [1, 7, 29, 30])
def test_leaf_keeps_labels_with_largest_weighted_counts(most, choices):
    rng = np.random.default_rng(most)
    Y = sparse.csr_array(rng.random((12, 30)) < 0.4)
    weights = rng.choice(choices, 30).astype(np.float32)
    times = Y.sum(axis=0)
    scratch = np.zeros(30, dtype=np.uint32)
    node = np.arange(12, dtype=np.uint32)
    labels, counts = labels_of_leaf(kernel_csr(Y), node, weights, scratch, most)
    best = np.argsort(-weights * times, kind="stable")[:most]  # the smaller label wins ties
    assert labels.tolist() == sorted(best)
    assert counts.tolist() == times[labels].tolist()
