"""The polynomial functions, compared with numpy in double precision."""

import numpy as np
import pytest
from numba import njit

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


def test_exp_matches_numpy():
    x = np.linspace(-86, 0, 40001, dtype=np.float32)
    assert np.abs(apply_in_loop(exp_of_negative, x) / np.exp(x.astype(np.float64)) - 1).max() < 2e-7
    assert exp_of_negative(np.float32(0)) == 1
    assert 0 < exp_of_negative(np.float32(-1e30)) < 1e-37


def test_sigmoid_matches_numpy():
    x = np.linspace(-86, 86, 40001, dtype=np.float32)
    exact = 1 / (1 + np.exp(-x.astype(np.float64)))
    found = apply_in_loop(sigmoid, x)
    assert np.abs(found / exact - 1).max() < 5e-7
    assert (np.diff(found) >= -1e-7).all()
    assert sigmoid(np.float32(0)) == 0.5
    assert 0 < sigmoid(np.float32(-1e30)) < 1e-37
    assert sigmoid(np.float32(1e30)) == 1


def test_log1p_matches_numpy():
    share = np.linspace(1e-6, 1, 4001, dtype=np.float32)
    assert (
        np.abs(apply_in_loop(log1p_of_share, share) / np.log1p(share.astype(np.float64)) - 1).max()
        < 1e-6
    )
    assert log1p_of_share(np.float32(0)) == 0


@pytest.mark.parametrize("function", [exp_of_negative, sigmoid])
def test_single_calls_and_loops_are_bit_identical(function):
    """A sum over siblings must not depend on the number of siblings in one call."""
    x = np.linspace(0.01, 20, 37, dtype=np.float32) * (-1 if function is exp_of_negative else 1)
    assert apply_in_loop(function, x).tolist() == [float(function(v)) for v in x]
