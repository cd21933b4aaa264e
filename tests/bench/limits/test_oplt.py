"""The lines of online trees: what is counted, and that the bare accesses touch the rows that learning touches."""

import numpy as np
import pytest
from small_data import prepare_tiny

from xmlc.bench.harness import PREDICTION, TOP, TRAINING, Data
from xmlc.bench.limits import oplt as limits_of
from xmlc.bench.plt.pairs import training_pairs
from xmlc.models.oplt import OPLT


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data.read(prepare_tiny(tmp_path_factory.mktemp("tiny")))


def test_a_training_is_counted_by_the_pairs_of_the_tree_that_it_ends_with(data):
    works = [work for work in limits_of.works(data) if work.task == TRAINING]
    assert [work.contender for work in works] == ["OPLT-R", "OPLT-B", "OPLT-W", "OPLT, complete"]
    for work in works:
        one, two = work.call(1), work.call(2)
        assert {name: array.tobytes() for name, array in one.items()} == {n: a.tobytes() for n, a in two.items()}
        work.bare(2)
    model = OPLT().set_params(**limits_of.settings(data.name)["OPLT, complete"].hyperparameters).fit(data.X, data.Y)
    assert works[-1].units == training_pairs(data.X, data.Y[:, model.labels_], model.tree_)


def test_a_ranking_is_that_of_the_tree_that_was_learned(data):
    works = [work for work in limits_of.works(data) if work.task == PREDICTION]
    assert [work.contender for work in works] == list(limits_of.settings(data.name))
    for work, setting in zip(works, limits_of.settings(data.name).values(), strict=True):
        model = OPLT().set_params(**setting.hyperparameters).fit(data.X, data.Y)
        labels, scores = model.predict_top_k(data.X_test, TOP)
        found = work.call(2)
        np.testing.assert_array_equal(np.append(model.labels_, -1)[found["labels"]], labels)
        np.testing.assert_array_equal(found["scores"], scores)
        work.bare(2)


@pytest.mark.parametrize("pairs_per_piece", [1, 1 << 22])
def test_bare_accesses_touch_the_rows_that_learning_again_touches(data, monkeypatch, pairs_per_piece):
    monkeypatch.setattr(limits_of, "PAIRS_PER_PIECE", pairs_per_piece)
    X, Y = data.X[:40], data.Y[:40]
    bare, again = (OPLT(policy="random", max_leaf=5).fit(X, Y) for _ in range(2))
    before = bare._state()[0]["rows"].copy()
    limits_of.bare_pass(bare, X, Y)(1)
    again.partial_fit(X, Y)
    touched, learned = (model._state()[0]["rows"] != before for model in (bare, again))
    assert touched.any()
    assert not (touched & ~learned).any()
    assert np.isfinite(bare._state()[0]["rows"]).all()
