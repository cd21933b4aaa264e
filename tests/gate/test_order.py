"""The kernel that looks at indices, beside its plain twin."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.gate._order import largest_and_falls


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
