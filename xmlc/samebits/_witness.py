"""A kernel whose result depends on the processor on purpose: it shows that another one is imitated."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, fastmath={"reassoc", "nsz"})  # not cached: nobody else needs it
def reordered_sum(x):
    """Sum float32 numbers in whatever order suits the processor's vectors."""
    total = np.float32(0)
    for i in range(x.size):
        total += x[i]
    return total
