"""OFO on the stream, together with the training (plt2016, Section 4.3 and Algorithm 2): kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import unowned
from xmlc.models.oplt._blocks import empty_scratch
from xmlc.models.oplt._search import empty_queue, labels_above
from xmlc.models.oplt._settle import settle_in_turn
from xmlc.models.oplt.learning._queue import DONE, take_up
from xmlc.models.oplt.tree import NONE
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def set_threshold(tree, label, threshold):
    """Set the threshold of a label, and the bounds of the nodes above as far as they change."""
    nodes, v = tree.nodes, np.int64(tree.leaves[label])
    nodes[v].bound = threshold
    v = np.int64(nodes[v].parent)
    while v != NONE:
        smallest, child = np.float32(np.inf), np.int64(nodes[v].first_child)
        while child != NONE:
            smallest = min(smallest, nodes[child].bound)
            child = np.int64(nodes[child].next_sibling)
        if smallest == nodes[v].bound:
            return
        nodes[v].bound = smallest
        v = np.int64(nodes[v].parent)


@njit(cache=True, nogil=True)
def set_all_thresholds(tree, threshold):
    """Give all labels the same threshold."""
    for v in range(tree.nodes.size):
        tree.nodes[v].bound = threshold


@njit(cache=True, nogil=True)
def learn_rows_with_thresholds(
    x, y, order, start, predicted, marked, tree, pending, settings, longest, hits, sizes, counts
):
    """Learn the rows ``order[start:]`` one by one; before it learns one, predict its set, and let OFO learn from that.

    A label's threshold is hits / sizes, OFO's a_j / b_j, from the first instance on that has it or for which it is
    predicted; one that is new begins with the settings' threshold, and its first instance counts.

    Parameters
    ----------
    x, y, order, start, marked, tree, pending, settings, longest
        As for `take_up_rows`.
    predicted : int
        First position to predict.
    hits, sizes : float64 (labels,)
        a_j and b_j; updated.
    counts : int64 (order.size,)
        Written: the size of each set.

    Returns
    -------
    start, predicted : int
        Where to go on.
    state : int
        As of `take_up`.
    sets : int32
        The sets predicted in this call, one after the other.
    """
    x, y, tree, pending = unowned(x), unowned(y), unowned(tree), unowned(pending)
    scratch, queue = empty_scratch(longest, tree), empty_queue(tree)
    found = np.empty(tree.nodes.size, dtype=np.int32)
    sets, size = np.empty(1024, dtype=np.int32), 0
    for position in range(start, order.size):
        row = order[position]
        ids, values = x.indices[x.indptr[row] : x.indptr[row + 1]], x.data[x.indptr[row] : x.indptr[row + 1]]
        labels = y.indices[y.indptr[row] : y.indptr[row + 1]]
        if position >= predicted:
            count = labels_above(tree, ids, values, scratch, queue, found)
            counts[position] = count
            while size + count > sets.size:
                sets = np.concatenate((sets, np.empty_like(sets)))
            sets[size : size + count] = found[:count]
            size += count
            count_sets(labels, found[:count], hits, sizes)
            for label in found[:count]:
                set_threshold(tree, label, np.float32(hits[label] / sizes[label]))
        state = take_up(tree, x, row, labels, scratch, marked, pending, settings, True)
        settle_in_turn(tree, pending, scratch, settings)
        if state != DONE:
            return position, position + 1, state, sets[:size].copy()
        marked = 0
        for label in labels:
            set_threshold(tree, label, np.float32(hits[label] / sizes[label]))
    return order.size, order.size, DONE, sets[:size].copy()


@njit(cache=True, nogil=True)
def count_sets(labels, predicted, hits, sizes):
    """Count an instance in the sums (7): a_j += y_j p_j and b_j += y_j + p_j for its labels y and the predicted p.

    Parameters
    ----------
    labels, predicted : integers, each label once
    hits, sizes : float64 (labels,)
        a_j and b_j; updated.
    """
    for label in labels:
        sizes[label] += 1.0
    for label in predicted:
        sizes[label] += 1.0
        for true in labels:
            hits[label] += np.int64(true) == np.int64(label)
