"""Searches in a label tree, bit-identical to plain implementations."""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from plt_cases import every_store, random_nodes
from plt_descent_twin import all_estimates, best_labels, best_of_beam, labels_above, weighted
from small_data import random_multilabel

from xmlc.kernels.csr import NO_WEIGHTS, kernel_csr
from xmlc.kernels.estimator import InvalidParameterError
from xmlc.models import PLT
from xmlc.models.plt import estimator
from xmlc.models.plt.search import EVERY_NODE, estimate_by_levels, rank_best_first, rank_by_levels
from xmlc.models.plt.weights import LOGISTIC_LINK

SIZES = {
    "n": st.integers(1, 30),
    "d": st.integers(1, 12) | st.integers(60, 200),  # several words of marks
    "m": st.integers(1, 40),
    "seed": st.integers(0, 99),
}
LINKS = st.sampled_from([LOGISTIC_LINK, 2, 3])  # powers of the squared hinge loss


def instances(n, d, seed):
    return kernel_csr(random_multilabel(n, d, 3, seed)[0])


def shape_of(x, d, tree):
    return d, int(np.diff(x.indptr).max(initial=0)), int(np.diff(tree.children).max())


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def assert_thresholds_equal_twin(x, n, nodes, link, thresholds, shape):
    found = estimate_by_levels(x, 0, n, nodes, link, thresholds, EVERY_NODE, shape)
    counts, labels, estimates, inner_products = found
    ends = np.cumsum(counts)
    for i, of_nodes in enumerate(all_estimates(x, nodes, link)):
        own = slice(ends[i] - counts[i], ends[i])
        expected = labels_above(nodes, of_nodes, thresholds)
        assert_same((labels[own], estimates[own], inner_products[i]), expected)


def random_weights(tree, m, seed):
    """Return no weights for odd seeds, else weights that are partly 0, and all 0 for seed 0."""
    if seed % 2:
        return NO_WEIGHTS
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.0, 1e-3, 1.0, 40.0], m) * rng.choice([1.0, rng.random()], m)
    return tree.largest_below(weights * (seed > 0))


def twin_rankings(x, nodes, link, k, largest=NO_WEIGHTS):
    found = []
    for estimates in all_estimates(x, nodes, link):
        found.append(best_labels(nodes, weighted(nodes, estimates, largest), k))
    return [np.array(column) for column in zip(*found, strict=True)]


def assert_best_first_equals(found, expected, largest):
    """With weights, the search opens at most as many nodes as its twin, which uses bounds in powers
    of two.
    """
    assert_same(found[:2], expected[:2])
    assert (found[2] <= expected[2]).all() if largest.size else (found[2] == expected[2]).all()


@settings(max_examples=25)
@given(arity=st.sampled_from([2, 5, 9, 20, 70]), link=LINKS, **SIZES)
def test_search_by_levels_with_thresholds_equals_plain_search(n, d, m, arity, seed, link):
    tree, nodes = random_nodes(m, arity, d, seed)
    x = instances(n, d, seed)
    rng = np.random.default_rng(seed)
    thresholds = tree.node_thresholds(
        rng.choice([0.0, 0.01, 0.1, 0.5, np.inf], m).astype(np.float32)
    )
    for weights in every_store(tree, nodes, seed):
        assert_thresholds_equal_twin(x, n, weights, link, thresholds, shape_of(x, d, tree))


