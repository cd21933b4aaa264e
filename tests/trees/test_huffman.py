"""Huffman trees against brute force and against Kraft's equality."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.errors import XmlcError
from xmlc.trees import huffman_tree

ARITIES = st.integers(2, 5)


def cost(tree, frequencies):
    return sum(frequencies * tree.depth[tree.leaf])


def cheapest(frequencies, arity):
    """The smallest cost over all trees, by splitting every set of labels in every way."""

    @cache
    def tree_cost(labels):
        if len(labels) == 1:
            return 0
        return sum(frequencies[label] for label in labels) + forest_cost(labels, arity, len(labels) - 1)

    @cache
    def forest_cost(labels, n_trees, largest):
        # The tree with the first label is chosen, and the others go to at most n_trees - 1 more.
        if not labels:
            return 0
        if n_trees == 0:
            return np.inf
        rest = labels[1:]
        best = np.inf
        for size in range(min(len(rest), largest - 1) + 1):
            for others in combinations(rest, size):
                left = tuple(label for label in rest if label not in others)
                best = min(best, tree_cost((labels[0], *others)) + forest_cost(left, n_trees - 1, largest))
        return best

    return tree_cost(tuple(range(len(frequencies))))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), ARITIES)
def test_no_tree_is_cheaper(frequencies, arity):
    assert cost(huffman_tree(np.array(frequencies), arity), frequencies) == cheapest(frequencies, arity)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=90), ARITIES)
def test_padded_tree_fulfils_krafts_equality(frequencies, arity):
    tree = huffman_tree(np.array(frequencies), arity)
    degree = np.diff(tree.children)
    inner = degree[degree > 0]
    assert tree.n_labels == len(frequencies)
    assert (inner < arity).sum() <= 1
    assert inner.min() >= 2
    # The children that padding would add stand beside those of the one narrow node, on the deepest level.
    scale = arity ** int(tree.depth.max())
    total = sum(scale // arity ** int(depth) for depth in tree.depth[tree.leaf])
    assert total + (arity - inner.min()) == scale
    # A more frequent label is never deeper.
    depths = tree.depth[tree.leaf][np.argsort(frequencies, kind="stable")]
    by_frequency = np.sort(frequencies)
    assert all(a >= b for a, b, f, g in zip(depths, depths[1:], by_frequency, by_frequency[1:]) if f < g)


def test_equal_frequencies_make_a_shallow_tree():
    assert huffman_tree(np.zeros(1024), 2).depth.max() == 10
    assert huffman_tree(np.zeros(125), 5).depth.max() == 3


def test_ties_go_to_the_smaller_label():
    tree = huffman_tree(np.array([1, 1, 1, 5]), 2)
    assert tree.leaf[0] < tree.leaf[1]
    assert tree.depth[tree.leaf].tolist() == [3, 3, 2, 1]


@pytest.mark.parametrize(
    ("frequencies", "arity", "message"),
    [([1, 2], 1, "at least 2 children"), ([], 2, "at least one label"), ([1, -1], 2, "not negative")],
)
def test_arguments_are_checked(frequencies, arity, message):
    with pytest.raises(XmlcError, match=message):
        huffman_tree(np.array(frequencies), arity)
