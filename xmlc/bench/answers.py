"""What is asked of the results of tasks that took turns: how well they rank, and whether they are the same bits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from scipy import sparse

from xmlc.metrics.ranking import precision_at_k


def precisions(Y: sparse.csr_array, labels: np.ndarray) -> list[float]:
    """Return P@1, P@3 and P@5 of a ranking, shape (n, 5)."""
    return [float(precision_at_k(Y, labels, k)) for k in (1, 3, 5)]


def differing(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> list[str]:
    """Name the arrays that are not the same bits: another type, shape or byte, or in one of the two only.

    Two NaN of the same bits are equal here, and 0 and -0 are not.
    """
    names: Iterable[str] = sorted(first.keys() | second.keys())
    return [name for name in names if not (name in first and name in second and _same(first[name], second[name]))]


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    first, second = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (first, second))
    return np.array_equal(first, second)
