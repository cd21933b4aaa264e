"""The polynomial functions, compared with numpy in double precision."""

import numpy as np
import pytest
from numba import njit
from vector_twin import inverse_sqrt

from xmlc.kernels.float32 import exp_of_negative, log1p_of_share, sigmoid


def apply_in_loop(function, x):
    """Apply a kernel to each number in a loop that may be vectorised.

    Inlined code obeys the caller's flags.
    """

    @njit
    def loop(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    out = np.empty_like(x)
    loop(x, out)
    return out


@pytest.mark.parametrize(
    ("function", "exact", "low", "high", "error"),
    [
        (exp_of_negative, np.exp, -86, 0, 2e-7),
        (sigmoid, lambda x: 1 / (1 + np.exp(-x)), -86, 86, 5e-7),
        (log1p_of_share, np.log1p, 1e-6, 1, 1e-6),
        (inverse_sqrt, lambda x: 1 / np.sqrt(x), 1e-6, 100, 2e-7),
    ],
)
def test_functions_match_numpy_and_loops_are_bit_identical(function, exact, low, high, error):
    """A sum over siblings must not depend on the number of siblings in one call."""
    x = np.linspace(low, high, 40001, dtype=np.float32)
    found = apply_in_loop(function, x)
    assert np.abs(found / exact(x.astype(np.float64)) - 1).max() < error
    assert found[::100].tolist() == [float(function(v)) for v in x[::100]]


def test_functions_are_exact_at_0_and_bounded_far_from_it():
    zero = np.float32(0)
    far = np.float32(1e30)
    assert (exp_of_negative(zero), sigmoid(zero), log1p_of_share(zero)) == (1, 0.5, 0)
    assert 0 < exp_of_negative(-far) < 1e-37
    assert 0 < sigmoid(-far) < 1e-37
    assert sigmoid(far) == 1
