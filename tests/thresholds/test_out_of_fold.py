"""Thresholds from out-of-fold estimates, compared with a loop, for models of xmlc and of
scikit-learn.
"""

import numpy as np
import pandas as pd
import pytest
from facts import raises_with
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import get_tags
from small_data import equal_bits

from xmlc.core.errors import XmlcError
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.metrics import macro_f
from xmlc.models import PLT, BinaryRelevance, SparseWeightedNearestNeighbors
from xmlc.thresholds import OFO, STO, OutOfFold, lower_bounds, priors, tune

MIN_PROBABILITY = np.float32(0.05)


class Shares:
    """A plain class that estimates the shares of labels in its training set for each instance."""

    def fit(self, X, Y):
        self.shares = Y.mean(axis=0)

    def predict_proba(self, X):
        return np.tile(self.shares, (X.shape[0], 1))


def dense(estimates):
    return np.float32(estimates.toarray() if sparse.issparse(estimates) else estimates)


def out_of_fold_by_loop(make, X, Y, folds, seed):
    """Return the estimates of each instance by a model of the other folds, row by row."""
    fold_of = random_permutation(X.shape[0], seed, Stream.OUT_OF_FOLD) % folds
    estimates = np.zeros(Y.shape, dtype=np.float32)
    for fold in range(folds):
        model = make()
        model.fit(X[fold_of != fold], Y[fold_of != fold])
        for i in np.flatnonzero(fold_of == fold):
            estimates[i] = dense(model.predict_proba(X[[i]]))[0]
    return np.where(estimates > MIN_PROBABILITY, estimates, 0)


@pytest.mark.filterwarnings("ignore:Label not")
@pytest.mark.parametrize(
    ("make", "form"),
    [
        (lambda: PLT(epochs=2, random_state=3), sparse.coo_matrix),
        (lambda: SparseWeightedNearestNeighbors(S=4), sparse.csr_array.toarray),
        (lambda: OneVsRestClassifier(LogisticRegression()), sparse.csr_array),
    ],
)
def test_each_instance_is_estimated_by_a_model_of_other_folds(make, form, multilabel):
    X, Y = multilabel(29, 6, 4)
    Y = Y.astype(int)
    least = MIN_PROBABILITY
    options = {"measure": "macro_f_zero", "folds": 3, "threshold": least, "random_state": 5}
    model = OutOfFold(make(), "fta", **options).fit(form(X), form(Y))
    expected = out_of_fold_by_loop(make, X, Y, 3, 5)
    np.testing.assert_allclose(model.estimates_.toarray(), expected, rtol=1e-5)
    tuned = tune("fta", model.estimates_, Y, min_probability=least, measure="macro_f_zero")
    np.testing.assert_array_equal(model.thresholds_, tuned.thresholds)
    full = dense(make().fit(X, Y).predict_proba(X))
    for limit in (least, 0.3):
        found = model.predict_proba(X, limit).toarray()
        np.testing.assert_allclose(found, np.where(full > limit, full, 0), rtol=1e-5)
    above = model.predict_proba(X).toarray() > model.thresholds_
    np.testing.assert_array_equal(model.predict(form(X)).toarray(), above)


@pytest.mark.filterwarnings("ignore:Label not")
@pytest.mark.parametrize("estimator", [PLT(epochs=2), OneVsRestClassifier(GaussianNB())])
def test_out_of_fold_is_bit_identical_on_any_number_of_jobs(estimator, multilabel):
    X, Y = multilabel(60, 6, 5)
    X = X.toarray()
    one, two, other = (
        OutOfFold(estimator, "ofo", folds=4, n_jobs=jobs, random_state=seed).fit(X, Y)
        for jobs, seed in ((1, 0), (2, 0), (2, 1))
    )
    assert one.thresholds_.tobytes() == two.thresholds_.tobytes()
    assert equal_bits(one.estimates_, two.estimates_)
    assert not equal_bits(one.estimates_, other.estimates_)


def test_lower_bounds_come_from_labels_unless_given(multilabel):
    X, Y = multilabel(40, 6, 5)
    method = OFO(b=30)
    model = OutOfFold(BinaryRelevance(C=1.0), method).fit(X, Y)
    bounded = OFO(b=30, lower_bounds=lower_bounds(priors(Y))).fit(model.estimates_, Y)
    np.testing.assert_array_equal(model.thresholds_, bounded.thresholds_)
    assert method.lower_bounds is None
    assert not hasattr(method, "thresholds_")
    model = OutOfFold(BinaryRelevance(C=1.0), OFO(b=1000, lower_bounds=0.0)).fit(X, Y)
    free = OFO(b=1000).fit(model.estimates_, Y).thresholds_
    np.testing.assert_array_equal(model.thresholds_, np.maximum(free, np.float32(1e-4)))


