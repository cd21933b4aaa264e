"""Learning of a stream, one instance after the other (oplt2021, Algorithms 3, 4 and 7).

The kernels stop if the arrays of the tree are full. `OPLT` then extends the arrays and continues at
the same instance.
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

MOST = 1e37  # limit of sums in float32, with a margin for rounding errors


def may_overflow(x: KernelCSR, gamma: float, steps: int) -> bool:
    """Return whether a sum in float32 could overflow in this number of steps.

    An AdaGrad step changes a weight by at most about five times gamma. So an error can be raised
    before learning begins, and leaves the model unchanged.
    """
    largest = max(abs(float(x.data.max(initial=1))), abs(float(x.data.min(initial=1))))
    score = gamma * steps * largest * (np.diff(x.indptr).max(initial=0) + 1)
    return not max(score, steps * largest * largest) < MOST


@njit
def learn_rows(x, y, order, start, tree, settings, longest, ranking, estimates):
    """Learn the rows ``order[start:]`` one by one, each after its k best labels are ranked.

    ``longest`` is the largest number of non-zeros of an instance. ``ranking``, int32 (order.size,
    k), and ``estimates``, float32, receive the labels and their estimates. k may be 0.

    The result is the position in ``order`` from which to continue. Unless it is the end, the arrays
    are full and `grown` has to extend them first.
    """
    x = unowned(x)
    y = unowned(y)
    tree = unowned(tree)
    counters = tree.counters
    scratch = empty_row_scratch(longest, tree)
    for position in range(start, order.size):  # line 1 of Algorithm 3
        ids, values = row_of_csr(x, order[position])
        labels, _ = row_of_csr(y, order[position])
        # an earlier call that stopped at this row has ranked it, and may have added new labels
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
    """Extend the tree by the new labels of an instance (Algorithm 4 and Figure 1).

    If the arrays are full, the result is False, and the next call adds the other labels.
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
    """Update the classifiers of the children of all positive nodes with one instance (Algorithm 7),
    and return False if the arrays are full.

    The steps are bit-identical to `xmlc.models.plt.solvers.adagrad`, but also take one look-up per
    non-zero and block.
    """
    n_positives = mark_positives(tree, labels, scratch.positives)  # line 1
    positives = unchecked_view(scratch.positives, 0, n_positives)
    if not has_capacity_to_learn(tree, positives, ids.size):
        return False
    # read once, because a call per block with the tree as an argument would take a tenth of the
    # training time of a binary tree
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
    """Write the nodes with z_v = 1 (equation (1)) for an instance to ``positives``, int32, link
    each node's positive children, and return the number of nodes.

    The node above the root always counts as positive.
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
    """Return whether the blocks of positive nodes have capacity for all features of an instance."""
    slots = np.int64(0)
    for v in positives:
        node = tree.nodes[v]
        if node.padded > 0:
            slots += n_features * (slots_of(node.padded) + 1)
            bits = bits_for(node.n_features + n_features, node.table_bits)
            if bits > node.table_bits:
                slots += slots_of(np.int64(1) << bits) + 1
    return has_capacity(tree, 0, slots)
