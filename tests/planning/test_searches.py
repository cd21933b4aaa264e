"""What a search of a label tree visits, and its seconds."""

import pytest
from planning_cases import LARGE, SMALL, larger

from xmlc.planning.label_trees import complete_blocks
from xmlc.planning.searches import (
    above_floor,
    all_nodes,
    best_first_seconds,
    hashed_tree_seconds,
    in_beam,
    label_tree_seconds,
    neighbours_seconds,
    ranked,
)

TREE = list(complete_blocks(LARGE.m, 16))


def test_all_nodes_are_those_of_the_tree():
    assert all_nodes(complete_blocks(26296, 125)).children == pytest.approx(26296 + 211, abs=125)


def test_a_search_visits_from_the_paths_of_its_labels_to_all_nodes():
    few, fewest, some, every = in_beam(TREE, 5), ranked(TREE, "exact"), ranked(TREE, "certified"), all_nodes(TREE)
    assert few.opened == 1 + 4 * 5
    assert few < fewest < some < every
    assert in_beam(TREE, 1e9) == every


def test_a_lower_threshold_opens_more():
    found = [above_floor(LARGE, TREE, floor) for floor in (0.5, 0.01, 1e-4, 0.0)]
    assert found == sorted(found)
    assert found[0].opened >= len(TREE)  # a path
    assert found[-1] == all_nodes(TREE)


@pytest.mark.parametrize("seconds", [label_tree_seconds, best_first_seconds, hashed_tree_seconds])
def test_seconds_grow_with_instances_and_visits(seconds):
    more = {label_tree_seconds: (1e6, False), hashed_tree_seconds: (2.0,)}.get(seconds, ())
    few, many = in_beam(TREE, 5), all_nodes(TREE)
    assert seconds(LARGE, 2e4, few, *more) == pytest.approx(2 * seconds(LARGE, 1e4, few, *more))
    assert seconds(LARGE, 1e4, few, *more) < seconds(LARGE, 1e4, many, *more)


def test_every_batch_reads_the_nodes_again():
    visits = in_beam(TREE, 5)
    one, two = (label_tree_seconds(LARGE, n, visits, 1e9, False) for n in (8192.0, 16384.0))
    assert two == pytest.approx(2 * one)
    assert label_tree_seconds(LARGE, 10.0, visits, 1e9, False) > label_tree_seconds(LARGE, 10.0, visits, 0.0, False)


def test_neighbours_are_searched_among_all_instances():
    assert neighbours_seconds(SMALL, 100.0, 25.0) < neighbours_seconds(larger(SMALL, "n_train"), 100.0, 25.0)
    assert neighbours_seconds(SMALL, 100.0, 25.0) < neighbours_seconds(SMALL, 100.0, 75.0)
