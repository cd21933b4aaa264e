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


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 7, 8, 18, 1001])
def test_sums_add_in_documented_order(n):
    """The sums are rounded in every step."""
    rng = np.random.default_rng(n)
    ids = rng.permutation(2 * n + 1)[:n].astype(np.uint32)
    values = rng.normal(size=n).astype(np.float32)
    first = rng.normal(size=2 * n + 1).astype(np.float32)
    second = rng.normal(size=2 * n + 1).astype(np.float32)
    expected = in_lanes(values * first[ids], np.float32)
    exact = values.astype(float) @ first[ids].astype(float)
    assert expected == pytest.approx(exact, rel=1e-4, abs=1e-4)
    assert sparse_dot(ids, values, first) == expected
    assert sparse_dot(ids, values, np.repeat(first, 3)[::3]) == expected  # not contiguous
    squares = in_lanes(values * values * second[ids], np.float32)
    assert sparse_dots(ids, values, first, second) == (expected, squares)
    assert dot(values, first[:n]) == in_lanes(values * first[:n], np.float32)
    assert total(values) == in_lanes(values, np.float64)


def in_halves(terms):
    """Add terms in the documented order of `pairwise`, one addition at a time."""
    n = len(terms)
    if n > 128:
        half = n // 2 // 8 * 8
        return in_halves(terms[:half]) + in_halves(terms[half:])
    whole = n // 8 * 8
    lanes = [0.0] * 8
    for k in range(whole):
        lanes[k % 8] += terms[k]
    a, b, c, d, e, f, g, h = lanes
    result = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for term in terms[whole:]:
        result += term
    return result


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 128, 129, 1001, 8193, 30_011])
def test_float64_sums_add_in_documented_order(n):
    rng = np.random.default_rng(n)
    numbers = rng.normal(size=n) * 10.0 ** rng.integers(-3, 3, n)
    found = pairwise(numbers)
    assert found == in_halves(numbers.tolist())
    assert found == pytest.approx(math.fsum(numbers), rel=1e-12, abs=1e-9)
    assert elementwise.mean(numbers) == found / max(n, 1)
    assert in_turn(numbers) == np.add.accumulate(np.append(0.0, numbers))[-1]