@pytest.mark.filterwarnings("ignore:Label not")
@pytest.mark.parametrize("estimator", [PLT(epochs=2), OneVsRestClassifier(GaussianNB()), Shares()])
def test_label_of_one_instance_is_absent_from_training_without_its_fold(estimator, multilabel):
    X, Y = (part.toarray() for part in multilabel(20, 6, 4))
    Y[:, 2:] = False
    Y[7, 2] = True
    model = OutOfFold(estimator, STO(), threshold=0.02).fit(X, Y)
    assert model.estimates_.toarray()[7, 2] < 0.1
    assert model.predict(X).shape == (20, 4)
    assert (model.thresholds_ >= np.float32(0.02)).all()


def test_out_of_fold_refuses_fewer_instances_than_folds(multilabel):
    X, Y = multilabel(20, 6, 4)
    with raises_with(XmlcError, "folds=5", "4 instances"):
        OutOfFold(Shares()).fit(X[:4], Y[:4])
    with raises_with(XmlcError, "4 instances", "5"):
        OutOfFold(Shares()).fit(X[:4], Y[:5])
    with raises_with(XmlcError, "OutOfFold", "folds=1"):
        OutOfFold(Shares(), folds=1).fit(X, Y)
    estimates = OutOfFold(Shares(), folds=20, threshold=0.0).fit(X, Y).estimates_.toarray()
    np.testing.assert_allclose(estimates, (Y.sum(axis=0) - Y.toarray()) / 19, rtol=1e-6)


def test_out_of_fold_accepts_texts_with_a_pipeline(multilabel):
    X, Y = multilabel(40, 12, 3)
    texts = []
    for i in range(40):
        texts.append(" ".join(f"word{j}" for j in X[[i]].indices) or "nothing")
    model = OutOfFold(make_pipeline(CountVectorizer(), BinaryRelevance(C=1.0)), "fta").fit(texts, Y)
    assert macro_f(Y, model.predict(texts)) > 0.5


def test_nested_hyperparameters_can_be_set():
    model = OutOfFold(PLT(epochs=1), OFO(), folds=2)
    before = repr(model)
    assert before == "OutOfFold(estimator=PLT(epochs=1), folds=2, method=OFO())"
    copy = clone(model).set_params(estimator__epochs=3, method__b=7, folds=4)
    assert (copy.estimator.epochs, copy.method.b, copy.folds) == (3, 7, 4)
    assert repr(model) == before
    assert copy.get_params()["estimator__epochs"] == 3
    assert "estimator__epochs" not in copy.get_params(deep=False)
    assert get_tags(model).estimator_type is None
    with raises_with(ValueError, "'epoch'"):
        model.set_params(estimator__epoch=3)


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize(
    ("estimator", "m"),
    [
        (RandomForestClassifier(5, random_state=0), 1),
        (RandomForestClassifier(5, random_state=0), 4),
        (MultiOutputClassifier(GaussianNB()), 4),
    ],
)
def test_estimates_per_class_become_one_estimate_per_label(estimator, m, multilabel):
    X, Y = (part.toarray() for part in multilabel(30, 6, 4))
    # Label 3 has one class in a fold, and label 2 has one class in all folds.
    Y[:, 3] = False
    Y[4, 3] = True
    Y[:, 2] = True
    model = OutOfFold(estimator, folds=3, threshold=0.0).fit(X, Y[:, :m].astype(int))
    found = model.estimator_.predict_proba(X)
    classes = model.estimator_.classes_
    if not isinstance(found, list):
        found = [found]
        classes = [classes]
    expected = np.column_stack([own @ np.float64(of) for own, of in zip(found, classes)])
    np.testing.assert_allclose(model.predict_proba(X).toarray(), expected, rtol=1e-6)
    np.testing.assert_array_equal(
        model.predict(X).toarray(), np.float32(expected) > model.thresholds_
    )


def test_columns_of_frames_are_used_by_name(multilabel):
    X, Y = multilabel(30, 2, 4)
    frame = pd.DataFrame(X.toarray(), columns=[*"ac"]).assign(city=["u", "v", "w"] * 10)
    frame = frame.set_index(np.arange(30)[::-1])
    columns = ColumnTransformer(
        [("city", OneHotEncoder(), ["city"]), ("number", "passthrough", ["a", "c"])]
    )
    by_hand = np.column_stack([np.tile(np.eye(3), (10, 1)), X.toarray()])
    expected = OutOfFold(PLT(epochs=2), folds=3).fit(by_hand, Y)
    y = pd.DataFrame(Y.toarray().astype(int), columns=[*"wxyz"])
    model = OutOfFold(make_pipeline(columns, PLT(epochs=2)), folds=3).fit(frame, y)
    np.testing.assert_array_equal(model.thresholds_, expected.thresholds_)
    assert (model.predict(frame[["city", "c", "a"]]) != expected.predict(by_hand)).nnz == 0
    assert model.feature_names_in_.tolist() == ["a", "c", "city"]
    assert expected.n_features_in_ == 5
    assert not hasattr(OutOfFold(PLT()), "feature_names_in_")
