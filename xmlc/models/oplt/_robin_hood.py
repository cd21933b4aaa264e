"""Hash tables with open addressing and Robin Hood hashing: kernels (oplt2021, Section 5; Celis et al., FOCS 1985).

A table is a run of 2**bits uint64 entries: the key, a feature, in the upper half, a slot other than 0 in the lower; an
entry of 0 is empty. An entry is as near to its home as can be: one that is inserted takes the entry of the first that
is nearer to its own, which moves on. So a search may stop where an entry is nearer to its home than the one sought
would be, and tables can be seven eighths full.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels.counter_random import GOLDEN
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True, inline="always")
def home_of(feature, bits):
    """Return where a feature should stand in a table of 2**bits entries (Fibonacci hashing)."""
    return (np.uint64(feature) * GOLDEN) >> np.uint64(64 - bits)


@njit(cache=True, nogil=True)
def find_slot(table, bits, feature):
    """Return the slot of a feature, uint64, or 0 if it is not in the table; two cache lines at most, nearly always."""
    mask, one = np.uint64(table.size - 1), np.uint64(1)
    wanted = np.uint64(feature)
    index, distance = home_of(wanted, bits), np.uint64(0)
    while True:
        entry = table[index]
        if entry >> np.uint64(32) == wanted and entry != 0:
            return entry & np.uint64(0xFFFFFFFF)
        if entry == 0 or (index - home_of(entry >> np.uint64(32), bits)) & mask < distance:
            return np.uint64(0)
        index = (index + one) & mask
        distance += one


@njit(cache=True, nogil=True)
def insert_slot(table, bits, feature, slot):
    """Put a feature that is not in the table into it; there must be an empty entry."""
    mask, one = np.uint64(table.size - 1), np.uint64(1)
    carried = np.uint64(feature) << np.uint64(32) | np.uint64(slot)
    index, distance = home_of(feature, bits), np.uint64(0)
    while True:
        entry = table[index]
        if entry == 0:
            table[index] = carried
            return
        theirs = (index - home_of(entry >> np.uint64(32), bits)) & mask
        if theirs < distance:
            table[index] = carried
            carried, distance = entry, theirs
        index = (index + one) & mask
        distance += one


@njit(cache=True, nogil=True)
def bits_for(n_features, bits):
    """Return the bits of the smallest table, of at least ``bits``, in which so many features fill seven eighths."""
    while 8 * n_features > 7 << bits:
        bits += 1
    return bits
