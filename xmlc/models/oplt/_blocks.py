"""Blocks of an online tree, the children of one node: their rows, scores and updates: kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.kernels.float32 import logistic_derivative
from xmlc.kernels.prefetch import prefetch
from xmlc.kernels.sibling_rows import adagrad_to_rows, dense_scores, padded_size
from xmlc.models.oplt._robin_hood import bits_for, find_slot, home_of, insert_slot
from xmlc.models.oplt._rows import give_row, give_table, take_row, take_table
from xmlc.models.oplt.tree import SLOT


class Scratch(NamedTuple):
    """Buffers for one instance: the slots of its features and their values, and a number for each sibling, twice."""

    slots: np.ndarray
    values: np.ndarray
    scores: np.ndarray
    signs: np.ndarray


@njit(cache=True, nogil=True)
def empty_scratch(max_nonzeros, tree):
    """Make a `Scratch` for instances of at most so many features."""
    padded = (tree.free_rows.size - 1) * SLOT // 2
    return Scratch(
        np.empty(max_nonzeros + 1, dtype=np.uint32),
        np.empty(max_nonzeros + 1, dtype=np.float32),
        np.empty(padded, dtype=np.float32),
        np.empty(padded, dtype=np.float32),
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
    """Return the table of a block."""
    node = tree.nodes[v]
    return tree.entries[node.table : node.table + (np.int64(1) << node.table_bits)]


@njit(cache=True, nogil=True)
def find_rows(tree, v, ids, scratch):
    """Write the slot of each feature's row, 0 if the block has none; return how many it has."""
    table, bits, slots = table_of(tree, v), tree.nodes[v].table_bits, scratch.slots
    known = 0
    ask_for_homes(table, bits, ids)
    for k in range(ids.size):
        slot = find_slot(table, bits, ids[k])
        prefetch(tree.rows, slot * np.uint64(SLOT))
        slots[k] = slot
        known += slot != 0
    return known


@njit(cache=True, nogil=True)
def ask_for_homes(table, bits, ids):
    """Prefetch the entries where features should stand, all at once, instead of waiting for one after the other."""
    for feature in ids:
        prefetch(table, home_of(feature, bits))


@njit(cache=True, nogil=True)
def make_rows(tree, v, ids, scratch, missing):
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
    table = table_of(tree, v)
    for k in range(ids.size):
        if scratch.slots[k] == 0:
            slot = take_row(tree, node.padded)
            insert_slot(table, bits, ids[k], slot)
            scratch.slots[k] = slot
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
def update_block(tree, v, ids, values, scratch, rate, eps):
    """Let all classifiers of a block learn from one instance (Algorithm 7): those of positive children with target 1,
    the auxiliary classifier too, the others with target 0.

    There must be capacity for a row for each feature. The steps are those of `train_children_adagrad`, to the bit.
    Moves 24 bytes per non-zero and column, and looks each non-zero up.
    """
    node, nodes = tree.nodes[v], tree.nodes
    missing = ids.size - find_rows(tree, v, ids, scratch)
    if missing > 0:
        make_rows(tree, v, ids, scratch, missing)
    signs, scores = scratch.signs[: node.padded], scratch.scores[: node.padded]
    signs[:] = 1.0
    if node.auxiliary == 1:
        signs[0] = -1.0
    child = node.head
    while child >= 0:
        signs[nodes[child].column] = -1.0
        child = nodes[child].next_positive
    size, bias = ids.size, np.int64(node.bias)
    dense_scores(
        scratch.slots[:size], values, tree.rows, SLOT, tree.rows[bias * SLOT : bias * SLOT + node.padded], scores
    )
    for c in range(scores.size):
        scores[c] = logistic_derivative(scores[c], signs[c])
    scratch.values[:size] = values
    scratch.slots[size], scratch.values[size] = bias, 1.0  # the constant is a feature like the others
    adagrad_to_rows(scratch.slots[: size + 1], scratch.values[: size + 1], scores, rate, eps, tree.rows, SLOT)


