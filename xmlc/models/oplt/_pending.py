"""Updates that wait: a window of the stream is written down for each block, and done block by block: kernels.

The classifiers of a block learn from nothing but the instances that reach it, in their order. So updates may wait, as
long as nothing reads what they change: those of one block are then done one after the other, while its rows are in the
cache, and those of different blocks at the same time. Everything else that an instance changes - the tree, and which
row belongs to which feature - is done at once, in the order of the stream, so that a model has the same bits whatever
the window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from xmlc.kernels.arrays import borrowed
from xmlc.models.oplt._blocks import copy_auxiliary, learn_rows
from xmlc.models.oplt.tree import NONE

UPDATE = np.dtype(
    [
        ("block", np.int32),  # its node; NONE: it is done
        ("next", np.int32),  # the block's next update, NONE: the last
        ("size", np.int32),  # non-zeros of the instance
        ("values", np.int64),  # its first value
        ("slots", np.int64),  # its first slot
        ("positives", np.int32),  # its first column with target 1
        ("n_positives", np.int32),
    ],
    align=True,
)
BLOCK = np.dtype(
    [
        ("first", np.int32),  # updates, NONE: none
        ("last", np.int32),
        ("copies", np.int32),  # how many of the last columns are to become inverses of the auxiliary classifier
        ("listed", np.int32),  # its number among those that wait, from 1 on; 0: it is none of them
    ],
    align=True,
)
UPDATES_USED, SLOTS_FILLED, POSITIVES_USED, BLOCKS_LISTED = range(4)  # indices in Pending.counters


class Pending(NamedTuple):
    """What waits.

    Attributes
    ----------
    updates : UPDATE (capacity,)
        One for each instance and block that it reaches.
    by_block : UPDATE (capacity,)
        Room for the same in the order of the blocks.
    slots : uint32 (capacity,)
        Rows that the updates read and write.
    positives : int32 (capacity,)
        Columns with target 1.
    blocks : BLOCK (capacity of nodes,)
        By the block's node.
    waiting : int32 (capacity of nodes,)
        Blocks that have something that waits, or had when it was asked for.
    reached : int32 (capacity of nodes,)
        The nodes that the instance taken up last reaches.
    counters : int64 (4,)
    values : float32
        Of all instances of the window, as in their CSR form.
    """

    updates: np.ndarray
    by_block: np.ndarray
    slots: np.ndarray
    positives: np.ndarray
    blocks: np.ndarray
    waiting: np.ndarray
    reached: np.ndarray
    counters: np.ndarray
    values: np.ndarray


def empty_pending(n_nodes: int, n_updates: int, n_slots: int, values: np.ndarray) -> Pending:
    """Return room for so many nodes, updates and slots."""
    return Pending(
        np.empty(n_updates, dtype=UPDATE),
        np.empty(n_updates, dtype=UPDATE),
        np.empty(n_slots, dtype=np.uint32),
        np.empty(2 * n_updates, dtype=np.int32),  # each node is a child, and has an auxiliary classifier at the most
        no_blocks(n_nodes),
        np.empty(n_nodes, dtype=np.int32),
        np.empty(n_nodes, dtype=np.int32),
        np.zeros(4, dtype=np.int64),
        values,
    )


def with_nodes(pending: Pending, n_nodes: int) -> Pending:
    """Return room for more nodes, where nothing waits; the nodes reached stay."""
    waiting, reached = np.empty(n_nodes, dtype=np.int32), np.empty(n_nodes, dtype=np.int32)
    reached[: pending.reached.size] = pending.reached
    return pending._replace(blocks=no_blocks(n_nodes), waiting=waiting, reached=reached)


def no_blocks(n_nodes: int) -> np.ndarray:
    """Return the blocks of so many nodes, BLOCK, none of which has anything that waits."""
    blocks = np.zeros(n_nodes, dtype=BLOCK)
    blocks["first"] = NONE
    return blocks


@njit(cache=True, nogil=True)
def has_room(pending, n_updates, n_nonzeros):
    """Tell whether so many updates of one instance fit, and their positive columns."""
    counters = pending.counters
    return (
        counters[UPDATES_USED] + n_updates <= pending.updates.size
        and counters[POSITIVES_USED] + 2 * n_updates <= pending.positives.size
        and counters[SLOTS_FILLED] + n_updates * n_nonzeros <= pending.slots.size
    )


@njit(cache=True, nogil=True)
def list_block(blocks, waiting, counters, v):
    """Have a block among those that wait."""
    block = blocks[v]
    if block.listed == 0:
        waiting[counters[BLOCKS_LISTED]] = v
        counters[BLOCKS_LISTED] += 1
        block.listed = counters[BLOCKS_LISTED]


@njit(cache=True, nogil=True)
def add_update(nodes, updates, columns, blocks, waiting, counters, v, first_value, size):
    """Write down an update of block v, but for its slots; return where they begin. There must be room.

    Positive are the node's positive children, as they are chained, and its auxiliary classifier. The arrays are fields
    of a `Pending`, ``columns`` its ``positives``; they are arguments because to take one out counts a reference.
    """
    number, slots, positives = counters[UPDATES_USED], counters[SLOTS_FILLED], counters[POSITIVES_USED]
    update, block, child = updates[number], blocks[v], np.int64(nodes[v].head)
    update.block, update.next, update.size, update.values, update.slots, update.positives = (
        v,
        NONE,
        size,
        first_value,
        slots,
        positives,
    )
    if nodes[v].auxiliary == 1:
        columns[positives] = 0
        positives += 1
    while child != NONE:
        columns[positives] = nodes[child].column
        positives += 1
        child = np.int64(nodes[child].next_positive)
    update.n_positives = positives - update.positives
    if block.first == NONE:
        block.first = number
        list_block(blocks, waiting, counters, v)
    else:
        updates[block.last].next = number
    block.last = number
    counters[UPDATES_USED], counters[SLOTS_FILLED], counters[POSITIVES_USED] = number + 1, slots + size, positives
    return slots


@njit(cache=True, nogil=True)
def add_copy(pending, v):
    """Write down that the last column of block v is to become the inverse of the auxiliary classifier.

    It is made so before the updates that wait, also before those that came before it: an inverse that learns with
    target 0 stays the inverse of what learns the same with target 1.
    """
    pending.blocks[v].copies += 1
    list_block(pending.blocks, pending.waiting, pending.counters, v)


@njit(cache=True, nogil=True)
def make_copies(tree, pending, v):
    """Make the copies of the auxiliary classifier that wait for block v."""
    block = pending.blocks[v]
    if block.copies > 0:
        width = np.int64(tree.nodes[v].width)
        copy_auxiliary(tree, v, width - block.copies, width, True)
        block.copies = 0


@njit(cache=True, nogil=True)
def settle(tree, pending, v, scratch, settings):
    """Do what waits for block v."""
    make_copies(tree, pending, v)
    block, node, updates = pending.blocks[v], tree.nodes[v], pending.updates
    rows, scores, targets = tree.rows, borrowed(scratch.scores, 0, np.int64(node.padded)), scratch.targets
    read, rate, eps = (pending.slots, pending.values, pending.positives), settings.rate, settings.eps
    number = np.int64(block.first)
    while number != NONE:
        update = updates[number]
        do_update(rows, np.int64(node.bias), *read, update, targets, scores, rate, eps)
        update.block = NONE
        number = np.int64(update.next)
    block.first = NONE


@njit(cache=True, nogil=True)
def do_update(rows, bias_slot, all_slots, all_values, all_positives, update, targets, scores, rate, eps):
    """Do an update of a block; parameters as for `learn_rows`, and of all updates.

    The fields of a `Pending` are arguments because to take one out counts a reference.
    """
    slots = borrowed(all_slots, update.slots, update.slots + update.size)
    values = borrowed(all_values, update.values, update.values + update.size)
    positives = borrowed(all_positives, update.positives, update.positives + update.n_positives)
    learn_rows(rows, bias_slot, slots, values, positives, targets, scores, rate, eps)


@njit(cache=True, nogil=True)
def settle_in_turn(tree, pending, scratch, settings):
    """Do all that waits, where that is little: the updates of an instance or a few."""
    counters = pending.counters
    for i in range(counters[BLOCKS_LISTED]):
        v = np.int64(pending.waiting[i])
        settle(tree, pending, v, scratch, settings)
        pending.blocks[v].listed = 0
    counters[:] = 0
