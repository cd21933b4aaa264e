"""The largest of an instance's values, one after another: kernels of a heap that lies in place."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, inline="always")
def comes_first(values, ids, a, b):
    """Whether place ``a`` ranks before ``b``: by the greater value, of equal ones by the smaller id."""
    return values[a] > values[b] or (values[a] == values[b] and ids[a] < ids[b])


@njit(cache=True, nogil=True)
def sift_down(heap, size, node, values, ids):
    """Restore the heap below ``node``, in O(log size)."""
    moved = heap[node]
    while 2 * node + 1 < size:
        child = 2 * node + 1
        if child + 1 < size and comes_first(values, ids, heap[child + 1], heap[child]):
            child += 1
        if not comes_first(values, ids, heap[child], moved):
            break
        heap[node] = heap[child]
        node = child
    heap[node] = moved


@njit(cache=True, nogil=True)
def make_heap(heap, values, ids):
    """Fill ``heap`` with all places, the first of them on top, in O(size).

    Parameters
    ----------
    heap : int64 (size,)
        Written.
    values : float64 (size,), ids : uint32 (size,)
    """
    for i in range(heap.size):
        heap[i] = i
    for node in range(heap.size // 2 - 1, -1, -1):
        sift_down(heap, heap.size, node, values, ids)


@njit(cache=True, nogil=True)
def pop_first(heap, size, values, ids):
    """Move the first of the ``size`` places that are left to the end of the heap, and return it.

    After k calls the last k places of ``heap`` are the first k in rank, backwards, and the others lie before them.
    """
    first = heap[0]
    heap[0] = heap[size - 1]
    heap[size - 1] = first
    sift_down(heap, size - 1, np.int64(0), values, ids)
    return first
