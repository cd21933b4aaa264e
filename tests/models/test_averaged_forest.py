"""The base class of FastXML and LdSM: parts of forests, rankings, thresholds, models on disk."""

from copy import copy

import numpy as np
import pytest
from facts import contents, raises_with
from sklearn.base import clone
from small_data import equal_bits, random_multilabel

from xmlc.core.errors import XmlcError
from xmlc.kernels import unit_length
from xmlc.kernels.csr import top_k_of
from xmlc.models import FastXML, LdSM, averaged_forest, tail_classifiers
from xmlc.models.trees import representations

SMALL = {"n_trees": 4, "max_nodes": 31, "learning_rate": 0.5, "lambda_1": 1.3, "n_jobs": 1}
PLAIN = {
    "fastxml": FastXML(n_trees=4, n_jobs=1),
    "ldsm": LdSM(**SMALL),
    "ldsm, leaves": LdSM(average="leaves", exceed=True, **SMALL),
    "ldsm, sgd, unit length": LdSM(optimizer="sgd", arity=3, unit_norm=True, **SMALL),
}
RERANKED = {
    "pfastrexml": FastXML(n_trees=4, propensity_weighted=True, alpha=0.8, n_jobs=1),
    "fastxml, tail, unit length": FastXML(n_trees=4, alpha=0.8, unit_norm=True, n_jobs=1),
    "ldsm, tail": LdSM(beta=0.6, gamma=2.0, **SMALL),
    "ldsm, tail, unit length": LdSM(beta=0.6, gamma=2.0, unit_norm=True, **SMALL),
}
ALL = PLAIN | RERANKED


def same_forest(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a.forest_, b.forest_, strict=True))


def assert_same_predictions(a, b, X):
    np.testing.assert_array_equal(a.predict_top_k(X, 4), b.predict_top_k(X, 4))
    assert equal_bits(a.predict_proba(X), b.predict_proba(X))
    np.testing.assert_array_equal(a.inner_products_, b.inner_products_)


@pytest.fixture(scope="module")
def fitted():
    X, Y = random_multilabel(250, 30, 12, seed=1)
    models = {}

    def fit(name):
        if name not in models:
            models[name] = clone(ALL[name]).fit(X, Y)
        return models[name], X, Y

    return fit


@pytest.mark.parametrize("name", ALL)
def test_forests_are_bit_identical_on_any_number_of_threads(fitted, monkeypatch, name):
    one, X, Y = fitted(name)
    monkeypatch.setattr(representations, "NONZEROS_PER_TASK", 500)
    monkeypatch.setattr(unit_length, "NONZEROS_PER_TASK", 10)
    monkeypatch.setattr(tail_classifiers, "ROWS_PER_BLOCK", 50)
    monkeypatch.setattr(averaged_forest, "PARTS_AT_ONCE", 2)
    two = clone(one).set_params(n_jobs=2).fit(X, Y)
    if one.tail_ is not None:
        for array, other in zip(one.tail_, two.tail_, strict=True):
            np.testing.assert_array_equal(array, other)
    assert same_forest(one, two)
    assert_same_predictions(one, two, X)
    assert not same_forest(one, clone(one).set_params(random_state=1).fit(X, Y))


