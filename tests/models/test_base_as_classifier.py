"""Estimators with scikit-learn's tools: label sets, scores, tags, copies, pickles and memory
maps.
"""

import json
import pickle
import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from facts import raises_with, warns_with
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_predict, cross_val_score
from small_data import equal_bits
from small_models import OURS, small

from xmlc.core.errors import XmlcError
from xmlc.metrics import micro_f, precision_at_k
from xmlc.models import PLT, SparseWeightedNearestNeighbors
from xmlc.models.registry import make_estimator


def test_predict_returns_labels_above_given_thresholds(multilabel):
    X, Y = multilabel(60, 10, 6)
    model = PLT(epochs=3, n_jobs=1).fit(X, Y)
    estimates = model.predict_proba(X).toarray()
    found = model.predict(X, thresholds=0.5)
    assert found.dtype == bool
    np.testing.assert_array_equal(found.toarray(), estimates > 0.5)
    thresholds = np.linspace(0.1, 0.6, 6, dtype=np.float32)
    np.testing.assert_array_equal(model.predict(X, thresholds).toarray(), estimates > thresholds)
    assert f1_score(Y, found, average="micro") == pytest.approx(micro_f(Y, found))
    for threshold in (np.nan, 50, -0.1, np.full(6, 1.5)):
        with raises_with(XmlcError, "threshold"):
            model.predict(X, threshold)
    assert model.predict_proba(X, np.inf).nnz == 0


@pytest.mark.parametrize("name", OURS)
def test_default_estimates_are_probabilities(name):
    X = [[1, 0], [0, 1]] * 20
    Y = [[1, 1, 1], [0, 1, 1]] * 20
    model = make_estimator(name, {}, seed=0, n_jobs=1).fit(X, Y)
    assert (model.predict_proba(X[:2]).toarray()[:, 1:] > (0.9 if model.calibrated else 0.5)).all()
    assert model.predict(X).toarray()[:, 1:].all()
    if not model.calibrated:
        return
    rng = np.random.default_rng(0)
    marginals = np.array([[0.9, 0.2, 0.0, 1.0], [0.1, 0.7, 0.4, 1.0]])
    kind = rng.integers(0, 2, 1000)
    labelled = rng.random(1000) < 0.5
    Y = (rng.random((1000, 4)) < marginals[kind]) & labelled[:, None]
    # LdSM spreads uncertain instances over all children. The stochastic gradient steps of PLT limit
    # its accuracy.
    apart = {"ldsm": 0.65, "plt": 0.3}.get(name, 0.15)
    # rows without labels share the features of others, or have their own
    for kinds in (kind, np.where(labelled, kind, 2)):
        X = np.eye(3)[kinds]
        estimates = model.fit(X, Y).predict_proba(X).toarray()
        assert estimates.sum(axis=1).mean() == pytest.approx(Y.sum(axis=1).mean(), rel=0.1)
        for one in np.unique(kinds):
            shares = Y[kinds == one].mean(axis=0)
            np.testing.assert_allclose(estimates[kinds == one].mean(axis=0), shares, atol=apart)


def test_score_is_precision_at_1(multilabel):
    X, Y = multilabel(60, 10, 6)
    model = PLT(epochs=3, n_jobs=1).fit(X, Y)
    assert model.score(X, Y.toarray()) == precision_at_k(Y, model.predict_top_k(X, 1)[0], 1)
    assert model.score(X[:0], Y[:0]) == 0
    unlike = SparseWeightedNearestNeighbors().fit(np.eye(3), np.eye(3))
    assert unlike.score(np.zeros((2, 3)), np.ones((2, 3))) == 0  # no label is ranked
    np.testing.assert_array_equal(model.classes_, np.arange(6))
    assert not hasattr(PLT(), "classes_")


@pytest.mark.parametrize("name", ["plt", "swnn", "stacking"])
def test_estimators_work_in_cross_validation(name, multilabel):
    X, Y = multilabel(40, 10, 5)
    Y = Y.toarray()
    model = small(name)
    of_first = clone(model).fit(X[:20], Y[:20])
    predicted = cross_val_predict(model, X, Y, cv=2)
    assert sparse.issparse(predicted)
    np.testing.assert_array_equal(predicted[20:].toarray(), of_first.predict(X[20:]).toarray())
    assert cross_val_score(model, X, Y, cv=2)[1] == of_first.score(X[20:], Y[20:])
    assert cross_val_predict(model, X, Y, cv=2, method="predict_proba").shape == (40, 5)


