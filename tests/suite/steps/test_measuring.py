"""What steps measure: shapes of forests, predictions, streams."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.passport import WARM_UP_ROWS
from xmlc.models import LdSM
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.oracle import Oracle
from xmlc.suite.steps.streams import run_stream
from xmlc.suite.steps.sweeps import EXEMPLARY, objectives_by_level, rank_by_first_trees, shape_of_trees
from xmlc.suite.steps.timed import mean_of, predict_timed


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
        rank_by_first_trees(SimpleNamespace(), None, [1])


def test_objectives_are_summarised_level_by_level():
    reached = np.array([1, 2, 2]), np.array([[0.5, 0.1], [1.0, 0.2], [3.0, -0.2]])
    root, second = objectives_by_level(SimpleNamespace(objectives_=[reached]))
    assert (root.tree, root.level, root.nodes, root.mean) == (0, 1, 1, (0.5, 0.1))
    assert (second.level, second.nodes) == (2, 2)
    assert (second.minimum, second.mean, second.maximum) == ((1, -0.2), (2, 0), (3, 0.2))


X = sparse.csr_array((40, 3), dtype=np.float32)


class Counts(SparseProbabilityEstimator):
    """Tells how many rows it was asked for."""

    def __init__(self):
        self.asked = []


def test_a_few_rows_come_first_and_only_all_are_timed():
    model = Counts()
    rows, ms = predict_timed(model, X, lambda part: model.asked.append(part.shape[0]) or part.shape[0])
    assert (rows, model.asked) == (40, [WARM_UP_ROWS, 40])
    assert ms > 0


def test_an_oracle_is_asked_once_and_has_no_time():
    asked = []
    assert predict_timed(Oracle(), X, lambda part: asked.append(part.shape[0])) == (None, None)
    assert asked == [40]


def test_mean_inner_products_are_those_of_the_last_prediction():
    model = Counts()
    assert mean_of(model.inner_products_) is None
    model.inner_products_ = np.array([1, 2, 6])
    assert mean_of(model.inner_products_) == 3.0
    model.inner_products_ = np.empty(0, dtype=np.int64)
    assert mean_of(model.inner_products_) is None


class Ranks:
    """Says label 0 before each instance."""

    def unfitted(self):
        return Ranks()

    def progressive_top_k(self, X_STREAMS, Y, k=1):
        return np.zeros((X_STREAMS.shape[0], 1), dtype=np.int32), np.ones((X_STREAMS.shape[0], 1), dtype=np.float32)


X_STREAMS = sparse.csr_array((4, 2), dtype=np.float32)
SINGLE = sparse.csr_array(np.array([[1, 0], [1, 0], [0, 1], [1, 0]], dtype=bool))


def test_rows_are_what_was_right_so_far():
    rows, constant, _ = run_stream(Ranks(), X_STREAMS, SINGLE)
    assert [(row.instances, row.accuracy) for row in rows] == [(1, 1.0), (2, 1.0), (3, 2 / 3), (4, 0.75)]
    assert constant == 0.75
    assert rows[0].entropy_reduction == pytest.approx(np.log2(4 / 3))


def test_what_learns_no_stream_is_refused():
    with pytest.raises(XmlcError, match="object learns no stream"):
        run_stream(object(), X_STREAMS, SINGLE)
