"""The kernels that look at indices and values, beside their plain twins."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.gate._order import BLOCK, largest_and_falls, largest_and_falls_within, largest_magnitude
from xmlc.gate.fields import INFINITE, is_finite


def plain(indices):
    falls = sum(1 for before, after in zip(indices.tolist(), indices.tolist()[1:]) if after <= before)
    return max(indices.tolist(), default=0), falls


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 2**32 - 1), max_size=70))
def test_it_agrees_with_its_twin(numbers):
    indices = np.array(numbers, dtype=np.uint32)
    assert largest_and_falls(indices) == plain(indices)


def test_wide_indices_and_negative_ones():
    assert largest_and_falls(np.array([3, 2**40, 5], dtype=np.uint64)) == (2**40, 1)
    assert largest_and_falls(np.array([3, -1, 7], dtype=np.int32).view(np.uint32)) == (2**32 - 1, 1)


def plain_within(indices, starts):
    parts = [indices[start:end] for start, end in pairwise(starts)]
    return max(indices.tolist(), default=0), sum(plain(part)[1] for part in parts)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=30), st.sampled_from([np.int32, np.int64]))
def test_of_parts_it_agrees_with_its_twin(parts, dtype):
    indices = np.array([index for part in parts for index in part], dtype=np.uint32)
    starts = np.cumsum([0, *map(len, parts)]).astype(dtype)
    assert largest_and_falls_within(indices, starts) == plain_within(indices, starts)


def test_of_parts_that_reach_over_blocks_it_agrees_with_its_twin():
    rng = np.random.default_rng(0)
    indices = rng.integers(0, 2**32, 3 * BLOCK + 5).astype(np.uint32)
    around = [block * BLOCK + step for block in (1, 2, 3) for step in (-1, 0, 1)]
    starts = np.sort([0, 0, *rng.integers(0, indices.size, 500), *around, indices.size, indices.size])
    assert largest_and_falls_within(indices, starts) == plain_within(indices, starts)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(width=32), max_size=20))
def test_the_largest_magnitude_tells_what_is_not_finite(numbers):
    values = np.array(numbers, dtype=np.float32)
    assert (largest_magnitude(values.view(np.uint32)) < INFINITE) == np.isfinite(values).all() == is_finite(values)
