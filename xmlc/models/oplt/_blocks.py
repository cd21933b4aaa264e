"""Blocks of an online tree, the children of one node: their rows, scores and updates: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.kernels.arrays import borrowed
from xmlc.kernels.prefetch import prefetch
from xmlc.kernels.sibling_rows import adagrad_to_rows, dense_scores, padded_size
from xmlc.models.oplt._robin_hood import bits_for, find_slot, home_of, insert_slot
from xmlc.models.oplt._rows import give_row, give_table, rows_in_advance, slots_of, take_any_row, take_row, take_table
from xmlc.models.oplt.tree import SLOT
from xmlc.models.plt.training import adagrad_steps

ROWS_AHEAD = 16  # entries of a table, at which the rows are asked for before they are moved or copied


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
    """Give node v a block of ``width`` columns, without features; all weights, those of the constant too, are zero."""
    node = tree.nodes[v]
    node.width, node.auxiliary, node.padded = width, auxiliary, padded_size(width)
    node.n_features, node.table_bits = 0, bits
    node.bias, node.table = take_row(tree, node.padded), take_table(tree, bits)


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
def make_rows(tree, v, ids, slots, missing):
    """Give the ``missing`` features whose slot is 0 a row of zeros each; there must be capacity."""
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
    for k in range(ids.size):
        if slots[k] == 0:
            slot = following if following != 0 else take_row(tree, padded)
            following += size if following != 0 else 0
            insert_slot(table, bits, ids[k], slot)
            slots[k] = slot
    node.n_features += missing


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
def copy_column(rows, slot, padded, column, target_slot, target_padded, target, inverse):
    """Copy one classifier's weight and sum of squares from a row to another; or its inverse's, whose weight is -w."""
    weight = rows[slot * SLOT + column]
    # 0 - w and not -w: a weight that is zero has no sign.
    rows[target_slot * SLOT + target] = np.float32(0.0) - weight if inverse else weight
    rows[target_slot * SLOT + target_padded + target] = rows[slot * SLOT + padded + column]


@njit(cache=True, nogil=True)
def ask_for_row(rows, table, index, padded):
    """Prefetch where weights and sums begin in the row of an entry of a table, if there is such an entry."""
    if index < table.size and table[index] != 0:
        start = np.int64(table[index] & np.uint64(0xFFFFFFFF)) * SLOT
        prefetch(rows, start)
        prefetch(rows, start + padded)


@njit(cache=True, nogil=True)
def copy_auxiliary(tree, v, first, end, inverse):
    """Make columns ``first .. end - 1`` of block v copies of its auxiliary classifier, or of its inverse: reads and
    writes all rows.
    """
    node, rows, table = tree.nodes[v], tree.rows, table_of(tree, v)
    padded, slot = np.int64(node.padded), np.int64(node.bias)
    for column in range(first, end):
        copy_column(rows, slot, padded, 0, slot, padded, column, inverse)
    for index in range(table.size):
        ask_for_row(rows, table, index + ROWS_AHEAD, padded)
        if table[index] != 0:
            slot = np.int64(table[index] & np.uint64(0xFFFFFFFF))
            for column in range(first, end):
                copy_column(rows, slot, padded, 0, slot, padded, column, inverse)


@njit(cache=True, nogil=True)
def widen(tree, v, width):
    """Make ``width`` columns fit into the rows of block v."""
    node, rows = tree.nodes[v], tree.rows
    wider, padded = padded_size(width), np.int64(node.padded)
    if wider <= padded:
        return
    node.bias = move_row(tree, np.int64(node.bias), padded, take_any_row(tree, wider), wider)
    table, following, size = table_of(tree, v), rows_in_advance(tree, wider, node.n_features), slots_of(wider)
    for index in range(table.size):
        ask_for_row(rows, table, index + ROWS_AHEAD, padded)
        if table[index] != 0:
            target = following if following != 0 else take_any_row(tree, wider)
            following += size if following != 0 else 0
            move_row(tree, np.int64(table[index] & np.uint64(0xFFFFFFFF)), padded, target, wider)
            table[index] = (table[index] >> np.uint64(32)) << np.uint64(32) | np.uint64(target)
    node.padded = wider


@njit(cache=True, nogil=True)
def move_row(tree, slot, padded, target, wider):
    """Copy a row into a wider one, give the old one back and return the new one's slot."""
    rows, old, new = tree.rows, slot * SLOT, target * SLOT
    for c in range(padded):
        rows[new + c] = rows[old + c]
        rows[new + wider + c] = rows[old + padded + c]
    for c in range(padded, wider):
        rows[new + c] = rows[new + wider + c] = 0
    give_row(tree, padded, slot)
    return target


@njit(cache=True, nogil=True)
def open_block_from(tree, v, source, auxiliary):
    """Give node v a block of two columns, the auxiliary classifier of block ``source`` and its inverse.

    With ``auxiliary`` = 1 there is a column before them, the auxiliary classifier itself.
    """
    open_copies(tree, v, source, auxiliary, auxiliary + 1, True)


@njit(cache=True, nogil=True)
def open_block_of_auxiliary(tree, v, source):
    """Give node v a block with an auxiliary classifier alone, a copy of that of block ``source``."""
    open_copies(tree, v, source, 1, 1, False)


@njit(cache=True, nogil=True)
def open_copies(tree, v, source, auxiliary, copies, inverse):
    """Give node v a block of copies of the auxiliary classifier of block ``source``, and perhaps its inverse."""
    bits = tree.nodes[source].table_bits
    open_block(tree, v, copies + inverse, auxiliary, bits)
    node, rows, table, found = tree.nodes[v], tree.rows, table_of(tree, v), table_of(tree, source)
    padded, own_padded = np.int64(tree.nodes[source].padded), np.int64(node.padded)
    spread(rows, np.int64(tree.nodes[source].bias), padded, np.int64(node.bias), own_padded, copies, inverse)
    following, size = rows_in_advance(tree, own_padded, tree.nodes[source].n_features), slots_of(own_padded)
    for index in range(found.size):
        ask_for_row(rows, found, index + ROWS_AHEAD, padded)
        entry = found[index]
        if entry != 0:
            slot = following if following != 0 else take_row(tree, own_padded)
            following += size if following != 0 else 0
            insert_slot(table, bits, entry >> np.uint64(32), slot)
            spread(rows, np.int64(entry & np.uint64(0xFFFFFFFF)), padded, slot, own_padded, copies, inverse)
    node.n_features = tree.nodes[source].n_features


@njit(cache=True, nogil=True)
def spread(rows, slot, padded, target_slot, target_padded, copies, inverse):
    """Copy the auxiliary classifier's column of a row to the first columns of another, and its inverse behind them."""
    for column in range(copies):
        copy_column(rows, slot, padded, 0, target_slot, target_padded, column, False)
    if inverse:
        copy_column(rows, slot, padded, 0, target_slot, target_padded, copies, True)
