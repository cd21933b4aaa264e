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
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from xmlc.core.errors import XmlcError
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.metrics import macro_f
from xmlc.models import PLT, BinaryRelevance, SparseWeightedNearestNeighbors
from xmlc.thresholds import FTA, OFO, STO, OutOfFold, lower_bounds, priors, tune

MIN_PROBABILITY = np.float32(0.05)


class Shares:
    """A plain class that estimates the shares of labels in its training set for each instance."""

    def fit(self, X, Y):
        self.shares = Y.mean(axis=0)

    def predict_proba(self, X):
        return np.tile(self.shares, (X.shape[0], 1))


def out_of_fold_by_loop(make, X, Y, folds, seed):
    """Return the estimates of each instance by a model of the other folds, row by row."""
    fold_of = random_permutation(X.shape[0], seed, Stream.OUT_OF_FOLD) % folds
    estimates = np.zeros(Y.shape, dtype=np.float32)
    for fold in range(folds):
        others = [row for row in range(X.shape[0]) if fold_of[row] != fold]
        model = make()
        model.fit(X[others], Y[others])
        for i in set(range(X.shape[0])) - set(others):
            found = model.predict_proba(X[[i]])
            estimates[i] = found.toarray()[0] if sparse.issparse(found) else found[0]
    return np.where(estimates > MIN_PROBABILITY, estimates, 0)


@pytest.mark.filterwarnings("ignore:Label not")
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_matrix, sparse.csr_array.toarray])
@pytest.mark.parametrize(
    "make",
    [
        lambda: PLT(epochs=2, random_state=3),
        lambda: SparseWeightedNearestNeighbors(S=4),
        lambda: OneVsRestClassifier(LogisticRegression()),
    ],
)
def test_each_instance_is_estimated_by_a_model_of_other_folds(make, form, multilabel):
    X, Y = multilabel(29, 6, 4)
    by = "macro_f_zero"
    model = OutOfFold(make(), "fta", by, folds=3, threshold=MIN_PROBABILITY, random_state=5).fit(
        form(X), form(Y.astype(int))
    )
    expected = out_of_fold_by_loop(make, X, Y.astype(int), 3, 5)
    np.testing.assert_allclose(model.estimates_.toarray(), expected, rtol=1e-5)
    tuned = tune("fta", model.estimates_, Y, priors(Y), min_probability=MIN_PROBABILITY, measure=by)
    assert (model.thresholds_ == tuned.thresholds).all()
    full = make().fit(X, Y.astype(int)).predict_proba(X)
    full = np.float32(full.toarray() if sparse.issparse(full) else full)
    np.testing.assert_allclose(
        model.predict_proba(X).toarray(), np.where(full > MIN_PROBABILITY, full, 0), rtol=1e-5
    )
    np.testing.assert_allclose(
        model.predict_proba(X, 0.3).toarray(), np.where(full > 0.3, full, 0), rtol=1e-5
    )
    assert (
        model.predict(form(X)).toarray() == (model.predict_proba(X).toarray() > model.thresholds_)
    ).all()


@pytest.mark.filterwarnings("ignore:Label not")
@pytest.mark.parametrize("estimator", [PLT(epochs=2), OneVsRestClassifier(LogisticRegression())])
def test_out_of_fold_is_bit_identical_on_any_number_of_jobs(estimator, multilabel):
    X, Y = multilabel(60, 6, 5)
    one, two = (OutOfFold(estimator, "ofo", folds=4, n_jobs=n).fit(X, Y) for n in (1, 2))
    assert one.thresholds_.tobytes() == two.thresholds_.tobytes()
    assert one.estimates_.data.tobytes() == two.estimates_.data.tobytes()
    assert (one.estimates_.indices == two.estimates_.indices).all()
    other = OutOfFold(estimator, "ofo", folds=4, random_state=1).fit(X, Y)
    assert other.estimates_.data.tobytes() != one.estimates_.data.tobytes()


def test_lower_bounds_come_from_labels_unless_given(multilabel):
    X, Y = multilabel(40, 6, 5)
    bounds = lower_bounds(priors(Y))
    for method in (FTA(), OFO(b=30)):
        model = OutOfFold(BinaryRelevance(C=1.0), method).fit(X, Y)
        bounded = method.unfitted().set_params(lower_bounds=bounds).fit(model.estimates_, Y)
        assert (model.thresholds_ == bounded.thresholds_).all()
        assert method.lower_bounds is None
        assert not hasattr(method, "thresholds_")
    free = OutOfFold(BinaryRelevance(C=1.0), OFO(b=1000, lower_bounds=0.0)).fit(X, Y)
    assert (
        free.thresholds_
        == np.maximum(OFO(b=1000).fit(free.estimates_, Y).thresholds_, np.float32(1e-4))
    ).all()


