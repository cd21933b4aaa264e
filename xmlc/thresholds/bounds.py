"""Bounds of an optimal threshold, and the grid of values to try (plt2016, Sections 4.1 and 6.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xmlc.core.errors import shown
from xmlc.kernels.checks import as_numbers
from xmlc.kernels.csr import Matrix, as_labels, per_label
from xmlc.kernels.estimator import InvalidParameterError

# The set C of plt2016, Section 6.2, ascending: high thresholds 1/c, which predict few labels, first
GRID = (2, 3, 4, 5, 7, 10, 20, 50, 100, 200, 1000, 10000)


def priors(Y: Matrix) -> np.ndarray:
    """Return the share pi_j of instances that carry each label (plt2016, Section 4.1).

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
        Label sets, usually of the training set.

    Returns
    -------
    ndarray of float64, shape (m,)

    Raises
    ------
    XmlcError
        If a value is neither 0 nor 1.

    See Also
    --------
    lower_bounds : Bounds of thresholds that follow from the shares.

    Examples
    --------
    >>> from xmlc.thresholds import priors
    >>> priors([[1, 0], [1, 1]])
    array([1. , 0.5])
    """
    Y = as_labels(Y)
    return np.bincount(Y.indices, minlength=Y.shape[1]) / max(Y.shape[0], 1)


def lower_bounds(priors: np.ndarray, recall: float = 1.0) -> np.ndarray:
    """Return nu_j = pi_j / (1 + pi_j), the lower bound on an optimal threshold (Section 4.1).

    A label with prior pi that is predicted for every instance has F = 2 pi / (1 + pi), and an
    optimal threshold is half the optimal F (equation (4)). For F_beta, the same prediction has (1 +
    beta^2) pi / (1 + beta^2 pi) and an optimal threshold is the optimal F_beta / (1 + beta^2), so
    the bound is pi / (1 + beta^2 pi). Jaccard has the same optimal thresholds as F.

    Parameters
    ----------
    priors : array-like of float, shape (m,)
        Share of instances that carry each label.
    recall : float
        beta^2, which is 1 for F and Jaccard.

    Returns
    -------
    ndarray of float64, shape (m,)

    Raises
    ------
    XmlcError
        If a prior is not in 0 .. 1.

    See Also
    --------
    priors : Shares of instances that carry each label.

    Examples
    --------
    >>> from xmlc.thresholds import lower_bounds, priors
    >>> lower_bounds(priors([[1, 0], [1, 1], [1, 0]]))
    array([0.5 , 0.25])
    """
    priors = per_label(priors, np.size(priors), np.float64, "priors", "share").reshape(
        np.shape(priors)
    )
    return priors / (1.0 + recall * priors)


def kappa(c: float, nu: np.ndarray) -> np.ndarray:
    """Return the minimum thresholds max(1/c, nu_j) of Section 6.2, float32 of shape (m,)."""
    return np.maximum(1.0 / c, nu).astype(np.float32)


def checked_grid(grid: Sequence[float]) -> tuple[float, ...]:
    """Return the distinct values c >= 1 of a grid, ascending, or raise an error without any."""
    values = as_numbers(grid, "grid")
    if values.ndim != 1 or values.size == 0 or not (values >= 1).all():
        expected = "one or more values c >= 1. The threshold of c is 1/c."
        raise InvalidParameterError(f"found grid={shown(grid)}, expected {expected}")
    return tuple(sorted(set(grid)))
