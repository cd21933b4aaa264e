"""Growth of an online tree by new labels (oplt2021, Algorithms 2, 5, 6 and 8). Kernels.

A node keeps an auxiliary classifier only if a later label can extend it.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.float64 import log
from xmlc.models.oplt.rows import (
    copy_auxiliary,
    copy_block,
    open_block,
    row_size,
    score_block,
    slots_of,
    widen,
)
from xmlc.models.oplt.tree import (
    ABOVE,
    N_LEARNED,
    N_NODES,
    NODES_WANTED,
    NONE,
    ROOT,
    SELECTED,
    SELECTED_FOR,
    SLOTS_WANTED,
    SMALLEST_TABLE,
    GrowthSettings,
    OnlineTree,
    empty_online_tree,
    grown,
    has_capacity,
    with_labels,
)
from xmlc.models.trees import LabelTree


@njit
def selected(tree, ids, values, scratch, settings):
    """Return the node that an instance's next new label extends (Algorithm 8).

    The paper descends from nodes with b children of which at least one is not a leaf. Here, these
    are the nodes without auxiliary classifier, of which an initial tree may have some with more
    children.
    """
    nodes = tree.nodes
    counters = tree.counters
    if counters[SELECTED_FOR] == counters[N_LEARNED]:  # line 1
        v = counters[SELECTED]  # line 7
    else:
        key = stream_key(settings.key, counters[N_LEARNED])
        v = np.int64(ROOT)  # line 2
        level = 0
        while nodes[v].auxiliary == 0:  # line 3
            if settings.random:
                place = random_below(key, level, nodes[v].degree)  # line 4
                v = np.int64(nodes[v].first_child)
                for _ in range(place):
                    v = np.int64(nodes[v].next_sibling)
            else:
                v = best_child(tree, v, ids, values, scratch, settings)  # line 6
            level += 1
    if not settings.program and nodes[v].leaf_children == 1:  # line 8
        v = np.int64(nodes[v].first_child)
        while nodes[v].degree > 0:
            v = np.int64(nodes[v].next_sibling)
    counters[SELECTED] = v  # line 9
    counters[SELECTED_FOR] = counters[N_LEARNED]
    if settings.program and v != ROOT and not has_room(tree, v, settings):
        v = sibling_with_room(tree, v, settings)
    return v


@njit
def best_child(tree, v, ids, values, scratch, settings):
    """Return the first child of v with the largest score (oplt2021, Section 4.2)."""
    nodes = tree.nodes
    node = nodes[v]
    scores = score_block(tree, v, ids, values, scratch)
    child = np.int64(node.first_child)
    best = child
    best_score = -np.inf
    while child != NONE:
        linear_score = scores[nodes[child].column]
        score = fit_and_balance(
            linear_score, nodes[child].n_leaves, node.n_leaves, node.degree, settings
        )
        if score > best_score:
            best = child
            best_score = score
        child = np.int64(nodes[child].next_sibling)
    return best


@njit
def fit_and_balance(linear_score, size, n_leaves, degree, settings):
    """Return the score of a child c of v for the policy "best_greedy" (oplt2021, Section 4.2).

    It is (1 - alpha) eta(x, c) + alpha log(|L_v| / (|Ch(v)| |L_c|)), with the sigmoid eta of
    ``linear_score``, and |L_c|, |L_v| and |Ch(v)| in ``size``, ``n_leaves`` and ``degree``. The
    first term measures how well the instance fits the child, and the second is positive if c has
    fewer leaves than the average child of v. If ``settings.printed`` is true, the latter is alpha
    log(|L_v| / |Ch(v)|) / |L_c|, as printed in the paper.
    """
    balance = log(np.float64(n_leaves)) - log(np.float64(degree))
    if settings.printed:
        balance /= np.float64(size)
    else:
        balance -= log(np.float64(size))
    return (1.0 - settings.alpha) * np.float64(sigmoid(linear_score)) + settings.alpha * balance


@njit
def label_root(tree, label):
    """Give the first label to the root (line 2 of Algorithm 4)."""
    root = tree.nodes[ROOT]
    root.label = label
    root.n_leaves = 1
    tree.leaves[label] = ROOT
    tree.nodes[ABOVE].leaf_children = 1
    tree.nodes[ABOVE].n_leaves = 1


@njit
def add_leaf(tree, v, label, settings):
    """Append a leaf to an inner node (variant 1 in Figure 1 b, AddLeaf in Algorithm 6)."""
    node = tree.nodes[v]
    column = new_column(tree, v, extends_inner(node.degree + 1, node.leaf_children + 1, settings))
    leaf = append_leaf(tree, v, label, column)
    if extends_leaf(node):
        open_block(tree, leaf, 1, 1, SMALLEST_TABLE)


@njit
def push_down(tree, v, label, settings):
    """Move all children of v below a new child, and append a leaf (variant 2 in Figure 1 c)."""
    column = insert_node(tree, v, settings)
    open_block(tree, append_leaf(tree, v, label, column), 1, 1, SMALLEST_TABLE)


@njit
def extend_leaf(tree, v, label):
    """Turn a leaf into the parent of two leaves, for the old and new label (variant 3, Figure 1 d).

    A leaf's block has only its auxiliary classifier, but its rows have space for two more.
    """
    node = tree.nodes[v]
    old = new_node(tree, node.label)
    copy_auxiliary(tree, v, 1, 2, 3)
    node.width = 3
    node.label = NONE
    append_child(tree, v, old, 1)
    tree.nodes[node.parent].leaf_children -= 1
    append_leaf(tree, v, label, 2)


@njit
def insert_node(tree, v, settings):
    """Insert a node between v and its children, and return a column of v's block for another child.

    The new node takes over the block of v (Algorithm 5). Its classifier is a copy of v's auxiliary
    one, which v keeps if ``arity`` > 2.
    """
    nodes = tree.nodes
    new = new_node(tree, NONE)
    nodes[new] = nodes[v]
    node = nodes[new]
    node.next_sibling = NONE
    node.stamp = NONE
    node.head = NONE
    node.next_positive = NONE
    child = np.int64(node.first_child)
    while child != NONE:
        nodes[child].parent = new
        child = np.int64(nodes[child].next_sibling)
    auxiliary = np.int64(settings.arity > 2)
    copy_block(tree, v, node, auxiliary + 2, auxiliary, 1)
    copy_auxiliary(tree, v, 1, auxiliary + 1, auxiliary + 2)
    nodes[v].degree = 0
    nodes[v].leaf_children = 0
    append_child(tree, v, new, auxiliary)
    return auxiliary + 1


@njit
def extends_inner(degree, leaf_children, settings):
    """Return whether a later label may extend such an inner node."""
    return leaf_children == degree or degree < settings.arity


@njit
def extends_leaf(parent):
    """Return whether a later label may extend a leaf of ``parent``: it needs an inner sibling."""
    return parent.leaf_children < parent.degree


@njit
def extend_by_program(tree, v, label, settings):
    """Add a label as the authors' program (napkinXC 0.7) does, which collects leaves in groups.

    A group is an inner node with an auxiliary classifier. Each of the first b instances with new
    labels adds a group with all of them below the root. For later instances, the policy descends
    from the root to a group, which gets new leaves until it has b_max children, even if some are
    not leaves. If it is full, the label goes to the first sibling that is a group with space. If
    there is none, all children of the group move below one new node, next to which a second one, a
    group, gets the new leaf. The full group, now with only these two children, loses its auxiliary
    classifier if b = 2, and remains a group if b > 2.
    """
    if v != ROOT and has_room(tree, v, settings):
        append_leaf(tree, v, label, new_column(tree, v, True))
        return
    if v == ROOT:
        column = new_column(tree, ROOT, tree.nodes[ROOT].degree + 1 < settings.arity)
    else:
        column = np.int32(insert_node(tree, v, settings))
    group = new_node(tree, NONE)
    append_child(tree, v, group, column)
    open_block(tree, group, 1, 1, SMALLEST_TABLE)
    append_leaf(tree, group, label, new_column(tree, group, True))
    tree.counters[SELECTED] = group  # further new labels of the same instance extend the new group


@njit
def has_room(tree, group, settings):
    """Return whether a group has space for a leaf, as a new one below the root always has."""
    node = tree.nodes[group]
    is_first = node.parent == ROOT and node.stamp == NONE
    return is_first or node.degree < settings.max_leaf


@njit
def sibling_with_room(tree, v, settings):
    """Return the first sibling of v that is a group with space, or else v."""
    nodes = tree.nodes
    sibling = np.int64(nodes[nodes[v].parent].first_child)
    while sibling != NONE:
        if nodes[sibling].auxiliary == 1 and has_room(tree, sibling, settings):
            return sibling
        sibling = np.int64(nodes[sibling].next_sibling)
    return v


@njit
def new_column(tree, v, keeps_auxiliary):
    """Return the column for a new child in block v, a copy of the auxiliary classifier's, or that
    column itself if the classifier is not kept.
    """
    node = tree.nodes[v]
    if keeps_auxiliary:
        if node.width == node.padded:
            widen(tree, v, node.width + 1)
        column = node.width
        node.width += 1
    else:
        column = np.int32(0)
        node.auxiliary = 0
    copy_auxiliary(tree, v, column, column, column + 1)
    return column


@njit
def append_leaf(tree, v, label, column):
    """Append a new leaf to the children of v, count it in all nodes above, and return it."""
    leaf = new_node(tree, label)
    append_child(tree, v, leaf, column)
    above = np.int64(v)
    while above != NONE:
        tree.nodes[above].n_leaves += 1
        above = np.int64(tree.nodes[above].parent)
    return leaf


@njit
def append_child(tree, v, child, column):
    """Append a node, with its classifier in this column of v's block, to the children of v."""
    nodes = tree.nodes
    if nodes[v].degree == 0:
        nodes[v].first_child = child
    else:
        nodes[nodes[v].last_child].next_sibling = child
    nodes[v].last_child = child
    nodes[v].degree += 1
    nodes[v].leaf_children += nodes[child].label != NONE
    nodes[child].parent = v
    nodes[child].column = column


