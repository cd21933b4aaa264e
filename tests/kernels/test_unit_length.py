"""Rows scaled to unit length, compared with NumPy."""

import math

import numpy as np
import pytest

from xmlc.kernels.unit_length import scale_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_scaled_to_unit_length(dtype):
    """One row is empty, and one has length 0."""
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=size).astype(dtype) for size in (3, 0, 1, 700, 2, 129, 16)]
    rows[4][:] = 0
    indptr = np.cumsum([0, *map(len, rows)])
    values = np.concatenate(rows)
    scaled = np.full(values.size, np.nan, dtype=np.float32)
    scale_rows(indptr, values, scaled, 0, 4)
    scale_rows(indptr, values, scaled, 4, 7)
    expected = []
    for row in rows:
        length = math.sqrt(sum(row.astype(np.float64) ** 2))
        expected.append(row.astype(np.float64) / (length or 1.0))
    np.testing.assert_array_equal(scaled, np.concatenate(expected).astype(np.float32))