@njit(cache=True, nogil=True)
def copy_column(rows, slot, padded, column, target_slot, target_padded, target, inverse):
    """Copy one classifier's weight and sum of squares from a row to another; or its inverse's, whose weight is -w."""
    weight = rows[slot * SLOT + column]
    # 0 - w and not -w: a weight that is zero has no sign.
    rows[target_slot * SLOT + target] = np.float32(0.0) - weight if inverse else weight
    rows[target_slot * SLOT + target_padded + target] = rows[slot * SLOT + padded + column]


@njit(cache=True, nogil=True)
def copy_auxiliary(tree, v, column, inverse):
    """Make a column of block v a copy of its auxiliary classifier, or the inverse: reads and writes all rows."""
    node = tree.nodes[v]
    copy_column(tree.rows, np.int64(node.bias), node.padded, 0, np.int64(node.bias), node.padded, column, inverse)
    for entry in table_of(tree, v):
        if entry != 0:
            slot = np.int64(entry & np.uint64(0xFFFFFFFF))
            copy_column(tree.rows, slot, node.padded, 0, slot, node.padded, column, inverse)


@njit(cache=True, nogil=True)
def widen(tree, v, width):
    """Make ``width`` columns fit into the rows of block v."""
    node = tree.nodes[v]
    padded = padded_size(width)
    if padded <= node.padded:
        return
    node.bias = moved_row(tree, np.int64(node.bias), node.padded, padded)
    table = table_of(tree, v)
    for index in range(table.size):
        if table[index] != 0:
            slot = moved_row(tree, np.int64(table[index] & np.uint64(0xFFFFFFFF)), node.padded, padded)
            table[index] = (table[index] >> np.uint64(32)) << np.uint64(32) | np.uint64(slot)
    node.padded = padded


@njit(cache=True, nogil=True)
def moved_row(tree, slot, padded, wider):
    """Copy a row into a wider one, give the old one back and return the new one's slot."""
    target = take_row(tree, wider)
    old, new = slot * SLOT, target * SLOT
    tree.rows[new : new + padded] = tree.rows[old : old + padded]
    tree.rows[new + wider : new + wider + padded] = tree.rows[old + padded : old + 2 * padded]
    give_row(tree, padded, slot)
    return target


@njit(cache=True, nogil=True)
def open_block_from(tree, v, source, auxiliary):
    """Give node v a block of two columns, the auxiliary classifier of block ``source`` and its inverse.

    With ``auxiliary`` = 1 there is a column before them, the auxiliary classifier itself.
    """
    bits = tree.nodes[source].table_bits
    open_block(tree, v, 2 + auxiliary, auxiliary, bits)
    node, padded, table = tree.nodes[v], tree.nodes[source].padded, table_of(tree, v)
    _spread(tree, np.int64(tree.nodes[source].bias), padded, np.int64(node.bias), node.padded, auxiliary)
    for entry in table_of(tree, source):
        if entry != 0:
            slot = take_row(tree, node.padded)
            insert_slot(table, bits, entry >> np.uint64(32), slot)
            _spread(tree, np.int64(entry & np.uint64(0xFFFFFFFF)), padded, slot, node.padded, auxiliary)
    node.n_features = tree.nodes[source].n_features


@njit(cache=True, nogil=True)
def open_block_of_auxiliary(tree, v, source):
    """Give node v a block with an auxiliary classifier alone, a copy of that of block ``source``."""
    bits = tree.nodes[source].table_bits
    open_block(tree, v, 1, 1, bits)
    node, padded, table = tree.nodes[v], tree.nodes[source].padded, table_of(tree, v)
    copy_column(tree.rows, np.int64(tree.nodes[source].bias), padded, 0, np.int64(node.bias), node.padded, 0, False)
    for entry in table_of(tree, source):
        if entry != 0:
            slot = take_row(tree, node.padded)
            insert_slot(table, bits, entry >> np.uint64(32), slot)
            copy_column(tree.rows, np.int64(entry & np.uint64(0xFFFFFFFF)), padded, 0, slot, node.padded, 0, False)
    node.n_features = tree.nodes[source].n_features


@njit(cache=True, nogil=True)
def _spread(tree, slot, padded, target_slot, target_padded, auxiliary):
    for column in range(auxiliary + 1):
        copy_column(tree.rows, slot, padded, 0, target_slot, target_padded, column, False)
    copy_column(tree.rows, slot, padded, 0, target_slot, target_padded, auxiliary + 1, True)
