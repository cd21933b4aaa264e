"""The PLT, compared with a plain implementation, with brute force, and on several numbers of
threads.
"""

import numpy as np
import plt_twin
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from plt_cases import TREES, weights_of
from scipy import sparse
from small_data import equal_bits, random_multilabel

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
    weights = np.zeros((model.tree_.n_nodes, model.n_features_in_ + 1))
    weights[:, -1] = model.nodes_.bias
    firsts = np.append(0, model.tree_.children)  # the first node of each block
    for (block, feature, sibling), weight in weights_of(model.nodes_).items():
        weights[firsts[block] + sibling, feature] = weight
    return weights


@settings(max_examples=15)
@given(n=st.integers(1, 40), d=st.integers(1, 12) | st.integers(60, 140), **TREES)
def test_training_equals_plain_implementation(n, d, m, arity, seed):
    X, Y = random_multilabel(n, d, m, seed)
    model = PLT(arity=arity, unit_norm=False, random_state=seed, **SGD).fit(X, Y)
    order = random_permutation(n, seed, Stream.PLT_ORDER)
    expected = plt_twin.train(model.tree_, with_constant(X), label_sets(Y), order, **TWIN)
    np.testing.assert_allclose(dense_weights(model), expected, atol=2e-5)


SHAPES = [
    {"tree": "random", "arity": 3},
    {"tree": "kmeans", "arity": 4, "max_leaf": 3},
    {"tree": "kmeans", "arity": 2, "max_leaf": 100},  # all 40 labels are children of the root
]


@pytest.mark.parametrize("shape", SHAPES)
def test_estimates_equal_plain_implementation_and_searches_agree(multilabel, shape):
    X, Y = multilabel(60, 15, 40, seed=2, labels=8)
    model = PLT(random_state=5, weight_threshold=None, **shape, **TWIN).fit(X, Y)
    features = with_constant(unit_rows(X))
    order = random_permutation(60, 5, Stream.PLT_ORDER)
    weights = plt_twin.train(model.tree_, features, label_sets(Y), order, **TWIN)
    expected = [plt_twin.estimates(model.tree_, weights, x) for x in features]
    spe = model.predict_proba(X)
    assert spe.dtype == np.float32
    assert spe.nnz == 60 * 40  # with threshold 0, every label has an estimate
    found = spe.toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    np.testing.assert_array_equal(model.predict_top_k(X, 5)[1], -np.sort(-found, axis=1)[:, :5])
    limits = np.random.default_rng(0).choice(found.ravel(), 40)  # one threshold for each label
    above = np.where(found > limits, found, 0)
    np.testing.assert_array_equal(model.predict_proba(X, limits).toarray(), above)


def test_max_samples_equals_training_on_the_sample(multilabel):
    X, Y = multilabel(60, 15, 40, seed=2)
    every = PLT(arity=2, max_leaf=4, solver="adagrad", epochs=2, random_state=5)
    model = every.unfitted().set_params(max_samples=0.3).fit(X, Y)
    sample = random_permutation(60, 5, Stream.PLT_ORDER)[:18]
    rows = sample[np.argsort(random_permutation(18, 5, Stream.PLT_ORDER))]  # the same visits
    alone = every.unfitted().fit(X[rows], Y[rows])
    whole = every.unfitted().fit(X, Y)
    for one, other in ((model, alone), (every.set_params(max_samples=1.0).fit(X, Y), whole)):
        for found, array in zip(one.nodes_, other.nodes_, strict=True):
            np.testing.assert_array_equal(found, array)
    with raises_with(XmlcError, "max_samples=1.5"):
        every.set_params(max_samples=1.5).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "lam"),
    [({}, 0.01), ({"hash_bits": 10}, 0.01), ({"max_samples": 0.5}, 0.02)],
)
def test_default_lam_depends_on_c_and_number_of_instances(multilabel, options, lam):
    X, Y = multilabel(50, 20, 8)
    model = PLT(tree="random", epochs=3, C=2.0, **options).fit(X, Y)
    expected = model.unfitted().set_params(C=None, lam=lam).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X).toarray(), expected.toarray())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hash_bits": 16},
        {"solver": "adagrad"},
        {"solver": "batch"},
        {"tree": "kmeans", "arity": 4, "max_leaf": 3},
    ],
)
def test_models_are_bit_identical_on_one_and_two_threads(multilabel, options):
    X, Y = multilabel(700, 50, 300, seed=9)
    results = []
    for n_jobs in (1, 2):
        model = PLT(n_jobs=n_jobs, **{"arity": 5, **SGD, **options}).fit(X, Y)
        spe = model.predict_proba(X, 0.01)
        arrays = [*model.nodes_[:-1], spe.indptr, spe.indices, spe.data, *model.predict_top_k(X, 3)]
        results.append([np.asarray(array).tobytes() for array in [*arrays, model.inner_products_]])
    assert results[0] == results[1]


@pytest.mark.parametrize("options", [{"tree": "random"}, {"hash_bits": 18}, {}])
def test_tree_contains_only_labels_with_instances(multilabel, options, tmp_path):
    X, Y = multilabel(30, 10, 5, labels=2)
    places = np.array([2, 3, 40_000, 70_000, 99_999])
    wide = sparse.csr_array((Y.data, places[Y.indices], Y.indptr), shape=(30, 100_000))
    known = PLT(arity=2, **options).fit(X, Y)
    estimates = known.predict_proba(X, 0.1)
    expected = sparse.csr_array((estimates.data, places[estimates.indices], estimates.indptr))
    ranked = np.append(places, -1)[known.predict_top_k(X, 7)[0]]
    model = known.unfitted().fit(X, wide)
    assert model.tree_.n_nodes == known.tree_.n_nodes
    model.save(tmp_path / "model")
    for one in (model, PLT.load(tmp_path / "model")):
        found = one.predict_proba(X, 0.1)
        assert found.shape == wide.shape
        assert equal_bits(found, expected)
        np.testing.assert_array_equal(one.predict_top_k(X, 7)[0], ranked)
        np.testing.assert_array_equal(one.rank_one(X[[4]].indices, X[[4]].data, 7)[0], ranked[4])
    nothing = known.unfitted().fit(X, np.zeros((30, 5)))
    assert nothing.predict_proba(X).toarray().max() < 0.5


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


def test_inconsistent_data_is_refused(multilabel):
    X, Y = multilabel(20, 10, 5)
    model = PLT().fit(X, Y)
    dense = X.toarray()
    dense[7, 3] = np.nan
    with raises_with(XmlcError, "9 features", "PLT", "10 features"):
        model.predict_proba(X[:, :9])
    with raises_with(XmlcError, "shape (4,)"):
        model.predict_proba(X, np.zeros(4))
    with raises_with(XmlcError, "X", "row 7"):
        model.predict_proba(dense)
