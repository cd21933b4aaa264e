"""Sizes of trees of forests."""

from planning_cases import LARGE, SMALL

from xmlc.planning.forests import fastxml_bytes, fastxml_search, ldsm_bytes, ldsm_search


def test_larger_sets_and_finer_leaves_need_more():
    assert fastxml_bytes(SMALL, 10, 100) < fastxml_bytes(LARGE, 10, 100)
    assert fastxml_bytes(SMALL, 100, 100) < fastxml_bytes(SMALL, 10, 100)
    assert ldsm_bytes(SMALL, 100, 2, True) < ldsm_bytes(SMALL, 1000, 2, True) < ldsm_bytes(LARGE, 1000, 2, True)
    assert ldsm_bytes(SMALL, 1000, 2, True) < ldsm_bytes(SMALL, 1000, 2, False)


def test_a_tree_of_one_inner_node_has_a_weight_for_each_feature_and_direction():
    one = ldsm_bytes(SMALL, 5, 4, False) - ldsm_bytes(SMALL, 1, 4, False)
    assert round(one) == 1836 * 4 * 5


def test_an_instance_passes_more_nodes_of_larger_trees():
    assert fastxml_search(SMALL, 10, 5) < fastxml_search(SMALL, 10, 100) < fastxml_search(LARGE, 10, 100)
    assert ldsm_search(SMALL, 1, 2, True) == ldsm_search(SMALL, 1, 2, False) > 0
    assert ldsm_search(SMALL, 1000, 2, True) < ldsm_search(SMALL, 1000, 2, False)
