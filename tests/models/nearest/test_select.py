"""The k largest similarities: the edge below them, and groups that reach a mark."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.models.nearest._select import GROUP, below_kth_largest, collect, group_maxima, split


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=1, max_size=30), st.data())
def test_edge_below_the_kth_largest(values, draw):
    k = draw.draw(st.integers(1, len(values)))
    ordered = np.array(sorted(values, reverse=True), dtype=np.float32)
    edge = below_kth_largest(ordered[::-1].copy(), k, np.ones(64, dtype=np.int32))
    assert (ordered >= edge).sum() >= k
    assert edge >= ordered[k - 1] - ordered[0] / 30


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
