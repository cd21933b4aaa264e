"""Start an online tree and add labels to it (oplt2021, Algorithms 2, 4-6 and 8, Figure 1). Kernels.

`add_label_by_paper` is the paper's algorithm, and `add_label_by_program` is the algorithm of the authors' program. The
functions below `add_label_by_program` serve both algorithms. A node keeps an auxiliary classifier only if a later label
can extend the node.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.float64 import log
from xmlc.models.oplt.rows import copy_auxiliary, open_block, open_copies, row_size, score_block, slots_of, widen
from xmlc.models.oplt.tree import (
    ABOVE,
    N_LEARNED,
    N_NODES,
    NONE,
    ROOT,
    SELECTED,
    SELECTED_FOR,
    SMALLEST_TABLE,
    GrowthSettings,
    OnlineTree,
    empty_online_tree,
    has_capacity,
    with_labels,
    with_room,
)
from xmlc.models.trees import LabelTree


def initial_tree(settings: GrowthSettings, given: LabelTree | None = None) -> OnlineTree:
    """Return a tree with the shape of ``given``.

    If ``given`` is None, the tree consists of a root without label (oplt2021, Algorithm 2).
    """
    alone = np.array([1, 1]), np.array([NONE], dtype=np.int32)
    children, label = (given.children, given.label) if given else alone
    tree = with_labels(empty_online_tree(), int(label.max()) + 1)
    slots = 4 + sum(slots_of(row_size(degree + 1)) + 1 for degree in np.diff(children).tolist())
    tree = with_room(tree, label.size + 1, slots, (label.size + 1) << SMALLEST_TABLE)
    plant_given(tree, children, label, settings)
    return tree


@njit(cache=True, nogil=True)
def plant_given(tree, children, label, settings):
    """Build the nodes of a given tree, in breadth-first order, with new classifiers."""
    n_nodes, nodes = label.size, tree.nodes
    above = new_node(tree, NONE)
    open_block(tree, above, 1, 0, SMALLEST_TABLE)
    for t in range(n_nodes):
        new_node(tree, label[t])
    append_child(tree, above, ROOT, 0)
    for t in range(n_nodes):
        v, leaves = t + ROOT, 0
        for child in range(children[t], children[t + 1]):
            leaves += label[child] >= 0
        degree = children[t + 1] - children[t]
        if degree > 0:
            auxiliary = 1 if extends_inner(degree, leaves, settings) else 0
            open_block(tree, v, degree + auxiliary, auxiliary, SMALLEST_TABLE)
            for c in range(degree):
                append_child(tree, v, children[t] + c + ROOT, c + auxiliary)
        elif t == 0 or extends_leaf(nodes[nodes[v].parent]):
            open_block(tree, v, 1, 1, SMALLEST_TABLE)
    for t in range(n_nodes - 1, -1, -1):
        nodes[nodes[t + ROOT].parent].n_leaves += nodes[t + ROOT].n_leaves


@njit(cache=True, nogil=True)
def attach_label(tree, ids, values, label, scratch, settings):
    """Extend the tree by a label that no earlier instance had.

    Returns
    -------
    bool
        Whether the label was added. If the arrays are full, the function returns False and the tree does not change. If
        the result is False, extend the arrays by `grown`, and call the function again.
    """
    if settings.program:
        return add_label_by_program(tree, ids, values, label, scratch, settings)
    return add_label_by_paper(tree, ids, values, label, scratch, settings)


@njit(cache=True, nogil=True)
def add_label_by_paper(tree, ids, values, label, scratch, settings):
    """Add a label by lines 2-6 of Algorithm 4 and the policies of Algorithm 8, see `attach_label`."""
    nodes, counters, root = tree.nodes, tree.counters, tree.nodes[ROOT]
    if root.n_leaves == 0:
        root.label, root.n_leaves, tree.leaves[label] = label, 1, ROOT  # line 2
        nodes[ABOVE].leaf_children = nodes[ABOVE].n_leaves = 1
        return True
    v = only_leaf(tree, selected(tree, ids, values, scratch, settings))  # line 4 of Algorithm 4 calls A_policy
    counters[SELECTED], counters[SELECTED_FOR] = v, counters[N_LEARNED]
    if not has_capacity_to_extend(tree, v):
        return False
    if nodes[v].degree == 0:  # lines 5 and 6 of Algorithm 4 call AddLeaf, after InsertNode if the node is full
        extend_leaf(tree, v, label)
    elif nodes[v].degree < settings.max_leaf:
        extend_inner(tree, v, label, settings)
    else:
        column = push_down(tree, v, settings)
        open_block(tree, append_leaf(tree, v, label, column), 1, 1, SMALLEST_TABLE)
    return True


@njit(cache=True, nogil=True)
def extend_inner(tree, v, label, settings):
    """Append a leaf to an inner node (variant 1 in Figure 1 b, AddLeaf in Algorithm 6)."""
    node = tree.nodes[v]
    column = new_column(tree, v, extends_inner(node.degree + 1, node.leaf_children + 1, settings))
    leaf = append_leaf(tree, v, label, column)
    if extends_leaf(node):
        open_block(tree, leaf, 1, 1, SMALLEST_TABLE)


@njit(cache=True, nogil=True)
def extend_leaf(tree, v, label):
    """Turn a leaf into the parent of two leaves, for the old label and the new label (variant 3 in Figure 1 d).

    See Algorithms 5 and 6 of oplt2021. A leaf's block holds only the leaf's auxiliary classifier. Each row of the
    leaf's block has space for two additional classifiers.
    """
    nodes, node = tree.nodes, tree.nodes[v]
    old = new_node(tree, node.label)
    copy_auxiliary(tree, v, 1, 2, 3)
    node.width = 3
    node.label = NONE
    append_child(tree, v, old, 1)
    nodes[node.parent].leaf_children -= 1
    append_leaf(tree, v, label, 2)


@njit(cache=True, nogil=True)
def extends_inner(degree, leaf_children, settings):
    """Return whether a later label may extend an inner node with a given degree and number of leaf children."""
    return leaf_children == degree or degree < settings.arity


@njit(cache=True, nogil=True)
def extends_leaf(parent):
    """Return whether a later label may extend a leaf of ``parent``.

    A label may extend a leaf only if the leaf's parent has a child that is not a leaf.
    """
    return parent.leaf_children < parent.degree


@njit(cache=True, nogil=True)
def only_leaf(tree, v):
    """Return the only leaf among the children of v, or v if there is not exactly one leaf (line 8 of Algorithm 8)."""
    nodes = tree.nodes
    if nodes[v].leaf_children != 1:
        return v
    child = np.int64(nodes[v].first_child)
    while nodes[child].degree > 0:
        child = np.int64(nodes[child].next_sibling)
    return child


@njit(cache=True, nogil=True)
def add_label_by_program(tree, ids, values, label, scratch, settings):
    """Add a label as the authors' program (napkinXC 0.7) does, see `attach_label`.

    The program collects new leaves in groups. A group is an inner node that has an auxiliary classifier.

    * For each of the first b instances with new labels, a group with all new labels of the instance is added below the
      root.
    * For later instances, the policy descends from the root to a group. New leaves are added to the group until it has
      b_max children, even if some children are not leaves.
    * If the group is full, the label is added to the first sibling that is a group with space.
    * If no sibling has space, all children of the group move below one new node. A second new node, a group that
      contains the new leaf, is placed next to the first new node. After the move, the full group has only the two new
      nodes as children. If b = 2, the full group loses its auxiliary classifier. If b > 2, the full group remains a
      group.
    """
    counters, node = tree.counters, tree.nodes[ROOT]
    v = selected(tree, ids, values, scratch, settings)
    counters[SELECTED], counters[SELECTED_FOR] = v, counters[N_LEARNED]
    if v != ROOT and not has_room(tree, v, settings):
        v = sibling_with_room(tree, v, settings)
    if not has_capacity_to_extend(tree, v):
        return False
    if v == ROOT:
        add_group(tree, ROOT, new_column(tree, ROOT, node.degree + 1 < settings.arity), label, settings)
    elif has_room(tree, v, settings):
        append_leaf(tree, v, label, new_column(tree, v, True))
    else:
        add_group(tree, v, push_down(tree, v, settings), label, settings)
    return True


@njit(cache=True, nogil=True)
def add_group(tree, v, column, label, settings):
    """Append a group with one leaf to the children of v.

    Further new labels of the same instance extend the new group.
    """
    group = new_node(tree, NONE)
    append_child(tree, v, group, column)
    open_block(tree, group, 1, 1, SMALLEST_TABLE)
    append_leaf(tree, group, label, new_column(tree, group, True))
    tree.counters[SELECTED] = group


@njit(cache=True, nogil=True)
def has_room(tree, group, settings):
    """Return whether a group has space for one more leaf.

    If one of the first b instances creates a group, the group has space for all new labels of the instance.
    """
    node = tree.nodes[group]
    is_first = node.parent == ROOT and node.stamp == NONE
    return is_first or node.degree < settings.max_leaf


@njit(cache=True, nogil=True)
def sibling_with_room(tree, v, settings):
    """Return the first sibling of v that is a group with space for a leaf. If v has no sibling with space, return v."""
    nodes = tree.nodes
    sibling = np.int64(nodes[nodes[v].parent].first_child)
    while sibling != NONE and not (nodes[sibling].auxiliary == 1 and has_room(tree, sibling, settings)):
        sibling = np.int64(nodes[sibling].next_sibling)
    return v if sibling == NONE else sibling


@njit(cache=True, nogil=True)
def selected(tree, ids, values, scratch, settings):
    """Return the node that the policy selects to be extended by the new labels of an instance.

    The first call for an instance descends from the root. Later calls for the same instance return the node in
    ``counters[SELECTED]``.

    Lines 1-6 of Algorithm 8 descend while a node has no auxiliary classifier. In the paper, a node without auxiliary
    classifier has b children, and at least one of them is not a leaf. In this package, a node without auxiliary
    classifier may have more than b children if it belongs to a given initial tree. On each level, the policy
    "best_greedy" computes the scores of one block. The policy "random" draws one random number on each level.
    """
    nodes, counters, v, level = tree.nodes, tree.counters, np.int64(ROOT), 0
    if counters[SELECTED_FOR] == counters[N_LEARNED]:
        return counters[SELECTED]
    key = stream_key(settings.key, counters[N_LEARNED])
    while nodes[v].auxiliary == 0:
        if settings.random:
            child = np.int64(nodes[v].first_child)
            for _ in range(random_below(key, level, nodes[v].degree)):
                child = np.int64(nodes[child].next_sibling)
            v = child
        else:
            v = best_child(tree, v, ids, values, scratch, settings)
        level += 1
    return v


@njit(cache=True, nogil=True)
def best_child(tree, v, ids, values, scratch, settings):
    """Return the child c of v with the largest score (oplt2021, Section 4.2).

    If several children have the largest score, return the first of them.
    """
    nodes = tree.nodes
    node = tree.nodes[v]
    scores = score_block(tree, v, ids, values, scratch)
    best = child = np.int64(node.first_child)
    best_score = -np.inf
    while child != NONE:
        score = fit_and_balance(
            scores[nodes[child].column], nodes[child].n_leaves, node.n_leaves, node.degree, settings
        )
        if score > best_score:
            best, best_score = child, score
        child = np.int64(nodes[child].next_sibling)
    return best


@njit(cache=True, nogil=True)
def fit_and_balance(linear_score, size, n_leaves, degree, settings):
    """Return the score of a child c of v for the policy "best_greedy" (oplt2021, Section 4.2).

    The score is (1 - alpha) eta(x, c) + alpha log(|L_v| / (|Ch(v)| |L_c|)). The first term of the score measures how
    well the instance fits the child. The second term of the score is positive if c has fewer leaves than the average
    child of v. If ``settings.printed`` is true, the second term is alpha log(|L_v| / |Ch(v)|) / |L_c|, as printed in
    the paper.

    Parameters
    ----------
    linear_score : float32
        The score of the child's classifier, whose sigmoid is eta(x, c).
    size, n_leaves, degree : int
        |L_c|, |L_v| and |Ch(v)|.
    settings : GrowthSettings
        Settings that determine how the tree grows.
    """
    share = log(np.float64(n_leaves)) - log(np.float64(degree))
    if settings.printed:
        balance = share / np.float64(size)
    else:
        balance = share - log(np.float64(size))
    return (1.0 - settings.alpha) * np.float64(sigmoid(linear_score)) + settings.alpha * balance


@njit(cache=True, nogil=True)
def new_column(tree, v, keeps_auxiliary):
    """Return the index of the column for a new child in block v.

    The classifier of the new child is a copy of the auxiliary classifier. If the auxiliary classifier is not kept, the
    new child takes over the column of the auxiliary classifier.
    """
    node = tree.nodes[v]
    if keeps_auxiliary:
        if node.width == node.padded:
            widen(tree, v, node.width + 1)
        column = node.width
        node.width += 1
    else:
        column, node.auxiliary = np.int32(0), 0
    copy_auxiliary(tree, v, column, column, column + 1)
    return column


@njit(cache=True, nogil=True)
def push_down(tree, v, settings):
    """Move all children of v below a new child of v, and make space for a second new child (variant 2 in Figure 1 c).

    See Algorithms 5 and 6 of oplt2021. The new child gets the whole block of v. The classifier of the new child is a
    copy of v's auxiliary classifier. The function returns the column of v's block for the second new child.
    """
    nodes = tree.nodes
    new = new_node(tree, NONE)
    old, node = nodes[v], nodes[new]
    node.first_child, node.last_child, node.degree = old.first_child, old.last_child, old.degree
    node.leaf_children, node.n_leaves = old.leaf_children, old.n_leaves
    node.padded, node.width, node.auxiliary, node.n_features = old.padded, old.width, old.auxiliary, old.n_features
    node.table_bits, node.bias, node.table = old.table_bits, old.bias, old.table
    child = np.int64(node.first_child)
    while child != NONE:
        nodes[child].parent = new
        child = np.int64(nodes[child].next_sibling)
    auxiliary = 1 if settings.arity > 2 else 0
    open_copies(tree, v, new, auxiliary)
    old.degree = old.leaf_children = 0
    append_child(tree, v, new, auxiliary)
    return auxiliary + 1


@njit(cache=True, nogil=True)
def append_leaf(tree, v, label, column):
    """Append a new leaf to the children of v, count the leaf in all nodes above, and return the leaf."""
    nodes, leaf = tree.nodes, new_node(tree, label)
    append_child(tree, v, leaf, column)
    above = np.int64(v)
    while above != NONE:
        nodes[above].n_leaves += 1
        above = np.int64(nodes[above].parent)
    return leaf


@njit(cache=True, nogil=True)
def append_child(tree, v, child, column):
    """Append a node to the children of v. ``column`` is the column of v's block with the classifier of the child."""
    nodes = tree.nodes
    if nodes[v].degree == 0:
        nodes[v].first_child = child
    else:
        nodes[nodes[v].last_child].next_sibling = child
    nodes[v].last_child, nodes[child].parent, nodes[child].column = child, v, column
    nodes[v].degree += 1
    nodes[v].leaf_children += nodes[child].label != NONE


@njit(cache=True, nogil=True)
def new_node(tree, label):
    """Create a node without parent, children or block, and return its number."""
    t = tree.counters[N_NODES]
    tree.counters[N_NODES] = t + 1
    node = tree.nodes[t]
    node.parent = node.first_child = node.last_child = node.next_sibling = node.head = node.next_positive = NONE
    node.label, node.stamp = label, NONE
    node.column = node.degree = node.leaf_children = node.padded = node.width = node.auxiliary = node.n_features = 0
    node.n_leaves = 0 if label == NONE else 1
    if label != NONE:
        tree.leaves[label] = t
    return t


@njit(cache=True, nogil=True)
def has_capacity_to_extend(tree, v):
    """Return whether the arrays have the capacity to extend node v by a label.

    To extend v, at most three nodes and a few small, empty blocks are created. In addition, either a block with as many
    rows as the block of v is created, or the block of v gets two new columns.
    """
    node = tree.nodes[v]
    slots = slots_of(row_size(node.width + 2)) + 1
    return has_capacity(tree, 3, (node.n_features + 1) * slots + 4, (np.int64(1) << node.table_bits) + 16)
