"""The blocks of an online tree: their rows of weights and their hash tables. Kernels.

A block has the weights of one node's children, in one row per feature, and a hash table that maps
features to rows. All rows and tables of a tree are allocated in one array, in which free ones of
the same size form a linked list, so that finding space takes constant time.

A table has 2**bits uint64 entries, with open addressing and linear probing. The upper half of an
entry is the feature, the lower half the slot of its row. No row has slot 0, so 0 is an empty entry.
The authors' program uses Robin Hood hashing (oplt2021, Section 5), which allows fuller tables.
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
    """Buffers for one instance."""

    slots: np.ndarray  # uint32, of the constant and the instance's features in a block
    values: np.ndarray  # float32, of these features
    scores: np.ndarray  # float32, of siblings
    targets: np.ndarray  # uint8, of siblings
    positives: np.ndarray  # int32, positive nodes


@njit
def empty_row_scratch(max_nonzeros, tree):
    """Return an `OnlineScratch` for instances with at most ``max_nonzeros`` non-zeros."""
    # at most one child per label, and one auxiliary classifier
    padded = row_size(tree.leaves.size + 1)
    slots = np.empty(max_nonzeros + 1, dtype=np.uint32)
    values = np.empty(max_nonzeros + 1, dtype=np.float32)
    scores = np.empty(padded, dtype=np.float32)
    targets = np.empty(padded, dtype=np.uint8)
    return OnlineScratch(slots, values, scores, targets, np.empty(tree.nodes.size, dtype=np.int32))


@njit
def open_block(tree, v, width, auxiliary, bits):
    """Create a block for node v whose only row is the constant feature's, with weights 0."""
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
    """Create a row of zeros for each of the ``n_new`` features whose slot in ``slots[1:]`` is 0."""
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
    """Return the linear score of each column, float32 (padded,), as a view of ``scratch``."""
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
    """Copy the auxiliary classifier to columns ``first .. middle - 1`` (oplt2021, Algorithm 5,
    lines 7 and 8), and its inverse to ``middle .. end - 1`` (Algorithm 6, line 3).
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
    """Create a block for node v with the features and the first columns of another block.

    ``source``, the other node's record, may be a copy of v's, but not the one that changes here.
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
    """Copy the first columns of a row to another row, which may be wider."""
    old = source * SLOT
    new = target * SLOT
    for column in range(n_columns):
        rows[new + column] = rows[old + column]
        rows[new + wider + column] = rows[old + padded + column]


@njit
def row_size(width):
    """Return the columns to allocate for ``width``: a power of two, at least 4."""
    padded = np.int64(4)
    while padded < width:
        padded *= 2
    return padded


@njit
def slots_of(padded):
    """Return the number of slots of a row for ``padded`` siblings."""
    return 2 * padded // SLOT


@njit
def take_row(tree, padded):
    """Allocate a row of zeros for ``padded`` siblings, or an empty table of as many entries.

    The tree must have capacity for one more slot. Memory that was never in use is already zero.
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
    if size > 1 and slot % 2 == 1:  # two or more slots begin at the start of a cache line
        give_row(tree, 4, slot)
        slot += 1
    tree.counters[SLOTS_USED] = slot + size
    return slot


@njit
def give_row(tree, padded, slot):
    """Free a row or table that `take_row` has allocated."""
    kind = lowest_bit(np.uint64(padded))
    tree.rows.view(np.uint32)[slot * SLOT] = tree.free_rows[kind]
    tree.free_rows[kind] = slot


@njit
def slot_of(table, bits, feature):
    """Return the index of a feature's entry, or of the empty one for it, by Fibonacci hashing."""
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
    """Return the least b >= ``bits`` with which the table is at most two thirds full."""
    while 3 * n_features > 2 << bits:
        bits += 1
    return bits
