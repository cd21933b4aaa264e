"""LdSM's kernels against plain Python and numpy."""

from __future__ import annotations

import ldsm_twin as twin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.csr import kernel_csr
from xmlc.models.ldsm._directions import best_directions, direction_costs, objective
from xmlc.models.ldsm._grow import fit_node, priority_of
from xmlc.models.ldsm._node import gather_labels, gather_scaled, gather_standardised, new_node_data
from xmlc.models.ldsm._regressors import Settings, train_regressors
from xmlc.models.ldsm._route import divides, route, sent_to

KEY = np.uint64(5)


# No whole numbers for lambda_1 and lambda_2: with them, equal costs are common and rounding would decide.
def node_settings(arity=2, adaptive=True, **options):
    values = {"epochs": 3, "learning_rate": 0.2, "lambda_1": 1.7, "lambda_2": 0.9, "random_ties": False}
    return Settings(**values | {"arity": arity, "adaptive": adaptive, "uniform_start": False, "prune": False} | options)


def node_of(multilabel, seed=1, n=40, d=9, m=6):
    X, Y = multilabel(n, d, m, seed=seed)
    node = np.array([3, 0, *range(7, n, 2)], dtype=np.uint32)
    return X, Y, node


@settings(max_examples=40)
@given(st.integers(2, 4), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_direction_costs_are_the_objective_of_each_choice(arity, n_own, seed):
    rng = np.random.default_rng(seed)
    seen = rng.integers(1, 30, size=7)
    labels = rng.choice(7, size=n_own, replace=False)
    # Quarters are exact in float32; sums are at most one for each time the label was seen before.
    before = seen - np.isin(np.arange(7), labels)
    sums = np.floor(4 * rng.random((arity, 7)) * before) / 4
    lambda_1, lambda_2 = rng.choice([0.5, 1.0, 2.0, 4.0], size=2)
    costs = np.empty(1 << arity)
    own = np.ascontiguousarray(sums[:, labels]).astype(np.float32)
    direction_costs(own, n_own, sums.sum(axis=1), int(seen.sum()), lambda_1, lambda_2, costs)
    expected = twin.objectives_of_directions(sums, seen.tolist(), labels, lambda_1, lambda_2)
    values = np.array([expected[s] for s in range(1, 1 << arity)])
    # What all choices have in common is left out.
    assert np.allclose(costs[1:] - costs[1], seen.sum() * (values - values[0]), atol=1e-9)


def test_objective_of_a_node():
    rng = np.random.default_rng(2)
    for arity in (2, 3, 4):
        seen = rng.integers(1, 30, size=7)
        sums = (rng.random((arity, 7)) * seen).astype(np.float32)
        expected = twin.objective(*twin.probabilities(sums.astype(float), seen.tolist()), 1.5, 0.7)
        found = objective(sums, sums.sum(axis=1, dtype=np.float64), int(seen.sum()), 1.5, 0.7)
        assert found == pytest.approx(expected, rel=1e-5)


def test_ties_go_to_the_first_or_to_any():
    costs = np.array([0.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0])
    assert best_directions(costs, False, KEY, 0) == 2
    found = np.array([best_directions(costs, True, KEY, step) for step in range(600)])
    assert set(found) == {2, 4, 5}  # 7, all directions, is as good, but not better
    assert np.bincount(found).max() < 260
    costs[7] = 0.5
    assert {best_directions(costs, ties, KEY, 0) for ties in (False, True)} == {7}


@pytest.mark.parametrize(("arity", "adaptive"), [(2, True), (3, True), (2, False)])
def test_training_a_node_equals_plain_python(multilabel, arity, adaptive):
    X, Y, node = node_of(multilabel)
    x, y, d, m = kernel_csr(X), kernel_csr(Y), X.shape[1], Y.shape[1]
    data = new_node_data(X.shape[0], d, m, X.shape[0] * (d + 1), Y.nnz)
    n_labels = gather_labels(y, node, data)
    p = gather_scaled(x, node, data) if adaptive else gather_standardised(x, node, data)
    dense = X.toarray()[node].astype(float)
    if adaptive:
        dense /= np.where(abs(dense).max(axis=0) > 0, abs(dense).max(axis=0), 1)
    else:
        dense = (dense - dense.mean(axis=0)) / dense.std(axis=0, ddof=1)
    dense = np.column_stack([dense, np.ones(node.size)])
    label_sets = [Y[[int(i)]].indices.tolist() for i in node]
    weights, squares, objectives = np.zeros((arity, p), np.float32), np.empty((arity, p), np.float32), np.zeros(3)
    own = node_settings(arity, adaptive)
    train_regressors(data, node.size, n_labels, own, KEY, weights, squares, objectives)
    expected, history, given_directions = twin.train(dense, label_sets, m, arity, 3, 0.2, 1.7, 0.9, adaptive)
    assert len(set(given_directions)) > 1
    assert np.allclose(weights, expected[:, data.features[:p]], atol=2e-4)
    assert np.allclose(objectives, history, atol=2e-4)


def test_a_node_is_numbered_anew(multilabel):
    X, Y, node = node_of(multilabel)
    x, y, d, m = kernel_csr(X), kernel_csr(Y), X.shape[1], Y.shape[1]
    data = new_node_data(X.shape[0], d, m, X.nnz + X.shape[0], Y.nnz)
    for own in (node, node[:4]):  # the second finds the room as the first left it
        n_labels, p = gather_labels(y, own, data), gather_scaled(x, own, data)
        local = sparse.csr_array((data.values, data.ids, data.starts[: own.size + 1]), shape=(own.size, p)).toarray()
        assert data.features[p - 1] == d
        assert (local[:, p - 1] == 1).all()
        assert abs(local).max() == 1
        expected = X.toarray()[own][:, data.features[: p - 1]]
        assert np.allclose(local[:, :-1] * data.scales[: p - 1], expected, rtol=1e-6)
        for i, instance in enumerate(own):
            labels = data.labels[data.label_ids[data.label_starts[i] : data.label_starts[i + 1]]]
            assert np.array_equal(labels, Y[[int(instance)]].indices)
        assert n_labels == np.count_nonzero(Y[own].sum(axis=0))
        assert priority_of(y, own, np.zeros(m, np.uint32)) == Y[own].sum() - Y[own].sum(axis=0).max()


@pytest.mark.parametrize("adaptive", [True, False])
def test_learned_weights_are_for_features_as_they_come(multilabel, adaptive):
    X, Y, node = node_of(multilabel)
    x, y, d, m = kernel_csr(X), kernel_csr(Y), X.shape[1], Y.shape[1]
    data = new_node_data(X.shape[0], d, m, X.shape[0] * (d + 1), Y.nnz)
    room, squares = np.empty(2 * (d + 1), np.float32), np.empty(2 * (d + 1), np.float32)

    def fit(**options):
        own = node_settings(2, adaptive, **options)
        return fit_node(x, y, node, d, data, own, KEY, room, squares, np.zeros(3))

    features, weights, biases = fit()
    local = room.reshape(2, -1)  # of the node's own features
    p = features.size + 1
    rows = np.array([np.zeros(p)] * node.size)
    for i in range(node.size):
        rows[i, data.ids[data.starts[i] : data.starts[i + 1]]] = data.values[data.starts[i] : data.starts[i + 1]]
    expected = rows @ local.ravel()[: 2 * p].reshape(2, p).T
    found = X.toarray()[node][:, features].astype(float) @ weights + biases
    assert np.allclose(found, expected, atol=1e-4)
    full, pruned = np.zeros((d, 2)), np.zeros((d, 2))
    for target, prune in ((full, False), (pruned, True)):
        own_features, own_weights, _ = fit(prune=prune, learning_rate=0.02)
        target[own_features] = own_weights
    small = abs(full) < np.float32(1 / (d + 1))
    assert 0 < small.sum() < small.size
    assert np.array_equal(pruned, np.where(small, 0, full))
    assert not np.array_equal(weights, fit(uniform_start=True)[1])


def test_instances_go_in_all_directions_that_reach_a_half(multilabel):
    X, _ = multilabel(60, 8, 3, seed=4)
    rng = np.random.default_rng(4)
    features = np.array([6, 1, 3, 0], dtype=np.uint32)
    weights, biases = rng.normal(size=(4, 3)).astype(np.float32), np.array([0.3, 0.3, 0.2], np.float32)
    node, dense = np.arange(60, dtype=np.uint32), np.zeros(24, np.float32)
    chosen, sizes = np.empty(60, np.uint8), np.empty(3, np.int64)
    route(kernel_csr(X), node, features, weights, biases, dense, chosen)
    expected = [twin.directions(biases + x[features] @ weights) for x in X.toarray()]
    assert [[j for j in range(3) if bits >> j & 1] for bits in chosen.tolist()] == expected
    assert {len(own) for own in expected} == {1, 2, 3}
    assert not dense.any()
    assert divides(chosen, sizes)
    for j in range(3):
        sent = np.empty(sizes[j], np.uint32)
        sent_to(node, chosen, j, sent)
        assert sent.tolist() == [i for i, own in enumerate(expected) if j in own]
    assert not divides(np.full(9, 3, np.uint8), sizes)  # all go both ways, none the third
