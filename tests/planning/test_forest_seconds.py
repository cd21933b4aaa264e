"""Seconds of one tree."""

from xmlc.planning.forest_seconds import fastxml_seconds, ldsm_seconds


def test_a_level_goes_through_all_values_and_labels():
    one, two = (fastxml_seconds(n, 1000, 100, 10) for n in (10, 20))
    assert two == 2 * one == 2 * 1100 * fastxml_seconds(10, 1, 0, 10)


def test_every_pass_and_node_counts():
    few, more = (ldsm_seconds(1000, 10_000, 2000, 64, 2, epochs) for epochs in (1, 3))
    nodes = ldsm_seconds(1000, 0, 0, 64, 2, 1)
    assert abs((more - nodes) - 3 * (few - nodes)) < 1e-12
