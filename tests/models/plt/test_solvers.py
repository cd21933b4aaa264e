"""Solvers of the nodes of a PLT, compared with plain steps and with scikit-learn."""

import numpy as np
import pytest
from numba import njit
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from vector_twin import inverse_sqrt

from xmlc.kernels.csr import KernelCSR, kernel_csr
from xmlc.kernels.float32 import fma, sigmoid
from xmlc.kernels.sibling_rows import padded_size
from xmlc.kernels.unit_length import unit_rows
from xmlc.models import PLT
from xmlc.models.plt.solvers import AdaGrad, DualDescent, dual_steps, solve

SIZES = [4, 8, 16, 48, 512]


@njit(error_model="numpy")
def hinge_step(margin, alpha, square, cost):
    one = np.float32(1.0)
    ridge = np.float32(0.5) / cost
    slope = fma(ridge, alpha, margin - one)
    return max(-slope * (one / (square + ridge)), -alpha)


@njit(error_model="numpy")
def logistic_step(margin, alpha, square, cost):
    one = np.float32(1.0)
    half = np.float32(0.5)
    curvature = cost * square
    low = -alpha
    high = cost - alpha
    first = fma(cost, sigmoid(-margin), -alpha) * (one / fma(np.float32(0.25), curvature, one))
    step = first
    inside = True
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
def step_one_by_one(
    scores, targets, alpha, going, largest, work, square, cost, smallest, inverse, squared_hinge
):
    changes = False
    for c in range(scores.size):
        margin = scores[c] if targets[c] else -scores[c]
        of = (margin, alpha[c], square, cost)
        step = hinge_step(*of) if squared_hinge else logistic_step(*of)
        size = abs(step)
        step = step if going[c] and size > smallest else np.float32(0.0)
        largest[c] = max(largest[c], size * inverse)
        alpha[c] += step
        scores[c] = step if targets[c] else -step
        changes |= step != np.float32(0.0)
    return changes


@njit
def adagrad_one_by_one(
    ends, ids, values, importance, targets, weights, squares, bias, bias_squares, step, eps
):
    """Run one pass of AdaGrad, sibling by sibling.

    Weights and squares have shape (features, siblings).
    """
    for c in range(bias.size):
        for i in range(ends.size - 1):
            rate = step * np.sqrt(importance[i])
            score = bias[c]
            for k in range(ends[i], ends[i + 1]):
                score = fma(values[k], weights[ids[k], c], score)
            sign = np.float32(1.0) - np.float32(2.0) * np.float32(targets[i, c])
            derivative = sign * sigmoid(sign * score) * np.sqrt(importance[i])
            bias_squares[c] = fma(derivative, derivative, bias_squares[c])
            bias[c] = fma(-(rate * derivative), inverse_sqrt(eps + bias_squares[c]), bias[c])
            for k in range(ends[i], ends[i + 1]):
                own = derivative * values[k]
                squares[ids[k], c] = fma(own, own, squares[ids[k], c])
                root = inverse_sqrt(eps + squares[ids[k], c])
                weights[ids[k], c] = fma(-(rate * own), root, weights[ids[k], c])


def with_constant(x):
    """Return instances that begin with the constant feature 0, so that the number of each other
    feature is one more.
    """
    n_rows = x.indptr.size - 1
    ids = np.insert(x.indices + np.uint32(1), x.indptr[:-1], 0)
    values = np.insert(x.data, x.indptr[:-1], 1)
    return KernelCSR(x.indptr + np.arange(n_rows + 1), ids, values)


def work(size):
    return np.empty(4 * size, dtype=np.float32)


