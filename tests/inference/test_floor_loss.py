"""The mean loss by a floor, estimated by the true labels below it."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.inference.floor import floor_loss
from xmlc.inference.methods import METHODS


def test_by_hand():
    """One true label of the first instance is missed, two of the second, which is predicted to have none."""
    marginals = sparse.csr_array(np.array([[0.6, 0.0, 0.0], [0.0, 0.4, 0.0]]))
    Y = sparse.csr_array(np.array([[True, True, False], [True, False, True]]))
    Y_hat = sparse.csr_array(np.array([[True, False, False], [False, False, False]]))
    linear = (0.5 * 1 / (1 + 2) + 0.25 * 1) / 2  # of no label E[F] min(missed, 1)
    assert floor_loss(marginals, 0.3, Y, Y_hat, np.array([0.5, 0.25])) == pytest.approx(0.6 + linear)
    assert floor_loss(marginals, 0.9, Y, Y_hat, np.array([0.5, 0.25])) == pytest.approx(1.5 + linear)


def test_it_is_bounded_for_exact_maximisers():
    assert {name for name, method in METHODS.items() if method.is_exact} == {"gfm", "meuf", "meuf-cubic"}
