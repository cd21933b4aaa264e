"""Learn a stream, one instance after the other (oplt2021, Algorithms 3, 4 and 7).

`learn_rows` is Algorithm 3, `update_tree` Algorithm 4, and `update_classifiers` Algorithm 7. All
three stop if the arrays of the tree are full. Then `OPLT` extends the arrays and continues at the
same instance.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import row_of_csr, unchecked_view, unowned
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.sibling_rows import adagrad_to_rows, dense_scores
from xmlc.models.oplt.growth import (
    add_leaf,
    extend_by_program,
    extend_leaf,
    has_capacity_to_extend,
    label_root,
    push_down,
    selected,
)
from xmlc.models.oplt.prediction import rank_labels
from xmlc.models.oplt.rows import bits_for, empty_row_scratch, find_slot, make_rows, slots_of
from xmlc.models.oplt.tree import (
    ABOVE,
    ENTRIES_PER_SLOT,
    MARK,
    N_LEARNED,
    NONE,
    ROOT,
    SELECTED_FOR,
    SLOT,
    has_capacity,
)
from xmlc.models.plt.solvers import logistic_derivatives

MOST = 1e37  # Sums in float32 must not exceed 1e37, which leaves a margin for rounding errors.


def may_overflow(x: KernelCSR, gamma: float, steps: int) -> bool:
    """Return whether a sum in float32 could overflow in this number of steps.

    A step of AdaGrad changes a weight by at most about five times gamma. The number of steps
    therefore bounds all sums before learning begins, so that an error leaves the model unchanged.
    """
    largest = max(abs(float(x.data.max(initial=1))), abs(float(x.data.min(initial=1))))
    score = gamma * steps * largest * (np.diff(x.indptr).max(initial=0) + 1)
    return not max(score, steps * largest * largest) < MOST


@njit
def learn_rows(x, y, order, start, tree, settings, longest, ranking, estimates):
    """Learn the rows ``order[start:]`` one by one, and rank the k best labels for each row before
    the row is learned.

    Parameters
    ----------
    x, y : KernelCSR
        Instances and label sets.
    order : int64
        Numbers of the rows to learn.
    start : int
        Position in ``order`` of the first row to learn.
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
        Position in ``order`` from which to continue. If the returned position is not the end of
        ``order``, the arrays are full: extend the arrays by `grown`, and call the function again.
    """
    x = unowned(x)
    y = unowned(y)
    tree = unowned(tree)
    counters = tree.counters
    scratch = empty_row_scratch(longest, tree)
    for position in range(start, order.size):  # line 1 of Algorithm 3
        ids, values = row_of_csr(x, order[position])
        labels, _ = row_of_csr(y, order[position])
        # If an earlier call stopped at this row, it has ranked labels for the row, and may have
        # added new ones.
        if ranking.shape[1] > 0 and counters[SELECTED_FOR] != counters[N_LEARNED]:
            rank_labels(tree, ids, values, scratch, ranking[position], estimates[position])
        if not update_tree(tree, ids, values, labels, scratch, settings):  # line 2
            return position
        if not update_classifiers(tree, ids, values, labels, scratch, settings):  # line 3
            return position
        counters[N_LEARNED] += 1
    return order.size


@njit
def update_tree(tree, ids, values, labels, scratch, settings):
    """Extend the tree by the new labels of an instance (Algorithm 4, and Figure 1).

    Return False if the arrays are full. Then a later call for the same instance adds the remaining
    labels.
    """
    root = tree.nodes[ROOT]
    for label in labels:  # line 1
        if tree.leaves[label] != NONE:
            continue
        v = selected(tree, ids, values, scratch, settings)  # line 4 calls A_policy, Algorithm 8
        if not has_capacity_to_extend(tree, v):
            return False
        node = tree.nodes[v]
        if settings.program:
            extend_by_program(tree, v, label, settings)
        elif root.n_leaves == 0:
            label_root(tree, label)  # line 2
        elif node.degree == 0:
            extend_leaf(tree, v, label)  # lines 5 and 6, variant 3 in Figure 1 d
        elif node.degree < settings.max_leaf:
            add_leaf(tree, v, label, settings)  # line 6, variant 1 in Figure 1 b
        else:
            push_down(tree, v, label, settings)  # lines 5 and 6, variant 2 in Figure 1 c
    return True


@njit
def update_classifiers(tree, ids, values, labels, scratch, settings):
    """Update the classifiers of the children of all positive nodes with one instance (Algorithm 7).

    The target is 1 for the classifiers of positive children and for auxiliary classifiers, and 0
    for the classifiers of negative children. The steps are bit-identical to the steps of
    `xmlc.models.plt.solvers.adagrad`. An update moves 24 bytes per non-zero and column, and takes
    one look-up per non-zero and block. Return False if the arrays are full.
    """
    n_positives = mark_positives(tree, labels, scratch.positives)  # line 1
    positives = unchecked_view(scratch.positives, 0, n_positives)
    if not has_capacity_to_learn(tree, positives, ids.size):
        return False
    # Fields of the tree are read once for all blocks. A call per block with the tree as an argument
    # would take a tenth of the training time of a binary tree.
    nodes = tree.nodes
    rows = tree.rows
    entries = tree.rows.view(np.uint64)
    targets = scratch.targets
    # first the constant feature, then the instance's
    slots = unchecked_view(scratch.slots, 0, ids.size + 1)
    own_values = unchecked_view(scratch.values, 0, ids.size + 1)
    own_values[0] = 1
    for k in range(ids.size):
        own_values[k + 1] = values[k]
    for positive in positives:  # lines 2 and 5
        v = np.int64(positive)
        node = nodes[v]
        padded = np.int64(node.padded)
        if padded == 0:
            continue
        first = node.table * ENTRIES_PER_SLOT
        table = unchecked_view(entries, first, first + (np.int64(1) << node.table_bits))
        bits = node.table_bits
        n_new = 0
        for k in range(ids.size):
            slots[k + 1] = find_slot(table, bits, ids[k])
            n_new += slots[k + 1] == 0
        if n_new > 0:
            make_rows(tree, v, ids, slots, n_new)
        slots[0] = node.bias
        for column in range(padded):
            targets[column] = 0
        if node.auxiliary == 1:
            targets[0] = 1  # line 4
        child = np.int64(node.head)
        while child != NONE:
            targets[nodes[child].column] = 1  # line 3
            child = np.int64(nodes[child].next_positive)
        scores = unchecked_view(scratch.scores, 0, padded)
        scores[:] = 0
        dense_scores(slots, own_values, rows, SLOT, scores, scores)
        logistic_derivatives(scores, targets)
        adagrad_to_rows(slots, own_values, scores, settings.rate, settings.eps, rows, SLOT)
    return True


@njit
def mark_positives(tree, labels, positives):
    """Find the nodes with z_v = 1 (equation (1)) for an instance, and link the positive children of
    each node.

    The function writes the positive nodes to ``positives``, int32, and returns their number. The
    node above the root always counts as positive. The running time of the function is linear in the
    number of positive nodes.
    """
    nodes = tree.nodes
    mark = tree.counters[MARK] + 1
    tree.counters[MARK] = mark
    nodes[ABOVE].stamp = mark
    nodes[ABOVE].head = NONE
    positives[0] = ABOVE
    count = 1
    for label in labels:
        node = np.int64(tree.leaves[label])
        child = np.int64(NONE)
        while nodes[node].stamp != mark:
            nodes[node].stamp = mark
            nodes[node].head = child
            if child != NONE:
                nodes[child].next_positive = NONE
            positives[count] = node
            count += 1
            child = node
            node = np.int64(nodes[node].parent)
        if child != NONE:
            nodes[child].next_positive = nodes[node].head
            nodes[node].head = child
    return count


@njit
def has_capacity_to_learn(tree, positives, n_features):
    """Return whether there is capacity for a row of each feature of an instance in the blocks of
    all positive nodes.
    """
    slots = np.int64(0)
    for v in positives:
        node = tree.nodes[v]
        if node.padded > 0:
            slots += n_features * (slots_of(node.padded) + 1)
            bits = bits_for(node.n_features + n_features, node.table_bits)
            if bits > node.table_bits:
                slots += slots_of(np.int64(1) << bits) + 1
    return has_capacity(tree, 0, slots)
