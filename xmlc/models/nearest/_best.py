"""The S best of many: a heap of keys that order by similarity, then by the smaller number."""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


@intrinsic
def float_bits(typing_context, number):
    """Return the bits of a float32 as uint32; of positive numbers the larger has the larger."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.uint32))

    return types.uint32(types.float32), generate


@intrinsic
def bits_float(typing_context, bits):
    """Return the float32 of its bits as uint32."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.uint32), generate


@njit(cache=True, nogil=True)
def worst_kept(heap, n_kept, S):
    """Return the smallest similarity that the heap holds when it is full, else 0."""
    return bits_float(np.uint32(heap[0] >> np.uint64(32))) if n_kept == S else np.float32(0)


@njit(cache=True, nogil=True)
def keep(heap, n_kept, similarity, number):
    """Offer one; return how many the heap holds after. Similarities of at most 0 are not kept. O(log S)."""
    if not similarity > 0:
        return n_kept
    key = (np.uint64(float_bits(similarity)) << np.uint64(32)) | np.uint64(0xFFFFFFFF - number)
    if n_kept < heap.size:
        place = n_kept
        while place > 0 and heap[(place - 1) >> 1] > key:
            heap[place] = heap[(place - 1) >> 1]
            place = (place - 1) >> 1
        heap[place] = key
        return n_kept + 1
    if key > heap[0]:
        sift_down(heap, n_kept, key)
    return n_kept


@njit(cache=True, nogil=True)
def sift_down(heap, n_kept, key):
    """Replace the front of the heap by a key."""
    place = 0
    child = 1
    while child < n_kept:
        if child + 1 < n_kept and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = key


@njit(cache=True, nogil=True)
def take_best(heap, n_kept, numbers, similarities):
    """Empty the heap into arrays, the best first."""
    while n_kept > 0:
        key = heap[0]
        n_kept -= 1
        sift_down(heap, n_kept, heap[n_kept])
        numbers[n_kept] = np.int32(np.uint64(0xFFFFFFFF) - (key & np.uint64(0xFFFFFFFF)))
        similarities[n_kept] = bits_float(np.uint32(key >> np.uint64(32)))
