"""Manage the blocks of an online tree, their rows of weights and their hash tables. Kernels.

A block holds the weights of one node's children, in one row per feature. The block's hash table maps each feature to
its row. All rows of a tree are in one array, and all hash tables are in another array. Rows are allocated and freed
within the array of rows, and tables within the array of tables. Free rows of the same size form a linked list, and so
do free tables of the same size. The allocation of a row or table therefore takes constant time. The links of the lists
are stored in the free rows and free tables.

A hash table is a range of 2**bits uint64 entries, and uses open addressing with linear probing. The upper half of an
entry is the key, which is a feature. The lower half of an entry is the slot of the feature's row. No row has the slot
0, so an entry with the value 0 is empty. The authors' program uses Robin Hood hashing (oplt2021, Section 5), which
allows fuller tables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import lowest_bit, unchecked_view
from xmlc.kernels.counter_random import GOLDEN
from xmlc.kernels.sibling_rows import adagrad_to_rows, dense_scores
from xmlc.models.oplt.tree import ENTRIES_USED, NONE, SLOT, SLOTS_USED
from xmlc.models.plt.solvers import logistic_derivatives


class OnlineScratch(NamedTuple):
    """Hold buffers for one instance: slots and values of the features, scores and targets of siblings."""

    slots: np.ndarray
    values: np.ndarray
    scores: np.ndarray
    targets: np.ndarray


@njit(cache=True, nogil=True)
def empty_row_scratch(max_nonzeros, tree):
    """Return an `OnlineScratch` for instances with at most ``max_nonzeros`` non-zeros."""
    padded = row_size(tree.leaves.size + 1)  # a node has at most one child per label, and one auxiliary classifier
    slots, values = np.empty(max_nonzeros + 1, dtype=np.uint32), np.empty(max_nonzeros + 1, dtype=np.float32)
    return OnlineScratch(slots, values, np.empty(padded, dtype=np.float32), np.empty(padded, dtype=np.uint8))


@njit(cache=True, nogil=True)
def open_block(tree, v, width, auxiliary, bits):
    """Create an empty block for node v, with ``width`` columns and no features.

    The columns' weights of the constant feature are zero.
    """
    node = tree.nodes[v]
    node.width, node.auxiliary, node.padded = width, auxiliary, row_size(width)
    node.n_features, node.table_bits = 0, bits
    node.bias, node.table = take_row(tree, np.int64(node.padded)), take_table(tree, bits)


@njit(cache=True, nogil=True)
def hash_table_of(tree, v):
    """Return the hash table of block v as an `unchecked_view`."""
    node = tree.nodes[v]
    return unchecked_view(tree.entries, node.table, node.table + (np.int64(1) << node.table_bits))


@njit(cache=True, nogil=True)
def make_rows(tree, v, ids, slots, missing):
    """Create a row of zeros for each of the ``missing`` features in ``ids`` whose slot is 0.

    The arrays of the tree must have capacity for the new rows.
    """
    node = tree.nodes[v]
    bits = bits_for(node.n_features + missing, node.table_bits)
    if bits > node.table_bits:
        index = take_table(tree, bits)
        table = unchecked_view(tree.entries, index, index + (np.int64(1) << bits))
        for entry in hash_table_of(tree, v):
            if entry != 0:
                insert_slot(table, bits, entry >> np.uint64(32), entry & np.uint64(0xFFFFFFFF))
        give_table(tree, node.table_bits, node.table)
        node.table, node.table_bits = index, bits
    table, padded = hash_table_of(tree, v), np.int64(node.padded)
    for k in range(ids.size):
        if slots[k] == 0:
            slot = take_row(tree, padded)
            insert_slot(table, bits, ids[k], slot)
            slots[k] = slot
    node.n_features += missing


@njit(cache=True, nogil=True)
def score_block(tree, v, ids, values, scratch):
    """Return the linear score of each column of a block for one instance, float32 (padded,), as a view of ``scratch``.

    The function makes one look-up for each non-zero. For each non-zero whose feature has a row in the block, the
    function reads 4 bytes per column.
    """
    node = tree.nodes[v]
    known = np.int64(0)
    table, bits, slots, kept = hash_table_of(tree, v), node.table_bits, scratch.slots, scratch.values
    for k in range(ids.size):
        slot = find_slot(table, bits, ids[k])
        slots[known], kept[known] = slot, values[k]
        known += slot != 0
    scores, bias = scratch.scores[: node.padded], tree.rows[node.bias * SLOT : node.bias * SLOT + node.padded]
    dense_scores(slots[:known], kept[:known], tree.rows, SLOT, bias, scores)
    return scores


@njit(cache=True, nogil=True)
def update_classifiers(tree, positives, ids, values, scratch, rate, eps):
    """Update the classifiers of the children of all positive nodes with one instance (lines 2-6 of Algorithm 7).

    The target is 1 for the classifiers of positive children and for auxiliary classifiers. The target is 0 for the
    classifiers of negative children. Each block must have capacity for one row per feature of the instance. The steps
    are bit-identical to the steps of `train_children_adagrad`. An update moves 24 bytes per non-zero and column, and
    takes one look-up per non-zero and block.
    """
    # The tree's fields are unpacked here, once for all blocks. A function call per block with the tree as an
    # argument would take a tenth of the training time of a binary tree.
    nodes, rows, entries, targets, all_scores = tree.nodes, tree.rows, tree.entries, scratch.targets, scratch.scores
    slots = unchecked_view(scratch.slots, 0, ids.size)
    constant, one = unchecked_view(scratch.slots, ids.size, ids.size + 1), unchecked_view(scratch.values, 0, 1)
    one[0] = 1
    for i in range(positives.size):
        v = np.int64(positives[i])
        node = nodes[v]
        padded = np.int64(node.padded)
        if padded == 0:
            continue
        table = unchecked_view(entries, node.table, node.table + (np.int64(1) << node.table_bits))
        missing, bits = 0, node.table_bits
        for k in range(ids.size):
            slots[k] = find_slot(table, bits, ids[k])
            missing += slots[k] == 0
        if missing > 0:
            make_rows(tree, v, ids, slots, missing)
        for column in range(padded):
            targets[column] = 0
        if node.auxiliary == 1:
            targets[0] = 1
        child = np.int64(node.head)
        while child != NONE:
            targets[nodes[child].column] = 1
            child = np.int64(nodes[child].next_positive)
        constant[0], start = node.bias, node.bias * SLOT
        scores = unchecked_view(all_scores, 0, padded)
        dense_scores(slots, values, rows, SLOT, unchecked_view(rows, start, start + padded), scores)
        logistic_derivatives(scores, targets)
        adagrad_to_rows(constant, one, scores, rate, eps, rows, SLOT)
        adagrad_to_rows(slots, values, scores, rate, eps, rows, SLOT)


@njit(cache=True, nogil=True)
def copy_auxiliary(tree, v, first, middle, end):
    """Copy block v's auxiliary classifier to columns ``first .. middle - 1``.

    The function also writes the inverse of the auxiliary classifier to columns ``middle .. end - 1``. The copies follow
    lines 7 and 8 of Algorithm 5 (oplt2021). The inverses follow line 3 of Algorithm 6 (oplt2021).
    """
    node, rows = tree.nodes[v], tree.rows
    padded, bias = np.int64(node.padded), node.bias
    copy_columns(rows, bias, padded, bias, padded, first, middle, end)
    for entry in hash_table_of(tree, v):
        if entry != 0:
            slot = np.int64(entry & np.uint64(0xFFFFFFFF))
            copy_columns(rows, slot, padded, slot, padded, first, middle, end)


@njit(cache=True, nogil=True)
def copy_columns(rows, source, padded, target, wider, first, middle, end):
    """Copy the weight and sum of squares of the auxiliary classifier from one row to some columns of another row.

    ``source`` and ``target`` are the slots of the two rows. Columns ``first .. middle - 1`` become copies. Columns
    ``middle .. end - 1`` become inverses, with weight -w instead of w.
    """
    source, target = source * SLOT, target * SLOT
    weight, square = rows[source], rows[source + padded]
    for column in range(first, end):
        # The code computes 0 - w instead of -w, so that a zero weight never becomes -0.0.
        rows[target + column] = weight if column < middle else np.float32(0.0) - weight
        rows[target + wider + column] = square


@njit(cache=True, nogil=True)
def widen(tree, v, width):
    """Move the rows of block v into wider rows with space for ``width`` columns."""
    node, wider, table = tree.nodes[v], row_size(width), hash_table_of(tree, v)
    padded = np.int64(node.padded)
    node.bias = moved_row(tree, node.bias, padded, wider)
    for index in range(table.size):
        if table[index] != 0:
            slot = moved_row(tree, np.int64(table[index] & np.uint64(0xFFFFFFFF)), padded, wider)
            table[index] = (table[index] >> np.uint64(32)) << np.uint64(32) | np.uint64(slot)
    node.padded = wider


@njit(cache=True, nogil=True)
def moved_row(tree, slot, padded, wider):
    """Copy a row into a wider row, free the old row, and return the slot of the new row."""
    target, rows = take_row(tree, wider), tree.rows
    old, new = slot * SLOT, target * SLOT
    for column in range(padded):
        rows[new + column], rows[new + wider + column] = rows[old + column], rows[old + padded + column]
    give_row(tree, padded, slot)
    return target


@njit(cache=True, nogil=True)
def open_copies(tree, v, source, auxiliary):
    """Create a block for node v: a copy and an inverse of the auxiliary classifier of block ``source``.

    If ``auxiliary`` is 1, the block begins with another copy, which becomes the auxiliary classifier of v.
    """
    copies, width, bits = auxiliary + 1, auxiliary + 2, tree.nodes[source].table_bits
    open_block(tree, v, width, auxiliary, bits)
    node, table, rows = tree.nodes[v], hash_table_of(tree, v), tree.rows
    padded, source_padded = np.int64(node.padded), np.int64(tree.nodes[source].padded)
    copy_columns(rows, tree.nodes[source].bias, source_padded, node.bias, padded, 0, copies, width)
    for entry in hash_table_of(tree, source):
        if entry != 0:
            slot, old = take_row(tree, padded), np.int64(entry & np.uint64(0xFFFFFFFF))
            insert_slot(table, bits, entry >> np.uint64(32), slot)
            copy_columns(rows, old, source_padded, slot, padded, 0, copies, width)
    node.n_features = tree.nodes[source].n_features


@njit(cache=True, nogil=True)
def row_size(width):
    """Return the number of columns to allocate for ``width`` columns: a power of two that is at least 4."""
    padded = np.int64(4)
    while padded < width:
        padded *= 2
    return padded


@njit(cache=True, nogil=True)
def slots_of(padded):
    """Return the number of slots that a row takes for the weights and sums of squares of ``padded`` siblings."""
    return 2 * padded // SLOT


@njit(cache=True, nogil=True)
def take_row(tree, padded):
    """Allocate a row of zeros for ``padded`` siblings and return its slot.

    The tree must have capacity for one slot more than the row takes.

    A row that is allocated for the first time is already zero.
    """
    size, rows, free_rows, counters = slots_of(padded), tree.rows, tree.free_rows, tree.counters
    kind = lowest_bit(np.uint64(padded))
    slot = np.int64(free_rows[kind])
    if slot != 0:
        free_rows[kind] = rows.view(np.uint32)[slot * SLOT]
        for place in range(slot * SLOT, (slot + size) * SLOT):
            rows[place] = 0
        return slot
    slot = counters[SLOTS_USED]
    if size > 1 and slot % 2 == 1:  # a row of two or more slots begins at the start of a cache line
        give_row(tree, 4, slot)
        slot += 1
    counters[SLOTS_USED] = slot + size
    return slot


@njit(cache=True, nogil=True)
def give_row(tree, padded, slot):
    """Free the row for ``padded`` siblings at ``slot``, so that the row can be reused."""
    kind = lowest_bit(np.uint64(padded))
    tree.rows.view(np.uint32)[slot * SLOT] = tree.free_rows[kind]
    tree.free_rows[kind] = slot


@njit(cache=True, nogil=True)
def take_table(tree, bits):
    """Allocate an empty table of 2**bits entries and return its index. The tree must have capacity for the table.

    A table that is allocated for the first time is already empty.
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
    """Free the table of 2**bits entries at ``index``, so that the table can be reused."""
    tree.entries[index] = tree.free_tables[bits]
    tree.free_tables[bits] = index


