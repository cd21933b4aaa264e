"""Nodes of LdSM: their weights for unscaled features, the order of splits, and the routes of
instances.
"""

from __future__ import annotations

import ldsm_twin as twin
import numpy as np
import pytest
from ldsm_cases import node_of, tree_settings
from scipy import sparse

from xmlc.kernels.csr import kernel_csr
from xmlc.models import LdSM
from xmlc.models.ldsm._forest import create_children
from xmlc.models.ldsm._grow import divides, priority_of
from xmlc.models.ldsm._node import gather_labels, gather_scaled, new_workspace
from xmlc.models.ldsm._pairs import SLOT
from xmlc.models.ldsm._regressors import train_regressors


@pytest.mark.parametrize("adaptive", [True, False])
def test_node_weights_apply_to_unscaled_features(multilabel, adaptive):
    X, Y, node = node_of(multilabel)
    x = kernel_csr(X)
    y = kernel_csr(Y)
    d = X.shape[1]
    work = new_workspace(x, y, d, Y.shape[1], 2, adaptive)

    def fit(**options):
        return train_regressors(
            x, y, node, tree_settings(2, adaptive, **options), np.uint64(5), work
        )

    features, weights, biases, _ = fit()
    p = features.size + 1
    local = work.slots.reshape(-1, SLOT)[:p, :2]  # the features of the node
    rows = np.array([np.zeros(p)] * node.size)
    for i in range(node.size):
        rows[i, work.ids[work.starts[i] : work.starts[i + 1]]] = work.values[
            work.starts[i] : work.starts[i + 1]
        ]
    assert np.allclose(
        X.toarray()[node][:, features].astype(float) @ weights + biases, rows @ local, atol=1e-4
    )
    full = np.zeros((d, 2))
    pruned = np.zeros((d, 2))
    for target, prune in ((full, False), (pruned, True)):
        own_features, own_weights, _, _ = fit(prune=prune, learning_rate=0.02)
        target[own_features] = own_weights
    small = abs(full) < np.float32(1 / (d + 1))
    assert 0 < small.sum() < small.size
    assert np.array_equal(pruned, np.where(small, 0, full))
    assert not np.array_equal(weights, fit(uniform_start=True)[1])


# The order in which leaves are split.


def instances_of(forest, X):
    """Return the rows that reach each inner node of a forest of one tree."""
    members = {0: np.arange(len(X))}
    for node in range(forest.levels.size):
        own = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
        margins = (
            forest.biases[node] + X[members[node]][:, forest.features[own]] @ forest.weights[own]
        )
        sent = [twin.directions(row) for row in margins]
        for j, child in enumerate(forest.children[node].tolist()):
            if child >= 0:
                members[child] = members[node][[j in directions for directions in sent]]
    return members


@pytest.mark.parametrize("arity", [2, 3])
def test_leaf_with_highest_priority_is_split_next(multilabel, arity):
    """In Algorithm 1, the priority is the sum minus the maximum of the label histogram."""
    X, Y = multilabel(600, 30, 12, seed=1)
    forest = (
        LdSM(n_trees=1, arity=arity, max_nodes=10**6, learning_rate=1.0, epochs=10, n_jobs=1)
        .fit(X, Y)
        .forest_
    )
    rows = instances_of(forest, X.toarray())
    Y = Y.toarray()
    priority = {node: Y[own].sum() - Y[own].sum(axis=0).max() for node, own in rows.items()}
    waiting = {0}
    for node in range(forest.levels.size):  # nodes are in the order of their splits
        assert priority[node] == max(priority[other] for other in waiting)
        waiting = waiting - {node} | {
            child for child in forest.children[node].tolist() if child >= 0
        }
    assert len({*priority.values()}) > 5


# The data of a node: renumbered features and labels.


def test_features_and_labels_of_a_node_are_renumbered(multilabel):
    X, Y, node = node_of(multilabel)
    x = kernel_csr(X)
    y = kernel_csr(Y)
    d = X.shape[1]
    data = new_workspace(x, y, d, Y.shape[1], 2, adaptive=True)
    for own in (node, node[:4]):  # the second node reuses the buffers of the first
        n_labels = gather_labels(y, own, data)
        p = gather_scaled(x, own, data)
        local = sparse.csr_array(
            (data.values, data.ids, data.starts[: own.size + 1]), shape=(own.size, p)
        ).toarray()
        assert data.features[p - 1] == d
        assert (local[:, p - 1] == 1).all()
        assert abs(local).max() == 1
        expected = X.toarray()[own][:, data.features[: p - 1]]
        assert np.allclose(local[:, :-1] * data.scales[: p - 1], expected, rtol=1e-6)
        found = list(dict.fromkeys(np.concatenate([Y[[int(i)]].indices for i in own]).tolist()))
        for i, instance in enumerate(own):
            labels = data.label_ids[data.label_starts[i] : data.label_starts[i + 1]]
            assert [found[label] for label in labels] == Y[[int(instance)]].indices.tolist()
        assert not data.feature_numbers.any()
        assert not data.label_numbers.any()
        assert n_labels == np.count_nonzero(Y[own].sum(axis=0))
        assert priority_of(y, own, data) == Y[own].sum() - Y[own].sum(axis=0).max()


# The routes of instances at a node.


def test_instances_take_all_directions_with_scores_of_at_least_half(multilabel):
    X, _ = multilabel(60, 8, 3, seed=4)
    rng = np.random.default_rng(4)
    features = np.array([6, 1, 3, 0], dtype=np.uint32)
    weights = rng.normal(size=(4, 3)).astype(np.float32)
    biases = np.array([0.3, 0.3, 0.2], np.float32)
    node = np.arange(60, dtype=np.uint32)
    dense = np.zeros(24, np.float32)
    sent, starts = create_children(kernel_csr(X), node, features, weights, biases, dense)
    expected = [twin.directions(biases + x[features] @ weights) for x in X.toarray()]
    assert {len(own) for own in expected} == {1, 2, 3}
    assert not dense.any()
    for j in range(3):
        assert sent[starts[j] : starts[j + 1]].tolist() == [
            i for i, own in enumerate(expected) if j in own
        ]
    assert divides(starts, 60)
    halves = np.array([0.5, 0.499, 0.5], np.float32)
    only_biases = (features[:0], weights[:0])
    sent, starts = create_children(kernel_csr(X), node, *only_biases, halves, dense)
    assert starts.tolist() == [0, 60, 60, 120]
    assert sent.tolist() == [*node, *node]
    assert not divides(starts, 60)
    assert not divides(np.array([0, 9, 18]), 9)  # all instances take both directions
