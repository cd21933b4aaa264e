"""The best nodes of an instance, kept in order as a list of keys while more are found: kernels.

`insert_key` moves keys without a branch where they are few: a search inserts many nodes, each at another place, and a
processor that guesses the place wrong loses 20 cycles, in which all keys of a short list are moved.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit

LARGEST = np.int64(0x7FFFFFFF)  # number
FREE = np.int64((-0x40800000 << 32) + 0x80000000)  # the key of number -1 with estimate -1: below any other
SHORT = 32  # places; in a longer list a wrong guess costs less than moving all keys


@njit(cache=True, nogil=True, inline="always")
def rank_key(number, estimate):
    """Return the int64 by which a label tree ranks a node: greater for the greater float32 estimate >= 0.

    Ties: of equal estimates the smaller number has the greater key. A PLT numbers its nodes level by level, so that a
    node ranks before all those below it; an online tree numbers them as they are made, so that the older one does.
    Numbers are from -1 to 2**31 - 1. Where no nodes but labels are ranked, the smaller label is first
    (`xmlc.kernels.heaps.ranks_before`).
    """
    return (np.int64(np.float32(estimate).view(np.uint32)) << np.int64(32)) + (LARGEST - np.int64(number))


@njit(cache=True, nogil=True, inline="always")
def key_number(key):
    """Return the number of a key as int32; -1 of `FREE`."""
    return np.int32(LARGEST - (key & np.int64(0xFFFFFFFF)))


@njit(cache=True, nogil=True, inline="always")
def key_estimate(key):
    """Return the float32 estimate of a key; -1 of `FREE`."""
    return np.uint32((key >> np.int64(32)) & np.int64(0xFFFFFFFF)).view(np.float32)


@njit(cache=True, nogil=True, inline="always")
def scaled(estimate, scales, number):
    """Return the float32 by which something ranks: its estimate times its scale, where there are any.

    ``scales`` are float64: one for each number, or none at all.
    """
    return np.float32(estimate * scales[number]) if number < scales.size else np.float32(estimate)


@njit(cache=True, nogil=True)
def insert_key(keys, key):
    """Insert a key into a list sorted in descending order; return the one that has no place any more, maybe this one.

    Free places hold `FREE`. A short list is gone through whatever the key: 1 ns for 3 places.
    """
    if keys.size > SHORT:
        return insert_key_far(keys, key)
    for place in range(keys.size):
        other = keys[place]
        keys[place] = max(other, key)
        key = min(other, key)
    return key


@njit(cache=True, nogil=True)
def insert_key_far(keys, key):
    """Insert a key as `insert_key` does, from the end of the list on and no farther than the key's place."""
    place = keys.size - 1
    last = keys[place]
    if key <= last:
        return key
    while place > 0 and keys[place - 1] < key:
        keys[place] = keys[place - 1]
        place -= 1
    keys[place] = key
    return last
