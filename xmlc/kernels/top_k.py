"""A sorted list of keys for the best nodes of an instance, during a search of a label tree."""

import numpy as np

from xmlc.core.kernel_cache import njit

LARGEST = np.int64(0x7FFFFFFF)  # greatest number of a node
# Number -1 and estimate -1, less than any other key
FREE = np.int64((-0x40800000 << 32) + 0x80000000)


@njit(inline="always")
def rank_key(number, estimate):
    """Return the int64 key by which a label tree ranks a node with a float32 estimate >= 0.

    A greater estimate has a greater key, and among equal estimates the smaller number, from -1 to
    ``LARGEST``. A PLT numbers its nodes level by level, so a node ranks before its descendants with
    the same estimate, and in an online tree, which numbers nodes as they are created, the older one
    ranks first. `xmlc.kernels.heaps.ranks_before` gives the same order of labels.
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
    """Return the float32 ``estimate * scales[number]``, or the estimate if ``scales`` is empty."""
    if number < scales.size:
        return np.float32(estimate * scales[number])
    return np.float32(estimate)


@njit
def insert_key(keys, key):
    """Insert an int64 key into a descending list, and return the dropped key, maybe the new one.

    Free places contain `FREE`.
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
