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
    size, rows, is_new = slots_of(padded), tree.rows, tree.free_rows[slots_of(padded)] == 0
    slot = take_any_row(tree, padded)
    if not is_new:
        for i in range(slot * SLOT, (slot + size) * SLOT):
            rows[i] = 0
    return slot


@njit(cache=True, nogil=True)
def take_any_row(tree, padded):
    """Return the slot of a row as `take_row` does, whatever the row holds."""
    free_rows, size = tree.free_rows, slots_of(padded)
    slot = np.int64(free_rows[size])
    if slot == 0:
        return take_new_rows(tree, padded, 1)
    free_rows[size] = np.float32(tree.rows[slot * SLOT]).view(np.uint32)
    return slot


@njit(cache=True, nogil=True)
def take_new_rows(tree, padded, count):
    """Return the first slot of ``count`` neighbouring rows, all of which were never given out; capacity as above.

    They are zero already and stay untouched: the system provides their memory where it is first written, which may be
    on another thread.
    """
    size, counters = slots_of(padded), tree.counters
    slot = counters[SLOTS_USED]
    if size > 1 and slot % 2 == 1:  # rows of whole cache lines start with one
        give_row(tree, 4, slot)
        slot += 1
    counters[SLOTS_USED] = slot + size * count
    return slot


@njit(cache=True, nogil=True)
def rows_in_advance(tree, padded, count):
    """Return what `take_new_rows` does if the next ``count`` calls of `take_row` would give these rows; 0 if not."""
    if count == 0 or tree.free_rows[slots_of(padded)] != 0:
        return np.int64(0)
    return take_new_rows(tree, padded, count)


@njit(cache=True, nogil=True)
def give_row(tree, padded, slot):
    """Take a row back."""
    size, free_rows = slots_of(padded), tree.free_rows
    tree.rows[slot * SLOT] = np.uint32(free_rows[size]).view(np.float32)
    free_rows[size] = slot


@njit(cache=True, nogil=True)
def take_table(tree, bits):
    """Return the index of an empty table of 2**bits entries; there must be capacity for it.

    What was never given out is empty already.
    """
    size = np.int64(1) << bits
    index = tree.free_tables[bits]
    if index != 0:
        tree.free_tables[bits] = np.int64(tree.entries[index])
        tree.entries[index : index + size] = 0
    else:
        index = tree.counters[ENTRIES_USED]
        tree.counters[ENTRIES_USED] = index + size
    return index


@njit(cache=True, nogil=True)
def give_table(tree, bits, index):
    """Take a table back."""
    tree.entries[index] = tree.free_tables[bits]
    tree.free_tables[bits] = index
