"""Steps of siblings in registers against those of one sibling after the other, and against the dual that they solve."""

import numpy as np
import pytest
from numba import njit
from scipy.special import expit

from xmlc.kernels.float32 import fma, inverse_sqrt, logistic_derivative, sigmoid
from xmlc.models.plt.training._steps import adagrad_steps, dual_steps

SIZES = [4, 8, 16, 48, 512]


@njit(error_model="numpy")
def hinge_step(margin, alpha, square, cost):
    one = np.float32(1.0)
    ridge = np.float32(0.5) / cost
    slope = fma(ridge, alpha, margin - one)
    return max(-slope * (one / (square + ridge)), -alpha)


@njit(error_model="numpy")
def logistic_step(margin, alpha, square, cost):
    one, half = np.float32(1.0), np.float32(0.5)
    curvature = cost * square
    low, high = -alpha, cost - alpha
    first = fma(cost, sigmoid(-margin), -alpha) * (one / fma(np.float32(0.25), curvature, one))
    step, inside = first, True
    for _ in range(3):
        p = sigmoid(-fma(square, step, margin))
        excess = fma(-cost, p, alpha + step)
        low = step if excess < np.float32(0.0) else low
        high = high if excess < np.float32(0.0) else step
        newton = step - excess / fma(curvature * p, one - p, one)
        inside = low <= newton and newton <= high
        step = newton if inside else half * (low + high)
    safe = low if first > np.float32(0.0) else high
    return step if inside else safe


@njit
def step_one_by_one(scores, targets, alpha, going, largest, square, cost, smallest, squared_hinge):
    changes = False
    for c in range(scores.size):
        margin = scores[c] if targets[c] else -scores[c]
        of = (margin, alpha[c], square, cost)
        step = hinge_step(*of) if squared_hinge else logistic_step(*of)
        size = abs(step)
        step = step if going[c] and size > smallest else np.float32(0.0)
        largest[c] = max(largest[c], size)
        alpha[c] += step
        scores[c] = step if targets[c] else -step
        changes |= step != np.float32(0.0)
    return changes


@njit
def adagrad_one_by_one(scores, targets, bias, squares, rate, eps):
    for c in range(scores.size):
        scores[c] = logistic_derivative(scores[c], np.float32(1.0) - np.float32(2.0) * np.float32(targets[c]))
        squares[c] = fma(scores[c], scores[c], squares[c])
        bias[c] = fma(-(rate * scores[c]), inverse_sqrt(eps + squares[c]), bias[c])


def coordinate(seed, cost, size=512):
    """Random scores, targets and feasible alphas of many siblings."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=size).astype(np.float32) * 5
    targets = rng.integers(0, 2, size).astype(np.uint8)
    alpha = (rng.random(size) * cost * (rng.random(size) < 0.7)).astype(np.float32)
    return scores, targets, alpha, np.where(targets, scores, -scores).astype(np.float64)


@pytest.mark.parametrize("cost", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("square", [1.0, 2.0, 30.0])
def test_a_step_never_worsens_the_dual(cost, square):
    scores, targets, alpha, margin = coordinate(0, cost)

    def found(squared_hinge):
        changes, going, rest = scores.copy(), np.ones(512, dtype=bool), np.zeros(512, dtype=np.float32)
        numbers = (np.float32(square), np.float32(cost), np.float32(0.0))
        dual_steps(changes, targets, alpha.copy(), going, rest, *numbers, squared_hinge)
        return np.where(targets, changes, -changes)

    def hinge(step):
        new = alpha + step
        return step * margin + 0.5 * square * step**2 - new + new**2 / (4 * cost)

    steps = found(squared_hinge=True)
    best = np.min([hinge(np.maximum(steps.astype(np.float64) + shift, -alpha)) for shift in (-1e-2, 0, 1e-2)], axis=0)
    np.testing.assert_allclose(hinge(steps.astype(np.float64)), best, atol=1e-4 * cost * (1 + square))
    assert (alpha + steps >= 0).all()

    def logistic(step):
        share = np.clip((alpha.astype(np.float64) + step) / cost, 1e-300, 1)
        rest = np.clip(1 - share, 1e-300, 1)
        return step * margin + 0.5 * square * step**2 + cost * (share * np.log(share) + rest * np.log(rest))

    exact = found(squared_hinge=False).astype(np.float64)
    assert (logistic(exact) <= logistic(np.zeros(512)) + 1e-5 * cost).all()
    assert (alpha + exact >= -1e-6 * cost).all()
    assert (alpha + exact <= cost * (1 + 1e-6)).all()
    # Where Newton's method has arrived, the dual's derivative is zero: alpha + s = C sigmoid(-(m + s |x|^2)).
    residual = np.abs(alpha + exact - cost * expit(-(margin + square * exact))) / cost
    assert np.median(residual) < 0.02


def same_bits(kernel, twin, arrays, *numbers):
    found, expected = ([array.copy() for array in arrays] for _ in range(2))
    assert kernel(*found, *numbers) == twin(*expected, *numbers)
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("squared_hinge", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_registers_step_as_siblings_one_by_one(size, squared_hinge):
    for cost in (0.1, 1.0, 50.0):
        rng = np.random.default_rng(size)
        scores, targets, alpha, _ = coordinate(size, cost, size)
        arrays = (scores, targets, alpha, rng.random(size) < 0.8, rng.random(size).astype(np.float32))
        for smallest in (0.0, 0.1, 1e6):
            numbers = (np.float32(2.3), np.float32(cost), np.float32(smallest))
            same_bits(dual_steps, step_one_by_one, arrays, *numbers, squared_hinge)


@pytest.mark.parametrize("size", SIZES)
def test_registers_take_adagrads_step_as_siblings_one_by_one(size):
    scores, targets, squares, _ = coordinate(size, 1.0, size)
    bias = np.random.default_rng(size).normal(size=size).astype(np.float32)
    same_bits(
        adagrad_steps, adagrad_one_by_one, (scores * 10, targets, bias, squares), np.float32(0.7), np.float32(0.01)
    )
