"""Blocks of an online tree, the children of one node: which rows they have, scores and updates: kernels.

Where a block takes rows, its table changes at once; what the rows hold is written down as a change, see `Pending`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.arrays import borrowed, unowned
from xmlc.kernels.prefetch import prefetch
from xmlc.kernels.sibling_rows import adagrad_to_rows, dense_scores, padded_size
from xmlc.models.oplt._pending import CLEAR, COPY, SPREAD, WIDER, add_change, copy_columns, new_list
from xmlc.models.oplt._robin_hood import bits_for, find_slot, home_of, insert_slot
from xmlc.models.oplt._rows import give_row, give_table, rows_in_advance, slots_of, take_row, take_table
from xmlc.models.oplt.tree import SLOT, SMALLEST_TABLE
from xmlc.models.plt.solvers import adagrad_steps
from xmlc.runtime.kernel_cache import njit


class Scratch(NamedTuple):
    """Buffers for one instance: the slots of its features and their values, and a number for each sibling, twice."""

    slots: np.ndarray
    values: np.ndarray
    scores: np.ndarray
    targets: np.ndarray


@njit(cache=True, nogil=True)
def empty_scratch(max_nonzeros, tree):
    """Make a `Scratch` for instances of at most so many features."""
    padded = (tree.free_rows.size - 1) * SLOT // 2
    return Scratch(
        np.empty(max_nonzeros + 1, dtype=np.uint32),
        np.empty(max_nonzeros + 1, dtype=np.float32),
        np.empty(padded, dtype=np.float32),
        np.empty(padded, dtype=np.uint8),
    )


@njit(cache=True, nogil=True)
def open_block(tree, v, width, auxiliary, bits):
    """Give node v a block of ``width`` columns, without features; return whether its row of the constant was used."""
    node = tree.nodes[v]
    node.width, node.auxiliary, node.padded = width, auxiliary, padded_size(width)
    node.n_features, node.table_bits = 0, bits
    was_used = tree.free_rows[slots_of(np.int64(node.padded))] != 0
    node.bias, node.table = take_row(tree, node.padded), take_table(tree, bits)
    return was_used


@njit(cache=True, nogil=True)
def open_auxiliary(tree, pending, v):
    """Give node v a block of an auxiliary classifier alone, whose weights are zero."""
    if open_block(tree, v, 1, 1, SMALLEST_TABLE):
        first = new_list(pending, 1)
        pending.moved[first] = tree.nodes[v].bias
        add_change(pending, CLEAR, v, False, first, first, 1, tree.nodes[v].padded, tree.nodes[v].padded)


@njit(cache=True, nogil=True)
def table_of(tree, v):
    """Return the table of a block; see `borrowed`."""
    node = tree.nodes[v]
    return borrowed(tree.entries, node.table, node.table + (np.int64(1) << node.table_bits))


@njit(cache=True, nogil=True)
def find_rows(table, bits, ids, slots):
    """Write the slot of each feature's row, 0 if the table has none; return how many it has.

    The features' homes should have been asked for.
    """
    known = 0
    for k in range(ids.size):
        slot = find_slot(table, bits, ids[k])
        slots[k] = slot
        known += slot != 0
    return known


@njit(cache=True, nogil=True)
def ask_for_homes(table, bits, ids):
    """Prefetch the entries where features should stand, all at once, instead of waiting for one after the other."""
    for feature in ids:
        prefetch(table, home_of(feature, bits))


@njit(cache=True, nogil=True)
def make_rows(tree, v, ids, slots, missing, used):
    """Give the ``missing`` features whose slot is 0 a row each; there must be capacity.

    Returns how many of the rows were used before, and are not zero; their slots are written to ``used``.
    """
    tree = unowned(tree)
    node = tree.nodes[v]
    bits = bits_for(node.n_features + missing, node.table_bits)
    if bits > node.table_bits:
        index = take_table(tree, bits)
        table = tree.entries[index : index + (np.int64(1) << bits)]
        for entry in table_of(tree, v):
            if entry != 0:
                insert_slot(table, bits, entry >> np.uint64(32), entry & np.uint64(0xFFFFFFFF))
        give_table(tree, node.table_bits, node.table)
        node.table, node.table_bits = index, bits
    table, padded = table_of(tree, v), np.int64(node.padded)
    following, size = rows_in_advance(tree, padded, missing), slots_of(padded)
    n_used = 0
    for k in range(ids.size):
        if slots[k] == 0:
            slot = following
            if following != 0:
                following += size
            else:
                was_used = tree.free_rows[size] != 0
                slot = take_row(tree, padded)
                used[n_used] = slot
                n_used += was_used
            insert_slot(table, bits, ids[k], slot)
            slots[k] = slot
    node.n_features += missing
    return n_used


@njit(cache=True, nogil=True)
def score_block(tree, v, ids, values, scratch):
    """Return the linear scores of a block's columns for one instance, float32 (padded,); they stand in the scratch.

    A look-up for each non-zero, and 4 bytes for each non-zero that the block knows and each column.
    """
    node = tree.nodes[v]
    known = np.int64(0)
    table, bits, slots, kept = table_of(tree, v), node.table_bits, scratch.slots, scratch.values
    ask_for_homes(table, bits, ids)
    for k in range(ids.size):
        slot = find_slot(table, bits, ids[k])
        prefetch(tree.rows, slot * np.uint64(SLOT))
        slots[known], kept[known] = slot, values[k]
        known += slot != 0
    scores, bias = scratch.scores[: node.padded], tree.rows[node.bias * SLOT : node.bias * SLOT + node.padded]
    dense_scores(slots[:known], kept[:known], tree.rows, SLOT, bias, scores)
    return scores


@njit(cache=True, nogil=True)
def learn_rows(rows, bias_slot, slots, values, positives, targets, scores, rate, eps):
    """Let all classifiers of a block learn from one instance (Algorithm 7).

    The steps are those of `train_children_adagrad`, to the bit. Moves 24 bytes per non-zero and column.

    Parameters
    ----------
    rows : float32
        As of `OnlineTree`.
    bias_slot : int
        Row of the constant feature.
    slots : uint32 (non-zeros,), values : float32
        The instance, its features' rows in place of their numbers.
    positives : int32
        Columns with target 1: of positive children, and of the auxiliary classifier.
    targets : uint8 (padded columns,), scores : float32
        Scratch.
    rate, eps : float32
    """
    padded, start = scores.size, bias_slot * SLOT
    bias, squares = borrowed(rows, start, start + padded), borrowed(rows, start + padded, start + 2 * padded)
    set_targets(targets, padded, positives)
    dense_scores(slots, values, rows, SLOT, bias, scores)
    adagrad_steps(scores, targets, bias, squares, rate, eps)
    adagrad_to_rows(slots, values, scores, rate, eps, rows, SLOT)


@njit(cache=True, nogil=True)
def set_targets(targets, padded, positives):
    """Set the targets of the first ``padded`` columns, uint8: 1 for those in ``positives``, else 0."""
    for c in range(padded):
        targets[c] = 0
    for column in positives:
        targets[column] = 1


@njit(cache=True, nogil=True)
def list_rows(tree, pending, v):
    """List the slots of a block's rows, that of the constant first; return where they begin in ``moved``."""
    node = tree.nodes[v]
    first, moved = new_list(pending, np.int64(node.n_features) + 1), pending.moved
    moved[first], end = node.bias, first + 1
    for entry in table_of(tree, v):
        if entry != 0:
            moved[end] = entry & np.uint64(0xFFFFFFFF)
            end += 1
    return first


