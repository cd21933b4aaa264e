"""The best of many, and all of an instance's values in order: a short list and binary heaps in arrays: kernels.

There are three, because what lies in them differs, and so does what is compared at each step:

* `insert_best`: the few best labels in order, with their estimates.
* `offer`: the S best of a long stream, the worst on top, where it is replaced. Similarity and number are packed into
  one key, so that a step is one comparison: most of a stream is turned down by the first.
* `make_heap`, `pop_first`: values that stay where they are and are float64, which leaves no room to pack a number into
  the same word. The heap holds indices, is made in O(size), and what was popped lies behind it in order.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit


@njit(cache=True, nogil=True, inline="always")
def ranks_before(value, number, other_value, other_number):
    """Whether something ranks before something else: by the greater value, of equal ones by the smaller number."""
    return value > other_value or (value == other_value and number < other_number)


@njit(cache=True, nogil=True)
def insert_best(labels, estimates, label, estimate):
    """Insert a label into a list of the best, sorted by estimate, ties to the smaller label; O(k).

    A free entry has an estimate that is no greater than any that is offered, and where it may be equal the label -1.
    """
    place, label = labels.size - 1, np.uint32(label)  # as uint32 the -1 of a free entry is greater than any label
    if place < 0 or not ranks_before(estimate, label, estimates[place], np.uint32(labels[place])):
        return
    while place > 0 and ranks_before(estimate, label, estimates[place - 1], np.uint32(labels[place - 1])):
        labels[place], estimates[place] = labels[place - 1], estimates[place - 1]
        place -= 1
    labels[place], estimates[place] = label, estimate


@njit(cache=True, nogil=True)
def offer(heap, key):
    """Put a key of `xmlc.kernels.top_k.rank_key` in place of the least one, in front, if it is greater; O(log size).

    Free places hold `xmlc.kernels.top_k.FREE`.
    """
    if key <= heap[0]:
        return
    place, child = 0, 1
    while child < heap.size:
        if child + 1 < heap.size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = key


@njit(cache=True, nogil=True)
def sift_index(heap, size, node, values, ids):
    """Restore the heap below ``node``, in O(log size)."""
    moved = heap[node]
    while 2 * node + 1 < size:
        child = 2 * node + 1
        if child + 1 < size:
            left, right = heap[child], heap[child + 1]
            child += ranks_before(values[right], ids[right], values[left], ids[left])
        if not ranks_before(values[heap[child]], ids[heap[child]], values[moved], ids[moved]):
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
        sift_index(heap, heap.size, node, values, ids)


@njit(cache=True, nogil=True)
def pop_first(heap, size, values, ids):
    """Move the first of the ``size`` places that are left to the end of the heap, and return it.

    After k calls the last k places of ``heap`` are the first k in rank, backwards, and the others lie before them.
    """
    first = heap[0]
    heap[0] = heap[size - 1]
    heap[size - 1] = first
    sift_index(heap, size - 1, np.int64(0), values, ids)
    return first
