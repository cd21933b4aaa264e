"""What is to be known of indices: kernel."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def largest_and_falls(indices):
    """Return the largest index, and how many indices are at most their predecessor.

    Reads each index once; compiles to vector instructions.

    Parameters
    ----------
    indices : uint32 or uint64 (nnz,)
        Negative ones, taken as unsigned, are larger than any other.
    """
    largest, falls = indices.dtype.type(0), np.int64(0)
    for k in range(indices.size - 1):
        largest = max(largest, indices[k])
        falls += indices[k] >= indices[k + 1]
    if indices.size > 0:
        largest = max(largest, indices[-1])
    return largest, falls
