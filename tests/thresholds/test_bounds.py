"""Bounds of the best threshold, and the grid."""

import numpy as np
from scipy import sparse

from xmlc.thresholds.bounds import GRID, kappa, lower_bounds, priors


def test_priors_lower_bounds_and_kappa_follow_their_formulas():
    Y = sparse.csr_array(np.array([[1, 0, 1], [1, 0, 0], [1, 0, 0], [0, 0, 0]], dtype=bool))
    assert priors(Y).tolist() == [0.75, 0, 0.25]
    np.testing.assert_allclose(lower_bounds(priors(Y)), [0.75 / 1.75, 0, 0.2])
    np.testing.assert_allclose(kappa(10, np.array([0.3, 0.01])), [0.3, 0.1], rtol=1e-6)
    assert set(GRID) == {10000, 1000, 200, 100, 50, 20, 10, 7, 5, 4, 3, 2}
