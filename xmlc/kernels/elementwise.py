"""exp, log, log2, power, sigmoid and mean of arrays, bit-identical on any processor.

NumPy selects an implementation for the processor, and their results differ in the last bits. The
functions here accept numbers and arrays, and return float64 arrays of the same shape.
`xmlc.kernels.float64` has the formulas and their errors.
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
    """Return exp of each number, with an error below 1 ulp.

    Parameters
    ----------
    x : array-like of float

    Returns
    -------
    ndarray of float64, of the same shape

    See Also
    --------
    xmlc.kernels.float64

    Examples
    --------
    >>> from xmlc.kernels import elementwise
    >>> elementwise.exp([0.0, 1.0])
    array([1.        , 2.71828183])
    """
    return _over(exp_into, x)


def log(x: ArrayLike) -> np.ndarray:
    """Return the natural logarithm of each number, with an error below 1 ulp.

    It is -infinity for 0 and NaN for negative numbers.

    Parameters
    ----------
    x : array-like of float

    Returns
    -------
    ndarray of float64, of the same shape

    See Also
    --------
    xmlc.kernels.float64

    Examples
    --------
    >>> from xmlc.kernels import elementwise
    >>> elementwise.log([1.0, 2.0])
    array([0.        , 0.69314718])
    """
    return _over(log_into, x)


def log2(x: ArrayLike) -> np.ndarray:
    """Return the logarithm to base 2 of each number, with an error below 0.6 ulp.

    Parameters
    ----------
    x : array-like of float

    Returns
    -------
    ndarray of float64, of the same shape

    See Also
    --------
    xmlc.kernels.float64

    Examples
    --------
    >>> from xmlc.kernels import elementwise
    >>> elementwise.log2([1.0, 8.0])
    array([0., 3.])
    """
    return _over(log2_into, x)


def sigmoid(x: ArrayLike) -> np.ndarray:
    """Return 1 / (1 + exp(-x)) of each number, with an error below 2.5 ulp.

    Parameters
    ----------
    x : array-like of float

    Returns
    -------
    ndarray of float64, of the same shape

    See Also
    --------
    xmlc.kernels.float64

    Examples
    --------
    >>> from xmlc.kernels import elementwise
    >>> elementwise.sigmoid([0.0, 2.0])
    array([0.5       , 0.88079708])
    """
    return _over(sigmoid_into, x)


def power(x: ArrayLike, exponent: float) -> np.ndarray:
    """Return each non-negative number to the power ``exponent``, with an error below 1 ulp.

    Parameters
    ----------
    x : array-like of float
    exponent : float

    Returns
    -------
    ndarray of float64, of the same shape

    See Also
    --------
    xmlc.kernels.float64

    Examples
    --------
    >>> from xmlc.kernels import elementwise
    >>> elementwise.power([2.0, 4.0], 0.5)
    array([1.41421356, 2.        ])
    """
    return _over(power_into, x, np.float64(exponent))


def mean(values: ArrayLike) -> float:
    """Return the mean of all numbers, summed pairwise, and 0 of none.

    Parameters
    ----------
    values : array-like of float

    Returns
    -------
    float

    See Also
    --------
    xmlc.metrics

    Examples
    --------
    >>> from xmlc.kernels import elementwise
    >>> elementwise.mean([1.0, 2.0])
    1.5
    """
    numbers = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
    return float(pairwise(numbers)) / max(numbers.size, 1)


def _over(kernel: Callable[..., None], x: ArrayLike, *parameters: Any) -> np.ndarray:
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
    """Write each float64 in ``x`` to the power ``exponent`` to ``out``."""
    for i in range(x.size):
        out[i] = float64.power(x[i], exponent)