@njit(cache=True, nogil=True)
def slot_of(table, bits, feature):
    """Return the index of a feature's entry in a table of 2**bits entries.

    If the feature has no entry, the result is the index of the empty entry in which the feature belongs. The search for
    the entry begins at the index that Fibonacci hashing gives.
    """
    wanted, one = np.uint64(feature), np.uint64(1)
    index = (wanted * GOLDEN) >> np.uint64(64 - bits)
    while table[index] != 0 and table[index] >> np.uint64(32) != wanted:
        index = (index + one) & np.uint64(table.size - 1)
    return index


@njit(cache=True, nogil=True)
def find_slot(table, bits, feature):
    """Return the slot of a feature's row, uint64, or 0 if the feature is not in the table."""
    return table[slot_of(table, bits, feature)] & np.uint64(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def insert_slot(table, bits, feature, slot):
    """Insert a new feature into a hash table that has an empty entry."""
    table[slot_of(table, bits, feature)] = np.uint64(feature) << np.uint64(32) | np.uint64(slot)


@njit(cache=True, nogil=True)
def bits_for(n_features, bits):
    """Return the smallest b >= ``bits`` such that ``n_features`` fill at most two thirds of a table of 2**b entries."""
    while 3 * n_features > 2 << bits:
        bits += 1
    return bits