@njit(cache=True, nogil=True)
def add_inverse(tree, pending, v):
    """Write down that the last column of block v becomes the inverse of the auxiliary classifier.

    It may become so before updates that wait, also before those that came before it: an inverse that learns with target
    0 stays the inverse of what learns the same with target 1. So the last change of the block that updates need not
    wait for makes it, if there is one; rows that are newer than that are zero in both columns.
    """
    node, block = tree.nodes[v], pending.blocks[v]
    if block.copy != 0:
        pending.changes[block.copy - 1].end = node.width
        return
    first, count = list_rows(tree, pending, v), node.n_features + 1
    number = add_change(pending, COPY, v, False, first, first, count, node.padded, node.padded)
    copy_columns(pending, number, node.width - 1, node.width - 1, node.width)
    block.copy = number + 1


@njit(cache=True, nogil=True)
def copy_auxiliary(tree, pending, v, rows, first, middle, end):
    """Write down that columns of block v, whose rows are listed, become its auxiliary classifier or inverses of it."""
    node = tree.nodes[v]
    number = add_change(pending, COPY, v, True, rows, rows, node.n_features + 1, node.padded, node.padded)
    copy_columns(pending, number, first, middle, end)


@njit(cache=True, nogil=True)
def widen(tree, pending, v, width):
    """Make ``width`` columns, which do not fit yet, fit into the rows of block v."""
    tree, pending = unowned(tree), unowned(pending)
    node, moved = tree.nodes[v], pending.moved
    wider, padded, count = padded_size(width), np.int64(node.padded), np.int64(node.n_features) + 1
    source, target = new_list(pending, count), new_list(pending, count)
    moved[source], moved[target] = node.bias, take_row(tree, wider)
    give_row(tree, padded, np.int64(node.bias))
    node.bias = moved[target]
    table, following, size = table_of(tree, v), rows_in_advance(tree, wider, node.n_features), slots_of(wider)
    row = 1
    for index in range(table.size):
        if table[index] != 0:
            slot = following if following != 0 else take_row(tree, wider)
            following += size if following != 0 else 0
            old = table[index] & np.uint64(0xFFFFFFFF)
            give_row(tree, padded, np.int64(old))
            moved[source + row], moved[target + row] = old, slot
            table[index] = (table[index] >> np.uint64(32)) << np.uint64(32) | np.uint64(slot)
            row += 1
    number = add_change(pending, WIDER, v, True, source, target, count, padded, wider)
    copy_columns(pending, number, node.width, node.width, node.width)
    pending.blocks[v].copy = number + 1
    node.padded = wider


