"""Short lists and binary heaps that select the best of many values, or put all in order.

* `insert_best` maintains a short sorted list of the best labels and their estimates.
* `offer` maintains a heap of the S best keys of a long stream. Because its worst key is on top, one
  comparison rejects most keys. A key joins a similarity and the number of an item.
* `make_heap` and `pop_first` order float64 values without moving them. The heap contains their
  indices, because a float64 has no free bits for a number. It is built in O(size), and popped
  indices are stored after it, the first one last.
"""

import numpy as np

from xmlc.core.kernel_cache import njit


@njit(inline="always")
def ranks_before(value, number, other_value, other_number):
    """Return whether the first pair has the greater value, or equals it with the smaller number."""
    return value > other_value or (value == other_value and number < other_number)


@njit
def insert_best(labels, estimates, label, estimate):
    """Insert a label into a list of the k best in O(k), the smaller of equal estimates first.

    ``estimates``, float (k,), descend. The estimate of a free entry of ``labels``, int32 (k,), must
    not exceed that of any inserted label, and its label must be -1 if they may be equal.
    """
    # As uint32, the -1 of a free entry exceeds any label
    place = labels.size - 1
    label = np.uint32(label)
    if place < 0 or not ranks_before(estimate, label, estimates[place], np.uint32(labels[place])):
        return
    while place > 0 and ranks_before(
        estimate, label, estimates[place - 1], np.uint32(labels[place - 1])
    ):
        labels[place] = labels[place - 1]
        estimates[place] = estimates[place - 1]
        place -= 1
    labels[place] = label
    estimates[place] = estimate


@njit
def offer(heap, key):
    """Replace the least key of a heap, at position 0, if the new key is greater, in O(log size).

    Keys are int64, from `xmlc.kernels.top_k.rank_key`, or `xmlc.kernels.top_k.FREE` in free places.
    """
    if key <= heap[0]:
        return
    place = 0
    child = 1
    while child < heap.size:
        if child + 1 < heap.size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = key


@njit
def sift_index(heap, size, node, values, ids):
    """Restore the heap order below position ``node`` in O(log size).

    The first ``size`` int64 of ``heap`` are indices of ``values``, float64, and ``ids``, uint32.
    Greater values rank first, and the smaller id among equal ones.
    """
    moved = heap[node]
    while 2 * node + 1 < size:
        child = 2 * node + 1
        if child + 1 < size:
            left = heap[child]
            right = heap[child + 1]
            child += ranks_before(values[right], ids[right], values[left], ids[left])
        if not ranks_before(values[heap[child]], ids[heap[child]], values[moved], ids[moved]):
            break
        heap[node] = heap[child]
        node = child
    heap[node] = moved


@njit
def make_heap(heap, values, ids):
    """Fill ``heap`` with the indices of all values in O(size), the one that ranks first on top.

    Arrays and order are those of `sift_index`.
    """
    for i in range(heap.size):
        heap[i] = i
    for node in range(heap.size // 2 - 1, -1, -1):
        sift_index(heap, heap.size, node, values, ids)


@njit
def pop_first(heap, size, values, ids):
    """Move the first of the remaining ``size`` indices to the end of the heap, and return it.

    After k calls, the last k entries of ``heap`` are the first k of the ranking, in reverse order.
    """
    first = heap[0]
    heap[0] = heap[size - 1]
    heap[size - 1] = first
    sift_index(heap, size - 1, np.int64(0), values, ids)
    return first
