"""Updates of padded rows, compared with numpy in double precision."""

import numpy as np
import pytest
from numba import njit

from xmlc.kernels.float32 import fma
from xmlc.kernels.sibling_rows import (
    add_to_rows,
    aligned_buffer,
    dense_scores,
    padded_size,
)

IDS = np.array([0, 2, 5, 11], dtype=np.uint32)
VALUES = np.array([0.5, -1.5, 2.0, 0.25], dtype=np.float32)


def random(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def test_padding_is_smallest_size_that_fills_registers():
    sizes = np.array([4, 8, *range(16, 99, 16)])
    for n_siblings in range(1, 70):
        assert padded_size(n_siblings) == sizes[sizes >= n_siblings][0]


@pytest.mark.parametrize("size", [1, 4, 1000, 100_000])
def test_buffers_start_at_a_cache_line(size):
    buffer = aligned_buffer(size)
    assert buffer.ctypes.data % 64 == 0
    assert buffer.size == size


@pytest.mark.parametrize("size", [4, 8, 16, 32, 48, 64, 80, 128, 144])
def test_row_updates_equal_numpy(size):
    rows = random(12, size)
    multiples = random(size)
    expected = rows.copy()
    expected[IDS] += np.outer(VALUES, multiples)
    add_to_rows(IDS, VALUES, multiples, rows.ravel())
    np.testing.assert_allclose(rows, expected, rtol=1e-5, atol=1e-6)


@njit
def plain_sums(ids, values, weights, bias, scores):
    """Add rows in a plain loop, as reference for the kernel that sums in registers."""
    scores[:] = bias
    for k in range(ids.size):
        for c in range(scores.size):
            scores[c] = fma(values[k], weights[ids[k], c], scores[c])


@pytest.mark.parametrize("siblings", [1, 2, 3, 4, 5, 8, 11, 15, 16, 17, 31, 64, 65, 100, 144])
def test_sums_in_registers_are_bit_identical_to_plain_loop(siblings):
    weights = random(12, siblings)
    bias = random(siblings)
    scores = np.empty(siblings, dtype=np.float32)
    expected = np.empty(siblings, dtype=np.float32)
    dense_scores(IDS, VALUES, weights.ravel(), siblings, bias, scores)
    plain_sums(IDS, VALUES, weights, bias, expected)
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_allclose(scores, bias + VALUES @ weights[IDS], rtol=1e-4, atol=1e-5)
