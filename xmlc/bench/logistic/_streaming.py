"""Reading a sparse matrix, and nothing else: this measures what a machine can do."""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def read_non_zeros(indices, data):
    """Read each non-zero once, 12 bytes of it, and return two numbers that depend on all of them.

    Parameters
    ----------
    indices : uint32
    data : float64
    """
    # Four sums do not wait for one another: an addition takes four cycles.
    columns, first, second, third, fourth = np.uint32(0), 0.0, 0.0, 0.0, 0.0
    whole = data.size - data.size % 4
    for place in range(0, whole, 4):
        columns ^= indices[place] ^ indices[place + 1] ^ indices[place + 2] ^ indices[place + 3]
        first += data[place]
        second += data[place + 1]
        third += data[place + 2]
        fourth += data[place + 3]
    for place in range(whole, data.size):
        columns ^= indices[place]
        first += data[place]
    return columns, (first + second) + (third + fourth)
