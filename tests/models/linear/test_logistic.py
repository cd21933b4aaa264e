"""The solver of logistic regressions, compared with a plain implementation and with
scikit-learn.
"""

import warnings

import numpy as np
import pytest
from logistic_twin import solve_naively
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from xmlc.kernels.csr import as_features, as_labels
from xmlc.models.linear import _logistic
from xmlc.models.linear._logistic import LANES, solve_path
from xmlc.models.linear.label_logistic import blocks_of, make_problem


def random_problem(n=40, d=6, m=11, seed=0, chain=True, standardize=True):
    """Return a problem with more labels than lanes, various scales and means of columns, and
    zeros.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2, d) + rng.integers(0, 4, d)
    X[rng.random(X.shape) < 0.3] = 0
    Y = X / X.std(axis=0) @ rng.normal(size=(d, m)) + rng.normal(size=(n, m)) > rng.normal(size=m)
    widths = d + np.arange(m) if chain else np.full(m, d)
    weights = rng.choice([0.3, 1, 7], n).astype(np.float32)
    return make_problem(
        as_features(sparse.csr_array(X)), as_labels(Y), standardize, 2.0, widths, weights
    ), Y


def dense(problem):
    indptr, indices, data = problem[:3]
    return sparse.csr_array(
        (data, indices.astype(np.int32), indptr), (problem.importance.size, problem.scale.size)
    ).toarray()


@pytest.mark.parametrize("standardize", [True, False])
def test_each_lane_equals_plain_solver(standardize):
    problem, Y = random_problem(standardize=standardize)
    rows = np.flatnonzero(np.arange(40) % 4)
    others = np.arange(0, 40, 4)
    grid = np.array([0.01, 0.3, 20.0])
    labels = np.concatenate(blocks_of(problem, np.arange(40) % 4 != 0))
    assert labels.size > LANES
    found = solve_path(problem, labels, np.tile(grid, (labels.size, 1)), rows, others)
    Z = dense(problem)
    v = problem.importance
    for i, j in enumerate(labels):
        y = Y[:, j]
        learned = (Z[rows], y[rows], v[rows])
        held_out = (Z[others], y[others], v[others])
        w, b, losses, decrement = solve_naively(
            *learned, *held_out, problem.widths[j], problem.variances, grid
        )
        assert found.weights[i].tolist() == w
        assert found.constants[i] == b
        assert found.losses[i].tolist() == losses
        assert found.decrements[i] == decrement
    assert (found.decrements <= _logistic.TOLERANCE).all()


def hard_problems():
    """Return X, y and C of numerically hard problems."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 6))
    y = X[:, 0] + 0.5 * rng.normal(size=80) > 0
    constant = np.column_stack([X, np.full(80, 7.3), np.zeros(80)])
    return {
        "separable, large C": (X, X[:, 0] - X[:, 1] > 0, 1e6),
        "rare label": (X, np.arange(80) == 17, 50.0),
        "constant and empty features": (constant, y, 5.0),
        "duplicate columns": (np.column_stack([X, X, X[:, :1]]), y, 5.0),
        "fewer instances than features": (rng.normal(size=(30, 90)), y[:30], 5.0),
        "means far from zero": (X + np.array([0, 1e3, -50, 3, 1e2, 10]), y, 5.0),
        "very different spreads": (X * 10.0 ** np.arange(-3, 3), y, 5.0),
    }


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("case", hard_problems())
def test_hard_problems_have_the_solution_of_scikit_learn(case, standardize):
    X, y, C = hard_problems()[case]
    X = sparse.csr_array(X.astype(np.float32).astype(np.float64))
    weights = np.ones(len(y), dtype=np.float32)
    columns = np.array([X.shape[1]])
    problem = make_problem(X, as_labels(y[:, None]), standardize, 1.0, columns, weights)
    found = solve_path(problem, np.array([0]), np.array([[C]]), np.arange(len(y)))
    Z = dense(problem)
    ours = expit(Z @ found.weights[0] + found.constants[0])
    # Without centred features, scikit-learn's solvers do not reach their tolerance.
    centred = Z - Z.mean(axis=0)
    model = LogisticRegression(C=C, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # scikit-learn warns if it has not converged
        theirs = model.fit(centred, y).predict_proba(centred)[:, 1]
    assert np.abs(ours - theirs).max() < 1e-6
    assert ((ours >= 0.5) == (theirs >= 0.5)).all()
    assert found.decrements[0] <= _logistic.TOLERANCE
