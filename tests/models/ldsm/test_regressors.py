"""Training the regressors of a node of LdSM against plain Python."""

from __future__ import annotations

import ldsm_twin as twin
import numpy as np
import pytest
from ldsm_cases import node_of, node_settings

from xmlc.csr import kernel_csr
from xmlc.models.ldsm._node import gather_labels, gather_scaled, gather_standardised, new_node_data
from xmlc.models.ldsm._regressors import SMALLEST_SQUARE, start_slots, train_regressors

KEY = np.uint64(5)


def weights_of(slots, arity):
    """Return the weights of each direction, (M, p)."""
    return slots[..., :2].transpose(0, 2, 1).reshape(-1, slots.shape[1])[:arity]


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize(("arity", "adaptive"), [(2, True), (3, True), (2, False)])
def test_training_a_node_equals_plain_python(multilabel, arity, adaptive, uniform):
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
    slots, objectives = np.empty(((arity + 1) // 2, p, 4), np.float32), np.zeros(3)
    start_slots(slots, arity, d + 1 if uniform else 0, KEY)
    weights = weights_of(slots, arity)
    start = weights[:, np.argsort(data.features[:p])].astype(float)
    own = node_settings(arity, adaptive)
    train_regressors(data, node.size, n_labels, own, KEY, slots, objectives)
    weights = weights_of(slots, arity)
    expected, history, given_directions = twin.train(dense, label_sets, m, arity, 3, 0.2, 1.7, 0.9, adaptive, start)
    assert len(set(given_directions)) > 1
    assert np.allclose(weights, expected[:, data.features[:p]], atol=2e-4)
    assert np.allclose(objectives, history, atol=2e-4)


def test_first_weights_are_uniform_or_zero():
    """Algorithm 2's random start, within 1 / d as the authors' program has it."""
    slots = np.empty((2, 5000, 4), np.float32)
    start_slots(slots, 4, 50, KEY)
    weights = weights_of(slots, 4)
    assert abs(weights).max() <= np.float32(1 / 50)
    assert np.histogram(weights, bins=10, range=(-0.02, 0.02))[0] == pytest.approx(2000, rel=0.1)
    assert abs(np.corrcoef(weights)[0, 1]) < 0.05
    assert (slots[..., 2:] == SMALLEST_SQUARE).all()
    start_slots(slots, 4, 0, KEY)
    assert not slots[..., :2].any()


def test_the_place_of_no_direction_stays_zero():
    slots = np.ones((2, 50, 4), np.float32)
    start_slots(slots, 3, 50, KEY)
    assert not slots[1, :, 1].any()
    assert slots[1, :, 0].all()
