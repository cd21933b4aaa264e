"""Counts of what a PLT touches, against brute force; the kernels of the machine's limit, against plain loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from plt_twin import positive_nodes
from scipy import sparse

from xmlc.bench.plt import limits as limits_of
from xmlc.bench.plt import pairs
from xmlc.bench.plt._access import (
    SMALL,
    read_and_write_rows,
    read_and_write_squares,
    read_step_and_write_rows,
)
from xmlc.csr import kernel_csr
from xmlc.models.plt.training import dual_steps
from xmlc.trees import random_complete_tree


@pytest.fixture
def small(multilabel):
    X, Y = multilabel(40, 12, 9, seed=4)
    return X, Y, random_complete_tree(9, 3, seed=1)


def reached_nodes(tree, labels):
    """Node classifiers that an instance trains: the root, and the children of every node with z = 1."""
    return [0] + [child for node in positive_nodes(tree, labels) for child in np.flatnonzero(tree.parent == node)]


def test_pairs_of_a_pass_equal_brute_force(small):
    X, Y, tree = small
    expected = 0
    for i in range(X.shape[0]):
        labels = Y.indices[Y.indptr[i] : Y.indptr[i + 1]]
        expected += (X.indptr[i + 1] - X.indptr[i]) * len(reached_nodes(tree, labels))
    assert pairs.training_pairs(X, Y, tree) == expected > 0


def test_blocks_are_gathered_once_for_each_instance_that_reaches_them(small):
    X, Y, tree = small
    x, reach, degrees = kernel_csr(X), pairs.training_reach(X, Y, tree), pairs.block_degrees(tree)
    groups = limits_of.by_width(x, reach, degrees, X.shape[1])
    assert set(groups) == {16}
    ends, ids, values = groups[16]
    reaching = (
        [0]
        + [  # block of the root alone, then of every inner node with z = 1
            node + 1
            for i in range(X.shape[0])
            for node in positive_nodes(tree, Y.indices[Y.indptr[i] : Y.indptr[i + 1]])
            if degrees[node + 1]
        ]
    )
    assert ends.size - 1 == X.shape[0] + len(reaching) - 1
    assert ids.size == values.size == ends[-1]
    # The root's block comes first and has all instances, its features renumbered in their order.
    renumbered = np.unique(X.indices, return_inverse=True)[1]
    np.testing.assert_array_equal(ids[: X.nnz], renumbered)
    np.testing.assert_array_equal(values[: X.nnz], X.data)
    fewer = limits_of.by_width(x, reach, degrees, X.shape[1], ids.size // 2)[16]
    assert 0.3 * ids.size < fewer[1].size < 0.7 * ids.size
    assert fewer[1].max() == ids.max()  # blocks keep their sizes


@pytest.mark.parametrize("width", [16, 48, 80])
def test_access_kernels_equal_plain_loops(width):
    rng = np.random.default_rng(0)
    lengths = np.array([0, 1, 3, 4, 9, 18])
    ends = np.concatenate(([0], np.cumsum(lengths)))
    ids = rng.integers(0, 11, ends[-1]).astype(np.uint32)
    values = (1e3 * rng.normal(size=ends[-1])).astype(np.float32)
    one = rng.normal(size=(11, width)).astype(np.float32)
    two = np.abs(rng.normal(size=(11, 2, width))).astype(np.float32)

    expected, found = one.astype(np.float64), one.copy()
    expected_two, found_two = two.astype(np.float64), two.copy()
    for start, end in pairwise(ends):
        own, v = ids[start:end], values[start:end].astype(np.float64)
        change = float(SMALL) * (v @ expected[own])
        for k in range(own.size):
            expected[own[k]] += v[k] * change
        change = float(SMALL) * (v @ expected_two[own, 0])
        for k in range(own.size):
            weights, squares = expected_two[own[k]]
            squares += (v[k] * change) ** 2
            weights += v[k] * change / np.sqrt(1 + squares)
    scratch = np.zeros(width, dtype=np.float32)
    read_and_write_rows(ends, ids, values, found.ravel(), scratch)
    read_and_write_squares(ends, ids, values, found_two.ravel(), scratch)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found_two, expected_two, rtol=1e-3, atol=1e-3)
    assert min(np.abs(expected - one).max(), np.abs(expected_two - two).max()) > 0.1  # or nothing was tested


def test_steps_are_taken_between_reading_rows_and_adding_to_them():
    rng = np.random.default_rng(1)
    ends, ids = np.array([0, 3, 3, 8]), rng.integers(0, 5, 8).astype(np.uint32)
    values, found = (1e3 * rng.normal(size=8)).astype(np.float32), rng.normal(size=(5, 32)).astype(np.float32)
    expected, alpha, one = found.copy(), np.zeros(32, dtype=np.float32), np.float32(1.0)
    for start, end in pairwise(ends):
        changes = values[start:end] @ expected[ids[start:end]]
        none = np.zeros(32, dtype=np.uint8), alpha, np.ones(32, dtype=bool), np.zeros(32, dtype=np.float32)
        dual_steps(changes, *none, one + one, one, -one, False)
        for k in range(start, end):
            expected[ids[k]] += values[k] * SMALL * changes
    read_step_and_write_rows(ends, ids, values, found.ravel(), np.zeros(32, dtype=np.float32))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert (alpha != 0).any()


def test_an_empty_block_is_no_work():
    X, Y = sparse.csr_array((5, 3), dtype=np.float32), sparse.csr_array((5, 4), dtype=bool)
    assert pairs.training_pairs(X, Y, random_complete_tree(4, 2, seed=0)) == 0
