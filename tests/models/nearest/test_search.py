"""Bounds of a query's similarities, and the most promising of many: kernels against plain twins."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.models.nearest._index import LENGTH_STEPS, WORD_BITS
from xmlc.models.nearest._search import (
    FLAT,
    GROUP,
    SMALL,
    below_kth_largest,
    collect,
    concave_lines,
    group_maxima,
    open_query,
    split,
)

# Bounds of a query's products with the frequent features of instances: kernels against plain twins.


VALUES = st.lists(st.sampled_from([0.0, 0.0, -0.5, 0.1, 0.3]) | st.floats(-1, 1, width=32), max_size=WORD_BITS)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(values=VALUES)
def test_lines_bound_the_length_of_any_number_of_values(values):
    """The lengths of the c largest for each c, by sorting; the kernel's are theirs bit for bit."""
    padded = np.zeros(WORD_BITS, dtype=np.float32)
    padded[: len(values)] = values
    lines = np.empty(4, dtype=np.float32)
    concave_lines(padded, np.empty(WORD_BITS + FLAT + 1), lines)
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


def test_a_query_of_fewer_features_than_a_word_reads_nothing_behind_them():
    memory, squares = np.full(WORD_BITS, 1e30, dtype=np.float32), np.empty(WORD_BITS + FLAT + 1)
    places, values = np.arange(20, dtype=np.uint32), np.linspace(0.1, 1, 20, dtype=np.float32)
    lines, expected, query = np.empty((1, 4), dtype=np.float32), np.empty(4, dtype=np.float32), memory[:20]
    query[:] = 0
    none = np.empty(0, dtype=np.float32)
    open_query(places, values, places, none, query, np.zeros(1, dtype=np.uint64), squares, lines)
    concave_lines(np.concatenate((values, np.zeros(44, dtype=np.float32))), squares, expected)
    np.testing.assert_array_equal(lines[0], expected)


# The k largest similarities: the edge below them, and groups that reach a mark.


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=1, max_size=30),
    st.sampled_from([1.0, 1e-30, 1e-36, 1e-44]),
    st.data(),
)
def test_edge_below_the_kth_largest(values, unit, draw):
    k = draw.draw(st.integers(1, len(values)))
    ordered = np.array(sorted(values, reverse=True), dtype=np.float32) * np.float32(unit)
    edge = below_kth_largest(ordered[::-1].copy(), k, np.ones(64, dtype=np.int32))
    assert (ordered >= edge).sum() >= k
    assert edge >= ordered[k - 1] - ordered[0] / 30 or ordered[0] < SMALL


def test_groups_find_the_bounds_that_reach_a_mark():
    rng = np.random.default_rng(7)
    bounds = (rng.random(1024) * (rng.random(1024) < 0.3)).astype(np.float32)
    maxima = np.empty(1024 // GROUP, dtype=np.float32)
    group_maxima(bounds, np.empty(1024, dtype=np.float32), maxima)
    np.testing.assert_array_equal(maxima, bounds.reshape(-1, GROUP).max(axis=1))
    upper, lower = np.empty((2, 1025), dtype=np.int64)
    for start, middle in [(0.0, 0.5), (0.9, 0.99), (float(bounds.max()), 1.0), (2.0, 2.0)]:
        n_found = collect(bounds, maxima, np.float32(start), upper, lower)
        expected = np.flatnonzero((bounds > 0) & (bounds >= np.float32(start)))
        np.testing.assert_array_equal(lower[:n_found], expected)
        n_upper, n_lower = split(lower[:n_found], bounds, np.float32(middle), upper)
        np.testing.assert_array_equal(upper[:n_upper], expected[bounds[expected] >= np.float32(middle)])
        np.testing.assert_array_equal(lower[:n_lower], expected[bounds[expected] < np.float32(middle)])
