"""Compute exp, log, log2, power, sigmoid and mean of arrays with bit-identical results on any
processor.

NumPy selects one of several implementations for the processor, and the implementations' results
differ in the last bits. `xmlc.kernels.float64` documents the formulas and their errors. All
functions accept a number or an array and compute in float64. The result is a float64 array in the
shape of the argument. If the argument is a number, the result is an array without dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from xmlc.core.kernel_cache import njit
from xmlc.kernels import float64
from xmlc.kernels.sums import pairwise


def exp(x: ArrayLike) -> np.ndarray:
    """Return exp of each number, with an error below 1 ulp."""
    return _over(exp_into, x)


def log(x: ArrayLike) -> np.ndarray:
    """Return the natural logarithm of each number, with an error below 1 ulp.

    The logarithm of 0 is -infinity, and the logarithm of a negative number is NaN.
    """
    return _over(log_into, x)


def log2(x: ArrayLike) -> np.ndarray:
    """Return the logarithm to base 2 of each number, with an error below 0.6 ulp."""
    return _over(log2_into, x)


def sigmoid(x: ArrayLike) -> np.ndarray:
    """Return 1 / (1 + exp(-x)) of each number, with an error below 2.5 ulp."""
    return _over(sigmoid_into, x)


def power(x: ArrayLike, exponent: float) -> np.ndarray:
    """Return each non-negative number to the power ``exponent``, with an error below 1 ulp."""
    return _over(power_into, x, np.float64(exponent))


def mean(values: ArrayLike) -> float:
    """Return the mean of all numbers, summed in the order of ``xmlc.kernels.sums.pairwise``.

    The mean of no numbers is 0.
    """
    numbers = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
    return float(pairwise(numbers)) / max(numbers.size, 1)


def _over(kernel: Callable[..., None], x: ArrayLike, *parameters: Any) -> np.ndarray:
    """Return the results of a kernel for all numbers of an array, in the same shape."""
    numbers = np.ascontiguousarray(x, dtype=np.float64)
    result = np.empty_like(numbers)
    kernel(numbers.reshape(-1), *parameters, result.reshape(-1))
    return result.reshape(np.shape(x))


@njit
def exp_into(x, out):
    """Write exp of each float64 in ``x`` to ``out``."""
    for i in range(x.size):
        out[i] = float64.exp(x[i])


@njit
def log_into(x, out):
    """Write the natural logarithm of each float64 in ``x`` to ``out``."""
    for i in range(x.size):
        out[i] = float64.log(x[i])


@njit
def log2_into(x, out):
    """Write the logarithm to base 2 of each float64 in ``x`` to ``out``."""
    for i in range(x.size):
        out[i] = float64.log2(x[i])


@njit
def sigmoid_into(x, out):
    """Write 1 / (1 + exp(-x)) of each float64 in ``x`` to ``out``."""
    for i in range(x.size):
        out[i] = float64.sigmoid(x[i])


@njit
def power_into(x, exponent, out):
    """Raise each float64 in ``x`` to the power ``exponent``, and write the results to ``out``."""
    for i in range(x.size):
        out[i] = float64.power(x[i], exponent)
