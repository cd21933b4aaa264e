"""Training of the regressors of an LdSM node, compared with plain Python."""

import ldsm_twin as twin
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ldsm_cases import node_of, tree_settings
from numba import njit
from vector_twin import inverse_sqrt

from xmlc.kernels.csr import kernel_csr
from xmlc.kernels.sums import dot, sparse_dot
from xmlc.models.ldsm import _pairs
from xmlc.models.ldsm._node import new_workspace
from xmlc.models.ldsm._pairs import SLOT
from xmlc.models.ldsm._regressors import (
    SMALLEST_SQUARE,
    best_directions,
    best_of_two,
    direction_costs,
    start_slots,
    train_regressors,
)

KEY = np.uint64(5)


def weights_of(slots, arity):
    """Return the weights of each direction, (M, p)."""
    return slots[..., :2].transpose(0, 2, 1).reshape(-1, slots.shape[1])[:arity]


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize(("arity", "adaptive"), [(2, True), (3, True), (2, False)])
def test_training_of_node_equals_plain_python(multilabel, arity, adaptive, uniform):
    X, Y, node = node_of(multilabel)
    x = kernel_csr(X)
    y = kernel_csr(Y)
    d = X.shape[1]
    dense = X.toarray()[node].astype(float)
    if adaptive:
        means = np.zeros(d)
        scales = abs(dense).max(axis=0)
        scales[scales == 0] = 1
    else:
        means = dense.mean(axis=0)
        scales = dense.std(axis=0, ddof=1)
    dense = np.column_stack([(dense - means) / scales, np.ones(node.size)])
    label_sets = [Y[[int(i)]].indices.tolist() for i in node]
    work = new_workspace(x, y, d, 6, arity, adaptive)
    settings = tree_settings(arity, adaptive, uniform_start=uniform)
    train_regressors(x, y, np.arange(40).astype(np.uint32), settings, KEY, work)  # fills buffers
    features, weights, biases, objectives = train_regressors(x, y, node, settings, KEY, work)
    slots = np.empty(((arity + 1) // 2, d + 1, SLOT), np.float32)
    start_slots(slots, arity, 1 / (d + 1) if uniform else 0.0, ~KEY)
    start = weights_of(slots, arity)[:, np.argsort(work.features)].astype(float)
    expected, history, given_directions = twin.train(
        dense, label_sets, 6, arity, 3, 0.2, 1.7, 0.9, adaptive, start
    )
    assert len(set(given_directions)) > 1
    found = np.zeros((arity, d + 1))
    found[:, features] = weights.T * scales[features]
    found[:, d] = biases[0] + means[features] @ weights
    assert np.allclose(found, expected, atol=2e-4)
    assert np.allclose(objectives[0], history, atol=2e-4)


def test_initial_weights_are_uniform_or_zero():
    """Algorithm 2 starts with random weights.

    As in the authors' program, the absolute values of these weights are at most 1 / d.
    """
    slots = np.empty((2, 5000, 4), np.float32)
    start_slots(slots, 4, 1 / 50, KEY)
    weights = weights_of(slots, 4)
    assert abs(weights).max() <= np.float32(1 / 50)
    assert np.histogram(weights, bins=10, range=(-0.02, 0.02))[0] == pytest.approx(2000, rel=0.1)
    assert abs(np.corrcoef(weights)[0, 1]) < 0.05
    assert (slots[..., 2:] == SMALLEST_SQUARE).all()
    start_slots(slots, 4, 0.0, KEY)
    assert not slots[..., :2].any()


# The costs of an instance's directions and the objective, compared with the plain implementation.


def side_by_side(sums):
    """Return sums of shape (M, labels) in pairs of directions, as float32 of shape (pairs, labels,
    2).
    """
    even = np.pad(sums, ((0, len(sums) % 2), (0, 0)))
    return np.stack([even[::2], even[1::2]], axis=2).astype(np.float32)


@given(st.integers(2, 4), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_direction_costs_equal_objective_of_each_choice(arity, n_own, seed):
    rng = np.random.default_rng(seed)
    seen = rng.integers(1, 30, size=7)
    labels = rng.choice(7, size=n_own, replace=False).astype(np.uint32)
    # Quarters are exact in float32. Each earlier instance of a label adds at most one.
    before = seen - np.isin(np.arange(7), labels)
    sums = np.floor(4 * rng.random((arity, 7)) * before) / 4
    lambdas = rng.choice([0.5, 1.0, 2.0, 4.0], size=2)
    costs = np.empty(1 << arity)
    settings = tree_settings(lambda_1=lambdas[0], lambda_2=lambdas[1])
    totals = sums.sum(axis=1)
    direction_costs(labels, side_by_side(sums), totals, int(seen.sum()), settings, costs)
    expected = twin.objectives_of_directions(sums, seen, labels, *lambdas)
    values = np.array([expected[s] for s in range(1, 1 << arity)])
    # Costs omit the terms that all choices share.
    assert np.allclose(costs[1:] - costs[1], seen.sum() * (values - values[0]), atol=1e-9)


def test_ties_go_to_first_or_random_direction():
    costs = np.array([0.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0])
    assert best_directions(costs, False, KEY, 0) == 2
    found = np.array([best_directions(costs, True, KEY, step) for step in range(600)])
    # Choice 7 (all directions) needs a lower cost than the other choices.
    assert set(found) == {2, 4, 5}
    assert np.bincount(found).max() < 260
    costs[7] = 0.5
    assert {best_directions(costs, ties, KEY, 0) for ties in (False, True)} == {7}


@given(st.integers(0, 5), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
def test_best_of_two_equals_general_search(n_own, random_ties, whole_sums, seed):
    rng = np.random.default_rng(seed)
    sums = rng.random((7, 2)).astype(np.float32) * rng.integers(1, 5)
    if whole_sums:  # many ties
        sums = np.floor(sums)
    labels = rng.choice(7, size=n_own, replace=False).astype(np.uint32)
    lambdas = rng.choice([0.5, 1.0, 2.0, 4.0], size=2)
    settings = tree_settings(random_ties=random_ties, lambda_1=lambdas[0], lambda_2=lambdas[1])
    totals = sums.sum(axis=0, dtype=np.float64)
    state = (labels, sums[None], totals, int(n_own + rng.integers(0, 20)), settings)
    costs = np.empty(4)
    direction_costs(*state, costs)
    assert best_of_two(*state, KEY, seed) == best_directions(costs, random_ties, KEY, seed)


# Two regressors trained in one register are bit-identical to two regressors trained one after the
# other.


SLOPES = np.float32([0.31, -0.77])
RATE = np.float32(0.1)
ZERO = np.float32(0)


@njit
def margins(ids, values, slots):
    return _pairs.no_step(ids, values, slots, ZERO, ZERO, ZERO)


@njit
def adaptive(ids, values, slots, slopes, rate):
    return _pairs.adaptive_step(ids, values, slots, slopes[0], slopes[1], rate)


@njit
def plain(ids, values, slots, slopes, rate):
    return _pairs.plain_step(ids, values, slots, slopes[0], slopes[1], rate)


@pytest.mark.parametrize("n", [*range(10), 33])
@pytest.mark.parametrize("is_adaptive", [True, False])
def test_step_of_a_pair_equals_steps_of_single_regressors(n, is_adaptive):
    rng = np.random.default_rng(0)
    slots = rng.normal(size=(40, 4)).astype(np.float32)  # weights and positive squares
    slots[:, 2:] **= 2
    ids = rng.permutation(40)[:n].astype(np.uint32)
    values = rng.normal(size=n).astype(np.float32)
    before = np.ascontiguousarray(slots.T)
    sums = (sparse_dot(ids, values, before[0]), sparse_dot(ids, values, before[1]))
    assert margins(ids, values, slots.reshape(-1)) == sums
    expected = slots.copy()
    gradients = values[:, None] * SLOPES
    steps = RATE * gradients
    if is_adaptive:
        expected[ids, 2:] += gradients * gradients
        roots = [inverse_sqrt(square) for square in expected[ids, 2:].ravel()]
        steps *= np.array(roots, dtype=np.float32).reshape(steps.shape)
    else:
        steps = RATE * SLOPES * values[:, None]
    expected[ids, :2] -= steps
    step = adaptive if is_adaptive else plain
    result = step(ids, values, slots.reshape(-1), SLOPES, RATE)
    np.testing.assert_array_equal(slots, expected)
    after = np.ascontiguousarray(expected[ids].T)
    assert result == (dot(after[0], values), dot(after[1], values))
