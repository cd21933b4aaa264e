"""Rows scaled to unit length, compared with NumPy."""

import math

import numpy as np
import pytest

from xmlc.kernels.unit_length import scale_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_scaled_to_unit_length(dtype):
    """One row is empty, and one has length 0."""
    indptr = np.cumsum([0, 3, 0, 1, 700, 2, 129, 16])
    values = np.random.default_rng(0).normal(size=indptr[-1]).astype(dtype)
    values[indptr[4] : indptr[5]] = 0
    expected = []
    for row in np.split(values.astype(np.float64), indptr[1:-1]):
        length = math.sqrt(sum(row**2))
        expected.append(row / (length or 1.0))
    scaled = np.full(values.size, np.nan, dtype=np.float32)
    scale_rows(indptr, values, scaled, 0, 4)
    scale_rows(indptr, values, scaled, 4, 7)
    np.testing.assert_array_equal(scaled, np.concatenate(expected).astype(np.float32))
