"""Check of a single instance, given as the numbers and values of its features."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from xmlc.core.errors import InvalidDataError
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.rows import is_canonical


def one_instance(indices: ArrayLike, values: ArrayLike, n_features: int) -> KernelCSR:
    """Return an instance as arrays for the kernels: ascending features, without zeros.

    The indices are distinct features below ``n_features``, in any order, each with a finite value.
    Anything else raises an `InvalidDataError`.
    """
    indices = np.asarray(indices)
    values = np.asarray(values)
    integers = indices.dtype.kind in "iu" or not indices.size
    numbers = values.dtype.kind in "biuf"
    if indices.ndim != 1 or indices.shape != values.shape or not integers or not numbers:
        raise InvalidDataError(
            f"instance: found indices ({indices.dtype}, shape {indices.shape}) and values "
            f"({values.dtype}, shape {values.shape}), expected 1-d arrays of equal length, "
            "integers and numbers. Pass x.indices and x.data of a sparse row x."
        )
    # Copies, because kernels are compiled for writable and contiguous arrays
    indices = indices.astype(np.int64)
    values = values.astype(np.float32)
    if not is_canonical(indices, values, n_features):
        # Some vectorizers of scikit-learn do not sort features
        order = np.argsort(indices, kind="stable")
        indices = indices[order]
        values = values[order]
        # As uint64, a negative index is very large
        fine = np.isfinite(values) & (indices.view(np.uint64) < n_features)
        fine[1:] &= indices[1:] > indices[:-1]
        if not fine.all():
            fault = fine.argmin()
            raise InvalidDataError(
                f"instance: found feature {indices[fault]} with value {values[fault]}, expected "
                f"distinct features below {n_features} with finite values. Use the vectorizer or "
                "reader of the training data."
            )
        stored = np.flatnonzero(values)
        indices = indices[stored]
        values = values[stored]
    return KernelCSR(np.array([0, indices.size]), indices.astype(np.uint32), values)
