"""Bounds of a query's similarities. `test_estimator.py` checks that the search is exact."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from xmlc.models.nearest._bounds import FLAT, concave_lines
from xmlc.models.nearest._index import LENGTH_STEPS, WORD_BITS

VALUES = st.lists(
    st.sampled_from([0.0, 0.0, -0.5, 0.1, 0.3]) | st.floats(-1, 1, width=32), max_size=WORD_BITS
)


@settings(max_examples=60, derandomize=True)
@given(values=VALUES)
# A bound of this length, rounded to float32, is a subnormal number.
@example(values=[1.7678243e-38])
def test_lines_are_upper_bounds_of_lengths_of_largest_values(values):
    """For each c, the reference sorts the values and takes the length of the c largest."""
    padded = np.zeros(WORD_BITS, dtype=np.float32)
    padded[: len(values)] = values
    lines = np.empty(4, dtype=np.float32)
    concave_lines(padded, lines)
    sums = np.cumsum(np.sort(padded.astype(np.float64) ** 2)[::-1])
    lengths = np.concatenate(([0.0], np.sqrt(sums) * (1 + 1e-6) / LENGTH_STEPS))
    slope = lengths[FLAT + 1] - lengths[FLAT]
    expected = np.array([lengths[1], slope, lengths[FLAT] - FLAT * slope, lengths[-1]])
    expected[(expected > 0) & (expected < np.finfo(np.float32).tiny)] = np.finfo(np.float32).tiny
    np.testing.assert_array_equal(lines, expected.astype(np.float32))
    steep, flat, height, whole = lines.astype(np.float64)
    counts = np.arange(WORD_BITS + 1)
    bounds = np.minimum(np.minimum(steep * counts, flat * counts + height), whole)
    assert (bounds >= lengths / (1 + 1e-6) * (1 - 1e-6)).all()
