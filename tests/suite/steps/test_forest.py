"""`xmlc forest` and `xmlc sweep`: each row is what a forest of that size, or with that value, does."""

import pytest
from command_line import run
from small_data import prepare_tiny

from xmlc.metrics import precision_and_ndcg
from xmlc.models.fastxml import FastXML
from xmlc.suite.results.records.forest import ForestRecord
from xmlc.suite.results.records.sweep import SweepRecord
from xmlc.suite.steps.prepared import Prepared

fit = FastXML.fit


@pytest.fixture
def trained(tmp_path):
    """Train a small forest; return its options, its folder and how to score a model of the same data."""
    data = prepare_tiny(tmp_path)
    common = ("--data", data, "--training", tmp_path / "train.json", "--out", tmp_path / "out.json")
    settings = ("--estimator", "fastxml", "--name", "x", "--parameters", '{"n_trees": 4}')
    files = ("--out", tmp_path / "model", "--record", tmp_path / "train.json")
    assert run("train", "--data", data, *settings, *files) == 0
    (X, Y), (X_test, Y_test) = (Prepared(data).part(part) for part in ("train", "test"))

    def score(**parameters):
        return precision_and_ndcg(Y_test, FastXML(**parameters).fit(X, Y).predict_top_k(X_test, 5)[0])

    return common, tmp_path, score


def test_rows_are_what_smaller_forests_do(trained):
    common, folder, score = trained
    assert run("forest", *common, "--model", folder / "model", "--trees", 3, "--trees", 1, "--trees", 9) == 0
    record = ForestRecord.read(folder / "out.json")
    assert [row.n_trees for row in record.rows] == [1, 3, 4]
    for row in record.rows:
        assert row.metrics == score(n_trees=row.n_trees)
    assert record.trees is None
    assert record.objectives == ()


def test_sweep_rows_are_what_each_value_does(trained):
    common, folder, score = trained
    swept = ("--hyperparameter", "max_leaf", "--value", 5, "--value", 60)
    assert run("sweep", *common, *swept, "--parameters", '{"n_trees": 2}') == 0
    record = SweepRecord.read(folder / "out.json")
    assert [row.value for row in record.rows] == [5, 60]
    for row in record.rows:
        assert row.metrics == score(n_trees=2, max_leaf=row.value)
        assert row.depth is row.nodes is None
    assert record.rows[0].metrics != record.rows[1].metrics
    assert record.hyperparameters["n_trees"] == 2


def test_models_of_a_sweep_are_temporary_folders_next_to_its_record(trained, monkeypatch):
    common, folder, _ = trained
    places, before = [], sorted(folder.iterdir())
    monkeypatch.setattr(FastXML, "fit", lambda self, X, Y, **_: places.append(self._into) or fit(self, X, Y))
    assert run("sweep", *common, "--hyperparameter", "max_leaf", "--value", 5, "--value", 60) == 0
    of_models = [place.parent for place in places if place]  # others only compile
    assert len({*of_models}) == len(of_models) == 2
    assert all(place.parent == folder for place in of_models)
    assert sorted(folder.iterdir()) == sorted([*before, folder / "out.json"])
