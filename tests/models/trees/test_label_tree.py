"""Label trees: shape, order, thresholds of inner nodes."""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given
from hypothesis import strategies as st
from plt_twin import ancestors

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
    assert (inner[:-1] == arity).all()  # only the last inner node may have fewer children
    assert inner.size == 0 or 2 <= inner[-1] <= arity
    assert np.ptp(tree.depth[degree == 0]) <= 1
    assert (tree.label[tree.leaf] == np.arange(m)).all()
    assert (tree.parent[0], tree.depth[0]) == (-1, 0)
    assert (tree.parent[1:] == np.repeat(np.arange(tree.n_nodes), degree)).all()
    assert (tree.depth[1:] == tree.depth[tree.parent[1:]] + 1).all()


@given(TREES)
def test_nodes_have_smallest_threshold_and_largest_weight_below(shape):
    m, arity, seed = shape
    tree = random_complete_tree(m, arity, seed)
    rng = np.random.default_rng(seed)
    thresholds = rng.random(m, dtype=np.float32)
    weights = rng.choice([0.0, 0.0, 0.0, 1.0, 1e38, 1e-300, rng.random()], m)
    below = [[] for _ in range(tree.n_nodes)]
    for label, leaf in enumerate(tree.leaf):
        for node in ancestors(tree, leaf):
            below[node].append(label)
    smallest = [thresholds[labels].min() for labels in below]
    assert tree.node_thresholds(thresholds).tolist() == smallest
    largest = [weights[labels].max() or np.nan for labels in below]
    np.testing.assert_array_equal(tree.largest_below(weights), largest)


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
