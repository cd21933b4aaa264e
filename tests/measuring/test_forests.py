"""What is told of a forest's trees."""

from types import SimpleNamespace

import numpy as np
import pytest

from xmlc.errors import XmlcError
from xmlc.measuring.forests import EXEMPLARY, objectives_by_level, rank_by_first_trees, shape_of_trees
from xmlc.models import LdSM


def forest():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 6))
    return LdSM(n_trees=3, max_nodes=7, prune=False, lambda_1=0.1, n_jobs=1).fit(X, X > 0.3)


def test_the_shape_is_that_of_each_tree():
    model = forest()
    shapes = shape_of_trees(model)
    assert (shapes.depths, shapes.nodes) == (tuple(model.tree_depths_), tuple(model.n_nodes_))
    assert len(shapes.depths) == 3


def test_objectives_are_those_of_the_first_trees():
    found = objectives_by_level(forest())
    assert {row.tree for row in found} == set(range(EXEMPLARY))
    assert all(row.minimum <= row.maximum for row in found)


def test_what_tells_nothing_has_nothing():
    assert shape_of_trees(SimpleNamespace()) is None
    assert objectives_by_level(SimpleNamespace()) == ()
    with pytest.raises(XmlcError, match="SimpleNamespace is no forest: it cannot predict with its first trees alone"):
        rank_by_first_trees(SimpleNamespace(), None, None, [1])


def test_objectives_are_summarised_level_by_level():
    reached = np.array([1, 2, 2]), np.array([[0.5, 0.1], [1.0, 0.2], [3.0, -0.2]])
    root, second = objectives_by_level(SimpleNamespace(objectives_=[reached]))
    assert (root.tree, root.level, root.nodes, root.mean) == (0, 1, 1, (0.5, 0.1))
    assert (second.level, second.nodes) == (2, 2)
    assert (second.minimum, second.mean, second.maximum) == ((1, -0.2), (2, 0), (3, 0.2))
