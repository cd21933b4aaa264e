"""Label trees: shape, order, thresholds of inner nodes."""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.models.trees import LabelTree, complete_tree, random_complete_tree

TREES = st.tuples(st.integers(1, 80), st.integers(2, 20), st.integers(0, 5))


@given(TREES)
def test_random_complete_tree_is_complete(shape):
    m, arity, seed = shape
    tree = random_complete_tree(m, arity, seed)
    degree = np.diff(tree.children)
    inner = degree[degree > 0]
    assert tree.n_labels == m
    assert sorted(tree.label[degree == 0].tolist()) == list(range(m))
    assert (inner[:-1] == arity).all()  # only the last inner node may have fewer children
    assert inner.size == 0 or 2 <= inner[-1] <= arity
    leaf_depths = tree.depth[degree == 0]
    assert leaf_depths.max() - leaf_depths.min() <= 1
    assert (tree.label[tree.leaf] == np.arange(m)).all()


@given(TREES)
def test_nodes_have_smallest_threshold_and_largest_weight_below(shape):
    m, arity, seed = shape
    tree = random_complete_tree(m, arity, seed)
    rng = np.random.default_rng(seed)
    thresholds = rng.random(m, dtype=np.float32)
    weights = rng.choice([0.0, 0.0, 0.0, 1.0, 1e38, 1e-300, rng.random()], m)

    def best(of, values, node):
        if tree.label[node] >= 0:
            return values[tree.label[node]]
        return of(
            best(of, values, child) for child in range(tree.children[node], tree.children[node + 1])
        )

    assert tree.node_thresholds(thresholds).tolist() == [
        best(min, thresholds, node) for node in range(tree.n_nodes)
    ]
    largest = [best(max, weights, node) or np.nan for node in range(tree.n_nodes)]
    np.testing.assert_array_equal(tree.largest_below(weights), largest)


def test_parent_and_depth_agree_with_children():
    tree = random_complete_tree(37, 3, seed=1)
    for node in range(tree.n_nodes):
        for child in range(tree.children[node], tree.children[node + 1]):
            assert tree.parent[child] == node
            assert tree.depth[child] == tree.depth[node] + 1
    assert tree.parent[0] == -1
    assert tree.depth[0] == 0


@pytest.mark.parametrize(
    ("children", "label"),
    [
        ([1, 3, 3], [-1, 0]),  # a child that does not exist
        ([1, 3, 3, 3], [-1, 0, 0]),  # a duplicate label
        ([1, 3, 3, 3], [0, 1, 2]),  # an inner node with a label
        ([0, 2, 3, 3], [-1, 0, 1]),  # the root is its own child
    ],
)
def test_arrays_of_invalid_trees_are_refused(children, label):
    with pytest.raises(XmlcError):
        LabelTree.from_children(np.array(children), np.array(label))


def test_trees_refuse_arity_1_and_no_labels():
    with raises_with(XmlcError, "arity=1"):
        random_complete_tree(5, 1, seed=0)
    with pytest.raises(XmlcError):
        complete_tree(np.array([], dtype=np.int32), 2)