@settings(max_examples=25)
@given(
    arity=st.sampled_from([2, 5, 20]),
    k=st.integers(1, 12),
    beam=st.integers(1, 4),
    link=LINKS,
    **SIZES,
)
def test_exact_rankings_equal_plain_search(n, d, m, arity, seed, k, beam, link):
    tree, nodes = random_nodes(m, arity, d, seed)
    if seed % 3 == 0:  # many ties
        nodes = nodes._replace(weights=nodes.weights * 0, bias=np.round(nodes.bias))
    x = instances(n, d, seed)
    shape = shape_of(x, d, tree)
    largest = random_weights(tree, m, seed)
    dense, compact, hashed = every_store(tree, nodes, seed)

    def best_first(weights):
        return rank_best_first(x, 0, n, weights, link, k, largest, shape)

    def by_levels(weights, beam, is_exact):
        return rank_by_levels(x, 0, n, weights, link, k, largest, beam, is_exact, shape)

    of_hashed = twin_rankings(x, hashed, link, k, largest)
    assert_best_first_equals(best_first(hashed), of_hashed, largest)
    expected = twin_rankings(x, nodes, link, k, largest)
    for weights in (dense, compact):
        assert_best_first_equals(best_first(weights), expected, largest)
        found = by_levels(weights, beam, True)
        assert_same(found[:2], expected[:2])
        assert largest.size or (expected[2] <= found[3]).all()
        assert (found[3] <= tree.n_nodes).all()  # no node is opened twice
        *ranked, exact, opened = by_levels(weights, beam, False)
        for part, other in zip(ranked, expected):
            np.testing.assert_array_equal(part[exact], other[exact])
        # a proved ranking opens no additional nodes
        assert_same((exact, opened[exact]), (found[2], found[3][exact]))
        assert_same(by_levels(weights, tree.n_nodes, False)[:2], expected[:2])


@settings(max_examples=20)
@given(arity=st.sampled_from([2, 3, 5]), k=st.integers(1, 6), beam=st.integers(1, 6), **SIZES)
def test_beam_search_equals_plain_search(n, d, m, arity, seed, k, beam):
    tree, nodes = random_nodes(m, arity, d, seed)
    x = instances(n, d, seed)
    largest = random_weights(tree, m, seed)
    options = (LOGISTIC_LINK, k, largest, beam, False, shape_of(x, d, tree))
    labels, estimates, exact, _ = rank_by_levels(x, 0, n, nodes, *options)
    for i, of_nodes in enumerate(all_estimates(x, nodes, LOGISTIC_LINK)):
        expected, values, missed = best_of_beam(nodes, weighted(nodes, of_nodes, largest), k, beam)
        lacking = k - expected.size
        assert labels[i].tolist() == [*expected, *[-1] * lacking]
        assert estimates[i].tolist() == [*values, *[0] * lacking]
        assert exact[i] == (missed < 0 or (lacking == 0 and missed < values[-1]))


def test_wide_nodes_are_searched_in_chunks_of_instances():
    """3,000 siblings times 60 instances have more estimates than one chunk."""
    tree, nodes = random_nodes(3000, 3000, 6, 0)
    x = instances(60, 6, 1)
    shape = shape_of(x, 6, tree)
    thresholds = tree.node_thresholds(np.full(3000, 0.3, dtype=np.float32))
    assert_thresholds_equal_twin(x, 60, nodes, LOGISTIC_LINK, thresholds, shape)
    ranked = rank_by_levels(x, 0, 60, nodes, LOGISTIC_LINK, 7, NO_WEIGHTS, 2, True, shape)
    assert_same(ranked[:2], twin_rankings(x, nodes, LOGISTIC_LINK, 7)[:2])


@pytest.mark.parametrize(
    ("search", "weight_threshold"), [("certified", None), ("certified", 0.05), ("beam", 0.05)]
)
def test_predictions_are_equal_for_any_batches_and_threads(
    multilabel, monkeypatch, weight_threshold, search
):
    X, Y = multilabel(300, 40, 90, seed=2)
    options = {"weight_threshold": weight_threshold, "search": search, "beam": 4, "n_jobs": 1}
    model = PLT(tree="random", arity=4, epochs=2, **options).fit(X, Y)

    def predictions():
        ranked = model.predict_top_k(X, 3)
        return *ranked, model.inner_products_, model.predict_proba(X, 0.02).toarray()

    whole = predictions()
    monkeypatch.setattr(estimator, "ROWS_PER_BATCH", 37)
    for n_jobs in (1, 2):
        model.set_params(n_jobs=n_jobs)
        assert_same(predictions(), whole)


def test_search_may_change_after_training(multilabel):
    X, Y = multilabel(300, 40, 90, seed=3)
    model = PLT(tree="random", arity=4, epochs=2, search="exact").fit(X, Y)
    exact = model.predict_top_k(X, 4)
    assert model.certified_ is None
    assert_same(model.set_params(search="certified", beam=2).predict_top_k(X, 4), exact)
    assert 0 < model.certified_.mean() < 1
    with raises_with(InvalidParameterError, "search='quick'"):
        model.set_params(search="quick").predict_top_k(X, 1)
