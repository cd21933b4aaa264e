"""An array that grows in chunks."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.data.formats.growing import GrowingArray


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 40), max_size=8), st.integers(1, 9))
def test_growing_array_is_concatenation(sizes, chunk):
    parts = [np.arange(size, dtype=np.int32) + 100 * i for i, size in enumerate(sizes)]
    growing = GrowingArray(np.int32, chunk_bytes=4 * chunk)
    for part in parts:
        growing.extend(part)
    expected = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
    assert growing.size == expected.size
    np.testing.assert_array_equal(growing.take(), expected)
    assert growing.size == 0
    growing.extend(np.array([7]))
    assert growing.take().tolist() == [7]