def written_and_mapped(model, folder):
    # a new file, because the model may map the last one
    file = folder / f"{len(list(folder.iterdir()))}.joblib"
    joblib.dump(model, file)
    return joblib.load(file, mmap_mode="r")


@pytest.mark.parametrize("name", OURS)
def test_pickled_mapped_and_saved_copies_predict_the_same(name, multilabel, tmp_path):
    X, Y = multilabel(40, 10, 5)
    # scikit-learn's searches send estimators to other processes as pickles. This test creates the
    # pickles that it reads. Saved models contain no pickle.
    model = pickle.loads(pickle.dumps(small(name)))
    assert model.get_params() == small(name).get_params()
    expected = model.fit(X, Y).predict_proba(X)
    model.save(tmp_path / "model")
    saved = type(model).load(tmp_path / "model")
    for copied in (pickle.loads(pickle.dumps(model)), written_and_mapped(model, tmp_path), saved):
        assert json.dumps(copied.get_params()) == json.dumps(model.get_params())
        assert copied.predict_proba(X[:0]).shape == (0, 5)
        assert copied.predict_top_k(X[:0], 2)[0].shape == (0, 2)
        for _ in range(2):
            assert equal_bits(copied.predict_proba(X), expected)
            np.testing.assert_array_equal(copied.predict_top_k(X, 3), model.predict_top_k(X, 3))
            copied = written_and_mapped(copied, tmp_path)  # This copy has already predicted.
    if hasattr(model, "partial_fit"):
        # Copies of a streaming model continue to learn alike.
        model = small(name).partial_fit(X, Y)
        one = written_and_mapped(model, tmp_path).partial_fit(X, Y)
        other = pickle.loads(pickle.dumps(model)).partial_fit(X, Y)
        assert equal_bits(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("name", OURS)
def test_columns_are_checked_by_name(name, multilabel, tmp_path):
    X, Y = multilabel(40, 4, 5)
    x = pd.DataFrame(X.toarray(), columns=[*"abcd"])
    y = pd.DataFrame(Y.toarray(), columns=[*"vwxyz"])
    wrong = (x[[*"dcba"]], x.rename(columns={"a": "e"}), x[[*"abc"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = small(name).fit(x, y)
        assert equal_bits(model.predict_proba(x), small(name).fit(X, Y).predict_proba(X))
        model.save(tmp_path / "model")
        for one in (model, type(model).load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            assert one.feature_names_in_.tolist() == [*"abcd"]
            for predict in (one.predict, one.predict_proba, partial(one.predict_top_k, k=2)):
                predict(x)
                for frame in wrong:
                    with raises_with(ValueError, "names"):
                        predict(frame)
            with pytest.raises(ValueError):
                one.score(x, y[[*"zyxwv"]])
    with warns_with(UserWarning, "names"):
        model.predict(X)
    if hasattr(model, "partial_fit"):
        model = small(name).partial_fit(x, y)
        for frames in ((x[[*"dcba"]], y), (x, y[[*"wv"]])):
            with raises_with(ValueError, "names"):
                model.partial_fit(*frames)
        model.partial_fit(x, y.assign(new=True))  # The column `new` adds a label.
        assert model.label_names_in_.tolist() == [*"vwxyz", "new"]
    model.fit(X, Y)
    with warns_with(UserWarning, "names"):
        model.predict(x)


@pytest.mark.parametrize("name", OURS)
def test_labels_without_instances_are_not_predicted(name, multilabel):
    X, Y = multilabel(60, 10, 4)
    wide = np.kron(Y.toarray(), [1, 0, 0, 0, 0])
    model = small(name).fit(X, wide)
    assert set(model.predict_proba(X).indices) <= {0, 5, 10, 15}
    labels, scores = model.predict_top_k(X, 20)
    assert set(labels.ravel()) <= {-1, 0, 5, 10, 15}
    assert (scores[labels < 0] == 0).all()
