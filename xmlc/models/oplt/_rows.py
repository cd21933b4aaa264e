"""Room for rows of weights and for tables, given out and taken back: kernels.

What is free is found in constant time: free pieces of one size form a list, whose links stand in the pieces.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.models.oplt.tree import ENTRIES_USED, SLOT, SLOTS_USED


@njit(cache=True, nogil=True)
def slots_of(padded):
    """Return how many slots a row of ``padded`` siblings takes: their weights and their sums of squares."""
    return 2 * padded // SLOT


@njit(cache=True, nogil=True)
def take_row(tree, padded):
    """Return the slot of a row of zeros for ``padded`` siblings; there must be capacity for it and one slot more."""
    size, rows, free_rows, counters = slots_of(padded), tree.rows, tree.free_rows, tree.counters
    slot = np.int64(free_rows[size])
    if slot != 0:
        free_rows[size] = np.float32(rows[slot * SLOT]).view(np.uint32)
    else:
        slot = counters[SLOTS_USED]
        if size > 1 and slot % 2 == 1:  # rows of whole cache lines start with one
            give_row(tree, 4, slot)
            slot += 1
        counters[SLOTS_USED] = slot + size
    for i in range(slot * SLOT, (slot + size) * SLOT):
        rows[i] = 0
    return slot


@njit(cache=True, nogil=True)
def give_row(tree, padded, slot):
    """Take a row back."""
    size, free_rows = slots_of(padded), tree.free_rows
    tree.rows[slot * SLOT] = np.uint32(free_rows[size]).view(np.float32)
    free_rows[size] = slot


@njit(cache=True, nogil=True)
def take_table(tree, bits):
    """Return the index of an empty table of 2**bits entries; there must be capacity for it."""
    size = np.int64(1) << bits
    index = tree.free_tables[bits]
    if index != 0:
        tree.free_tables[bits] = np.int64(tree.entries[index])
    else:
        index = tree.counters[ENTRIES_USED]
        tree.counters[ENTRIES_USED] = index + size
    tree.entries[index : index + size] = 0
    return index


@njit(cache=True, nogil=True)
def give_table(tree, bits, index):
    """Take a table back."""
    tree.entries[index] = tree.free_tables[bits]
    tree.free_tables[bits] = index