@pytest.mark.filterwarnings("ignore:Label not")
@pytest.mark.parametrize(
    "estimator", [PLT(epochs=2), OneVsRestClassifier(LogisticRegression()), Shares()]
)
def test_label_of_one_instance_is_absent_from_training_without_its_fold(estimator, multilabel):
    X, Y = multilabel(20, 6, 4)
    Y = Y.toarray()
    Y[:, 2] = False
    Y[:, 3] = False
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
    with raises_with(ValueError, "OutOfFold", "fit"):
        OutOfFold(Shares()).predict(X)
    leave_one_out = OutOfFold(Shares(), folds=20, threshold=0.0).fit(X, Y)
    dense = Y.toarray()
    np.testing.assert_allclose(
        leave_one_out.estimates_.toarray(), (dense.sum(axis=0) - dense) / 19, rtol=1e-6
    )


def test_out_of_fold_accepts_texts_with_a_pipeline(multilabel):
    X, Y = multilabel(40, 12, 3)
    texts = []
    for i in range(40):
        texts.append(" ".join(f"word{j}" for j in X[[i]].indices) or "nothing")
    model = OutOfFold(make_pipeline(CountVectorizer(), BinaryRelevance(C=1.0)), "fta").fit(texts, Y)
    assert macro_f(Y, model.predict(texts)) > 0.5


def test_nested_hyperparameters_can_be_set_and_searched(multilabel):
    X, Y = multilabel(30, 5, 3)
    model = OutOfFold(PLT(epochs=1), OFO(), folds=2)
    assert repr(model) == "OutOfFold(estimator=PLT(epochs=1), folds=2, method=OFO())"
    copy = clone(model).set_params(estimator__epochs=3, method__b=7, folds=4)
    assert (copy.estimator.epochs, copy.method.b, copy.folds) == (3, 7, 4)
    assert (model.estimator.epochs, model.method.b, model.folds) == (1, 20.0, 2)
    assert copy.get_params()["estimator__epochs"] == 3
    assert "estimator__epochs" not in copy.get_params(deep=False)
    with raises_with(ValueError, "'epoch'"):
        model.set_params(estimator__epoch=3)
    with raises_with(ValueError, "OutOfFold", "'fold'"):
        model.set_params(fold=3)
    score = lambda fitted, X, Y: macro_f(Y, fitted.predict(X))  # noqa: E731
    search = GridSearchCV(
        model, {"estimator__epochs": [1, 2]}, scoring=score, cv=2, error_score="raise"
    ).fit(X, Y)
    assert set(search.best_params_) == {"estimator__epochs"}
    assert not hasattr(model, "thresholds_")


@pytest.mark.filterwarnings("ignore:Label not", "ignore:A column-vector y")
@pytest.mark.parametrize("m", [1, 4])
@pytest.mark.parametrize(
    "estimator",
    [RandomForestClassifier(5, random_state=0), MultiOutputClassifier(GaussianNB()), PLT(epochs=1)],
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
    if not sparse.issparse(found):
        found, classes = (found, classes) if isinstance(found, list) else ([found], [classes])
        found = np.column_stack([own @ np.float64(of) for own, of in zip(found, classes)])
    np.testing.assert_allclose(
        model.predict_proba(X).toarray(),
        found.toarray() if sparse.issparse(found) else found,
        rtol=1e-6,
    )
    assert (
        model.predict(X).toarray() == (model.predict_proba(X).toarray() > model.thresholds_)
    ).all()


def test_columns_of_frames_are_used_by_name(multilabel):
    X, Y = multilabel(30, 3, 4)
    x = pd.DataFrame(X.toarray(), columns=[*"abc"])
    y = pd.DataFrame(Y.toarray().astype(int), columns=[*"wxyz"])
    cities = x.assign(city=["u", "v", "w"] * 10).set_index(np.arange(30)[::-1])
    columns = ColumnTransformer(
        [("city", OneHotEncoder(), ["city"]), ("number", "passthrough", ["a", "c"])]
    )
    by_hand = np.column_stack([(cities[["city"]].to_numpy() == [*"uvw"]), x[["a", "c"]]]).astype(
        float
    )
    expected = OutOfFold(PLT(epochs=2), folds=3).fit(by_hand, Y)
    model = OutOfFold(make_pipeline(columns, PLT(epochs=2)), folds=3).fit(cities, y)
    np.testing.assert_array_equal(model.thresholds_, expected.thresholds_)
    assert model.feature_names_in_.tolist() == [*"abc", "city"]
    assert (model.predict(cities[["city", *"cba"]]) != expected.predict(by_hand)).nnz == 0
    named = OutOfFold(PLT(epochs=2), folds=3).fit(x, y)
    assert named.n_features_in_ == 3
    with raises_with(ValueError, "names"):
        named.predict(x[[*"cba"]])
    assert not hasattr(OutOfFold(PLT()), "feature_names_in_")
