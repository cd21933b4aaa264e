"""Rows scaled to unit length, compared with NumPy."""

import numpy as np
import pytest

from xmlc.kernels.unit_length import scale_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_scaled_to_unit_length(dtype):
    """One row is empty, and one has length 0."""
    rng = np.random.default_rng(0)
    sizes = np.array([3, 0, 1, 700, 2, 129, 16])
    values = rng.normal(size=sizes.sum()).astype(dtype)
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    values[indptr[4] : indptr[5]] = 0
    scaled = np.full(values.size, np.nan, dtype=np.float32)
    scale_rows(indptr, values, scaled, 0, 4)
    scale_rows(indptr, values, scaled, 4, 7)
    squares = np.add.reduceat(values.astype(np.float64) ** 2, indptr[:-1][sizes > 0])
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    expected = values.astype(np.float64) / np.repeat(lengths, sizes[sizes > 0])
    np.testing.assert_array_equal(scaled, expected.astype(np.float32))
