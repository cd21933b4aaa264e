"""Directions of an instance at a node of LdSM: their costs and the objective, against the twin."""

from __future__ import annotations

import ldsm_twin as twin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.models.ldsm._directions import best_directions, best_of_two, direction_costs, objective

KEY = np.uint64(5)


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
        pairs = np.zeros((2, 7, 2), dtype=np.float32)  # two directions side by side
        for j in range(arity):
            pairs[j // 2, :, j % 2] = sums[j]
        found = objective(pairs[: (arity + 1) // 2], sums.sum(axis=1, dtype=np.float64), int(seen.sum()), 1.5, 0.7)
        assert found == pytest.approx(expected, rel=1e-5)


def test_ties_go_to_the_first_or_to_any():
    costs = np.array([0.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0])
    assert best_directions(costs, False, KEY, 0) == 2
    found = np.array([best_directions(costs, True, KEY, step) for step in range(600)])
    assert set(found) == {2, 4, 5}  # 7, all directions, is as good, but not better
    assert np.bincount(found).max() < 260
    costs[7] = 0.5
    assert {best_directions(costs, ties, KEY, 0) for ties in (False, True)} == {7}


@settings(max_examples=100)
@given(st.integers(0, 5), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
def test_the_best_of_two_directions_is_that_of_any_number(n_own, random_ties, quarters, seed):
    rng = np.random.default_rng(seed)
    sums = rng.random((7, 2)).astype(np.float32) * rng.integers(1, 5)
    if quarters:  # many ties
        sums = np.floor(sums)
    labels = rng.choice(7, size=n_own, replace=False).astype(np.uint32)
    totals, n_seen, costs = sums.sum(axis=0, dtype=np.float64), int(n_own + rng.integers(0, 20)), np.empty(4)
    lambdas = rng.choice([0.5, 1.0, 2.0, 4.0], size=2)
    own = np.ascontiguousarray(sums[labels].T)
    direction_costs(own, n_own, totals, n_seen, *lambdas, costs)
    expected = best_directions(costs, random_ties, KEY, seed)
    assert best_of_two(labels, sums.ravel(), totals, n_seen, *lambdas, random_ties, KEY, seed) == expected