@njit(cache=True, nogil=True)
def open_copies(tree, pending, extended, v, source, rows, auxiliary, copies, inverse):
    """Give node v a block of copies of the auxiliary classifier of block ``source``, and perhaps its inverse.

    Parameters
    ----------
    extended : int
        The node under which updates of block ``source`` wait.
    rows : int
        Where the rows of block ``source`` are listed.
    auxiliary : int
        1: the first copy is the auxiliary classifier of v.
    copies : int
    inverse : bool
    """
    tree, pending = unowned(tree), unowned(pending)
    bits, moved = tree.nodes[source].table_bits, pending.moved
    open_block(tree, v, copies + inverse, auxiliary, bits)
    node, table, found = tree.nodes[v], table_of(tree, v), table_of(tree, source)
    padded, n_features = np.int64(node.padded), np.int64(tree.nodes[source].n_features)
    target = new_list(pending, n_features + 1)
    following, size, row = rows_in_advance(tree, padded, n_features), slots_of(padded), target + 1
    moved[target] = node.bias
    for entry in found:
        if entry != 0:
            slot = following if following != 0 else take_row(tree, padded)
            following += size if following != 0 else 0
            insert_slot(table, bits, entry >> np.uint64(32), slot)
            moved[row] = slot
            row += 1
    node.n_features = n_features
    source_padded = tree.nodes[source].padded
    number = add_change(pending, SPREAD, extended, True, rows, target, n_features + 1, source_padded, padded)
    copy_columns(pending, number, 0, copies, copies + inverse)
