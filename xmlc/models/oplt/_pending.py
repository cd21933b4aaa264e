"""What waits: updates of classifiers and changes of rows, written down for a window of the stream: kernels.

The tree, and which row belongs to which feature, change at once, in the order of the stream. What rows hold is read by
nothing else but scores; so it may change later, on another thread. The classifiers of a block learn from nothing but
the instances that reach it, in their order: updates of one block are done one after the other, while its rows are in
the cache, and those of different blocks at the same time. Changes - rows that are moved, copied and cleared while the
tree grows - are made in the order of the stream, each after the updates of its block that came before. So a model has
the same bits whatever the window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.kernels.arrays import unowned
from xmlc.models.oplt.tree import NONE
from xmlc.runtime.kernel_cache import njit

UPDATE = np.dtype(
    [
        ("block", np.int32),  # its node; NONE: it is done
        ("next", np.int32),  # the block's next update, NONE: the last
        ("size", np.int32),  # non-zeros of the instance
        ("padded", np.int32),  # columns of the block's rows
        ("bias", np.uint32),  # slot of the row of the constant feature
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
        ("copy", np.int32),  # the change, from 1 on, that can make more inverses of the auxiliary classifier; 0: none
        ("listed", np.int32),  # its number among those that wait, from 1 on; 0: it is none of them
    ],
    align=True,
)
# What a change does: CLEAR rows; make them WIDER ones; COPY the auxiliary classifier, which is column 0, into other
# columns; or SPREAD that of other rows. MADE: nothing more. Columns ``first .. middle - 1`` become copies of the
# auxiliary classifier then, and those up to ``end`` its inverses.
CLEAR, WIDER, COPY, SPREAD, MADE = range(5)
CHANGE = np.dtype(
    [
        ("kind", np.int32),
        ("block", np.int32),  # the node
        ("until", np.int32),  # the block's updates before this one are done first; NONE: none is
        ("count", np.int32),  # rows
        ("source", np.int64),  # in ``moved``: the first of the rows that are read
        ("target", np.int64),  # the first of those that are written
        ("padded", np.int32),  # columns of the rows that are read
        ("wider", np.int32),  # columns of those that are written
        ("first", np.int32),
        ("middle", np.int32),
        ("end", np.int32),
    ],
    align=True,
)
UPDATES_USED, SLOTS_FILLED, POSITIVES_USED, BLOCKS_LISTED, CHANGES_USED, MOVED_USED, MOVED_WANTED = range(7)
N_COUNTERS = 7
CHANGES_OF_LABEL = 3  # that one new label makes at the most


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
        Blocks that have updates that wait, or had when it was asked for.
    reached : int32 (capacity of nodes,)
        The nodes that the instance taken up last reaches.
    changes : CHANGE (capacity,)
    moved : uint32 (capacity,)
        Rows that the changes read and write.
    counters : int64 (N_COUNTERS,)
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
    changes: np.ndarray
    moved: np.ndarray
    counters: np.ndarray
    values: np.ndarray


def empty_pending(n_nodes: int, n_updates: int, n_slots: int, n_moved: int, values: np.ndarray) -> Pending:
    """Return room for so many nodes, updates and slots of theirs, and slots of changes."""
    return Pending(
        np.empty(n_updates, dtype=UPDATE),
        np.empty(n_updates, dtype=UPDATE),
        np.empty(n_slots, dtype=np.uint32),
        np.empty(2 * n_updates, dtype=np.int32),  # each node is a child, and has an auxiliary classifier at the most
        no_blocks(n_nodes),
        np.empty(n_nodes, dtype=np.int32),
        np.empty(n_nodes, dtype=np.int32),
        np.empty(n_updates + CHANGES_OF_LABEL, dtype=CHANGE),  # each update may clear rows
        np.empty(n_slots + n_moved, dtype=np.uint32),
        np.zeros(N_COUNTERS, dtype=np.int64),
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
    """Tell whether so many updates of one instance fit, their positive columns, and the rows that they may clear."""
    pending = unowned(pending)
    counters = pending.counters
    return (
        counters[UPDATES_USED] + n_updates <= pending.updates.size
        and counters[POSITIVES_USED] + 2 * n_updates <= pending.positives.size
        and counters[SLOTS_FILLED] + n_updates * n_nonzeros <= pending.slots.size
        and counters[CHANGES_USED] + n_updates <= pending.changes.size
        and counters[MOVED_USED] + n_updates * n_nonzeros <= pending.moved.size
    )


@njit(cache=True, nogil=True)
def has_room_to_grow(pending, n_moved):
    """Tell whether the changes that a new label makes fit; if not, write down how many slots are wanted."""
    counters = pending.counters
    if (
        counters[CHANGES_USED] + CHANGES_OF_LABEL <= pending.changes.size
        and counters[MOVED_USED] + n_moved <= pending.moved.size
    ):
        return True
    counters[MOVED_WANTED] = n_moved
    return False


@njit(cache=True, nogil=True)
def add_update(nodes, updates, columns, blocks, waiting, counters, v, first_value, size):
    """Write down an update of block v, but for its slots; return where they begin. There must be room.

    Positive are the node's positive children, as they are chained, and its auxiliary classifier. The arrays are fields
    of a `Pending`, ``columns`` its ``positives``; they are arguments because to take one out counts a reference.
    """
    number, slots, positives = counters[UPDATES_USED], counters[SLOTS_FILLED], counters[POSITIVES_USED]
    update, block, node = updates[number], blocks[v], nodes[v]
    child = np.int64(node.head)
    update.block, update.next, update.size, update.padded, update.bias = v, NONE, size, node.padded, node.bias
    update.values, update.slots, update.positives = first_value, slots, positives
    if node.auxiliary == 1:
        columns[positives] = 0
        positives += 1
    while child != NONE:
        columns[positives] = nodes[child].column
        positives += 1
        child = np.int64(nodes[child].next_positive)
    update.n_positives = positives - update.positives
    if block.first == NONE:
        block.first = number
        if block.listed == 0:
            waiting[counters[BLOCKS_LISTED]] = v
            counters[BLOCKS_LISTED] += 1
            block.listed = counters[BLOCKS_LISTED]
    else:
        updates[block.last].next = number
    block.last = number
    counters[UPDATES_USED], counters[SLOTS_FILLED], counters[POSITIVES_USED] = number + 1, slots + size, positives
    return slots


@njit(cache=True, nogil=True)
def new_list(pending, count):
    """Return where a list of so many slots begins in ``moved``. There must be room."""
    first = pending.counters[MOVED_USED]
    pending.counters[MOVED_USED] = first + count
    return first


@njit(cache=True, nogil=True)
def add_change(pending, kind, v, settled, source, target, count, padded, wider):
    """Write down a change of rows, without copies of columns; return its number. There must be room.

    With ``settled`` the updates of block v so far are done before it, else they go on waiting. ``source`` and
    ``target`` are where lists of ``count`` slots begin in ``moved``.
    """
    counters = pending.counters
    number, change = counters[CHANGES_USED], pending.changes[counters[CHANGES_USED]]
    counters[CHANGES_USED] = number + 1
    change.kind, change.block, change.until = kind, v, counters[UPDATES_USED] if settled else NONE
    change.count, change.source, change.target = count, source, target
    change.padded, change.wider = padded, wider
    change.first = change.middle = change.end = 0
    if settled:
        pending.blocks[v].copy = 0
    return number


@njit(cache=True, nogil=True)
def copy_columns(pending, number, first, middle, end):
    """Have a change end with copies of the auxiliary classifier, and with inverses from column ``middle`` on."""
    change = pending.changes[number]
    change.first, change.middle, change.end = first, middle, end
