"""What is to be known of indices and values: kernels that read each once, as fast as memory gives it."""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit

BLOCK = 16_384  # indices; what one pass has read is in the cache of the next


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


@njit(cache=True, nogil=True)
def largest_and_falls_within(indices, starts):
    """Return the largest index, and how many indices are at most their predecessor in the same part.

    Parameters
    ----------
    indices : uint32 or uint64 (nnz,)
    starts : int32 or int64 (parts + 1,)
        Where parts start: from 0 to nnz, none less than the one before it.
    """
    largest, falls = indices.dtype.type(0), np.int64(0)
    part, before = 0, np.uint64(0)
    for begin in range(0, indices.size, BLOCK):
        # With the first index of the next block, so that the step between both is seen.
        piece = indices[begin : begin + BLOCK + 1]
        highest, fallen = largest_and_falls(piece)
        largest, falls, end = max(largest, highest), falls + fallen, begin + piece.size
        while part < starts.size and starts[part] < end:
            start = np.uint64(starts[part])
            if start != before:  # else an empty part, or the first
                falls -= indices[start - np.uint64(1)] >= indices[start]
            part, before = part + 1, start
    return largest, falls


@njit(cache=True, nogil=True)
def largest_magnitude(bits):
    """Return the largest of float32 values without their sign, as bits; NaN and infinity are the largest.

    Parameters
    ----------
    bits : uint32 (n,)
        Floats, taken as unsigned.
    """
    largest = np.uint32(0)
    for k in range(bits.size):
        largest = max(largest, bits[k] & np.uint32(0x7FFFFFFF))
    return largest
