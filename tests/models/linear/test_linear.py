"""Scores and variances of columns against plain sums and numpy."""

import itertools

import numpy as np
from scipy import sparse

from xmlc.csr import kernel_csr
from xmlc.models.linear._linear import column_variances, linear_scores


def test_scores_are_sums_in_the_order_of_features():
    rng = np.random.default_rng(1)
    X = sparse.random_array((12, 9), density=0.5, rng=rng, dtype=np.float32, format="csr")
    weights, constants = rng.normal(size=(9, 5)).astype(np.float32), rng.normal(size=5).astype(np.float32)
    scores = linear_scores(*kernel_csr(X), weights, constants)
    for i, j in itertools.product(range(12), range(5)):
        expected = float(constants[j])
        for place in range(X.indptr[i], X.indptr[i + 1]):
            expected += float(X.data[place]) * float(weights[X.indices[place], j])
        assert scores[i, j] == expected


def test_variances_are_those_of_numpy():
    X = np.random.default_rng(2).normal([0, 100, 0, 0], [1, 3, 1e-3, 1], size=(30, 4))
    X[::3, 0], X[:, 3] = 0, 0
    columns = sparse.csr_array(X)
    variances, squares = column_variances(columns.indices.astype(np.uint32), columns.data, 30, 4)
    assert np.allclose(variances, X.var(axis=0, ddof=1), rtol=1e-12)
    assert np.allclose(squares, (X**2).mean(axis=0), rtol=1e-12)
