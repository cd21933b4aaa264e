"""FastXML's kernels against their twins and against liblinear."""

from __future__ import annotations

import fastxml_twin as twin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from xmlc.csr import kernel_csr
from xmlc.models.fastxml._columns import gather_columns
from xmlc.models.fastxml._labels import count_labels, number_labels
from xmlc.models.fastxml._logistic import SolverLimits, fit_logistic
from xmlc.models.fastxml._partition import discount_table, ideal_table, partition_by_ndcg, sort_scores

SMALL = settings(max_examples=40, deadline=None)


def node_csr(label_sets):
    starts = np.concatenate(([0], np.cumsum([len(s) for s in label_sets]))).astype(np.int64)
    return starts, np.array([label for s in label_sets for label in sorted(s)], dtype=np.uint32)


@SMALL
@given(
    label_sets=st.lists(st.sets(st.integers(0, 7), max_size=5), min_size=1, max_size=25),
    weighted=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_partition_equals_its_twin(label_sets, weighted, seed):
    rng = np.random.default_rng(seed)
    side = rng.choice([-1, 1], len(label_sets)).astype(np.int8)
    weights = rng.uniform(1, 5, 8).astype(np.float32) if weighted else np.ones(8, dtype=np.float32)
    expected, expected_value = twin.partition(label_sets, weights, side)
    value = partition_by_ndcg(*node_csr(label_sets), weights, ideal_table(9), discount_table(8), side)
    assert side.tolist() == expected
    assert value == pytest.approx(expected_value, rel=1e-9)


def test_partition_separates_instances_without_common_labels():
    label_sets = [{0, 1}] * 6 + [{2, 3}] * 6
    side = np.array([1, 1, -1, 1, 1, -1, -1, -1, 1, -1, -1, -1], dtype=np.int8)
    value = partition_by_ndcg(*node_csr(label_sets), np.ones(4, np.float32), ideal_table(5), discount_table(4), side)
    assert side.tolist() == [1] * 6 + [-1] * 6
    assert value == pytest.approx(1.0, abs=1e-5)


@SMALL
@given(scores=st.lists(st.integers(0, 2**40 - 1), min_size=1, max_size=300), shift=st.integers(0, 40))
def test_radix_sort_is_stable_and_looks_at_scores_only(scores, shift):
    keys = np.array([(score >> shift << 24) | i for i, score in enumerate(scores)], dtype=np.uint64)
    expected = np.sort(keys)
    sort_scores(keys, np.empty_like(keys), min(scores) >> shift, max(scores) >> shift)
    assert (keys == expected).all()


def sides_problem(seed, n=200, d=30, density=0.2):
    """Return dense features with the constant one last, classes, and costs as a node has them."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=density, rng=rng).toarray()
    X *= rng.choice([-1, 1], X.shape)
    side = np.where(X @ rng.normal(size=d) + rng.normal(size=n) * 0.5 > 0.1, 1, -1).astype(np.int8)
    share = (side > 0).mean()
    return np.hstack([X, np.ones((n, 1))]), side, (1 / share, 1 / (1 - share))


def solve(X, side, costs, limits):
    columns = sparse.csc_array(X)
    weights, margins = np.empty(X.shape[1], dtype=np.float32), np.empty(X.shape[0], dtype=np.float32)
    fit_logistic(
        columns.indptr.astype(np.int64), columns.indices.astype(np.uint32), columns.data.astype(np.float32), side,
        (np.float32(costs[0]), np.float32(costs[1])), limits, np.uint64(7), weights, margins,
    )  # fmt: skip
    return weights, margins


@pytest.mark.parametrize("seed", range(4))
def test_solver_finds_liblinears_solution(seed):
    X, side, costs = sides_problem(seed)
    weights, margins = solve(X, side, costs, SolverLimits(1e-6, 200, 200, 40))
    liblinear = LogisticRegression(
        l1_ratio=1.0, solver="liblinear", C=1.0, fit_intercept=False, tol=1e-8, max_iter=100_000,
        class_weight={1: costs[0], -1: costs[1]},
    )  # fmt: skip
    expected = liblinear.fit(X, side).coef_[0]
    assert np.allclose(weights, expected, rtol=2e-4, atol=1e-4)  # float32
    assert ((weights != 0) == (np.abs(expected) > 1e-6)).all()
    assert 3 < (weights != 0).sum() < weights.size
    assert np.allclose(margins, X @ weights, atol=1e-4)
    assert twin.objective(X, side, costs, weights) <= twin.objective(X, side, costs, expected) * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_solver_within_the_programs_limits_is_near_the_optimum(seed):
    """At most 10 Newton steps and tolerance 0.01 in float32, as a forest is trained."""
    X, side, costs = sides_problem(seed)
    best, _ = solve(X, side, costs, SolverLimits(1e-6, 200, 200, 40))
    weights, margins = solve(X, side, costs, SolverLimits())
    assert twin.objective(X, side, costs, weights) < 1.005 * twin.objective(X, side, costs, best)
    assert np.allclose(margins, X @ weights, atol=1e-4)


def test_solver_keeps_zero_when_nothing_pays():
    X, side = np.full((4, 1), 1e-3), np.array([1, -1, 1, -1], dtype=np.int8)
    weights, margins = solve(X, side, (1.0, 1.0), SolverLimits())
    assert weights.tolist() == [0.0]
    assert margins.tolist() == [0.0] * 4


@SMALL
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.05, 0.3, 1.0]))
def test_gathered_columns_are_those_that_can_matter(seed, scale):
    rng = np.random.default_rng(seed)
    n, d, k = 12, 9, 7
    X = sparse.random_array((n, d), density=0.5, rng=rng, dtype=np.float32).tocsr()
    X.data = (X.data * rng.choice([-1, 1], X.nnz) * scale).astype(np.float32)
    node = np.sort(rng.choice(n, k, replace=False)).astype(np.uint32)
    side = rng.choice([-1, 1], k).astype(np.int8)
    costs = np.float32(2.5), np.float32(1.5)
    counts, bounds = np.zeros(d, np.uint32), np.zeros((d, 2), np.float32)
    features, starts = np.empty(d + 1, np.uint32), np.empty(d + 2, np.int64)
    rows, values = np.empty(X.nnz + n, np.uint32), np.empty(X.nnz + n, np.float32)
    x = kernel_csr(X)
    p = gather_columns(*x, node, side, costs, counts, bounds, features, starts, rows, values)
    found = np.zeros((k, d + 1))
    for j in range(p):
        own = slice(starts[j], starts[j + 1])
        found[rows[own], features[j]] = values[own]
    dense = np.hstack([X.toarray()[node], np.ones((k, 1))])
    pull = dense * np.where(side > 0, costs[0], -costs[1])[:, None]
    matters = np.maximum(np.where(pull > 0, pull, 0).sum(axis=0), np.where(pull < 0, -pull, 0).sum(axis=0)) > 1
    matters[d] = True
    assert set(features[:p]) == set(np.flatnonzero(matters))
    assert np.array_equal(found, dense * matters)
    assert not counts.any()
    assert not bounds.any()


def test_dropped_features_have_weight_zero_at_the_optimum():
    """What `gather_columns` leaves out would stay zero: the solution with all columns says so."""
    X, side, costs = sides_problem(3, n=40, d=25, density=0.1)
    weights, _ = solve(X, side, costs, SolverLimits(1e-6, 200, 200, 40))
    pull = X * np.where(side > 0, costs[0], -costs[1])[:, None]
    idle = np.maximum(np.where(pull > 0, pull, 0).sum(axis=0), np.where(pull < 0, -pull, 0).sum(axis=0)) <= 1
    assert idle.sum() >= 2
    assert not weights[idle].any()


def test_labels_of_a_node_and_of_a_leaf():
    Y = sparse.csr_array(np.array([[0, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1]], dtype=bool))
    y, scratch = kernel_csr(Y), np.zeros(4, dtype=np.uint32)
    starts, labels, found = number_labels(y, np.array([3, 1, 0], dtype=np.uint32), scratch)
    assert found.tolist() == [0, 1, 3]
    assert starts.tolist() == [0, 2, 2, 4]
    assert labels.tolist() == [0, 2, 1, 2]
    node, even = np.array([0, 2, 3], dtype=np.uint32), np.ones(4, dtype=np.float32)
    assert [part.tolist() for part in count_labels(y, node, even, scratch, 4)] == [[0, 1, 3], [1, 2, 2]]
    assert [part.tolist() for part in count_labels(y, node, even, scratch, 2)] == [[1, 3], [2, 2]]
    rare = np.array([9, 1, 1, 1.5], dtype=np.float32)
    assert [part.tolist() for part in count_labels(y, node, rare, scratch, 2)] == [[0, 3], [1, 2]]
    assert not scratch.any()
