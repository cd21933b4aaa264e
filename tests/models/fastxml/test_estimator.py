"""FastXML and PfastreXML as estimators."""

import fastxml_twin as twin
import numpy as np
import pytest
from facts import raises_with
from real_data import assert_precision, bibtex
from scipy import sparse
from small_data import random_multilabel

from xmlc.core.errors import XmlcError
from xmlc.kernels.csr import kernel_csr, top_k_of
from xmlc.kernels.unit_length import unit_rows
from xmlc.metrics import propensities, psp_at_k
from xmlc.models import FastXML
from xmlc.models.fastxml._forest import divide, find_leaf
from xmlc.models.tail_classifiers import fit_tail_classifiers

PFASTREXML = {"propensity_weighted": True, "alpha": 0.8}


@pytest.fixture(scope="module")
def fitted():
    X, Y = random_multilabel(300, 40, 15, seed=1)
    return FastXML(n_trees=6, n_jobs=1).fit(X, Y), X, Y


def test_estimates_are_mean_shares_of_reached_leaves(fitted):
    model, X, _ = fitted
    X = X[:60]
    spe = model.predict_proba(X)
    for i, x in enumerate(X.toarray()):
        shares, passed = twin.estimates_of(model.forest_, x)
        row = spe[[i]]
        assert row.indices.tolist() == sorted(shares)
        # Exact fractions are rounded once, so equal fractions give equal estimates.
        assert row.data.tolist() == [np.float32(float(shares[label])) for label in row.indices]
        assert model.inner_products_[i] == passed


@pytest.mark.parametrize("unit_norm", [False, True])
def test_each_training_instance_reaches_its_leaf(unit_norm):
    # With few binary features and empty rows, many scores are 0 or nearly 0.
    rng = np.random.default_rng(8)
    X = sparse.csr_array((rng.random((600, 12)) < 0.15).astype(np.float32))
    Y = sparse.csr_array(rng.random((600, 9)) < 0.2)
    forest = FastXML(n_trees=8, max_leaf=3, unit_norm=unit_norm, n_jobs=1).fit(X, Y).forest_
    arrays = (forest.counts, forest.labels, forest.leaf_starts)
    counts = sparse.csr_array(arrays, shape=(forest.sizes.size, 9)).toarray()
    x = kernel_csr(unit_rows(X) if unit_norm else X)
    for tree in range(8):
        _, leaves, _ = find_leaf(x, 0, 600, forest, tree, 12)
        for leaf in np.unique(leaves):
            assert forest.sizes[leaf] == (leaves == leaf).sum()
            np.testing.assert_array_equal(counts[leaf], Y[leaves == leaf].sum(axis=0))
    # rows without features have the score 0 at some roots
    assert (forest.biases[forest.roots[forest.roots >= 0]] == 0).any()


def test_instances_with_score_0_go_to_positive_side():
    x = kernel_csr(sparse.csr_array(np.array([[1.0], [-1.0], [0.0]], dtype=np.float32)))
    order = np.arange(3, dtype=np.uint32)
    node = (np.zeros(1, dtype=np.uint32), np.ones(1, dtype=np.float32), np.float32(0))
    assert divide(x, order, *node, np.zeros(1, dtype=np.float32), np.empty_like(order)) == 1
    assert order.tolist() == [1, 0, 2]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.8, 1.0])
def test_pfastrexml_ranks_by_inverse_propensity_and_tail_classifiers(multilabel, alpha):
    X, Y = multilabel(200, 30, 12, seed=5)
    model = FastXML(n_trees=4, propensity_weighted=True, alpha=alpha).fit(X, Y)
    spe = model.predict_proba(X)
    weighted = spe.toarray() / propensities(Y)
    tail = fit_tail_classifiers(X, Y, True, 1).log_scores(X, spe, model.gamma, True, 1).toarray()
    # a score of 0 would remove the candidate
    scores = np.maximum(weighted**alpha * np.exp((1 - alpha) * tail), np.finfo(np.float32).tiny)
    expected = sparse.csr_array(np.where(weighted > 0, scores, 0).astype(np.float32))
    labels, scores = model.predict_top_k(X, 3)
    assert np.allclose(scores, top_k_of(expected, 3)[1], rtol=2e-4)
    # Labels with equal estimates may have another order.
    assert (labels == top_k_of(expected, 3)[0]).mean() > 0.99


def test_dcg_and_ndcg_differ_only_if_numbers_of_labels_differ(multilabel):
    X, several = multilabel(200, 30, 12, seed=5)
    one = np.eye(12, dtype=bool)[np.arange(200) % 12]
    for Y, is_equal in ((several, False), (one, True)):
        ndcg = FastXML(n_trees=2, objective="ndcg").fit(X, Y).predict_proba(X)
        dcg = FastXML(n_trees=2, objective="dcg").fit(X, Y).predict_proba(X)
        assert ((ndcg != dcg).nnz == 0) == is_equal
    with raises_with(XmlcError, "objective='map'", "'ndcg', 'dcg'"):
        FastXML(objective="map").fit(X, several)


def test_label_weights_that_overflow_are_refused():
    X = np.eye(30, 5)
    Y = np.eye(30, 4) > 0
    Y[0] = False  # the first row has no label
    for a, b in ((100.0, 1.0), (100.0, 1e9)):
        with raises_with(XmlcError, f"propensity_a={a}", f"propensity_b={b}"):
            FastXML(n_trees=1, propensity_weighted=True, propensity_a=a, propensity_b=b).fit(X, Y)


def test_labels_per_leaf_limits_size_of_leaves(multilabel):
    X, Y = multilabel(200, 30, 12, seed=6)
    assert np.diff(FastXML(n_trees=2, labels_per_leaf=2).fit(X, Y).forest_.leaf_starts).max() == 2


@pytest.mark.slow
def test_published_precision_on_bibtex(mirror):
    """Published: 63.42 39.23 28.86 (repository).

    The mean over seeds is within half a point of the published value. Each seed is within one
    point.
    """
    (X, Y), (X_test, Y_test) = bibtex(mirror)
    labels, _ = FastXML(n_jobs=2).fit(X, Y).predict_top_k(X_test, 5)
    assert_precision(Y_test, labels, (63.42, 39.23, 28.86), within=1.0)
    # Propensity-scored precision of PfastreXML, from the same source: 52.28 54.36 60.55.
    labels, _ = FastXML(n_jobs=2, **PFASTREXML).fit(X, Y).predict_top_k(X_test, 5)
    for k, published in ((1, 52.28), (3, 54.36), (5, 60.55)):
        assert abs(100 * psp_at_k(Y_test, labels, propensities(Y), k) - published) < 1.5
