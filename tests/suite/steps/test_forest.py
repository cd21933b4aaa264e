"""Test `xmlc forest` and `xmlc sweep`: each row equals a forest of that size or value."""

from types import SimpleNamespace

import numpy as np
import pytest
from command_line import run
from small_data import prepare_tiny, train

from xmlc.core.errors import XmlcError
from xmlc.metrics import precision_and_ndcg
from xmlc.models import LdSM
from xmlc.models.fastxml import FastXML
from xmlc.suite.results.records.forest import ForestRecord
from xmlc.suite.results.records.sweep import SweepRecord
from xmlc.suite.steps.forest import (
    EXEMPLARY,
    objectives_by_level,
    rank_by_first_trees,
    shape_of_trees,
)
from xmlc.suite.steps.prepared import Prepared


@pytest.fixture
def trained(tmp_path):
    """Train a small forest.

    Return the options and the folder of the forest, and a function that scores models of the same
    data.
    """
    _, data, *_, record = train(tmp_path, prepare_tiny(tmp_path), "fastxml", n_trees=4)
    common = ("--data", data, "--training", record, "--out", tmp_path / "out.json")
    X_test, Y_test = Prepared(data).part("test")

    def score(**parameters):
        model = FastXML(**parameters).fit(*Prepared(data).part("train"))
        return precision_and_ndcg(Y_test, model.predict_top_k(X_test, 5)[0])

    return common, tmp_path, score


def test_each_row_equals_a_smaller_forest(trained):
    common, folder, score = trained
    sizes = ("--trees", 3, "--trees", 1, "--trees", 9)
    assert run("forest", *common, "--model", folder / "model", *sizes) == 0
    record = ForestRecord.read(folder / "out.json")
    assert [row.n_trees for row in record.rows] == [1, 3, 4]
    for row in record.rows:
        assert row.metrics == score(n_trees=row.n_trees)
    assert record.trees is None
    assert record.objectives == ()


def test_each_row_of_a_sweep_equals_a_forest_with_its_value(trained):
    common, folder, score = trained
    before = sorted(folder.iterdir())
    swept = ("--hyperparameter", "max_leaf", "--value", 5, "--value", 60)
    assert run("sweep", *common, *swept, "--parameters", '{"n_trees": 2}') == 0
    record = SweepRecord.read(folder / "out.json")
    assert [row.value for row in record.rows] == [5, 60]
    for row in record.rows:
        assert row.metrics == score(n_trees=2, max_leaf=row.value)
        assert row.depth is row.nodes is None
    assert record.rows[0].metrics != record.rows[1].metrics
    assert record.hyperparameters["n_trees"] == 2
    # No model is left.
    assert sorted(folder.iterdir()) == sorted([*before, folder / "out.json"])


def test_record_has_shape_of_each_tree_and_objectives_of_the_first():
    X = np.random.default_rng(2).standard_normal((60, 6))
    model = LdSM(n_trees=3, max_nodes=7, prune=False, lambda_1=0.1, n_jobs=1).fit(X, X > 0.3)
    shapes = shape_of_trees(model)
    assert shapes.depths == tuple(model.tree_depths_)
    assert shapes.nodes == tuple(model.n_nodes_)
    assert len(shapes.depths) == 3
    objectives = objectives_by_level(model)
    assert {row.tree for row in objectives} == set(range(EXEMPLARY))
    assert all(row.minimum <= row.maximum for row in objectives)


def test_estimator_without_trees_has_no_shape_and_is_refused_as_forest():
    assert shape_of_trees(SimpleNamespace()) is None
    assert objectives_by_level(SimpleNamespace()) == ()
    with pytest.raises(XmlcError):
        rank_by_first_trees(SimpleNamespace(), None, [1])


def test_objectives_are_summarized_by_level():
    reached = np.array([1, 2, 2]), np.array([[0.5, 0.1], [1.0, 0.2], [3.0, -0.2]])
    root, second = objectives_by_level(SimpleNamespace(objectives_=[reached]))
    assert (root.tree, root.level, root.nodes, root.mean) == (0, 1, 1, (0.5, 0.1))
    assert (second.level, second.nodes) == (2, 2)
    assert (second.minimum, second.mean, second.maximum) == ((1, -0.2), (2, 0), (3, 0.2))
