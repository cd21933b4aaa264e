"""Sums in lanes: their order, number by number, and their value."""

import numpy as np
import pytest

from xmlc.kernels.sums import dot, scale_rows, sparse_dot, sparse_dots, sum_of_squares, total

SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 18, 19, 64, 1001]


def in_lanes(terms, dtype):
    """The sum of rounded terms in the documented order, one addition at a time."""
    lanes, whole = [dtype(0)] * 4, len(terms) // 4 * 4
    for k, term in enumerate(terms):
        lane = k % 4 if k < whole else 0
        lanes[lane] = dtype(lanes[lane] + dtype(term))
    return dtype(dtype(lanes[0] + lanes[2]) + dtype(lanes[1] + lanes[3]))


@pytest.fixture(params=SIZES)
def vectors(request):
    """A sparse vector and two dense ones whose sums round in every step."""
    rng = np.random.default_rng(request.param)
    ids = rng.permutation(2 * request.param + 1)[: request.param].astype(np.uint32)
    values, *dense = (rng.normal(size=n).astype(np.float32) for n in (ids.size, 2 * ids.size + 1, 2 * ids.size + 1))
    return ids, values, *dense


def test_sparse_dot(vectors):
    ids, values, dense, _ = vectors
    found = sparse_dot(ids, values, dense)
    assert found == in_lanes(values * dense[ids], np.float32)
    assert found == pytest.approx(np.dot(values.astype(float), dense[ids].astype(float)), rel=1e-4, abs=1e-4)
    strided = np.zeros(3 * dense.size, dtype=np.float32)
    strided[1::3] = dense
    assert sparse_dot(ids, values, strided[1::3]) == found


def test_sparse_dots(vectors):
    ids, values, first, second = vectors
    found = sparse_dots(ids, values, first, second)
    assert found[0] == sparse_dot(ids, values, first)
    assert found[1] == in_lanes(values * values * second[ids], np.float32)


def test_dot(vectors):
    _, values, dense, _ = vectors
    other = dense[: values.size]
    assert dot(values, other) == in_lanes(values * other, np.float32)


def test_total_is_added_up_in_float64(vectors):
    numbers = vectors[1]
    assert total(numbers) == in_lanes(numbers, np.float64)


def squares_in_eight_lanes(numbers):
    """The documented order, one addition at a time."""
    if len(numbers) > 128:
        half = len(numbers) // 2 // 8 * 8
        return squares_in_eight_lanes(numbers[:half]) + squares_in_eight_lanes(numbers[half:])
    squares, whole = [float(x) * float(x) for x in numbers], len(numbers) // 8 * 8
    lanes = [sum(squares[lane:whole:8], 0.0) for lane in range(8)]
    joined = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
    return sum(squares[whole:], joined)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squares_are_added_in_eight_lanes(vectors, dtype):
    numbers = vectors[1].astype(dtype)
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
