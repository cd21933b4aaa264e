"""Updates of padded rows, compared with numpy in double precision."""

import numpy as np
import pytest
from numba import njit

from xmlc.kernels.float32 import fma
from xmlc.kernels.sibling_rows import (
    adagrad_to_rows,
    add_to_rows,
    aligned_buffer,
    dense_scores,
    padded_size,
)

SIZES = [4, 8, 16, 32, 48, 64, 80, 128, 144]
IDS = np.array([0, 2, 5, 11], dtype=np.uint32)
VALUES = np.array([0.5, -1.5, 2.0, 0.25], dtype=np.float32)


def random(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("n_siblings", range(1, 70))
def test_padding_is_smallest_size_that_fills_registers(n_siblings):
    assert padded_size(n_siblings) == next(
        size for size in (4, 8, *range(16, 99, 16)) if size >= n_siblings
    )


@pytest.mark.parametrize("size", [1, 4, 100, 1000, 100_000])
def test_buffers_start_at_a_cache_line(size):
    buffer = aligned_buffer(size)
    assert buffer.ctypes.data % 64 == 0
    assert buffer.size == size


@pytest.mark.parametrize("size", SIZES)
def test_scores_and_row_updates_equal_numpy(size):
    rows = random(12, size)
    bias = random(size)
    multiples = random(size + 1)[:-1]
    scores = np.empty(size, dtype=np.float32)
    dense_scores(IDS, VALUES, rows.ravel(), size, bias, scores)
    np.testing.assert_allclose(scores, bias + VALUES @ rows[IDS], rtol=1e-4, atol=1e-5)
    expected_rows = rows.copy()
    expected_rows[IDS] += np.outer(VALUES, multiples)
    add_to_rows(IDS, VALUES, multiples, rows.ravel())
    np.testing.assert_allclose(rows, expected_rows, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [size for size in SIZES if size <= 80])
def test_adagrad_update_equals_numpy(size):
    weights = random(12, size)
    squares = random(12, size) ** 2
    derivatives = random(size)
    state = np.hstack([weights, squares]).ravel()
    adagrad_to_rows(
        IDS,
        VALUES,
        derivatives,
        np.float32(0.7),
        np.float32(0.01),
        state,
        np.int64(2 * derivatives.size),
    )
    by_weight = np.outer(VALUES, derivatives).astype(np.float64)
    squares[IDS] += by_weight**2
    weights[IDS] -= 0.7 * by_weight / np.sqrt(0.01 + squares[IDS])
    np.testing.assert_allclose(
        state.reshape(12, 2 * size), np.hstack([weights, squares]), rtol=1e-5, atol=1e-6
    )
    scores = np.empty(size, dtype=np.float32)
    dense_scores(IDS, VALUES, state, 2 * size, derivatives, scores)
    np.testing.assert_allclose(scores, derivatives + VALUES @ weights[IDS], rtol=1e-4, atol=1e-5)


@njit
def plain_sums(ids, values, weights, bias, scores):
    """Add rows in a plain loop, as reference for the kernel that sums in registers."""
    scores[:] = bias
    for k in range(ids.size):
        for c in range(scores.size):
            scores[c] = fma(values[k], weights[ids[k], c], scores[c])


@pytest.mark.parametrize(
    "siblings", [1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 31, 63, 64, 65, 100, 143]
)
def test_sums_in_registers_are_bit_identical_to_plain_loop(siblings):
    rng = np.random.default_rng(siblings)
    weights = rng.normal(size=(20, siblings)).astype(np.float32)
    bias = rng.normal(size=siblings).astype(np.float32)
    ids = np.array([0, 3, 4, 19], dtype=np.uint32)
    values = rng.normal(size=4).astype(np.float32)
    scores = np.empty(siblings, dtype=np.float32)
    expected = np.empty(siblings, dtype=np.float32)
    dense_scores(ids, values, weights.ravel(), siblings, bias, scores)
    plain_sums(ids, values, weights, bias, expected)
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_allclose(scores, bias + values @ weights[ids], rtol=1e-4, atol=1e-5)
