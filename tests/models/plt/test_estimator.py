"""The PLT, compared with a plain implementation, with brute force, and on several numbers of
threads.
"""

import numpy as np
import plt_twin
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from plt_cases import TREES
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from xmlc.core.errors import XmlcError
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.unit_length import unit_rows
from xmlc.models import PLT

TWIN = {"gamma": 0.7, "lam": 0.01, "epochs": 3}
SGD = {"tree": "random", "weight_threshold": None, **TWIN}


def with_constant(X):
    return np.hstack([X.toarray().astype(np.float64), np.ones((X.shape[0], 1))])


def label_sets(Y):
    return [Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist() for i in range(Y.shape[0])]


def dense_weights(model):
    """Return the exact weights of every node as a dense matrix, with the constant feature last."""
    nodes = model.nodes_
    tree = model.tree_
    weights = np.zeros((tree.n_nodes, model.n_features_in_ + 1))
    weights[:, -1] = nodes.bias
    for block in range(tree.n_nodes + 1):
        first, end = (0, 1) if block == 0 else tree.children[block - 1 : block + 1]
        features = nodes.features[nodes.feature_starts[block] : nodes.feature_starts[block + 1]]
        values = nodes.weights[nodes.weight_starts[block] : nodes.weight_starts[block + 1]]
        if features.size:
            weights[first:end, features] = values.reshape(features.size, end - first).T
    return weights


@settings(deadline=None, max_examples=15)
@given(n=st.integers(1, 40), d=st.integers(1, 12), **TREES)
def test_training_equals_plain_implementation(n, d, m, arity, seed):
    from small_data import random_multilabel

    X, Y = random_multilabel(n, d, m, seed)
    model = PLT(arity=arity, unit_norm=False, random_state=seed, **SGD).fit(X, Y)
    order = random_permutation(n, seed, Stream.PLT_ORDER)
    expected = plt_twin.train(model.tree_, with_constant(X), label_sets(Y), order, **TWIN)
    np.testing.assert_allclose(dense_weights(model), expected, atol=2e-5)


@pytest.mark.parametrize("hash_bits", [None, 10])
def test_default_lam_depends_on_c_and_number_of_instances(multilabel, hash_bits):
    X, Y = multilabel(50, 20, 8)
    settings = {"tree": "random", "epochs": 3, "hash_bits": hash_bits}
    found = PLT(C=2.0, **settings).fit(X, Y).predict_proba(X).toarray()
    np.testing.assert_array_equal(
        found, PLT(lam=1 / 100, **settings).fit(X, Y).predict_proba(X).toarray()
    )
    some = PLT(C=2.0, max_samples=0.5, **settings).fit(X, Y).predict_proba(X).toarray()
    expected = PLT(lam=1 / 50, max_samples=0.5, **settings).fit(X, Y).predict_proba(X).toarray()
    np.testing.assert_array_equal(some, expected)


def test_estimates_follow_chain_rule_for_every_label(multilabel):
    X, Y = multilabel(60, 15, 29, labels=8)
    model = PLT(arity=3, **SGD).fit(X, Y)
    weights = dense_weights(model)
    instances = with_constant(unit_rows(X))
    expected = np.array([plt_twin.estimates(model.tree_, weights, x) for x in instances])
    spe = model.predict_proba(X)
    assert spe.dtype == np.float32
    assert spe.nnz == X.shape[0] * 29  # with threshold 0, every label has an estimate
    np.testing.assert_allclose(spe.toarray(), expected, rtol=2e-5)


def test_hashed_weights_without_collisions_equal_exact_weights(multilabel):
    X, Y = multilabel(60, 8, 11, seed=6)
    exact = PLT(arity=3, **SGD).fit(X, Y)
    hashed = PLT(arity=3, hash_bits=26, **SGD).fit(X, Y)  # 17 nodes x 8 features in 2**26 slots
    np.testing.assert_allclose(
        hashed.predict_proba(X).toarray(), exact.predict_proba(X).toarray(), rtol=1e-5
    )


def test_plt_with_one_label_equals_logistic_regression(multilabel):
    """With one label, the tree is only a root.

    Many small steps reach the solution of scikit-learn.
    """
    X, Y = multilabel(200, 6, 1, seed=7, labels=0.4)
    lam = 0.01
    model = PLT(tree="random", arity=2, gamma=0.5, lam=lam, epochs=4000, unit_norm=False).fit(X, Y)
    dense = with_constant(X)
    y = Y.toarray().ravel()
    baseline = LogisticRegression(C=1 / (lam * 200), fit_intercept=False, tol=1e-8).fit(dense, y)
    np.testing.assert_allclose(
        model.predict_proba(X).toarray().ravel(), baseline.predict_proba(dense)[:, 1], atol=5e-3
    )