def coordinate(seed, cost, size):
    """Return random scores, targets and feasible alphas of many siblings."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=size).astype(np.float32) * 5
    targets = rng.integers(0, 2, size).astype(np.uint8)
    return scores, targets, (rng.random(size) * cost * (rng.random(size) < 0.7)).astype(np.float32)


def assert_same_bits(kernel, twin, arrays, *numbers):
    found = [array.copy() for array in arrays]
    expected = [array.copy() for array in arrays]
    assert kernel(*found, *numbers) == twin(*expected, *numbers)
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("squared_hinge", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_dual_steps_in_registers_equal_steps_of_single_siblings(size, squared_hinge):
    rng = np.random.default_rng(size)
    for cost in (0.1, 1.0, 50.0):
        going = rng.random(size) < 0.8
        largest = rng.random(size).astype(np.float32)
        arrays = (*coordinate(size, cost, size), going, largest)
        for smallest in (0.0, 0.1, 1e6):
            numbers = [np.float32(number) for number in (2.3, cost, smallest, 4 * cost)]
            assert_same_bits(
                dual_steps, step_one_by_one, arrays, work(size), *numbers, squared_hinge
            )


@pytest.mark.parametrize("size", SIZES)
def test_adagrad_in_registers_equals_training_of_single_siblings(size):
    rng = np.random.default_rng(size)
    X = sparse.random_array((60, 20), density=0.3, rng=rng, dtype=np.float32, format="csr")
    x = kernel_csr(X)
    targets = coordinate(size, 1.0, 60 * size)[1].reshape(60, size)
    importance = rng.choice([0.3, 1, 7], 60).astype(np.float32)
    state = np.zeros((1 + 20) * 2 * size, dtype=np.float32)
    solve(AdaGrad(0.7, 0.01, 1), with_constant(x), importance, targets, state, size, 0)
    # the constant feature comes first
    weights = np.zeros((21, size), dtype=np.float32)
    squares = np.zeros((21, size), dtype=np.float32)
    arrays = (weights[1:], squares[1:], weights[0], squares[0])
    adagrad_one_by_one(*x, importance, targets, *arrays, np.float32(0.7), np.float32(0.01))
    assert state.tobytes() == np.hstack([weights, squares]).tobytes()


EXACT = {"tree": "random", "tol": 1e-7, "epochs": 2000, "solver": "batch"}


@pytest.mark.parametrize("C", [0.3, 10.0])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_node_weights_equal_scikit_learn(multilabel, loss, C):
    X, Y = multilabel(200, 30, 9, seed=1)
    model = PLT(arity=9, loss=loss, C=C, **EXACT).fit(X, Y)
    nodes = model.nodes_
    reached = np.flatnonzero(np.diff(Y.indptr))  # instances with labels reach the root's children
    features = nodes.features[slice(*nodes.feature_starts[1:3])]
    weights = np.zeros((30, 9))
    weights[features] = nodes.weights[slice(*nodes.weight_starts[1:3])].reshape(-1, 9)
    if loss == "logistic":
        baseline = LogisticRegression(C=C, solver="liblinear", tol=1e-10, max_iter=10_000)
    else:
        baseline = LinearSVC(C=C, tol=1e-10, max_iter=1_000_000)
    for c, label in enumerate(model.tree_.label[1:]):
        expected = baseline.fit(unit_rows(X)[reached], Y.toarray()[reached, label])
        atol = 2e-4 * max(1, C)
        np.testing.assert_allclose(weights[:, c], expected.coef_[0], atol=atol)
        np.testing.assert_allclose(nodes.bias[1 + c], expected.intercept_[0], atol=atol)


@pytest.mark.parametrize("squared_hinge", [False, True])
def test_weights_do_not_depend_on_other_siblings(multilabel, squared_hinge):
    """Siblings are trained together, although some stop earlier, or each alone."""
    X, Y = multilabel(150, 30, 75, seed=6)
    x = with_constant(kernel_csr(unit_rows(X)))
    targets = Y.toarray().astype(np.uint8)
    importance = np.random.default_rng(6).choice([0.3, 1, 7], 150).astype(np.float32)

    def train(columns):
        size = padded_size(columns.size)
        weights = np.zeros((1 + 30) * size, dtype=np.float32)
        padded = np.zeros((150, size), dtype=np.uint8)
        padded[:, : columns.size] = targets[:, columns]
        solver = DualDescent(3.0, 0.02, 60, squared_hinge, np.uint64(7))
        solve(solver, x, importance, padded, weights, columns.size, 0)
        return weights.reshape(1 + 30, size)[:, : columns.size]

    together = train(np.arange(75))
    alone = np.hstack([train(np.array([c])) for c in range(75)])
    assert together.tobytes() == alone.tobytes()
    assert (together != 0).any(axis=0).all()


def test_nodes_stop_when_dual_variables_move_less_than_tolerance(multilabel):
    X, Y = multilabel(200, 30, 20, seed=2)

    def weights(tol, epochs):
        return PLT(solver="batch", tol=tol, epochs=epochs).fit(X, Y).nodes_.weights.tobytes()

    assert weights(10.0, 1) == weights(10.0, 3) != weights(1e-9, 3)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_features_of_one_class_have_finite_weights(loss):
    labels = [0, 0, 0, 1, 1, 1]
    model = PLT(arity=2, loss=loss, C=1000.0, **EXACT | {"epochs": 500, "tol": 1e-4})
    model.fit(np.eye(6), np.eye(2, dtype=bool)[labels])
    assert np.isfinite(model.nodes_.weights).all()
    assert model.predict_top_k(np.eye(6), 1)[0].ravel().tolist() == labels
