"""A kernel whose result depends on the processor on purpose, to check that another processor is emulated."""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit


@njit(nogil=True, fastmath={"reassoc", "nsz"})  # not cached: used once
def reordered_sum(x):
    """Sum float32 numbers in whatever order suits the processor's vectors."""
    total = np.float32(0)
    for i in range(x.size):
        total += x[i]
    return total
