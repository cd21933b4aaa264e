"""LdSM as an estimator."""

import ldsm_twin as twin
import numpy as np
import pytest
from facts import raises_with
from real_data import assert_precision, bibtex
from scipy import sparse
from sklearn.base import clone

from xmlc.core.errors import XmlcError
from xmlc.models import LdSM
from xmlc.models.tail_classifiers import fit_tail_classifiers

SMALL = {
    "n_trees": 4,
    "max_nodes": 31,
    "learning_rate": 0.5,
    "lambda_1": 1.3,
    "shares": "labels",
    "n_jobs": 1,
}


def data_and_model(multilabel, seed=1, **options):
    X, Y = multilabel(250, 30, 12, seed=seed)
    return X, Y, LdSM(**SMALL | options).fit(X, Y)


@pytest.mark.parametrize("options", [{}, {"arity": 3, "shares": "instances", "optimizer": "sgd"}])
def test_estimates_are_mean_shares_of_reached_leaves(multilabel, options):
    X, _, model = data_and_model(multilabel, **options)
    several = 0
    spe = model.predict_proba(X[:50])
    for i, x in enumerate(X[:50].toarray()):
        shares, passed = twin.estimates_of(model.forest_, x, model.shares == "labels")
        row = spe[[i]]
        assert row.indices.tolist() == sorted(shares)
        assert np.allclose(row.data, [float(shares[label]) for label in row.indices], rtol=1e-6)
        assert model.inner_products_[i] == passed
        several += any(len(twin.leaves_of(model.forest_, tree, x)[0]) > 1 for tree in range(4))
    assert several > 5


@pytest.mark.parametrize("arity", [2, 3])
def test_average_over_leaves_adds_one_histogram_per_leaf(multilabel, arity):
    """Estimates are the sums of Algorithm 5 divided by the number of leaves, so both give the same
    ranking.
    """
    X, _, by_tree = data_and_model(multilabel, arity=arity)
    model = by_tree.trees(4).set_params(average="leaves")
    spe = model.predict_proba(X[:50])
    for i, x in enumerate(X[:50].toarray()):
        hist, n_leaves = twin.predict(model.forest_, x)
        row = spe[[i]]
        expected = [float(hist[label] / n_leaves) for label in row.indices]
        assert row.indices.tolist() == sorted(hist)
        assert np.allclose(row.data, expected, rtol=1e-6)
    # an instance reaches several leaves in some trees
    assert (spe != by_tree.predict_proba(X[:50])).nnz > 100


@pytest.mark.parametrize("arity", [2, 3])
def test_exceed_allows_more_nodes_as_in_algorithm_1(multilabel, arity):
    for max_nodes in range(1, 12):
        options = {"n_trees": 1, "arity": arity, "max_nodes": max_nodes}
        X, Y, within = data_and_model(multilabel, **options)
        model = clone(within).set_params(exceed=True).fit(X, Y)
        expected = twin.nodes_of_loop(max_nodes, arity, n_splits=100)
        assert model.n_nodes_.tolist() == [expected]
        # With the limit T_max, there is one split less, or the same number if the loop ends at
        # T_max.
        assert within.n_nodes_.tolist() == [expected if expected <= max_nodes else expected - arity]
        known = within.forest_.objectives
        assert np.array_equal(model.forest_.objectives[: len(known)], known)


def test_leaves_count_instances_that_reach_them_and_their_labels(multilabel):
    X, Y, model = data_and_model(multilabel)
    forest = model.forest_
    sizes = np.zeros(forest.sizes.size)
    expected = np.zeros((forest.sizes.size, 12))
    for x, own in zip(X.toarray(), Y.toarray()):
        for tree in range(model.n_trees):
            reached = twin.leaves_of(forest, tree, x)[0]
            sizes[reached] += 1
            expected[reached] += own
    counts = sparse.csr_array((forest.counts, forest.labels, forest.leaf_starts), expected.shape)
    assert np.array_equal(forest.sizes, sizes)
    assert np.array_equal(counts.toarray(), expected)


