"""Blocks of siblings beside those of trees that are built."""

import numpy as np
import pytest
from planning_cases import LARGE, SMALL

from xmlc.planning.label_trees import clustered_blocks, complete_blocks, tree_costs
from xmlc.trees import complete_tree


@pytest.mark.parametrize(("m", "arity"), [(5, 16), (16, 16), (159, 4), (1000, 7), (26296, 125)])
def test_a_complete_tree_has_these_nodes(m, arity):
    tree = complete_tree(np.arange(m), arity)
    degrees = np.diff(tree.children)
    blocks = list(complete_blocks(m, arity))
    assert sum(block.number for block in blocks) == pytest.approx((degrees > 0).sum(), abs=1)
    assert sum(block.number * block.siblings for block in blocks) == pytest.approx(degrees.sum(), abs=arity)


def test_a_clustered_tree_ends_in_nodes_of_few_labels():
    blocks = list(clustered_blocks(1000.0, 2, 100))
    assert [block.number for block in blocks] == [1, 2, 4, 8, 16]
    assert blocks[-1].siblings == blocks[-1].labels == 1000 / 16


def test_costs_of_one_block_are_those_of_all_instances_and_features():
    costs = tree_costs(SMALL, complete_blocks(159, 256))
    assert costs.dense_bytes == pytest.approx(1836 * 4 * 160, rel=1e-6)
    assert costs.pairs == pytest.approx(SMALL.values * 159)
    assert costs.reached == pytest.approx(4880 * 159)


def test_more_labels_cost_more():
    small, large = (tree_costs(shape, complete_blocks(shape.m, 16)) for shape in (SMALL, LARGE))
    assert all(a < b for a, b in zip(small, large))
    assert large.compact_bytes < large.dense_bytes
