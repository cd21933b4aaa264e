"""Bounds of the best threshold, and the grid."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.thresholds.bounds import GRID, kappa, lower_bounds, priors


def test_bounds_on_a_population_with_known_posteriors():
    """Equations (4) and (5): F* = 2 tau*, and tau* lies in (nu, 0.5]."""
    for shape in ((0.5, 5.0), (1.0, 1.0), (2.0, 8.0)):
        eta = np.sort(np.random.default_rng(0).beta(*shape, 20_000))[::-1]
        f = 2 * np.cumsum(eta) / (eta.sum() + np.arange(1, eta.size + 1))  # population F of {eta >= eta_k}
        best = int(f.argmax())
        assert f[best] == pytest.approx(2 * eta[best], abs=1e-3)
        assert lower_bounds(np.array([eta.mean()]))[0] < eta[best] <= 0.5 + 1e-3


def test_priors_bounds_and_floors():
    Y = sparse.csr_array(np.array([[1, 0, 1], [1, 0, 0], [1, 0, 0], [0, 0, 0]], dtype=bool))
    assert priors(Y).tolist() == [0.75, 0, 0.25]
    np.testing.assert_allclose(lower_bounds(priors(Y)), [0.75 / 1.75, 0, 0.2])
    np.testing.assert_allclose(kappa(10, np.array([0.3, 0.01])), [0.3, 0.1], rtol=1e-6)
    assert set(GRID) == {10000, 1000, 200, 100, 50, 20, 10, 7, 5, 4, 3, 2}
