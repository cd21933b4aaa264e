"""The scales of features against numpy."""

import numpy as np
from scipy import sparse

from xmlc.models.linear.regression import scales


def test_scales_are_those_of_numpy_and_leave_constants_alone():
    X = np.random.default_rng(1).normal([0, 100, 0, 0], size=(30, 4))
    X[:, 2], X[:, 3] = 7.3, 0
    found = scales(sparse.csr_array(X))
    assert np.allclose(found[:2], 1 / X[:, :2].std(axis=0, ddof=1))
    assert (found[2:] == 1).all()
