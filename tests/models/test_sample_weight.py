"""Weights of instances: integers equal repeated rows, 0 omits a row, and some estimators refuse
weights.
"""

import inspect

import numpy as np
import pytest
from facts import raises_with
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import MultinomialNB
from small_data import random_multilabel
from small_models import OURS, small

from xmlc.core.errors import InvalidDataError, InvalidParameterError
from xmlc.models import (
    PLT,
    BinaryRelevance,
    Parabel,
    ProbabilisticClassifierChain,
    SparseWeightedNearestNeighbors,
)
from xmlc.models.plt.estimator import MOST_COPIES
from xmlc.models.wrapped import Wrapped

EXACTLY = {"solver": "batch", "tol": 1e-6, "epochs": 5000, "weight_threshold": None, "C": 1.0}
MODELS = {
    "sgd": PLT(epochs=3, arity=4, max_leaf=4),
    "hashed": PLT(epochs=3, arity=4, max_leaf=4, hash_bits=12),
    "adagrad": PLT(epochs=3, arity=4, max_leaf=4, solver="adagrad"),
    "sample": PLT(epochs=3, max_samples=0.5),
    "nearest": SparseWeightedNearestNeighbors(S=7, beta=1.0),
    "nearest, equal votes": SparseWeightedNearestNeighbors(S=300, alpha=0.0, beta=0.0),
    "logistic": PLT(arity=4, max_leaf=4, **EXACTLY),
    "squared hinge": PLT(arity=4, max_leaf=4, loss="squared_hinge", **EXACTLY),
    "parabel": Parabel(n_trees=2, max_leaf=4, tol=1e-6, epochs=5000, weight_threshold=None, C=1.0),
    "br": BinaryRelevance(C=0.5),
    "br, not standardised": BinaryRelevance(C=0.5, standardize=False),
    "pcc": ProbabilisticClassifierChain(C=0.5, n_samples=50),
}
# Allowed difference to the estimates of repeated rows, due to a solver's tolerance or the order of
# a sum.
APART = {
    "logistic": 1e-4,
    "squared hinge": 1e-4,
    "parabel": 1e-4,
    "br": 1e-6,
    "br, not standardised": 1e-6,
}
X, Y = random_multilabel(150, 20, 12, seed=3)
WHOLE = np.random.default_rng(0).integers(0, 5, 150)


def estimates(model, rows, weights=None):
    return model.unfitted().fit(X[rows], Y[rows], sample_weight=weights).predict_proba(X).toarray()


def assert_same_arrays(one, other):
    (arrays, meta) = one._state()
    (others, other_meta) = other._state()
    assert meta == other_meta
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, others[name], err_msg=name)


@pytest.mark.parametrize("name", MODELS)
def test_integer_weights_equal_repeated_rows(name):
    kept = np.repeat(np.arange(150), WHOLE)
    found = estimates(MODELS[name], np.arange(150), WHOLE)
    expected = estimates(MODELS[name], kept)
    assert np.abs(found - expected).max() <= APART.get(name, 0)
    assert np.abs(found - estimates(MODELS[name], np.arange(150))).max() > 0.01


@pytest.mark.parametrize("selected", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_rows_with_weight_0_are_ignored(name, selected):
    model = MODELS[name].unfitted()
    if selected:
        chosen_by_fit = {"C", "beta"} & model.get_params().keys()
        model.set_params(**dict.fromkeys(chosen_by_fit))
    wanted = np.flatnonzero(Y.toarray()[:, 0] == 0)  # label 0 is then never learned
    weights = np.zeros(150)
    weights[wanted] = 0.5 + np.arange(wanted.size) % 3
    found = model.fit(X, Y, sample_weight=weights)
    alone = model.unfitted().fit(X[wanted], Y[wanted], sample_weight=weights[wanted])
    assert_same_arrays(found, alone)
    assert found.n_labels_ == 12
    assert found.predict_proba(X)[:, [0]].nnz == 0


@pytest.mark.parametrize("name", ["adagrad", "sgd"])
def test_weights_with_large_mean_are_scaled_down(name):
    model = MODELS[name].unfitted().set_params(lam=1e-3)
    found = estimates(model, np.arange(150), np.full(150, 1e6))
    expected = estimates(model, np.arange(150), np.full(150, MOST_COPIES))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", MODELS)
def test_small_weights_and_one_large_weight_are_learned(name):
    weights = np.random.default_rng(1).uniform(0.01, 1, 150)
    weights[3] = 1e4
    found = estimates(MODELS[name], np.arange(150), weights)
    assert np.isfinite(found).all()
    if name in APART:  # solvers with C fit the instance with the large weight
        assert (np.abs(found[3] - Y[[3]].toarray()) < 0.1).all()


@pytest.mark.parametrize("name", ["nearest", "sgd", "br"])
def test_fit_to_disk_uses_weights(name, tmp_path):
    expected = MODELS[name].unfitted().fit(X, Y, sample_weight=WHOLE)
    MODELS[name].unfitted().fit_to_disk(tmp_path / "model", X, Y, sample_weight=WHOLE)
    assert_same_arrays(type(expected).load(tmp_path / "model"), expected)


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        (np.ones(149), "(149,)"),
        (np.ones((150, 1)), "(150, 1)"),
        ([1] * 7 + [-1] * 143, "-1.0 in row 7"),
        ([1] * 7 + [np.nan] * 143, "nan in row 7"),
        (np.full(150, 1e-40), "zero in all rows"),
        (["heavy"] * 150, "sample_weight"),
        (sparse.csr_array(np.ones((1, 150))), "sample_weight"),
    ],
)
def test_invalid_weights_are_refused(weights, named):
    with raises_with(InvalidDataError, named):
        MODELS["br"].unfitted().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("name", OURS)
def test_estimators_without_weights_refuse_them(name, tmp_path):
    model = small(name)
    if "sample_weight" in inspect.signature(model.fit).parameters:
        model.fit(X, Y, sample_weight=WHOLE)
        return
    with raises_with(InvalidParameterError, type(model).__name__, "sample_weight"):
        model.fit(X, Y, sample_weight=WHOLE)
    with raises_with(InvalidParameterError, type(model).__name__, "sample_weight"):
        model.fit_to_disk(tmp_path / "model", X, Y, sample_weight=WHOLE)
    assert not (tmp_path / "model").exists()
    model.fit(X, Y, sample_weight=None).fit_to_disk(tmp_path / "model", X, Y)


def test_adapted_estimator_passes_weights_on_if_supported():
    learner = MultiOutputClassifier(MultinomialNB())
    rows = np.repeat(np.arange(150), WHOLE)
    found = Wrapped(learner).fit(X, Y, sample_weight=WHOLE).predict_proba(X).toarray()
    expected = Wrapped(learner).fit(X[rows], Y[rows]).predict_proba(X).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-5)
    with raises_with(InvalidDataError, "OneVsRestClassifier"):
        Wrapped(OneVsRestClassifier(MultinomialNB())).fit(X, Y, sample_weight=WHOLE)
