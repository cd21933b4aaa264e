"""Two regressors in one register against one after the other, bit for bit."""

import numpy as np
import pytest
from numba import njit

from xmlc.kernels.float32 import inverse_sqrt
from xmlc.kernels.sums import dot, sparse_dot
from xmlc.models.ldsm import _pairs

inverse_sqrt_of = njit(lambda x: inverse_sqrt(x))
SLOPES, RATE = np.float32([0.31, -0.77]), np.float32(0.1)


@njit
def margins(ids, values, slots):
    return _pairs.pair_margins(ids, values, slots)


@njit
def adaptive(ids, values, slots, slopes, rate):
    return _pairs.adaptive_step(ids, values, slots, slopes[0], slopes[1], rate)


@njit
def plain(ids, values, slots, slopes, rate):
    return _pairs.plain_step(ids, values, slots, slopes[0], slopes[1], rate)


def instance(n, seed=0):
    """Return n non-zeros and the slots of 40 features: weights, and positive squares."""
    rng = np.random.default_rng(seed)
    slots = rng.normal(size=(40, 4)).astype(np.float32)
    slots[:, 2:] **= 2
    return rng.permutation(40)[:n].astype(np.uint32), rng.normal(size=n).astype(np.float32), slots


@pytest.mark.parametrize("n", [*range(10), 33])
def test_margins_are_the_sums_of_sparse_dot(n):
    ids, values, slots = instance(n)
    expected = [sparse_dot(ids, values, np.ascontiguousarray(slots[:, side])) for side in range(2)]
    assert margins(ids, values, slots.reshape(-1)) == tuple(expected)


@pytest.mark.parametrize("n", [*range(10), 33])
@pytest.mark.parametrize("is_adaptive", [True, False])
def test_a_step_is_that_of_each_regressor_alone(n, is_adaptive):
    ids, values, slots = instance(n)
    expected, sums = slots.copy(), []
    for side in range(2):
        for k in range(n):
            weight, square = slots[ids[k], side], slots[ids[k], 2 + side]
            if is_adaptive:
                gradient = SLOPES[side] * values[k]
                square = square + gradient * gradient
                weight = weight - RATE * gradient * np.float32(inverse_sqrt_of(square))
            else:
                weight = weight - RATE * SLOPES[side] * values[k]
            expected[ids[k], side], expected[ids[k], 2 + side] = weight, square
        sums.append(dot(np.ascontiguousarray(expected[ids, side]), values))
    result = (adaptive if is_adaptive else plain)(ids, values, slots.reshape(-1), SLOPES, RATE)
    assert np.array_equal(slots, expected)
    assert result == tuple(sums)


def test_a_slope_of_zero_changes_nothing():
    ids, values, slots = instance(11)
    before = slots.copy()
    adaptive(ids, values, slots.reshape(-1), np.float32([0.5, 0.0]), RATE)
    assert np.array_equal(slots[:, 1::2], before[:, 1::2])
    assert not np.array_equal(slots[:, 0], before[:, 0])