@pytest.mark.parametrize("seed", range(3))
def test_adagrad_equals_plain_implementation(multilabel, seed):
    X, Y = multilabel(60, 12, 20, seed=seed)
    model = PLT(tree="random", arity=4, solver="adagrad", gamma=0.7, epochs=3, unit_norm=False).fit(
        X, Y
    )
    order = random_permutation(X.shape[0], 0, Stream.PLT_ORDER)
    expected = plt_twin.train_adagrad(
        model.tree_, with_constant(X), label_sets(Y), order, 0.7, 0.01, 3
    )
    np.testing.assert_allclose(dense_weights(model), expected, atol=2e-5)


@pytest.mark.parametrize(
    "options", [{}, {"hash_bits": 16}, {"solver": "adagrad"}, {"solver": "batch"}]
)
def test_models_are_bit_identical_on_one_and_two_threads(multilabel, options):
    X, Y = multilabel(700, 50, 300, seed=9)
    results = []
    for n_jobs in (1, 2):
        model = PLT(arity=5, n_jobs=n_jobs, **options, **SGD).fit(X, Y)
        spe = model.predict_proba(X, 0.01)
        labels, scores = model.predict_top_k(X, 3)
        results.append(
            [
                *model.nodes_[:-1],
                spe.indptr,
                spe.indices,
                spe.data,
                labels,
                scores,
                model.inner_products_,
            ]
        )
    for one, two in zip(*results):
        assert np.asarray(one).tobytes() == np.asarray(two).tobytes()


@pytest.mark.parametrize("hash_bits", [None, 18])
@pytest.mark.parametrize("tree", ["random", "kmeans"])
def test_tree_contains_only_labels_with_instances(multilabel, tree, hash_bits, tmp_path):
    X, Y = multilabel(30, 10, 5, labels=2)
    places = np.array([2, 3, 40_000, 70_000, 99_999])
    wide = sparse.csr_array((Y.data, places[Y.indices], Y.indptr), shape=(30, 100_000))
    known, model = (PLT(tree=tree, arity=2, hash_bits=hash_bits).fit(X, sets) for sets in (Y, wide))
    assert model.tree_.n_nodes == known.tree_.n_nodes
    model.save(tmp_path / "model")
    for one in (model, PLT.load(tmp_path / "model")):
        found = one.predict_proba(X, 0.1)
        expected = known.predict_proba(X, 0.1)
        assert found.shape == wide.shape
        np.testing.assert_array_equal(found[:, places].toarray(), expected.toarray())
        assert found.nnz == expected.nnz
        labels, _ = one.predict_top_k(X, 7)
        np.testing.assert_array_equal(labels, np.append(places, -1)[known.predict_top_k(X, 7)[0]])
        np.testing.assert_array_equal(one.rank_one(X[[4]].indices, X[[4]].data, 7)[0], labels[4])
    nothing = (
        PLT(tree=tree, arity=2, hash_bits=hash_bits).fit(X, Y.astype(float) * 0).predict_proba(X)
    )
    assert nothing.toarray().max() < 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "adagrad", "hash_bits": 10}, ["hash_bits=10", "'sgd'"]),
        ({"solver": "batch", "hash_bits": 10}, ["hash_bits=10", "'sgd'"]),
        ({"solver": "batch", "loss": "hinge"}, "'logistic', 'squared_hinge'"),
        ({"weight_threshold": 0.1, "hash_bits": 10}, ["weight_threshold=0.1", "hash_bits=10"]),
        ({"tree": "kmeans", "arity": 6}, "arity=6"),
    ],
)
def test_incompatible_hyperparameters_are_refused(multilabel, parameters, message):
    X, Y = multilabel(20, 10, 5)
    with raises_with(XmlcError, message):
        PLT(**parameters).fit(X, Y)


def test_inconsistent_data_is_refused(tmp_path, multilabel):
    X, Y = multilabel(20, 10, 5)
    model = PLT().fit(X, Y)
    with raises_with(XmlcError, "20 instances", "19"):
        PLT().fit(X, Y[:19])
    with raises_with(XmlcError, "9 features", "PLT", "10 features"):
        model.predict_proba(X[:, :9])
    with raises_with(XmlcError, "shape (4,)"):
        model.predict_proba(X, np.zeros(4))
    with raises_with(XmlcError, "k=0"):
        model.predict_top_k(X, 0)
    dense = X.toarray()
    dense[7, 3] = np.nan
    with raises_with(XmlcError, "X", "row 7"):
        model.predict_proba(dense)
    with pytest.raises(XmlcError):
        PLT.load(tmp_path)
