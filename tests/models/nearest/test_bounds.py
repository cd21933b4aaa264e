"""Bounds of a query's products with the frequent features of instances: kernels against plain twins."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.models.nearest._bounds import FLAT, concave_lines
from xmlc.models.nearest._building import LENGTH_STEPS, WORD_BITS

VALUES = st.lists(st.sampled_from([0.0, 0.0, -0.5, 0.1, 0.3]) | st.floats(-1, 1, width=32), max_size=WORD_BITS)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(values=VALUES)
def test_lines_bound_the_length_of_any_number_of_values(values):
    """The lengths of the c largest for each c, by sorting; the kernel's are theirs bit for bit."""
    padded = np.zeros(WORD_BITS, dtype=np.float32)
    padded[: len(values)] = values
    lines = np.empty(4, dtype=np.float32)
    concave_lines(padded, lines)
    sums = np.cumsum(np.sort(padded.astype(np.float64) ** 2)[::-1])
    lengths = np.concatenate(([0.0], np.sqrt(sums) * (1 + 1e-6) / LENGTH_STEPS))
    slope = lengths[FLAT + 1] - lengths[FLAT]
    np.testing.assert_array_equal(
        lines, np.array([lengths[1], slope, lengths[FLAT] - FLAT * slope, lengths[-1]], dtype=np.float32)
    )
    steep, flat, height, whole = lines.astype(np.float64)
    counts = np.arange(WORD_BITS + 1)
    bounds = np.minimum(np.minimum(steep * counts, flat * counts + height), whole)
    assert (bounds >= lengths / (1 + 1e-6) * (1 - 1e-6)).all()
