"""Keep the best nodes of an instance in a sorted list of keys during a search of a label tree."""

import numpy as np

from xmlc.core.kernel_cache import njit

LARGEST = np.int64(0x7FFFFFFF)  # LARGEST is the greatest number of a node.
# FREE, with number -1 and estimate -1, is less than any other key.
FREE = np.int64((-0x40800000 << 32) + 0x80000000)


@njit(inline="always")
def rank_key(number, estimate):
    """Return the int64 key by which a label tree ranks a node.

    A greater float32 estimate >= 0 has a greater key.

    If estimates are equal, the smaller number has the greater key. A PLT numbers its nodes level by
    level, so that a node ranks before its descendants with the same estimate. An online tree
    numbers nodes in the order of creation, so that the older of two nodes with equal estimates
    ranks first. The smallest node number is -1, and the largest is ``LARGEST``. For labels,
    `xmlc.kernels.heaps.ranks_before` gives the same order: if two estimates are equal, the smaller
    label ranks first.
    """
    return (np.int64(np.float32(estimate).view(np.uint32)) << np.int64(32)) + (
        LARGEST - np.int64(number)
    )


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
    """Return the float32 product of a node's estimate and ``scales[number]``, by which nodes are
    ranked.

    ``scales`` has one float64 per node number. If ``scales`` is empty, the estimate is returned
    unchanged.
    """
    if number < scales.size:
        return np.float32(estimate * scales[number])
    return np.float32(estimate)


@njit
def insert_key(keys, key):
    """Insert a key into a list in descending order.

    Return the key that is dropped, which may be the new key.

    Parameters
    ----------
    keys : int64
        The list. Free places contain `FREE`.
    key : int64
        The new key.
    """
    place = keys.size - 1
    if place < 0 or key <= keys[place]:
        return key
    dropped = keys[place]
    while place > 0 and keys[place - 1] < key:
        keys[place] = keys[place - 1]
        place -= 1
    keys[place] = key
    return dropped
