"""Keep the best nodes of an instance in a sorted list of keys during a search of a label tree.

`insert_key` has no branches for short lists. A search inserts many nodes at unpredictable positions, and each wrong
branch prediction costs 20 cycles. Moving all keys of a short list takes at most 20 cycles.
"""

import numpy as np

from xmlc.core.kernel_cache import njit

LARGEST = np.int64(0x7FFFFFFF)  # LARGEST is the greatest number of a node.
FREE = np.int64((-0x40800000 << 32) + 0x80000000)  # FREE, with number -1 and estimate -1, is less than any other key.
SHORT = 32  # In longer lists, a wrong branch prediction costs less than moving all keys.


@njit(inline="always")
def rank_key(number, estimate):
    """Return the int64 key by which a label tree ranks a node. A greater float32 estimate >= 0 has a greater key.

    If estimates are equal, the smaller number has the greater key. A PLT numbers its nodes level by level, so that a
    node ranks before its descendants with the same estimate. An online tree numbers nodes in the order of creation, so
    that the older of two nodes with equal estimates ranks first. The smallest node number is -1, and the largest is
    ``LARGEST``. For labels, `xmlc.kernels.heaps.ranks_before` gives the same order: if two estimates are equal, the
    smaller label ranks first.
    """
    return (np.int64(np.float32(estimate).view(np.uint32)) << np.int64(32)) + (LARGEST - np.int64(number))


@njit(inline="always")
def key_number(key):
    """Return the node number in a key as int32."""
    return np.int32(LARGEST - (key & np.int64(0xFFFFFFFF)))


@njit(inline="always")
def key_estimate(key):
    """Return the float32 estimate in a key."""
    return np.uint32((key >> np.int64(32)) & np.int64(0xFFFFFFFF)).view(np.float32)


@njit(inline="always")
def scaled(estimate, scales, number):
    """Return the float32 product of a node's estimate and ``scales[number]``, by which nodes are ranked.

    ``scales`` has one float64 per node number. If ``scales`` is empty, the estimate is returned unchanged.
    """
    return np.float32(estimate * scales[number]) if number < scales.size else np.float32(estimate)


@njit
def insert_key(keys, key):
    """Insert a key into a list in descending order. Return the key that is dropped, which may be the new key.

    Parameters
    ----------
    keys : int64
        The list. Free places contain `FREE`. A short list is always scanned completely, which takes 1 ns for 3 places.
    key : int64
        The new key.
    """
    if keys.size > SHORT:
        return insert_key_far(keys, key)
    for place in range(keys.size):
        other = keys[place]
        keys[place] = max(other, key)
        key = min(other, key)
    return key


@njit
def insert_key_far(keys, key):
    """Insert a key like `insert_key`, but scan from the end of the list and stop at the key's place."""
    place = keys.size - 1
    last = keys[place]
    if key <= last:
        return key
    while place > 0 and keys[place - 1] < key:
        keys[place] = keys[place - 1]
        place -= 1
    keys[place] = key
    return last