@pytest.mark.parametrize("model", [FastXML(n_jobs=4), LdSM(n_jobs=4)])
def test_large_trees_grow_one_at_a_time(monkeypatch, model):
    of_tree = 1000 * model.BYTES_PER_NONZERO
    for limit, threads in ((of_tree // 2, 1), (2 * of_tree, 2), (100 * of_tree, 4)):
        monkeypatch.setattr(averaged_forest, "GROWING_BYTES", limit)
        assert model._trees_at_once(1000) == threads


@pytest.mark.parametrize("name", ALL)
def test_predictions_are_equal_for_any_split_into_threads_and_blocks(fitted, monkeypatch, name):
    """Threads take trees or instances, in one block or several."""
    model, X, _ = fitted(name)
    alone = copy(model)
    model = copy(model)
    monkeypatch.setattr(averaged_forest, "ROWS_PER_DESCENT", 70)
    for per_weight in (0, 1e9):
        monkeypatch.setattr(averaged_forest, "NONZEROS_PER_WEIGHT", per_weight)
        for n_jobs in (1, 2):
            assert_same_predictions(model.set_params(n_jobs=n_jobs), alone, X)
            assert model.predict_top_k(X[:0], 3)[0].shape == (0, 3)
    row = X[[3]]
    labels, scores = model.predict_top_k(row, 4)
    one = model.rank_one(row.indices, row.data, 4)
    np.testing.assert_array_equal(one, (labels[0], scores[0]))


@pytest.mark.parametrize("name", ALL)
def test_first_trees_equal_a_smaller_forest(fitted, name):
    whole, X, Y = fitted(name)
    first = whole.trees(2)
    assert (first.n_trees, whole.n_trees) == (2, 4)
    assert first.inner_products_ is None
    assert_same_predictions(first, clone(whole).set_params(n_trees=2).fit(X, Y), X)
    for n in (0, 5):
        with raises_with(XmlcError, "1 to 4"):
            whole.trees(n)


@pytest.mark.parametrize("name", ALL)
def test_forest_written_tree_by_tree_equals_saved_forest(fitted, tmp_path, monkeypatch, name):
    """Two threads fit the forest.

    Predictions run in blocks and release mapped memory after each block.
    """
    model, X, Y = fitted(name)
    monkeypatch.setattr(representations, "NONZEROS_PER_TASK", 500)
    monkeypatch.setattr(averaged_forest, "ROWS_PER_BLOCK", 50)
    monkeypatch.setattr(averaged_forest, "ROWS_PER_DESCENT", 70)
    model = copy(model).set_params(n_jobs=2)
    model.save(tmp_path / "saved")
    grown = clone(model).fit_to_disk(tmp_path / "grown", X, Y)
    assert contents(tmp_path / "grown") == contents(tmp_path / "saved")
    for again in (grown, type(model).load(tmp_path / "grown")):
        assert_same_predictions(again, model, X)


@pytest.mark.parametrize("name", PLAIN)
def test_thresholds_are_strict_and_rankings_follow_estimates(fitted, name):
    model, X, _ = fitted(name)
    spe = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict_top_k(X, 5), top_k_of(spe, 5))
    dense = spe.toarray()
    middle = float(np.sort(spe.data)[spe.nnz // 2])
    for threshold in (middle, np.linspace(0, 0.5, 12, dtype=np.float32)):
        above = model.predict_proba(X, threshold)
        assert 0 < above.nnz < spe.nnz
        np.testing.assert_array_equal(above.toarray(), np.where(dense > threshold, dense, 0))


@pytest.mark.parametrize("labels", [3, 400])
def test_estimates_are_sorted_by_label(labels):
    """If most labels have no estimate, the labels with estimates are sorted.

    Otherwise all labels are scanned.
    """
    X = np.random.default_rng(0).random((60, 8))
    Y = np.eye(labels, dtype=bool)[np.arange(60) * 7 % labels]
    for model in (FastXML(n_trees=2, max_leaf=3), LdSM(n_trees=2, max_nodes=15)):
        spe = model.fit(X, Y).predict_proba(X)
        for row in np.split(spe.indices, spe.indptr[1:-1]):
            assert (np.diff(row) > 0).all()


@pytest.mark.parametrize(
    "model", [FastXML(n_trees=2), LdSM(n_trees=2), LdSM(n_trees=2, optimizer="sgd")]
)
def test_data_without_features_or_labels_are_learned(model):
    nothing = np.zeros((40, 5))
    model.fit(nothing, [[1, 0, 0], [0, 1, 0]] * 20)  # each tree is one leaf
    assert model.predict_proba(nothing[:1]).toarray().tolist() == [[0.5, 0.5, 0.0]]
    assert model.inner_products_.tolist() == [0]
    assert model.predict_proba(nothing[:0]).shape == (0, 3)
    labels, scores = model.predict_top_k(nothing[:1], 3)
    assert (labels.tolist(), scores.tolist()) == ([[0, 1, -1]], [[0.5, 0.5, 0.0]])
    for X in (nothing, np.eye(40, 5)):
        assert model.fit(X, np.zeros((40, 3))).predict_proba(X).nnz == 0
