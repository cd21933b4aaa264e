"""Weights above a cut, counted and written 64 at a time, against numpy."""

import numpy as np
import pytest

from xmlc.models.plt.weights._kept import count_kept, fill_kept, kept_bits


@pytest.mark.parametrize("size", [1, 5, 63, 64, 65, 200])
def test_bits_are_those_of_weights_above_the_cut(size):
    weights = np.random.default_rng(size).normal(size=size).astype(np.float32)
    weights[0] = np.nan
    cut = np.float32(abs(weights[-1]))
    for start in range(0, size, 7):
        for end in range(start, min(start + 64, size) + 1):
            expected = sum(1 << k for k in range(end - start) if abs(weights[start + k]) > cut)
            assert int(kept_bits(weights, start, end, cut)) == expected


@pytest.mark.parametrize("degree", [1, 3, 16, 64, 100, 130])
def test_rows_of_any_number_of_siblings(degree):
    random = np.random.default_rng(degree)
    rows = random.normal(size=(9, degree)).astype(np.float32) * (random.random((9, 1)) < 0.7)
    dense = (rows.ravel(), np.array([0, rows.size]), np.array([degree]), np.zeros(1, dtype=np.int64), np.float32(1.5))
    n_features, n_weights = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    count_kept(*dense, n_features, n_weights)
    kept = np.abs(rows) > np.float32(1.5)
    assert (n_features[0], n_weights[0]) == (kept.any(axis=1).sum(), kept.sum())
    features, row_starts = np.zeros(n_features[0], "u4"), np.zeros(n_features[0] + 1, "u4")
    siblings, weights = np.zeros(n_weights[0], "u2"), np.zeros(n_weights[0], "f4")
    starts = (np.array([0, n_features[0]]), features, np.array([0, n_weights[0]]))
    fill_kept(np.arange(9, dtype=np.uint32), np.array([0, 9]), *dense, *starts, row_starts, siblings, weights)
    np.testing.assert_array_equal(features, np.flatnonzero(kept.any(axis=1)))
    np.testing.assert_array_equal(np.diff(row_starts), kept.sum(axis=1)[kept.any(axis=1)])
    np.testing.assert_array_equal(siblings, np.nonzero(kept)[1])
    np.testing.assert_array_equal(weights, rows[kept])
