"""The stream is taken up, instance after instance: the tree grows, and updates are written down: kernels.

oplt2021, Algorithms 3 and 7.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed, unowned
from xmlc.models.oplt._blocks import ask_for_homes, empty_scratch, find_rows, make_rows
from xmlc.models.oplt._extend import GROWN, TREE_FULL, add_label, has_capacity
from xmlc.models.oplt._pending import CLEAR, MOVED_USED, add_change, add_update, has_room, new_list
from xmlc.models.oplt._policy import reads_rows
from xmlc.models.oplt._robin_hood import bits_for
from xmlc.models.oplt._rows import slots_of
from xmlc.models.oplt._search import empty_queue, rank_labels
from xmlc.models.oplt._settle import clear_rows, settle_in_turn
from xmlc.models.oplt.tree import ABOVE, MARK, N_LEARNED, N_NODES, NONE
from xmlc.runtime.kernel_cache import njit

DONE, MUST_GROW, QUIET = 0, -2, -3  # beside those of `add_label`
QUIET_ROWS = 32  # after so many instances without a new label in a row, a stream is quiet


@njit(cache=True, nogil=True)
def mark_positives(tree, labels, positives):
    """Find the nodes with z_v = 1 (equation (1)) of an instance and chain each one's positive children.

    Returns how many they are, the one above the root included, which is always positive; they stand in ``positives``,
    int32. Costs the lengths of the labels' paths, as far as they are not shared.
    """
    tree = unowned(tree)
    nodes, mark = tree.nodes, tree.counters[MARK] + 1
    tree.counters[MARK] = mark
    nodes[ABOVE].stamp, nodes[ABOVE].head = mark, NONE
    positives[0], count = ABOVE, 1
    for label in labels:
        node, child = np.int64(tree.leaves[label]), np.int64(NONE)
        while nodes[node].stamp != mark:
            nodes[node].stamp, nodes[node].head = mark, child
            if child != NONE:
                nodes[child].next_positive = NONE
            positives[count] = node
            count += 1
            child, node = node, np.int64(nodes[node].parent)
        if child != NONE:
            nodes[child].next_positive = nodes[node].head
            nodes[node].head = child
    return count


@njit(cache=True, nogil=True)
def has_capacity_to_learn(tree, positives, n_features):
    """Tell whether all positive nodes' blocks can take all features of an instance."""
    tree = unowned(tree)
    slots, entries, nodes = np.int64(0), np.int64(0), tree.nodes
    for v in positives:
        node = nodes[v]
        if node.padded > 0:
            slots += n_features * (slots_of(node.padded) + 1)
            bits = bits_for(node.n_features + n_features, node.table_bits)
            if bits > node.table_bits:
                entries += np.int64(1) << bits
    return has_capacity(tree, 0, slots, entries)


@njit(cache=True, nogil=True)
def ask_for_block(nodes, entries, v, ids):
    """Prefetch where the table of block v should have some features, if it has one."""
    node = nodes[v]
    if node.padded > 0:
        table = borrowed(entries, node.table, node.table + (np.int64(1) << node.table_bits))
        ask_for_homes(table, node.table_bits, ids)


@njit(cache=True, nogil=True)
def add_updates(tree, pending, ids, begin, marked, at_once):
    """Write down the updates of the blocks that an instance reaches; there must be capacity and room.

    Rows that were used before are cleared ``at_once``, or that is written down too.
    """
    tree, pending = unowned(tree), unowned(pending)
    nodes, reached = tree.nodes, pending.reached
    entries, all_slots, moved, counters = tree.entries, pending.slots, pending.moved, pending.counters
    written = pending.updates, pending.positives, pending.blocks, pending.waiting, counters
    ask_for_block(nodes, entries, np.int64(reached[0]), ids)
    for i in range(marked):
        if i + 1 < marked:  # while the rows of one block are looked up
            ask_for_block(nodes, entries, np.int64(reached[i + 1]), ids)
        v = np.int64(reached[i])
        node = nodes[v]
        if node.padded > 0:
            first = add_update(nodes, *written, v, begin, ids.size)
            slots = borrowed(all_slots, first, first + ids.size)
            table = borrowed(entries, node.table, node.table + (np.int64(1) << node.table_bits))
            missing = ids.size - find_rows(table, node.table_bits, ids, slots)
            if missing > 0:
                place = counters[MOVED_USED]
                n_used = make_rows(tree, v, ids, slots, missing, borrowed(moved, place, place + missing))
                if n_used > 0 and at_once:
                    clear_rows(tree.rows, borrowed(moved, place, place + n_used), np.int64(node.padded))
                elif n_used > 0:
                    place = new_list(pending, n_used)
                    add_change(pending, CLEAR, v, False, place, place, n_used, node.padded, node.padded)


