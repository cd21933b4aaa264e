"""The functions of `xmlc.kernels.float64` over one-dimensional arrays of float64, into an array of the same size."""

from __future__ import annotations

from xmlc.kernels import float64
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def exp_into(x, out):
    """Write exp of each number."""
    for i in range(x.size):
        out[i] = float64.exp(x[i])


@njit(cache=True, nogil=True)
def log_into(x, out):
    """Write the natural logarithm of each number."""
    for i in range(x.size):
        out[i] = float64.log(x[i])


@njit(cache=True, nogil=True)
def log1p_into(x, out):
    """Write log(1 + x) of each number."""
    for i in range(x.size):
        out[i] = float64.log1p(x[i])


@njit(cache=True, nogil=True)
def log2_into(x, out):
    """Write the logarithm to base 2 of each number."""
    for i in range(x.size):
        out[i] = float64.log2(x[i])


@njit(cache=True, nogil=True)
def sigmoid_into(x, out):
    """Write 1 / (1 + exp(-x)) of each number."""
    for i in range(x.size):
        out[i] = float64.sigmoid(x[i])


@njit(cache=True, nogil=True)
def power_into(x, exponent, out):
    """Write each number to the power ``exponent``."""
    for i in range(x.size):
        out[i] = float64.power(x[i], exponent)
