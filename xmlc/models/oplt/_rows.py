"""Room for rows of weights and for tables, given out and taken back: kernels.

What is free is found in constant time: free pieces of one size form a list. The links of free tables stand in the
tables, those of free rows beside the rows: which row is given out is decided while another thread may still read what
was in it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from xmlc.kernels.arrays import unowned
from xmlc.models.oplt.tree import ENTRIES_USED, SLOT, SLOTS_USED, OnlineTree, trimmed
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def slots_of(padded):
    """Return how many slots a row of ``padded`` siblings takes: their weights and their sums of squares."""
    return 2 * padded // SLOT


@njit(cache=True, nogil=True)
def take_row(tree, padded):
    """Return the slot of a row for ``padded`` siblings; there must be capacity for it and one slot more.

    A row that was given back holds what it held. One that was never given out is zero, see `take_new_rows`.
    """
    tree = unowned(tree)
    free_rows, size = tree.free_rows, slots_of(padded)
    slot = np.int64(free_rows[size])
    if slot == 0:
        return take_new_rows(tree, padded, 1)
    free_rows[size] = tree.links[slot]
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
    tree = unowned(tree)
    size, free_rows = slots_of(padded), tree.free_rows
    tree.links[slot] = free_rows[size]
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


@njit(cache=True, nogil=True)
def write_links(rows, free_rows, links):
    """Write the link of each free row into the row, as it is stored."""
    for size in range(free_rows.size):
        slot = np.int64(free_rows[size])
        while slot != 0:
            link = np.uint32(links[slot])
            rows[slot * SLOT] = link.view(np.float32)
            slot = np.int64(link)


@njit(cache=True, nogil=True)
def read_links(rows, free_rows, links):
    """Read the link of each free row from the row: the reverse of `write_links`."""
    stored = rows.view(np.uint32)
    for size in range(free_rows.size):
        slot = np.int64(free_rows[size])
        while slot != 0:
            links[slot] = stored[slot * SLOT]
            slot = np.int64(links[slot])


def stored_arrays(tree: OnlineTree) -> dict[str, np.ndarray]:
    """Return a tree's arrays by name as they are stored: without spare capacity, the links of free rows in the rows."""
    kept = trimmed(tree)
    if not kept.rows.flags.writeable:  # arrays that are mapped from a file
        kept = kept._replace(rows=kept.rows.copy())
    write_links(kept.rows, kept.free_rows, kept.links)
    arrays = kept._asdict()
    del arrays["links"]
    return arrays


def stored_tree(arrays: Mapping[str, np.ndarray]) -> OnlineTree:
    """Return the tree whose `stored_arrays` these are."""
    links = np.zeros(arrays["rows"].size // SLOT, dtype=np.uint32)
    read_links(arrays["rows"], arrays["free_rows"], links)
    return OnlineTree(**arrays, links=links)
