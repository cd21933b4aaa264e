"""Sums in lanes: their order of additions and their value."""

import math

import numpy as np
import pytest

from xmlc.kernels import elementwise
from xmlc.kernels.sums import dot, in_turn, pairwise, sparse_dot, sparse_dots, total


def in_lanes(terms, dtype):
    """Add rounded terms in the documented order, one addition at a time."""
    lanes = [dtype(0)] * 4
    whole = len(terms) // 4 * 4
    for k, term in enumerate(terms):
        lane = k % 4 if k < whole else 0
        lanes[lane] = dtype(lanes[lane] + dtype(term))
    return dtype(dtype(lanes[0] + lanes[2]) + dtype(lanes[1] + lanes[3]))


@pytest.fixture(params=[0, 1, 2, 3, 4, 5, 7, 8, 18, 19, 64, 1001])
def vectors(request):
    """Return a sparse vector and two dense vectors whose sums are rounded in every step."""
    rng = np.random.default_rng(request.param)
    ids = rng.permutation(2 * request.param + 1)[: request.param].astype(np.uint32)
    values, *dense = (
        rng.normal(size=n).astype(np.float32)
        for n in (ids.size, 2 * ids.size + 1, 2 * ids.size + 1)
    )
    return ids, values, *dense


def test_sparse_dot_adds_in_documented_order(vectors):
    ids, values, dense, _ = vectors
    found = sparse_dot(ids, values, dense)
    assert found == in_lanes(values * dense[ids], np.float32)
    assert found == pytest.approx(
        np.dot(values.astype(float), dense[ids].astype(float)), rel=1e-4, abs=1e-4
    )
    strided = np.zeros(3 * dense.size, dtype=np.float32)
    strided[1::3] = dense
    assert sparse_dot(ids, values, strided[1::3]) == found


def test_sparse_dots_add_in_documented_order(vectors):
    ids, values, first, second = vectors
    found = sparse_dots(ids, values, first, second)
    assert found[0] == sparse_dot(ids, values, first)
    assert found[1] == in_lanes(values * values * second[ids], np.float32)


def test_dot_adds_in_documented_order(vectors):
    _, values, dense, _ = vectors
    other = dense[: values.size]
    assert dot(values, other) == in_lanes(values * other, np.float32)


def test_total_adds_in_float64(vectors):
    numbers = vectors[1]
    assert total(numbers) == in_lanes(numbers, np.float64)


def in_halves(terms):
    """Add terms in the documented order of `pairwise`, one addition at a time."""
    if (n := len(terms)) > 128:
        half = n // 2 // 8 * 8
        return in_halves(terms[:half]) + in_halves(terms[half:])
    lanes = list(terms[:8])
    whole = n // 8 * 8
    for k in range(8, whole):
        lanes[k % 8] += terms[k]
    a, b, c, d, e, f, g, h = lanes if whole else [0.0] * 8
    result = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for term in terms[whole:]:
        result += term
    return result


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 128, 129, 136, 1001, 8192, 8193, 30_011])
def test_float64_sums_add_in_documented_order(n):
    numbers = np.random.default_rng(n).normal(size=n) * 10.0 ** np.random.default_rng(
        n + 1
    ).integers(-3, 3, n)
    assert pairwise(numbers) == in_halves(numbers.tolist())
    assert elementwise.mean(numbers) == pairwise(numbers) / max(n, 1)
    turn = 0.0
    for number in numbers.tolist():
        turn += number
    assert in_turn(numbers) == turn
    assert pairwise(numbers) == pytest.approx(math.fsum(numbers), rel=1e-12, abs=1e-9)
