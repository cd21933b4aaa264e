"""Lists of pairs of an instance and a node, which a search of a label tree extends and sorts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import copy_into
from xmlc.kernels.top_k import key_number


class Pairs(NamedTuple):
    """Pairs of an instance and a node to expand or a leaf found, in arrays with spare capacity."""

    #: int32: numbers of the instances, counted from the start of the batch
    rows: np.ndarray
    #: int64: keys of the nodes, see `rank_key`
    keys: np.ndarray
    #: int64 (1,): number of pairs
    size: np.ndarray


@njit
def no_pairs(capacity):
    """Return an empty list with the given capacity."""
    return Pairs(np.empty(capacity, np.int32), np.empty(capacity, np.int64), np.zeros(1, np.int64))


@njit
def with_capacity(pairs, more):
    """Return the same pairs with space for ``more``, in ``pairs`` itself if it has space."""
    used = pairs.size[0]
    if used + more <= pairs.rows.size:
        return pairs
    wider = no_pairs(max(used + more, 2 * pairs.rows.size))
    copy_into(wider.rows, pairs.rows[:used])
    copy_into(wider.keys, pairs.keys[:used])
    wider.size[0] = used
    return wider


@njit
def sorted_by_node(pairs):
    """Return the pairs sorted by node (a stable sort), in arrays without spare capacity."""
    nodes = np.empty(pairs.size[0], dtype=np.int32)
    for i in range(nodes.size):
        nodes[i] = key_number(pairs.keys[i])
    return sorted_by(nodes, pairs)


@njit
def sorted_by(numbers, pairs):
    """Return the pairs sorted by ``numbers``, an integer for each (a stable sort)."""
    rows, keys, _ = pairs
    result = no_pairs(numbers.size)
    result.size[0] = numbers.size
    if numbers.size == 0:
        return result
    sorted_rows, sorted_keys, _ = result
    low = high = numbers[0]
    for number in numbers:
        low = min(low, number)
        high = max(high, number)
    starts = np.zeros(high - low + 2, dtype=np.int64)
    for number in numbers:
        starts[number - low + 1] += 1
    for i in range(1, starts.size):
        starts[i] += starts[i - 1]
    for i in range(numbers.size):
        index = starts[numbers[i] - low]
        starts[numbers[i] - low] += 1
        sorted_rows[index] = rows[i]
        sorted_keys[index] = keys[i]
    return result
