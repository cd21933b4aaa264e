"""What a window wrote down is done: its changes on one thread, then its blocks learn on several: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed, unowned
from xmlc.kernels.prefetch import prefetch
from xmlc.kernels.sibling_rows import NUMBERS_PER_LINE, adagrad_to_rows, dense_scores
from xmlc.models.oplt._blocks import empty_scratch, learn_rows, set_targets
from xmlc.models.oplt._pending import BLOCKS_LISTED, MOVED_WANTED, UPDATES_USED
from xmlc.models.oplt._settle import make_changes
from xmlc.models.oplt.tree import NONE, SLOT
from xmlc.models.plt.solvers import adagrad_steps
from xmlc.runtime.kernel_cache import njit

UPDATES_AHEAD = 4  # at which what they read is asked for


@njit(cache=True, nogil=True)
def changed_and_sorted(tree, pending, settings, longest):
    """Make the changes of a window, then sort the updates that are left; return what `sort_by_block` does.

    Only rows and ``pending`` are read and written, so that the next window may be taken up at the same time.
    """
    tree, pending = unowned(tree), unowned(pending)
    make_changes(tree.rows, pending, empty_scratch(longest, tree), settings)
    starts, pairs = sort_by_block(pending)
    pending.counters[:MOVED_WANTED] = 0
    return starts, pairs


@njit(cache=True, nogil=True)
def sort_by_block(pending):
    """Bring the updates into the order of the blocks that wait, those of a block in the order of the stream.

    Returns
    -------
    starts : int64 (blocks that wait + 1,)
        Where those of each begin in ``by_block``.
    pairs : int64 (blocks that wait,)
        How many pairs of a non-zero and a column each has.
    """
    counters, blocks, updates, by_block = pending.counters, pending.blocks, pending.updates, pending.by_block
    n_blocks, n_updates = counters[BLOCKS_LISTED], counters[UPDATES_USED]
    starts, pairs = np.zeros(n_blocks + 1, dtype=np.int64), np.zeros(n_blocks, dtype=np.int64)
    for i in range(n_updates):
        v = np.int64(updates[i].block)
        if v != NONE:
            listed = np.int64(blocks[v].listed)
            starts[listed] += 1
            pairs[listed - 1] += np.int64(updates[i].size) * np.int64(updates[i].padded)
    starts = np.cumsum(starts)
    ends = starts.copy()
    for i in range(n_updates):
        v = np.int64(updates[i].block)
        if v != NONE:
            number = np.int64(blocks[v].listed) - 1
            by_block[ends[number]] = updates[i]
            ends[number] += 1
    for i in range(n_blocks):
        block = blocks[pending.waiting[i]]
        block.first, block.listed = NONE, 0
    return starts, pairs


@njit(cache=True, nogil=True)
def settle_blocks(tree, pending, starts, first, end, settings, longest):
    """Do the updates that wait for blocks ``first .. end - 1`` of those that wait, sorted by `sort_by_block`.

    Two blocks learn side by side, each from an instance of its own and with the steps of `learn_rows`: while the sums,
    the logistic function or the roots of one wait for each other, the processor takes those of the other. Calls for
    different blocks may run at the same time.

    What stands here twice is not put into functions, nor into an array of two: compiled so, it took 1.7 times as long.
    """
    tree, pending = unowned(tree), unowned(pending)
    scratch, beside = empty_scratch(longest, tree), empty_scratch(longest, tree)
    a_all_scores, a_targets, b_all_scores, b_targets = scratch.scores, scratch.targets, beside.scores, beside.targets
    rows, by_block, all_slots, all_values = tree.rows, pending.by_block, pending.slots, pending.values
    all_positives, rate, eps, last = pending.positives, settings.rate, settings.eps, starts[end]
    # Of each of the two, as of `taken_block`: what is left of its updates, its biases, and its columns.
    a = a_end = a_bias = a_padded = b = b_end = b_bias = b_padded = np.int64(0)
    following = first
    while True:
        while a == a_end and following < end:
            a, a_end, a_bias, a_padded = taken_block(by_block, starts, following)
            following += 1
        while b == b_end and following < end:
            b, b_end, b_bias, b_padded = taken_block(by_block, starts, following)
            following += 1
        if a == a_end:
            if b == b_end:
                return
            a, a_end, a_bias, a_padded, b, b_end = b, b_end, b_bias, b_padded, a, a_end
        if a + UPDATES_AHEAD < last:
            ask_for_update(all_slots, all_values, by_block[a + UPDATES_AHEAD])
        update, a_scores = by_block[a], borrowed(a_all_scores, 0, a_padded)
        a_slots = borrowed(all_slots, update.slots, update.slots + update.size)
        a_values = borrowed(all_values, update.values, update.values + update.size)
        positives = borrowed(all_positives, update.positives, update.positives + update.n_positives)
        a += 1
        if b == b_end:
            learn_rows(rows, a_bias // SLOT, a_slots, a_values, positives, a_targets, a_scores, rate, eps)
            continue
        set_targets(a_targets, a_padded, positives)
        if b + UPDATES_AHEAD < last:
            ask_for_update(all_slots, all_values, by_block[b + UPDATES_AHEAD])
        update, b_scores = by_block[b], borrowed(b_all_scores, 0, b_padded)
        b_slots = borrowed(all_slots, update.slots, update.slots + update.size)
        b_values = borrowed(all_values, update.values, update.values + update.size)
        positives = borrowed(all_positives, update.positives, update.positives + update.n_positives)
        b += 1
        set_targets(b_targets, b_padded, positives)
        a_biases, b_biases = borrowed(rows, a_bias, a_bias + a_padded), borrowed(rows, b_bias, b_bias + b_padded)
        dense_scores(a_slots, a_values, rows, SLOT, a_biases, a_scores)
        dense_scores(b_slots, b_values, rows, SLOT, b_biases, b_scores)
        a_squares = borrowed(rows, a_bias + a_padded, a_bias + 2 * a_padded)
        b_squares = borrowed(rows, b_bias + b_padded, b_bias + 2 * b_padded)
        adagrad_steps(a_scores, a_targets, a_biases, a_squares, rate, eps)
        adagrad_steps(b_scores, b_targets, b_biases, b_squares, rate, eps)
        adagrad_to_rows(a_slots, a_values, a_scores, rate, eps, rows, SLOT)
        adagrad_to_rows(b_slots, b_values, b_scores, rate, eps, rows, SLOT)


@njit(cache=True, nogil=True)
def taken_block(by_block, starts, i):
    """Find the updates of one of the blocks that wait.

    Returns
    -------
    first, end : int
        In ``by_block``.
    bias : int
        Where the block's row of the constant feature begins.
    padded : int
        Its columns.
    """
    first, end = starts[i], starts[i + 1]
    if first == end:
        return first, end, np.int64(0), np.int64(0)
    return first, end, np.int64(by_block[first].bias) * SLOT, np.int64(by_block[first].padded)


@njit(cache=True, nogil=True)
def ask_for_update(slots, values, update):
    """Prefetch what an update reads, but for the rows."""
    for k in range(0, np.int64(update.size), NUMBERS_PER_LINE):
        prefetch(slots, update.slots + k)
        prefetch(values, update.values + k)
