"""Learn a stream, one instance after the other (oplt2021, Algorithms 3 and 7).

A kernel runs until the arrays of the tree are full. When the arrays are full, `learn` extends the arrays and continues
at the same instance.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.core.progress import Progress
from xmlc.kernels.arrays import row_of_csr, unchecked_view, unowned
from xmlc.kernels.csr import KernelCSR
from xmlc.models.oplt.growth import attach_label
from xmlc.models.oplt.prediction import rank_labels
from xmlc.models.oplt.rows import bits_for, empty_row_scratch, slots_of, update_classifiers
from xmlc.models.oplt.tree import ABOVE, MARK, N_LEARNED, NONE, GrowthSettings, OnlineTree, grown, has_capacity

# This is the number of instances that are learned between two updates of the progress display.
INSTANCES_PER_CALL = 8192


def learn(
    tree: OnlineTree, x: KernelCSR, y: KernelCSR, order: np.ndarray, settings: GrowthSettings, title: str, k: int = 0
) -> tuple[OnlineTree, np.ndarray, np.ndarray]:
    """Learn the rows of a matrix one by one in the given order, and rank labels for each row before the row is learned.

    Parameters
    ----------
    tree, x, y, order, settings
        See `learn_rows`.
    title : str
        Title of the progress display.
    k : int
        Number of labels to rank for each row.

    Returns
    -------
    tree : OnlineTree
        The updated tree, which may have longer arrays than before.
    ranking : ndarray of int32, shape (order.size, k)
        The ranked labels of each row, best first.
    estimates : ndarray of float32, shape (order.size, k)
        Estimates of the labels in ``ranking``.
    """
    ranking, estimates = np.empty((order.size, k), dtype=np.int32), np.empty((order.size, k), dtype=np.float32)
    longest = int(np.diff(x.indptr).max(initial=0))
    with Progress(float(order.size), title, "instances") as progress:
        for first in range(0, order.size, INSTANCES_PER_CALL):
            part = slice(first, first + INSTANCES_PER_CALL)
            rows, start, goes_on = order[part], 0, False
            while start < rows.size:
                start = learn_rows(x, y, rows, start, goes_on, tree, settings, longest, ranking[part], estimates[part])
                tree, goes_on = grown(tree), True
            progress.update(rows.size)
    return tree, ranking, estimates


@njit(cache=True, nogil=True)
def learn_rows(x, y, order, start, goes_on, tree, settings, longest, ranking, estimates):
    """Learn the rows ``order[start:]`` one by one, and rank the k best labels for each row before the row is learned.

    Parameters
    ----------
    x, y : KernelCSR
        Instances and label sets.
    order : int64
        Numbers of the rows to learn.
    start : int
        Position in ``order`` of the first row to learn.
    goes_on : bool
        Whether the previous call stopped at ``start``. A call that stops at a row has already ranked labels for the
        row, and may have added new labels of the row.
    tree : OnlineTree
        The tree, updated in place.
    settings : GrowthSettings
        Settings that determine how the tree grows and learns.
    longest : int
        Largest number of non-zeros of an instance.
    ranking : int32 (order.size, k), estimates : float32 (order.size, k)
        On return, the ranked labels, best first, and their estimates. k may be 0.

    Returns
    -------
    int
        Position in ``order`` from which to continue. If the returned position is not the end of ``order``, the arrays
        are full: extend the arrays by `grown`, and call the function again.
    """
    x, y, tree = unowned(x), unowned(y), unowned(tree)
    scratch, positives = empty_row_scratch(longest, tree), np.empty(tree.nodes.size, np.int32)
    for position in range(start, order.size):  # this loop is line 1 of Algorithm 3
        (ids, values), (labels, _) = row_of_csr(x, order[position]), row_of_csr(y, order[position])
        if ranking.shape[1] > 0 and not (goes_on and position == start):
            rank_labels(tree, ids, values, scratch, ranking[position], estimates[position])
        if not learn_instance(tree, ids, values, labels, scratch, positives, settings):
            return position
    return order.size


@njit(cache=True, nogil=True)
def learn_instance(tree, ids, values, labels, scratch, positives, settings):
    """Extend the tree by the new labels of an instance, and update the classifiers (lines 2 and 3 of Algorithm 3).

    Returns
    -------
    bool
        Whether the instance was learned. An instance is not learned if the arrays are full. If the result is False,
        extend the arrays by `grown`, and call the function again.
    """
    for label in labels:  # this loop is line 1 of Algorithm 4 (UpdateTree)
        if tree.leaves[label] == NONE and not attach_label(tree, ids, values, label, scratch, settings):
            return False
    n_positives = mark_positives(tree, labels, positives)  # this call is line 1 of Algorithm 7 (UpdateClassifiers)
    found = unchecked_view(positives, 0, n_positives)
    if not has_capacity_to_learn(tree, found, ids.size):
        return False
    update_classifiers(tree, found, ids, values, scratch, settings.rate, settings.eps)
    tree.counters[N_LEARNED] += 1
    return True


@njit(cache=True, nogil=True)
def mark_positives(tree, labels, positives):
    """Find the nodes with z_v = 1 (equation (1)) for an instance, and link the positive children of each node.

    The function writes the positive nodes to ``positives``, int32, and returns their number. The node above the root
    always counts as positive. The running time of the function is linear in the number of positive nodes.
    """
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
    """Return whether there is capacity for a row of each feature of an instance in the blocks of all positive nodes."""
    slots, entries, nodes = np.int64(0), np.int64(0), tree.nodes
    for v in positives:
        node = nodes[v]
        if node.padded > 0:
            slots += n_features * (slots_of(node.padded) + 1)
            bits = bits_for(node.n_features + n_features, node.table_bits)
            if bits > node.table_bits:
                entries += np.int64(1) << bits
    return has_capacity(tree, 0, slots, entries)
