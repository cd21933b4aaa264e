"""Manage the blocks of an online tree, their rows of weights and their hash tables. Kernels.

A block holds the weights of one node's children, in one row per feature. The block's hash table
maps each feature to its row. All rows and hash tables of a tree are in one array, within which they
are allocated and freed. A table is allocated like a row. Free rows of the same size form a linked
list, so that the allocation of a row or table takes constant time. The links of the lists are
stored in the free rows.

A hash table is a range of 2**bits uint64 entries, and uses open addressing with linear probing. The
upper half of an entry is the key, which is a feature. The lower half of an entry is the slot of the
feature's row. No row has the slot 0, so an entry with the value 0 is empty. The authors' program
uses Robin Hood hashing (oplt2021, Section 5), which allows fuller tables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import lowest_bit, unchecked_view
from xmlc.kernels.counter_random import GOLDEN
from xmlc.kernels.sibling_rows import dense_scores
from xmlc.models.oplt.tree import SLOT, SLOTS_USED


class OnlineScratch(NamedTuple):
    """Hold buffers for one instance."""

    # Slots of the constant feature and the instance's features in a block, uint32.
    slots: np.ndarray
    values: np.ndarray  # Values of these features, float32.
    scores: np.ndarray  # Scores of siblings, float32.
    targets: np.ndarray  # Targets of siblings, uint8.
    positives: np.ndarray  # Positive nodes of the instance, int32.


@njit
def empty_row_scratch(max_nonzeros, tree):
    """Return an `OnlineScratch` for instances with at most ``max_nonzeros`` non-zeros."""
    # a node has at most one child per label, and one auxiliary classifier
    padded = row_size(tree.leaves.size + 1)
    slots = np.empty(max_nonzeros + 1, dtype=np.uint32)
    values = np.empty(max_nonzeros + 1, dtype=np.float32)
    scores = np.empty(padded, dtype=np.float32)
    targets = np.empty(padded, dtype=np.uint8)
    return OnlineScratch(slots, values, scores, targets, np.empty(tree.nodes.size, dtype=np.int32))


@njit
def open_block(tree, v, width, auxiliary, bits):
    """Create an empty block for node v, with ``width`` columns and no features.

    The columns' weights of the constant feature are zero.
    """
    node = tree.nodes[v]
    node.width = width
    node.auxiliary = auxiliary
    node.padded = row_size(width)
    node.n_features = 0
    node.table_bits = bits
    node.bias = take_row(tree, np.int64(node.padded))
    node.table = take_row(tree, np.int64(1) << bits)


@njit
def hash_table_of(tree, v):
    """Return the hash table of block v as an `unchecked_view`."""
    node = tree.nodes[v]
    return table_at(tree, node.table, node.table_bits)


@njit
def table_at(tree, slot, bits):
    """Return the hash table of 2**bits entries at a slot as an `unchecked_view`."""
    start = slot * SLOT
    numbers = unchecked_view(tree.rows, start, start + (np.int64(2) << bits))
    return numbers.view(np.uint64)


@njit
def make_rows(tree, v, ids, slots, n_new):
    """Create a row of zeros for each of the ``n_new`` features in ``ids`` whose slot, in
    ``slots[1:]``, is 0.

    The arrays of the tree must have capacity for the new rows.
    """
    node = tree.nodes[v]
    bits = bits_for(node.n_features + n_new, node.table_bits)
    if bits > node.table_bits:
        small = hash_table_of(tree, v)
        slot = take_row(tree, np.int64(1) << bits)
        table = table_at(tree, slot, bits)
        for entry in small:
            if entry != 0:
                insert_slot(table, bits, entry >> np.uint64(32), entry & np.uint64(0xFFFFFFFF))
        give_row(tree, small.size, node.table)
        node.table = slot
        node.table_bits = bits
    table = hash_table_of(tree, v)
    padded = np.int64(node.padded)
    for k in range(ids.size):
        if slots[k + 1] == 0:
            slots[k + 1] = take_row(tree, padded)
            insert_slot(table, bits, ids[k], slots[k + 1])
    node.n_features += n_new


@njit
def score_block(tree, v, ids, values, scratch):
    """Return the linear score of each column of a block for one instance, float32 (padded,), as a
    view of ``scratch``.

    The function makes one look-up for each non-zero. For each non-zero whose feature has a row in
    the block, the function reads 4 bytes per column.
    """
    node = tree.nodes[v]
    table = hash_table_of(tree, v)
    bits = node.table_bits
    slots = scratch.slots
    kept = scratch.values
    slots[0] = node.bias
    kept[0] = 1
    n_kept = np.int64(1)
    for k in range(ids.size):
        slot = find_slot(table, bits, ids[k])
        slots[n_kept] = slot
        kept[n_kept] = values[k]
        n_kept += slot != 0
    scores = scratch.scores[: node.padded]
    scores[:] = 0
    dense_scores(slots[:n_kept], kept[:n_kept], tree.rows, SLOT, scores, scores)
    return scores


@njit
def copy_auxiliary(tree, v, first, middle, end):
    """Copy block v's auxiliary classifier, which is in column 0, to columns ``first .. middle -
    1``.

    The function also writes the inverse of the auxiliary classifier to columns ``middle .. end -
    1``. The copies follow lines 7 and 8 of Algorithm 5 (oplt2021). The inverses follow line 3 of
    Algorithm 6 (oplt2021).
    """
    node = tree.nodes[v]
    padded = np.int64(node.padded)
    copy_first_column(tree.rows, node.bias, padded, first, middle, end)
    for entry in hash_table_of(tree, v):
        if entry != 0:
            copy_first_column(
                tree.rows, np.int64(entry & np.uint64(0xFFFFFFFF)), padded, first, middle, end
            )


@njit
def copy_first_column(rows, slot, padded, first, middle, end):
    """Do the work of `copy_auxiliary` in one row."""
    start = slot * SLOT
    weight = rows[start]
    squares = rows[start + padded]
    for column in range(start + first, start + middle):
        rows[column] = weight
    for column in range(start + middle, start + end):
        rows[column] = np.float32(0.0) - weight  # unlike -w, 0 - w is never -0.0
    for column in range(start + first, start + end):
        rows[column + padded] = squares


@njit
def copy_block(tree, v, source, width, auxiliary, n_columns):
    """Create a block for node v with the features of the block of ``source``, and with copies of
    its first columns.

    ``source`` is a record of a node. It must not be the record of v in the tree.
    """
    open_block(tree, v, width, auxiliary, source.table_bits)
    node = tree.nodes[v]
    padded = np.int64(source.padded)
    wider = np.int64(node.padded)
    table = hash_table_of(tree, v)
    copy_columns(tree.rows, source.bias, padded, node.bias, wider, n_columns)
    for entry in table_at(tree, source.table, source.table_bits):
        if entry != 0:
            slot = take_row(tree, wider)
            copy_columns(
                tree.rows, np.int64(entry & np.uint64(0xFFFFFFFF)), padded, slot, wider, n_columns
            )
            insert_slot(table, node.table_bits, entry >> np.uint64(32), slot)
    node.n_features = source.n_features


@njit
def widen(tree, v, width):
    """Move the rows of block v into wider rows with space for ``width`` columns."""
    old = tree.nodes[v : v + 1].copy()[0]
    copy_block(tree, v, old, width, old.auxiliary, old.padded)
    tree.nodes[v].width = old.width
    table = table_at(tree, old.table, old.table_bits)
    give_row(tree, old.padded, old.bias)
    for entry in table:
        if entry != 0:
            give_row(tree, old.padded, np.int64(entry & np.uint64(0xFFFFFFFF)))
    give_row(tree, table.size, old.table)


@njit
def copy_columns(rows, source, padded, target, wider, n_columns):
    """Copy the first columns of the row at slot ``source`` to the row at slot ``target``, which may
    be wider.
    """
    old = source * SLOT
    new = target * SLOT
    for column in range(n_columns):
        rows[new + column] = rows[old + column]
        rows[new + wider + column] = rows[old + padded + column]


@njit
def row_size(width):
    """Return the number of columns to allocate for ``width`` columns: a power of two that is at
    least 4.
    """
    padded = np.int64(4)
    while padded < width:
        padded *= 2
    return padded


@njit
def slots_of(padded):
    """Return the number of slots that a row takes for the weights and sums of squares of ``padded``
    siblings.
    """
    return 2 * padded // SLOT


@njit
def take_row(tree, padded):
    """Allocate a row of zeros for ``padded`` siblings, or an empty table of ``padded`` entries, and
    return its slot.

    The tree must have capacity for one slot more than the row takes. A row that is allocated for
    the first time is already zero.
    """
    size = slots_of(padded)
    kind = lowest_bit(np.uint64(padded))
    slot = np.int64(tree.free_rows[kind])
    if slot != 0:
        tree.free_rows[kind] = tree.rows.view(np.uint32)[slot * SLOT]
        for place in range(slot * SLOT, (slot + size) * SLOT):
            tree.rows[place] = 0
        return slot
    slot = tree.counters[SLOTS_USED]
    if size > 1 and slot % 2 == 1:  # a row of two or more slots begins at the start of a cache line
        give_row(tree, 4, slot)
        slot += 1
    tree.counters[SLOTS_USED] = slot + size
    return slot


@njit
def give_row(tree, padded, slot):
    """Free the row for ``padded`` siblings, or the table of ``padded`` entries, at ``slot``, for
    later use.
    """
    kind = lowest_bit(np.uint64(padded))
    tree.rows.view(np.uint32)[slot * SLOT] = tree.free_rows[kind]
    tree.free_rows[kind] = slot


@njit
def slot_of(table, bits, feature):
    """Return the index of a feature's entry in a table of 2**bits entries.

    If the feature has no entry, the result is the index of the empty entry in which the feature
    belongs. The search for the entry begins at the index that Fibonacci hashing gives.
    """
    wanted = np.uint64(feature)
    index = (wanted * GOLDEN) >> np.uint64(64 - bits)
    while table[index] != 0 and table[index] >> np.uint64(32) != wanted:
        index = (index + np.uint64(1)) & np.uint64(table.size - 1)
    return index


@njit
def find_slot(table, bits, feature):
    """Return the slot of a feature's row, uint64, or 0 if the feature is not in the table."""
    return table[slot_of(table, bits, feature)] & np.uint64(0xFFFFFFFF)


@njit
def insert_slot(table, bits, feature, slot):
    """Insert a new feature into a hash table that has an empty entry."""
    table[slot_of(table, bits, feature)] = np.uint64(feature) << np.uint64(32) | np.uint64(slot)


@njit
def bits_for(n_features, bits):
    """Return the smallest b >= ``bits`` such that ``n_features`` fill at most two thirds of a table
    of 2**b entries.
    """
    while 3 * n_features > 2 << bits:
        bits += 1
    return bits