def test_reranking_combines_estimates_with_tail_classifiers(multilabel):
    X, Y, model = data_and_model(multilabel, seed=5, beta=0.6, gamma=2.0)
    spe = model.predict_proba(X)
    tail = fit_tail_classifiers(X, Y, False, 1).log_scores(X, spe, 2.0, False, 1).toarray()
    expected = np.where(spe.toarray() > 0, 0.6 * spe.toarray() + 0.4 * np.exp(tail), 0)
    assert np.allclose(model.predict_top_k(X, 3)[1], -np.sort(-expected, axis=1)[:, :3], rtol=1e-5)


def test_depths_node_counts_and_objectives_are_consistent(multilabel):
    _, _, model = data_and_model(multilabel, seed=6)
    forest = model.forest_
    for tree, (levels, values) in enumerate(model.objectives_):
        assert values.shape == (levels.size, model.epochs)
        assert model.tree_depths_[tree] == levels.max()
        assert model.n_nodes_[tree] == 1 + 2 * levels.size <= 31
        # within the range of Lemma 4
        assert -model.lambda_1 <= values.min() <= values.max() <= model.lambda_2
        assert levels[0] == 1
        first = forest.inner_starts[tree]
        for level, children in zip(levels, forest.children[first:]):
            assert (levels[children[children >= 0] - first] == level + 1).all()


def test_options_for_paper_and_program_change_the_forest(multilabel):
    X, Y, model = data_and_model(multilabel, seed=7)

    def biases_with(**options):
        return clone(model).set_params(**options).fit(X, Y).forest_.biases

    for option in (
        {"ties": "first"},
        {"initial_weights": "uniform"},
        {"prune": False},
        {"shuffle": False},
    ):
        assert not np.array_equal(model.forest_.biases, biases_with(**option))
    # With these options, all trees are equal. Random initial weights make the trees differ.
    options = {"n_trees": 2, "ties": "first", "shuffle": False, "prune": False}
    one, other = np.split(biases_with(**options), 2)
    assert np.array_equal(one, other)
    first = biases_with(initial_weights="uniform", **options | {"n_trees": 1})
    both = biases_with(initial_weights="uniform", **options)
    assert not np.array_equal(first, both[len(first) :])


def test_one_node_is_learned(multilabel):
    one = LdSM(n_trees=1, max_nodes=1).fit(*multilabel(30, 5, 3))
    assert one.n_nodes_.tolist() == [1]
    assert one.tree_depths_.tolist() == [0]


# with 300 rows, labels have fewer than ten positives on average
@pytest.mark.parametrize(("n", "max_nodes", "lambda_1"), [(3000, 1500, 2.0), (300, 1000, 4.0)])
def test_defaults_depend_on_size_of_training_set(multilabel, n, max_nodes, lambda_1):
    X, Y = multilabel(3000, 5, 300)
    model = LdSM(n_trees=1).fit(X[:n], Y[:n])
    assert model.max_nodes_ == max_nodes
    assert model.lambda_1_ == lambda_1


def test_sgd_refuses_too_many_features_to_standardise():
    X = sparse.csr_array((2000, 1 << 20), dtype=np.float32)
    with raises_with(XmlcError, "optimizer='sgd'", "optimizer='nag'"):
        LdSM(optimizer="sgd").fit(X, sparse.csr_array(np.ones((2000, 2), dtype=bool)))


@pytest.mark.slow
def test_precision_on_bibtex_equals_authors_program(mirror):
    """The authors' program has .598 .351 .260 with these settings and ten trees."""
    (X, Y), (X_test, Y_test) = bibtex(mirror)
    labels, _ = LdSM(n_jobs=2).fit(X, Y).predict_top_k(X_test, 5)
    assert_precision(Y_test, labels, (59.8, 35.1, 26.0), within=1.5)
