"""Seconds of one tree."""

import pytest

from xmlc.planning.forest_seconds import fastxml_seconds, ldsm_levels, ldsm_seconds


def test_a_level_goes_through_all_values_and_labels():
    one, two = (fastxml_seconds(n, 1000, 100, 10) for n in (10, 20))
    assert two == 2 * one == 2 * 1100 * fastxml_seconds(10, 1, 0, 10)


def test_every_pass_and_node_counts():
    few, more = (ldsm_seconds(1000, 10_000, 2000, 64, 2, epochs, True) for epochs in (1, 3))
    nodes = ldsm_seconds(1000, 0, 0, 64, 2, 1, True)
    assert abs((more - nodes) - 3 * (few - nodes)) < 1e-12


@pytest.mark.parametrize("arity", [2, 4])
def test_a_tree_has_its_nodes_and_each_level_a_few_instances_more(arity):
    levels = list(ldsm_levels(1000, 1 + arity * 40, arity, False))
    assert sum(level.nodes for level in levels) == 40
    members = [level.nodes * level.instances for level in levels[:-1]]
    assert members[0] == 1000
    assert members == sorted(members)
    assert members > [level.nodes * level.instances for level in ldsm_levels(1000, 1 + arity * 40, arity, True)][:-1]


def test_nodes_of_less_than_two_instances_are_not_parted():
    levels = list(ldsm_levels(16, 1e6, 2, True))
    assert 4 <= len(levels) <= 5
    assert levels[-1].instances >= 2
