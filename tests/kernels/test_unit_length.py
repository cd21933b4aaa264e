"""Rows scaled to unit length: the order of the sum of squares, number by number, and its value."""

from functools import reduce
from operator import add

import numpy as np
import pytest

from xmlc.kernels.unit_length import scale_rows, sum_of_squares


def added(numbers, total):
    """Python's own sum makes up for rounding since 3.12."""
    return reduce(add, numbers, total)


def squares_in_eight_lanes(numbers):
    """The documented order, one addition at a time."""
    if len(numbers) > 128:
        half = len(numbers) // 2 // 8 * 8
        return squares_in_eight_lanes(numbers[:half]) + squares_in_eight_lanes(numbers[half:])
    squares, whole = [float(x) * float(x) for x in numbers], len(numbers) // 8 * 8
    lanes = [added(squares[lane:whole:8], 0.0) for lane in range(8)]
    joined = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
    return added(squares[whole:], joined)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 7, 8, 19, 64, 1001])
def test_squares_are_added_in_eight_lanes(size, dtype):
    numbers = np.random.default_rng(size).normal(size=size).astype(dtype)
    assert sum_of_squares(numbers) == squares_in_eight_lanes(numbers)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_scaled_to_unit_length(dtype):
    """By NumPy's sums; one row is empty, one of length 0."""
    rng = np.random.default_rng(0)
    sizes = np.array([3, 0, 1, 700, 2, 129, 16])
    values, indptr = rng.normal(size=sizes.sum()).astype(dtype), np.concatenate(([0], np.cumsum(sizes)))
    values[indptr[4] : indptr[5]] = 0
    scaled = np.full(values.size, np.nan, dtype=np.float32)
    scale_rows(indptr, values, scaled, 0, 4)
    scale_rows(indptr, values, scaled, 4, 7)
    squares = np.add.reduceat(values.astype(np.float64) ** 2, indptr[:-1][sizes > 0])
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    expected = values.astype(np.float64) / np.repeat(lengths, sizes[sizes > 0])
    np.testing.assert_array_equal(scaled, expected.astype(np.float32))