@njit
def new_node(tree, label):
    """Create a node without parent, children or block, and return its number."""
    t = tree.counters[N_NODES]
    tree.counters[N_NODES] = t + 1
    node = tree.nodes[t]  # all zero
    node.parent = NONE
    node.label = label
    node.first_child = NONE
    node.last_child = NONE
    node.next_sibling = NONE
    node.stamp = NONE
    node.head = NONE
    node.next_positive = NONE
    if label != NONE:
        node.n_leaves = 1
        tree.leaves[label] = t
    return t


@njit
def has_capacity_to_extend(tree, v):
    """Return whether there is capacity for an extension of node v by a label.

    It creates at most three nodes, a few empty blocks, and either a block with as many rows as v's
    or two columns of it.
    """
    node = tree.nodes[v]
    of_row = slots_of(row_size(node.width + 2)) + 1
    of_table = slots_of(np.int64(1) << node.table_bits) + 1
    return has_capacity(tree, 3, (node.n_features + 1) * of_row + of_table + 12)


def initial_tree(settings: GrowthSettings, given: LabelTree | None = None) -> OnlineTree:
    """Return a tree of the given shape, by default an unlabelled root (oplt2021, Algorithm 2)."""
    children = np.array([1, 1])
    label = np.array([NONE], dtype=np.int32)
    if given is not None:
        children = given.children
        label = given.label
    tree = with_labels(empty_online_tree(), int(label.max()) + 1)
    tree.counters[NODES_WANTED] = label.size + 1
    of_table = slots_of(1 << SMALLEST_TABLE) + 1
    tree.counters[SLOTS_WANTED] = 8 + sum(
        slots_of(row_size(n + 1)) + 1 + of_table for n in np.diff(children).tolist()
    )
    tree = grown(tree)
    plant_given(tree, children, label, settings)
    return tree


@njit
def plant_given(tree, children, label, settings):
    """Build the nodes of a given tree, in breadth-first order, with new classifiers."""
    nodes = tree.nodes
    open_block(tree, new_node(tree, NONE), 1, 0, SMALLEST_TABLE)
    for t in range(label.size):
        new_node(tree, label[t])
    append_child(tree, ABOVE, ROOT, 0)
    for t in range(label.size):
        v = t + ROOT
        degree = children[t + 1] - children[t]
        leaf_children = 0
        for child in range(children[t], children[t + 1]):
            leaf_children += label[child] != NONE
        if degree > 0 or t == 0 or extends_leaf(nodes[nodes[v].parent]):
            auxiliary = np.int64(extends_inner(degree, leaf_children, settings))
            open_block(tree, v, degree + auxiliary, auxiliary, SMALLEST_TABLE)
            for c in range(degree):
                append_child(tree, v, children[t] + c + ROOT, c + auxiliary)
    for v in range(label.size, 0, -1):
        nodes[nodes[v].parent].n_leaves += nodes[v].n_leaves
