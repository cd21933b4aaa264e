"""Nodes of LdSM: their weights for unscaled features, the order of splits, and the routes of
instances.
"""

import ldsm_twin as twin
import numpy as np
import pytest
from ldsm_cases import node_of, tree_settings

from xmlc.kernels.csr import kernel_csr
from xmlc.models import LdSM
from xmlc.models.ldsm._forest import create_children
from xmlc.models.ldsm._grow import divides
from xmlc.models.ldsm._node import new_workspace
from xmlc.models.ldsm._regressors import train_regressors


@pytest.mark.parametrize("adaptive", [True, False])
def test_pruning_drops_weights_below_1_over_d(multilabel, adaptive):
    X, Y, node = node_of(multilabel)
    x = kernel_csr(X)
    y = kernel_csr(Y)
    work = new_workspace(x, y, 9, 6, 2, adaptive)
    whole = np.zeros((9, 2))
    pruned = np.zeros((9, 2))
    for target, prune in ((whole, False), (pruned, True)):
        settings = tree_settings(2, adaptive, learning_rate=0.02, prune=prune)
        features, weights, *_ = train_regressors(x, y, node, settings, np.uint64(5), work)
        target[features] = weights
    small = abs(whole) < np.float32(1 / 10)
    assert 0 < small.sum() < small.size
    assert np.array_equal(pruned, np.where(small, 0, whole))


# The order in which leaves are split.


def instances_of(forest, X):
    """Return the rows that reach each inner node of a forest of one tree."""
    members = {0: np.arange(len(X))}
    for node in range(forest.levels.size):
        rows = members[node]
        own = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
        scores = forest.biases[node] + X[rows][:, forest.features[own]] @ forest.weights[own]
        sent = [twin.directions(row) for row in scores]
        for j, child in enumerate(forest.children[node].tolist()):
            members[child] = rows[[j in directions for directions in sent]]
    return members


@pytest.mark.parametrize("arity", [2, 3])
def test_leaf_with_highest_priority_is_split_next(multilabel, arity):
    """In Algorithm 1, the priority is the sum minus the maximum of the label histogram."""
    X, Y = multilabel(600, 30, 12, seed=1)
    options = {"max_nodes": 10**6, "learning_rate": 1.0, "epochs": 10, "n_jobs": 1}
    forest = LdSM(n_trees=1, arity=arity, **options).fit(X, Y).forest_
    rows = instances_of(forest, X.toarray())
    priorities = []
    for node in range(forest.levels.size):
        histogram = Y.toarray()[rows[node]].sum(axis=0)
        priorities.append(histogram.sum() - histogram.max())
    waiting = {0}
    for node, priority in enumerate(priorities):  # nodes are in the order of their splits
        assert priority == max(priorities[other] for other in waiting)
        children = forest.children[node]
        waiting = waiting - {node} | set(children[children >= 0].tolist())
    assert len({*priorities}) > 5


# The routes of instances at a node.


def test_instances_take_all_directions_with_scores_of_at_least_half(multilabel):
    X, _ = multilabel(60, 8, 3, seed=4)
    x = kernel_csr(X)
    features = np.array([6, 1, 3, 0], dtype=np.uint32)
    weights = np.random.default_rng(4).normal(size=(4, 3)).astype(np.float32)
    biases = np.array([0.3, 0.3, 0.2], np.float32)
    node = np.arange(60, dtype=np.uint32)
    dense = np.zeros(24, np.float32)
    sent, starts = create_children(x, node, features, weights, biases, dense)
    expected = [twin.directions(biases + x[features] @ weights) for x in X.toarray()]
    assert {len(own) for own in expected} == {1, 2, 3}
    for j, found in enumerate(np.split(sent, starts[1:-1])):
        assert found.tolist() == [i for i in range(60) if j in expected[i]]
    assert not dense.any()
    assert divides(starts, 60)
    halves = np.array([0.5, 0.499, 0.5], np.float32)
    sent, starts = create_children(x, node, features[:0], weights[:0], halves, dense)
    assert starts.tolist() == [0, 60, 60, 120]
    assert sent.tolist() == [*node, *node]
    assert not divides(starts, 60)
    assert not divides(np.array([0, 9, 18]), 9)  # all instances take both directions
