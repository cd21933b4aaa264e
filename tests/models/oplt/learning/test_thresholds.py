"""Thresholds of labels, and the bounds of the nodes above."""

import numpy as np
import pytest
from oplt_cases import oplt, stream

from xmlc.models.oplt.learning.thresholds import count_sets, set_all_thresholds, set_threshold
from xmlc.models.oplt.tree import NONE


def test_the_bound_of_a_node_is_the_smallest_threshold_below_it():
    X, Y = stream(seed=10)
    model = oplt("random", 3, 5).partial_fit(X, Y)
    tree, rng = model._online, np.random.default_rng(0)
    set_all_thresholds(tree, np.float32(0.5))
    assert (tree.nodes["bound"] == np.float32(0.5)).all()
    for label in rng.choice(model.labels_, size=60):
        set_threshold(tree, label, np.float32(rng.random()))
        smallest = np.full(tree.nodes.size, np.inf, dtype=np.float32)
        for leaf in tree.leaves[tree.leaves != NONE]:
            node = leaf
            while node != NONE:
                smallest[node] = min(smallest[node], tree.nodes["bound"][leaf])
                node = tree.nodes["parent"][node]
        reached = np.isfinite(smallest)
        np.testing.assert_array_equal(tree.nodes["bound"][reached], smallest[reached])


@pytest.mark.parametrize("types", [(np.uint32, np.int32), (np.int64, np.int32)])
@pytest.mark.parametrize(
    ("labels", "predicted"), [([], []), ([2], []), ([], [1]), ([0, 3], [3, 1]), ([4, 1], [1, 4, 0])]
)
def test_sums_are_those_of_sets(labels, predicted, types):
    hits, sizes = np.arange(5, dtype=float), np.full(5, 7.0)
    count_sets(np.array(labels, types[0]), np.array(predicted, types[1]), hits, sizes)
    true, chosen = ([label in those for label in range(5)] for those in (labels, predicted))
    np.testing.assert_array_equal(hits, np.arange(5) + np.logical_and(true, chosen))
    np.testing.assert_array_equal(sizes, 7.0 + np.array(true, int) + np.array(chosen, int))
