"""LdSM as an estimator."""

from __future__ import annotations

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


def same_forest(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a.forest_, b.forest_, strict=True))


def data_and_model(multilabel, seed=1, **options):
    X, Y = multilabel(250, 30, 12, seed=seed)
    return X, Y, LdSM(**SMALL | options).fit(X, Y)


@pytest.mark.parametrize("options", [{}, {"arity": 3, "shares": "instances", "optimizer": "sgd"}])
def test_estimates_are_mean_shares_of_reached_leaves(multilabel, options):
    X, _, model = data_and_model(multilabel, **options)
    X = X[:50]
    several = 0
    spe = model.predict_proba(X)
    for i, x in enumerate(X.toarray()):
        shares, passed = twin.estimates_of(model.forest_, x, model.shares == "labels")
        row = spe[[i]]
        assert row.indices.tolist() == sorted(shares)
        assert np.allclose(row.data, [float(shares[label]) for label in row.indices], rtol=1e-6)
        assert model.inner_products_[i] == passed
        several += any(len(twin.leaves_of(model.forest_, tree, x)[0]) > 1 for tree in range(4))
    assert several > 5
    if model.shares == "labels":
        # The sum is below 1 if a leaf has no labels.
        assert (spe.sum(axis=1) < 1 + 1e-6).all()
        assert np.median(spe.sum(axis=1)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("arity", [2, 3])
def test_average_over_leaves_adds_one_histogram_per_leaf(multilabel, arity):
    """Estimates are the sums of Algorithm 5 divided by the number of leaves, so both give the same
    ranking.
    """
    X, _, by_tree = data_and_model(multilabel, arity=arity)
    model = by_tree.trees(4).set_params(average="leaves")
    X = X[:50]
    spe = model.predict_proba(X)
    (labels, scores) = model.predict_top_k(X, 5)
    half = model.predict_proba(X, 0.5 / 12)
    for i, x in enumerate(X.toarray()):
        hist, n_leaves = twin.predict(model.forest_, x)
        row = spe[[i]]
        assert row.indices.tolist() == sorted(hist)
        assert np.allclose(
            row.data, [float(hist[label] / n_leaves) for label in row.indices], rtol=1e-6
        )
        best = sorted(hist, key=lambda label: (-hist[label], label))[:5]
        assert labels[i, : len(best)].tolist() == best
        assert np.array_equal(scores[i, : len(best)], spe[[i]].toarray()[0, best])
        assert half[[i]].nnz == (row.data > np.float32(0.5 / 12)).sum()
    # an instance reaches several leaves in some trees
    assert (spe != by_tree.predict_proba(X)).nnz > 100
    one = by_tree.trees(1)
    assert np.allclose(
        one.predict_proba(X).data, one.set_params(average="leaves").predict_proba(X).data, rtol=1e-6
    )


@pytest.mark.parametrize("arity", [2, 3])
def test_exceed_allows_more_nodes_as_in_algorithm_1(multilabel, arity):
    X, Y = multilabel(250, 30, 12, seed=1)
    for max_nodes in range(1, 12):
        options = SMALL | {"n_trees": 1, "arity": arity, "max_nodes": max_nodes}
        model = LdSM(exceed=True, **options).fit(X, Y)
        within = LdSM(**options).fit(X, Y)
        expected = twin.nodes_of_loop(max_nodes, arity, n_splits=100)
        assert model.n_nodes_.tolist() == [expected]
        assert expected < max_nodes + arity
        # With the limit T_max, there is one split less, or the same number if the loop ends at
        # T_max.
        assert within.n_nodes_.tolist() == [expected if expected <= max_nodes else expected - arity]
        known = within.forest_.objectives
        assert np.array_equal(model.forest_.objectives[: known.shape[0]], known)


def test_leaves_count_instances_that_reach_them_and_their_labels(multilabel):
    X, Y, model = data_and_model(multilabel)
    forest = model.forest_
    sizes, counts = np.zeros(forest.sizes.size), np.zeros((forest.sizes.size, Y.shape[1]))
    for x, own in zip(X.toarray(), Y.toarray()):
        for tree in range(model.n_trees):
            reached = twin.leaves_of(forest, tree, x)[0]
            sizes[reached] += 1
            counts[reached] += own
    assert np.array_equal(forest.sizes, sizes)
    for leaf, (first, last) in enumerate(zip(forest.leaf_starts[:-1], forest.leaf_starts[1:])):
        own = np.zeros(Y.shape[1])
        own[forest.labels[first:last]] = forest.counts[first:last]
        assert np.array_equal(own, counts[leaf])


def test_reranking_combines_estimates_with_tail_classifiers(multilabel):
    X, Y, model = data_and_model(multilabel, seed=5, **{"beta": 0.6, "gamma": 2.0})
    spe = model.predict_proba(X)
    tail = np.exp(fit_tail_classifiers(X, Y, False, 1).log_scores(X, spe, 2.0, False, 1).toarray())
    expected = np.where(spe.toarray() > 0, 0.6 * spe.toarray() + 0.4 * tail, 0)
    assert np.allclose(model.predict_top_k(X, 3)[1], -np.sort(-expected, axis=1)[:, :3], rtol=1e-5)


def test_depths_node_counts_and_objectives_are_consistent(multilabel):
    _, _, model = data_and_model(multilabel, seed=6)
    forest = model.forest_
    for tree, (levels, values) in enumerate(model.objectives_):
        assert levels[0] == 1
        assert values.shape == (levels.size, model.epochs)
        assert model.tree_depths_[tree] == levels.max()
        assert model.n_nodes_[tree] == 1 + 2 * levels.size <= 31
        # Within the range of Lemma 4.
        assert -model.lambda_1 <= values.min() <= values.max() <= model.lambda_2
        offset = forest.inner_starts[tree]
        for node in range(levels.size):
            below = forest.children[offset + node] - offset
            assert (levels[below[below >= 0]] == levels[node] + 1).all()


def test_options_for_paper_and_program_change_the_forest(multilabel):
    X, Y, model = data_and_model(multilabel, seed=7)
    for change in (
        {"ties": "first"},
        {"initial_weights": "uniform"},
        {"prune": False},
        {"shuffle": False},
    ):
        assert not same_forest(model, clone(model).set_params(**change).fit(X, Y))
    # With these options, all trees are equal. Random initial weights make the trees differ.
    options = {"ties": "first", "shuffle": False, "prune": False}
    same = clone(model).set_params(n_trees=2, **options).fit(X, Y)
    assert np.array_equal(*np.split(same.forest_.biases, 2))
    paper = clone(same).set_params(initial_weights="uniform").fit(X, Y)
    first = paper.trees(1).forest_.biases
    assert not np.array_equal(first, paper.forest_.biases[first.shape[0] :])


def test_one_node_and_stored_zeros_are_learned(multilabel):
    X, Y = multilabel(30, 5, 3)
    one = LdSM(n_trees=1, max_nodes=1).fit(X, Y)
    assert (one.n_nodes_.tolist(), one.tree_depths_.tolist()) == ([1], [0])
    zeros = sparse.csr_array(
        (np.zeros(30, np.float32), (np.arange(30), np.zeros(30, int))), shape=(30, 5)
    )
    assert np.isfinite(LdSM(n_trees=1).fit(zeros + X, Y).forest_.biases).all()


def test_defaults_depend_on_size_of_training_set(multilabel):
    # with 300 rows, labels have fewer than ten positives on average
    X, Y = multilabel(3000, 5, 300)
    chosen = []
    for n in (3000, 300):
        for model in [LdSM(n_trees=1).fit(X[:n], Y[:n])]:
            chosen.append((model.max_nodes_, model.lambda_1_))
    assert Y[:300].nnz < 10 * 300 <= Y.nnz
    assert chosen == [(1500, 2.0), (1000, 4.0)]


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