@njit(cache=True, nogil=True)
def take_up(tree, x, row, labels, scratch, marked, pending, settings, may_grow):
    """Extend the tree by the labels that are new, then write down the updates of the classifiers (Algorithm 3).

    Parameters
    ----------
    row : int
        Of x.
    marked : int
        What the call before returned if it was for the same instance and there was no room, else 0.
    may_grow : bool
        Whether the tree may take new labels. It may not while the window before is settled if its policy reads
        classifiers: those have to have learned all that came before.

    Returns
    -------
    int
        `DONE`; `MUST_GROW` if the instance has a new label that may not be taken, and nothing was done; `TREE_FULL` or
        `PENDING_FULL` if there was no room in the tree's arrays or for changes in ``pending``: once there is, the same
        call goes on where this one stopped; else the number of positive nodes, for whose updates there was no room.
    """
    x, tree, pending = unowned(x), unowned(tree), unowned(pending)
    begin, end = x.indptr[row], x.indptr[row + 1]
    ids, reached = borrowed(x.indices, begin, end), pending.reached
    if marked == 0:
        for label in labels:
            if tree.leaves[label] == NONE:
                values = borrowed(x.data, begin, end)
                if not may_grow:
                    return MUST_GROW
                state = add_label(tree, pending, ids, values, label, scratch, settings)
                if state != GROWN:
                    return state
        marked = mark_positives(tree, labels, reached)
        if not has_capacity_to_learn(tree, borrowed(reached, 0, marked), ids.size):
            return TREE_FULL
    if not has_room(pending, marked, ids.size):
        return marked
    add_updates(tree, pending, ids, begin, marked, reads_rows(settings))
    tree.counters[N_LEARNED] += 1
    return DONE


@njit(cache=True, nogil=True)
def take_up_rows(x, y, order, start, marked, tree, pending, settings, longest, may_grow, until_quiet):
    """Take up the rows ``order[start:]`` one by one.

    Parameters
    ----------
    x, y : KernelCSR
    order : int64
    start : int
        First position to take up.
    marked : int
        The state that the call before returned, if it is positive; else 0.
    tree : OnlineTree
    pending : Pending
    settings : Settings
    longest : int
        Most non-zeros of an instance.
    may_grow : bool
        See `take_up`.
    until_quiet : bool
        Whether to stop where the tree has not grown for `QUIET_ROWS` instances.

    Returns
    -------
    position : int
        Where to go on.
    state : int
        As of `take_up`; `QUIET` if the tree has not grown for so many.
    """
    x, y, tree, pending = unowned(x), unowned(y), unowned(tree), unowned(pending)
    scratch, last_growth = empty_scratch(longest, tree), start - 1
    for position in range(start, order.size):
        row = order[position]
        labels = borrowed(y.indices, y.indptr[row], y.indptr[row + 1])
        n_nodes = tree.counters[N_NODES]
        state = take_up(tree, x, row, labels, scratch, marked, pending, settings, may_grow)
        if state != DONE:
            return position, state
        marked = 0
        if tree.counters[N_NODES] > n_nodes:
            last_growth = position
        elif until_quiet and position - last_growth == QUIET_ROWS:
            return position + 1, QUIET
    return order.size, DONE


@njit(cache=True, nogil=True)
def rank_and_learn_rows(x, y, order, start, ranked, marked, tree, pending, settings, longest, ranking, scores):
    """Learn the rows ``order[start:]`` one by one; before it learns one, rank its k best labels.

    Parameters
    ----------
    x, y, order, start, marked, tree, pending, settings, longest
        As for `take_up_rows`.
    ranked : int
        First position to rank.
    ranking : int32 (order.size, k), scores : float32 (order.size, k)
        Written: labels, best first, and their estimates.

    Returns
    -------
    start, ranked : int
        Where to go on.
    state : int
        As of `take_up`.
    """
    x, y, tree, pending = unowned(x), unowned(y), unowned(tree), unowned(pending)
    scratch, queue = empty_scratch(longest, tree), empty_queue(tree)
    for position in range(start, order.size):
        row = order[position]
        ids, values = x.indices[x.indptr[row] : x.indptr[row + 1]], x.data[x.indptr[row] : x.indptr[row + 1]]
        labels = y.indices[y.indptr[row] : y.indptr[row + 1]]
        if position >= ranked:
            rank_labels(tree, ids, values, scratch, queue, ranking[position], scores[position])
        state = take_up(tree, x, row, labels, scratch, marked, pending, settings, True)
        settle_in_turn(tree, pending, scratch, settings)
        if state != DONE:
            return position, position + 1, state
        marked = 0
    return order.size, order.size, DONE
