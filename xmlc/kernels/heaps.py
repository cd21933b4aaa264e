"""Select the best of many values, or put all values in order, with kernels for short lists and
binary heaps.

The module has three data structures:

* `insert_best` maintains a short sorted list of the best labels and their estimates.
* `offer` maintains a heap of the S best keys of a long stream. The worst key is on top and is
  replaced first. A key contains a similarity and the number of an item, so each step needs only one
  comparison. Most keys of a stream are rejected by a comparison with the worst key of the heap.
* `make_heap` and `pop_first` order float64 values without moving the values. A float64 key would
  have no free bits for the number of an item, so the heap contains indices of the values. The heap
  is built in O(size). Popped indices are stored after the heap, the first popped index last.
"""

import numpy as np

from xmlc.core.kernel_cache import njit


@njit(inline="always")
def ranks_before(value, number, other_value, other_number):
    """Return whether (value, number) ranks before (other_value, other_number).

    The greater value ranks first. If values are equal, the smaller number ranks first.
    """
    return value > other_value or (value == other_value and number < other_number)


@njit
def insert_best(labels, estimates, label, estimate):
    """Insert a label into a list of the k best labels, in O(k).

    If estimates are equal, the smaller label is first.

    Parameters
    ----------
    labels : int32 (k,)
        The labels in the list. The estimate of a free entry must not exceed the estimate of any
        inserted label. If a free entry may have the same estimate as an inserted label, the label
        of the free entry must be -1.
    estimates : float (k,)
        The estimates of the labels in the list, in descending order.
    label : int
        The label to insert.
    estimate : float
        The estimate of the label.
    """
    # As uint32, the -1 of a free entry is greater than any label.
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
    """Replace the least key of a heap if the new key is greater, in O(log size).

    The least key is at position 0.

    Parameters
    ----------
    heap : int64 (size,)
        Keys of `xmlc.kernels.top_k.rank_key`. Free places contain `xmlc.kernels.top_k.FREE`.
    key : int64
        The new key.
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
    """Restore the heap order below ``node`` in O(log size).

    Parameters
    ----------
    heap : int64
        Indices of ``values`` and ``ids``. The first ``size`` indices form the heap.
    size : int
        The size of the heap.
    node : int
        The position whose entry may be out of order.
    values : float64
        The values to order, greater first.
    ids : uint32
        The number of each value. If two values are equal, the smaller number ranks first.
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
    """Fill ``heap`` with the indices of all values, in O(size).

    The index that ranks first is on top.

    Parameters
    ----------
    heap : int64 (size,)
    values : float64 (size,)
        The values to order, greater first.
    ids : uint32 (size,)
        The number of each value. If two values are equal, the smaller number ranks first.
    """
    for i in range(heap.size):
        heap[i] = i
    for node in range(heap.size // 2 - 1, -1, -1):
        sift_index(heap, heap.size, node, values, ids)


@njit
def pop_first(heap, size, values, ids):
    """Move the first-ranked index of the remaining ``size`` indices to the end of the heap, and
    return the index.

    After k calls, the last k entries of ``heap`` are the first k indices of the ranking, in reverse
    order. The parameters are the same as for `sift_index`.
    """
    first = heap[0]
    heap[0] = heap[size - 1]
    heap[size - 1] = first
    sift_index(heap, size - 1, np.int64(0), values, ids)
    return first
