"""Sizes of trees of forests."""

from planning_cases import LARGE, SMALL

from xmlc.planning.forests import fastxml_bytes, ldsm_bytes


def test_larger_sets_and_finer_leaves_need_more():
    assert fastxml_bytes(SMALL, 10, 100) < fastxml_bytes(LARGE, 10, 100)
    assert fastxml_bytes(SMALL, 100, 100) < fastxml_bytes(SMALL, 10, 100)
    assert ldsm_bytes(SMALL, 100, 2) < ldsm_bytes(SMALL, 1000, 2) < ldsm_bytes(LARGE, 1000, 2)


def test_a_tree_of_one_node_has_a_weight_for_each_feature_and_direction():
    one = ldsm_bytes(SMALL, 1, 4) - ldsm_bytes(SMALL, 0, 4)
    assert round(one) == 1836 * 4 * 5
