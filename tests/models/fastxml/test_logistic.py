"""The solver of a node, compared with liblinear and with the optimum."""

import fastxml_twin as twin
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from xmlc.kernels.csr import kernel_csr
from xmlc.models.fastxml._logistic import StoppingCriteria, fit_logistic


def sides_problem(seed, n=200, d=30, density=0.2):
    """Return dense features with a last constant column, classes, and the costs of a node."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=density, rng=rng).toarray()
    X *= rng.choice([-1, 1], X.shape)
    side = np.where(X @ rng.normal(size=d) + rng.normal(size=n) * 0.5 > 0.1, 1, -1).astype(np.int8)
    share = (side > 0).mean()
    return np.hstack([X, np.ones((n, 1))]), side, (1 / share, 1 / (1 - share))


def solve(X, side, costs, limits):
    weights = np.empty(X.shape[1], dtype=np.float32)
    margins = np.empty(X.shape[0], dtype=np.float32)
    columns = kernel_csr(sparse.csr_array(X.T))
    costs = (np.float32(costs[0]), np.float32(costs[1]))
    fit_logistic(columns, side, costs, limits, np.uint64(7), weights, margins)
    return weights, margins


EXACT = StoppingCriteria(1e-6, 200, 200, 40)


@pytest.mark.parametrize("seed", range(3))
def test_solver_finds_solution_of_liblinear(seed):
    X, side, costs = sides_problem(seed)
    weights, margins = solve(X, side, costs, EXACT)
    options = {"l1_ratio": 1.0, "solver": "liblinear", "tol": 1e-8, "max_iter": 100_000}
    classes = {1: costs[0], -1: costs[1]}
    liblinear = LogisticRegression(fit_intercept=False, class_weight=classes, **options)
    expected = liblinear.fit(X, side).coef_[0]
    assert np.allclose(weights, expected, rtol=2e-4, atol=1e-4)  # float32
    assert ((weights != 0) == (np.abs(expected) > 1e-6)).all()
    assert 3 < (weights != 0).sum() < weights.size
    assert np.allclose(margins, X @ weights, atol=1e-4)
    value = twin.objective(X, side, costs, weights)
    assert value <= twin.objective(X, side, costs, expected) * (1 + 1e-6)
    # The limits of a forest are 10 Newton steps and tolerance 0.01, in float32.
    near, margins = solve(X, side, costs, StoppingCriteria())
    assert twin.objective(X, side, costs, near) < 1.005 * value
    assert np.allclose(margins, X @ near, atol=1e-4)


def test_solver_keeps_weights_0_if_features_do_not_help():
    X = np.full((4, 1), 1e-3)
    side = np.array([1, -1, 1, -1], dtype=np.int8)
    weights, margins = solve(X, side, (1.0, 1.0), StoppingCriteria())
    assert weights.tolist() == [0.0]
    assert margins.tolist() == [0.0] * 4


def test_dropped_features_have_weight_0_at_optimum():
    """`gather_columns` drops these features.

    These features have weight 0 in the solution with all columns.
    """
    X, side, costs = sides_problem(3, n=40, d=25, density=0.1)
    weights, _ = solve(X, side, costs, EXACT)
    pull = X * np.where(side > 0, costs[0], -costs[1])[:, None]
    idle = np.maximum(pull.clip(0).sum(axis=0), -pull.clip(None, 0).sum(axis=0)) <= 1
    assert idle.sum() >= 2
    assert not weights[idle].any()
