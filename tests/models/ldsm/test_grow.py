"""A node of LdSM fitted: its weights are for features as they come."""

from __future__ import annotations

import numpy as np
import pytest
from ldsm_cases import node_of, node_settings

from xmlc.csr import kernel_csr
from xmlc.models.ldsm._grow import fit_node
from xmlc.models.ldsm._node import new_node_data

KEY = np.uint64(5)


@pytest.mark.parametrize("adaptive", [True, False])
def test_learned_weights_are_for_features_as_they_come(multilabel, adaptive):
    X, Y, node = node_of(multilabel)
    x, y, d, m = kernel_csr(X), kernel_csr(Y), X.shape[1], Y.shape[1]
    data = new_node_data(X.shape[0], d, m, X.shape[0] * (d + 1), Y.nnz)
    room = np.empty(4 * (d + 1), np.float32)

    def fit(**options):
        own = node_settings(2, adaptive, **options)
        return fit_node(x, y, node, d, data, own, KEY, room, np.zeros(3))

    features, weights, biases = fit()
    p = features.size + 1
    local = room.reshape(-1, 4)[:p, :2]  # of the node's own features
    rows = np.array([np.zeros(p)] * node.size)
    for i in range(node.size):
        rows[i, data.ids[data.starts[i] : data.starts[i + 1]]] = data.values[data.starts[i] : data.starts[i + 1]]
    expected = rows @ local
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
