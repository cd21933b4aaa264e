"""Probabilities that a user gives, checked: sparse probability estimates (SPE) and dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError
from xmlc.kernels.csr import as_csr, with_values, without_zeros

ROUNDING = 1e-6  # by which the sigmoid of a float32 may exceed 1


def as_estimates(spe: Any, dtype: type = np.float32, name: str = "the SPE") -> sparse.csr_array:
    """Return estimates as a canonical CSR array with values in (0, 1], without copying one that is so already.

    Stored zeros are dropped, as they come from dense matrices; what exceeds 1 by rounding becomes 1.

    Parameters
    ----------
    spe : sparse matrix or array-like, shape (n, m)
    dtype : type
        float32 or float64.
    name : str
        What messages call it.

    Raises
    ------
    InvalidDataError
        It is not two-dimensional, its index arrays lead out of it, or a value is no probability.
    """
    result = without_zeros(as_csr(spe, dtype, name))
    check_probabilities(result.data, name, 1 + ROUNDING)
    return with_values(result, np.minimum(result.data, 1)) if result.nnz and result.data.max() > 1 else result


def check_probabilities(values: np.ndarray, name: str, most: float = 1.0) -> None:
    """Refuse values that are NaN, negative or above ``most``."""
    if values.size and not (values.min() >= 0 and values.max() <= most):
        wrong = values[~((values >= 0) & (values <= most))].flat[0]
        raise InvalidDataError(
            f"{name} holds {wrong}; expected probabilities in 0 .. 1: apply a sigmoid to scores or logits"
        )
