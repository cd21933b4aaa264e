"""What waits is done: changes of rows in the order of the stream, updates block by block: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.kernels.prefetch import prefetch
from xmlc.models.oplt._blocks import learn_rows
from xmlc.models.oplt._pending import (
    BLOCKS_LISTED,
    CHANGES_USED,
    CLEAR,
    COPY,
    MADE,
    MOVED_USED,
    MOVED_WANTED,
    SPREAD,
    UPDATES_USED,
    WIDER,
)
from xmlc.models.oplt.tree import NONE, SLOT
from xmlc.runtime.kernel_cache import njit

ROWS_AHEAD = 16  # at which a row is asked for before it is read or written


@njit(cache=True, nogil=True)
def settle(rows, pending, v, until, scratch, settings):
    """Do the updates of block v before number ``until`` that wait."""
    block, updates, scores, targets = pending.blocks[v], pending.updates, scratch.scores, scratch.targets
    read, rate, eps = (pending.slots, pending.values, pending.positives), settings.rate, settings.eps
    number = np.int64(block.first)
    while number != NONE and number < until:
        update = updates[number]
        do_update(rows, *read, update, targets, scores, rate, eps)
        update.block = NONE
        number = np.int64(update.next)
    block.first = number


@njit(cache=True, nogil=True)
def do_update(rows, all_slots, all_values, all_positives, update, targets, scores, rate, eps):
    """Do an update of a block; parameters as for `learn_rows`, and of all updates.

    The fields of a `Pending` are arguments because to take one out counts a reference.
    """
    slots = borrowed(all_slots, update.slots, update.slots + update.size)
    values = borrowed(all_values, update.values, update.values + update.size)
    positives = borrowed(all_positives, update.positives, update.positives + update.n_positives)
    own = borrowed(scores, 0, np.int64(update.padded))
    learn_rows(rows, np.int64(update.bias), slots, values, positives, targets, own, rate, eps)


@njit(cache=True, nogil=True)
def settle_in_turn(tree, pending, scratch, settings):
    """Do all that waits, where that is little: what an instance or a few have written down."""
    make_changes(tree.rows, pending, scratch, settings)
    counters = pending.counters
    for i in range(counters[BLOCKS_LISTED]):
        v = np.int64(pending.waiting[i])
        settle(tree.rows, pending, v, counters[UPDATES_USED], scratch, settings)
        pending.blocks[v].listed = 0
    counters[:MOVED_WANTED] = 0


@njit(cache=True, nogil=True)
def make_changes(rows, pending, scratch, settings):
    """Make the changes that wait, each after the updates that it must come after; then none waits."""
    counters = pending.counters
    for i in range(counters[CHANGES_USED]):
        if pending.changes[i].kind != MADE:
            make_numbered(rows, pending, i, scratch, settings)
    counters[CHANGES_USED] = counters[MOVED_USED] = 0


@njit(cache=True, nogil=True)
def make_changes_now(rows, pending, first, first_moved, scratch, settings):
    """Make the changes from number ``first`` on, with slots from ``first_moved`` on; only `COPY` of no update waits on.

    For a policy that reads rows. What goes on waiting touches the rows of its own block alone, see `make_inverses`.
    """
    counters, waits = pending.counters, False
    for i in range(first, counters[CHANGES_USED]):
        if pending.changes[i].kind == COPY and pending.changes[i].until == NONE:
            waits = True
        else:
            make_numbered(rows, pending, i, scratch, settings)
    if not waits:
        counters[CHANGES_USED], counters[MOVED_USED] = first, first_moved


@njit(cache=True, nogil=True)
def make_inverses(rows, pending, v, scratch, settings):
    """Make the change that makes inverses of the auxiliary classifier of block v, if one waits."""
    number = np.int64(pending.blocks[v].copy) - 1
    if number >= 0:
        make_numbered(rows, pending, number, scratch, settings)


@njit(cache=True, nogil=True)
def make_numbered(rows, pending, i, scratch, settings):
    """Make a change, given by its number, after the updates that it must come after."""
    change = pending.changes[i]
    v = np.int64(change.block)
    if change.until > 0:
        settle(rows, pending, v, np.int64(change.until), scratch, settings)
    if pending.blocks[v].copy == i + 1:
        pending.blocks[v].copy = 0
    make_change(rows, pending.moved, change)
    change.kind = MADE


@njit(cache=True, nogil=True)
def make_change(rows, moved, change):
    """Make a change: read and write the rows that it lists."""
    kind, padded, wider = change.kind, np.int64(change.padded), np.int64(change.wider)
    first, middle, end = np.int64(change.first), np.int64(change.middle), np.int64(change.end)
    sources = borrowed(moved, change.source, change.source + change.count)
    targets = borrowed(moved, change.target, change.target + change.count)
    if kind == CLEAR:
        clear_rows(rows, targets, wider)
        return
    for i in range(targets.size):
        ask_for_row(rows, sources, i + ROWS_AHEAD, padded)
        if kind != COPY:
            ask_for_row(rows, targets, i + ROWS_AHEAD, wider)
        source, target = np.int64(sources[i]) * SLOT, np.int64(targets[i]) * SLOT
        if kind == WIDER:
            move_row(rows, source, padded, target, wider)
        weight, square = rows[source], rows[source + padded]
        if kind == SPREAD:
            for place in range(target, target + 2 * wider):
                rows[place] = 0
        for column in range(first, middle):
            rows[target + column], rows[target + wider + column] = weight, square
        for column in range(middle, end):
            # 0 - w and not -w: a weight that is zero has no sign.
            rows[target + column], rows[target + wider + column] = np.float32(0.0) - weight, square


@njit(cache=True, nogil=True)
def clear_rows(rows, slots, padded):
    """Make all numbers of some rows zero."""
    for i in range(slots.size):
        ask_for_row(rows, slots, i + ROWS_AHEAD, padded)
        start = np.int64(slots[i]) * SLOT
        for place in range(start, start + 2 * padded):
            rows[place] = 0


@njit(cache=True, nogil=True)
def ask_for_row(rows, slots, i, padded):
    """Prefetch where weights and sums begin in the row of a slot of a list, if the list has so many."""
    if i < slots.size:
        start = np.int64(slots[i]) * SLOT
        prefetch(rows, start)
        prefetch(rows, start + padded)


@njit(cache=True, nogil=True)
def move_row(rows, source, padded, target, wider):
    """Copy a row, given by where it begins, into a wider one, whose other columns are zero."""
    for c in range(padded):
        rows[target + c] = rows[source + c]
        rows[target + wider + c] = rows[source + padded + c]
    for c in range(padded, wider):
        rows[target + c] = rows[target + wider + c] = 0
