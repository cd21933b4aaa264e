"""How an online tree begins and how it takes a new label (oplt2021, Algorithms 2, 4-6 and 8, Figure 1): kernels.

Auxiliary classifiers are kept where the policy can extend a node, and nowhere else (`extends_inner`, `extends_leaf`):
with Algorithm 8 in nodes all of whose children are leaves, in inner nodes with fewer than b children, and in leaves
with a sibling that is none.

The authors' program grows another tree (``settings.program``). Its leaves lie below groups, which have an auxiliary
classifier each:

- Each of the first b instances with new labels opens a group of its labels below the root, however many they are.
- Later the policy descends from the root to the first node with an auxiliary classifier, a group, which takes leaves up
  to b_max children, whether its other children are leaves or not.
- What a full group cannot take goes to the first of its siblings that are groups with room.
- Where none has room the group is pushed down (`push_down`), and the new leaf is in a new group beside what it had. The
  group loses its auxiliary classifier if it has b children then: it has two, so that with b > 2 it stays a group.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.float64 import log
from xmlc.kernels.sibling_rows import padded_size
from xmlc.models.oplt.rows import copy_auxiliary, open_block, open_copies, score_block, slots_of, widen
from xmlc.models.oplt.tree import (
    ABOVE,
    ENTRIES_USED,
    ENTRIES_WANTED,
    N_LEARNED,
    N_NODES,
    NODES_WANTED,
    NONE,
    ROOT,
    SELECTED,
    SELECTED_FOR,
    SLOT,
    SLOTS_USED,
    SLOTS_WANTED,
    SMALLEST_TABLE,
    UNBOUNDED,
    GrowthSettings,
    OnlineTree,
    empty_online_tree,
    grown,
    with_labels,
)
from xmlc.models.trees import LabelTree

RANDOM, BEST_GREEDY, COMPLETE, CPET, ONE_LEVEL = range(5)
RATIO, PRINTED, BINARY_LOG = range(3)  # how much smaller than its siblings a child is, for `best_child`
LOG_2 = 0.6931471805599453
MOST_AT_FIRST = 4096


def planted(settings: GrowthSettings) -> OnlineTree:
    """Return a tree of a root without label."""
    tree = empty_online_tree(first_degree(settings))
    while not plant_root(tree, settings.threshold):
        tree = grown(tree)
    return tree


def planted_as(given: LabelTree, labels: np.ndarray, settings: GrowthSettings) -> OnlineTree:
    """Return a tree of a given shape.

    Parameters
    ----------
    given : LabelTree
    labels : ndarray of int, ascending
        The label that each of the tree's labels stands for.
    settings : GrowthSettings
    """
    largest = int(np.diff(given.children).max())
    tree = empty_online_tree(max(first_degree(settings), largest))
    tree = with_labels(tree, int(labels.max()) + 1)
    own = np.where(given.label >= 0, labels[given.label], NONE).astype(np.int32)
    while not plant_given(tree, given.children, own, settings):
        tree = grown(tree)
    return tree


def first_degree(settings: GrowthSettings) -> int:
    """Return for how many children of a node a tree without labels has capacity; see `with_degree` for later."""
    most = max(settings.arity, settings.max_leaf)
    return most if most <= MOST_AT_FIRST else 2


@njit(cache=True, nogil=True)
def plant_root(tree, threshold):
    """Start a tree: a root without label, with its classifier and its auxiliary classifier (Algorithm 2).

    Returns
    -------
    bool
        False if the arrays are full; `has_capacity` has then counted what it wants.
    """
    if not has_capacity(tree, 2, 4, 2 << SMALLEST_TABLE):
        return False
    above = new_node(tree, NONE, threshold)
    open_block(tree, above, 1, 0, SMALLEST_TABLE)
    append_child(tree, above, new_node(tree, NONE, threshold), 0)
    open_block(tree, ROOT, 1, 1, SMALLEST_TABLE)
    return True


@njit(cache=True, nogil=True)
def plant_given(tree, children, label, settings):
    """Start a tree as a given one, in breadth-first order; all its classifiers are new.

    Returns
    -------
    bool
        False if its arrays are full; `has_capacity` has then counted what it wants.
    """
    n_nodes, slots = label.size, np.int64(4)
    for t in range(n_nodes):
        slots += slots_of(padded_size(children[t + 1] - children[t] + 1)) + 1
    if not has_capacity(tree, n_nodes + 1, slots, (n_nodes + 1) << SMALLEST_TABLE):
        return False
    nodes = tree.nodes
    above = new_node(tree, NONE, settings.threshold)
    open_block(tree, above, 1, 0, SMALLEST_TABLE)
    for t in range(n_nodes):
        new_node(tree, label[t], settings.threshold)
    append_child(tree, above, ROOT, 0)
    for t in range(n_nodes):
        v, leaves = t + ROOT, 0
        for child in range(children[t], children[t + 1]):
            leaves += label[child] >= 0
        degree = children[t + 1] - children[t]
        if degree > 0:
            auxiliary = 1 if extends_inner(settings, v, degree, leaves) else 0
            open_block(tree, v, degree + auxiliary, auxiliary, SMALLEST_TABLE)
            for c in range(degree):
                append_child(tree, v, children[t] + c + ROOT, c + auxiliary)
        elif t == 0 or extends_leaf(settings, nodes[nodes[v].parent].degree, nodes[nodes[v].parent].leaf_children):
            open_block(tree, v, 1, 1, SMALLEST_TABLE)
    for t in range(n_nodes - 1, -1, -1):
        nodes[nodes[t + ROOT].parent].n_leaves += nodes[t + ROOT].n_leaves
    return True


@njit(cache=True, nogil=True)
def add_label(tree, ids, values, label, scratch, settings):
    """Extend the tree by a label that an instance is the first to have: lines 2-6 of Algorithm 4.

    Returns
    -------
    bool
        False if the arrays are full; nothing has changed then.
    """
    nodes, counters, root = tree.nodes, tree.counters, tree.nodes[ROOT]
    if root.n_leaves == 0 and not settings.program:
        root.label, root.n_leaves, tree.leaves[label] = label, 1, ROOT  # line 2
        nodes[ABOVE].leaf_children = nodes[ABOVE].n_leaves = 1
        return True
    v = node_for_label(tree, ids, values, scratch, settings, counters[N_LEARNED])  # line 4: A_policy
    node = nodes[v]
    # At the most a block of as many rows, or the same rows two columns longer, one beside it of auxiliary classifiers,
    # and two small ones.
    table = np.int64(1) << node.table_bits
    slots = slots_of(padded_size(wanted_width(node.width + 2, settings))) + 1
    if settings.policy == COMPLETE or settings.policy == CPET:
        slots, table = slots + slots_of(padded_size(1)) + 1, 2 * table
    if not has_capacity(tree, 3, (node.n_features + 1) * slots + 4, table + 16):
        return False
    if settings.program and v == ROOT:
        add_group(tree, v, new_column(tree, v, settings), label, settings)
    elif node.degree == 0:  # lines 5 and 6: InsertNode where the node has no room, and AddLeaf
        extend_leaf(tree, v, label, settings)
    elif has_room(tree, v, settings):
        extend_inner(tree, v, label, settings)
    else:
        push_down(tree, v, label, settings)
    return True


@njit(cache=True, nogil=True)
def extend_inner(tree, v, label, settings):
    """Variant 1 (Figure 1 b; AddLeaf, Algorithm 6): a leaf becomes one more child of an inner node."""
    column, leaf = new_column(tree, v, settings), new_node(tree, label, settings.threshold)
    append_child(tree, v, leaf, column)
    if extends_leaf(settings, tree.nodes[v].degree, tree.nodes[v].leaf_children):
        open_block(tree, leaf, 1, 1, SMALLEST_TABLE)
    count_leaf(tree, leaf, settings.threshold)


@njit(cache=True, nogil=True)
def new_column(tree, v, settings):
    """Give block v a column for one more child, a leaf or a group, with a copy of its auxiliary classifier."""
    node = tree.nodes[v]
    if extends_inner(settings, v, node.degree + 1, node.leaf_children + 1):
        if padded_size(node.width + 1) > node.padded:
            widen(tree, v, wanted_width(node.width + 1, settings))
        column = node.width
        node.width += 1
    else:  # no label extends it again: the child takes the place of the auxiliary classifier
        column, node.auxiliary = np.int32(0), 0
    copy_auxiliary(tree, v, column, column, column + 1)
    return column


@njit(cache=True, nogil=True)
def add_group(tree, v, column, label, settings):
    """Append to v a group of one leaf, which the instance's other new labels extend (the program's growth)."""
    group = new_node(tree, NONE, settings.threshold)
    append_child(tree, v, group, column)
    open_block(tree, group, 1, 1, SMALLEST_TABLE)
    extend_inner(tree, group, label, settings)
    tree.counters[SELECTED] = group


@njit(cache=True, nogil=True)
def extend_leaf(tree, v, label, settings):
    """Variant 3 (Figure 1 d; Algorithms 5 and 6): a leaf becomes the parent of leaves of its label and of the new one.

    A leaf's block has its auxiliary classifier and nothing else; in its rows there is room for two more.
    """
    nodes, threshold = tree.nodes, settings.threshold
    node = nodes[v]
    old, leaf = new_node(tree, node.label, node.bound), new_node(tree, label, threshold)
    if extends_leaf(settings, 2, 2):
        open_copies(tree, old, v, 1, 1, False)
        open_block(tree, leaf, 1, 1, SMALLEST_TABLE)
    auxiliary = 1 if extends_inner(settings, v, 2, 2) else 0  # else the old leaf takes its place
    copy_auxiliary(tree, v, 1, auxiliary + 1, auxiliary + 2)
    node.label, node.width, node.auxiliary = NONE, auxiliary + 2, auxiliary
    append_child(tree, v, old, auxiliary)
    append_child(tree, v, leaf, auxiliary + 1)
    nodes[node.parent].leaf_children -= 1
    count_leaf(tree, leaf, threshold)


@njit(cache=True, nogil=True)
def push_down(tree, v, label, settings):
    """Variant 2 (Figure 1 c; Algorithms 5 and 6): a new node takes all children of v; it and a new leaf replace them.

    The new node's classifiers are copies of the auxiliary one of v, so it takes over the whole block.
    """
    nodes = tree.nodes
    new, threshold = new_node(tree, NONE, nodes[v].bound), settings.threshold
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
    open_copies(tree, v, new, auxiliary, auxiliary + 1, True)
    old.degree = old.leaf_children = 0
    append_child(tree, v, new, auxiliary)
    if settings.program:
        add_group(tree, v, auxiliary + 1, label, settings)
        return
    leaf = new_node(tree, label, threshold)
    append_child(tree, v, leaf, auxiliary + 1)
    open_block(tree, leaf, 1, 1, SMALLEST_TABLE)
    count_leaf(tree, leaf, threshold)


@njit(cache=True, nogil=True)
def wanted_width(width, settings):
    """Return the columns to reserve for a block of ``width`` columns: half as many more where there is no end.

    Rows that were outgrown are of no use to another block of a tree of one level; so they take no more than the rest.
    """
    return width + width // 2 if settings.max_leaf == UNBOUNDED else width


@njit(cache=True, nogil=True)
def count_leaf(tree, leaf, threshold):
    """Let all nodes above a new leaf know of it."""
    nodes, v = tree.nodes, np.int64(tree.nodes[leaf].parent)
    while v != NONE:
        nodes[v].n_leaves += 1
        nodes[v].bound = min(nodes[v].bound, threshold)
        v = np.int64(nodes[v].parent)


@njit(cache=True, nogil=True)
def node_for_label(tree, ids, values, scratch, settings, instance):
    """Return the node that a new label of an instance extends: a leaf, or an inner node (lines 4-6 of Algorithm 4)."""
    if settings.policy == ONE_LEVEL:
        return np.int64(ROOT)
    if settings.policy == COMPLETE:
        return next_of_complete(tree, settings.arity)
    if settings.policy == CPET:
        return cpet_leaf(tree, ids, values, scratch, settings)
    # Once for an instance, however many of its labels are new.
    counters = tree.counters
    if counters[SELECTED_FOR] == instance:
        v = counters[SELECTED]
    else:
        v = select_node(tree, ids, values, scratch, settings, instance)
    v = v if settings.program else only_leaf(tree, v)
    counters[SELECTED], counters[SELECTED_FOR] = v, instance
    return group_with_room(tree, v, settings) if settings.program else v


@njit(cache=True, nogil=True)
def next_of_complete(tree, arity):
    """Return the node to extend so that a complete tree stays complete (oplt2021, Section 4.1).

    Nodes counted level by level, from 0: with m leaves it is number (m - 1) // (arity - 1), the last inner node while
    that has fewer than ``arity`` children, then the first leaf. The children of node q have the numbers from
    arity * q + 1 on, so that the path to it is found in its number, without a look at any instance.
    """
    nodes, number = tree.nodes, (np.int64(tree.nodes[ROOT].n_leaves) - 1) // (arity - 1)
    first, size = np.int64(0), np.int64(1)  # of the level that the node is in
    while first + size <= number:
        first, size = first + size, size * arity
    within, v = number - first, np.int64(ROOT)
    while size > 1:
        size //= arity
        v = np.int64(nodes[v].first_child)
        for _ in range(within // size):
            v = np.int64(nodes[v].next_sibling)
        within %= size
    return v


@njit(cache=True, nogil=True)
def cpet_leaf(tree, ids, values, scratch, settings):
    """Descend to the leaf that CPET splits for a new label (Beygelzimer et al., UAI 2009; oplt2021, Section 4.2).

    There a node has one classifier, of its right child: with its estimate p and L and R leaves to the left and right,
    the label goes right if (1 - alpha) 2 (p - 1/2) + alpha log2(L / R) > 0. Here each child has its own, and
    eta(x, right) - eta(x, left) stands for 2 (p - 1/2): where the two add up to 1, as they do for classes, it is that.
    The rule was not checked against the UAI paper, which was not at hand; oplt2021 names the policy without its rule.
    """
    v = np.int64(ROOT)
    while tree.nodes[v].degree > 0:
        v = best_child(tree, v, ids, values, scratch, settings, BINARY_LOG)
    return v


@njit(cache=True, nogil=True)
def select_node(tree, ids, values, scratch, settings, instance):
    """Descend to the node that a new label of an instance extends: lines 1-6 of Algorithm 8.

    It goes on while a node has no auxiliary classifier: in the paper one with b children not all of which are leaves,
    here with b or more, as it may have in a tree that was given. Costs a score of each block on the way (best-greedy),
    or a random number.
    """
    nodes, v, level = tree.nodes, np.int64(ROOT), 0
    key = stream_key(settings.key, instance)
    while nodes[v].auxiliary == 0:
        if settings.policy == RANDOM:
            child = np.int64(nodes[v].first_child)
            for _ in range(random_below(key, level, nodes[v].degree)):
                child = np.int64(nodes[child].next_sibling)
            v = child
        else:
            balance = PRINTED if settings.printed else RATIO
            v = best_child(tree, v, ids, values, scratch, settings, balance)
        level += 1
    return v


@njit(cache=True, nogil=True)
def best_child(tree, v, ids, values, scratch, settings, balance):
    """Return the child c with the largest score, the first of equals (oplt2021, Section 4.2).

    (1 - alpha) eta(x, c) + alpha log(|L_v| / (|Ch(v)| |L_c|)): how well the instance fits, and how much smaller c is
    than its siblings on the average. The second part is alpha log(|L_v| / |Ch(v)|) / |L_c| with ``PRINTED``, and with
    ``BINARY_LOG`` -alpha log2 |L_c|, as what all siblings share decides nothing.
    """
    nodes, alpha = tree.nodes, settings.alpha
    scores = score_block(tree, v, ids, values, scratch)
    share = log(np.float64(nodes[v].n_leaves)) - log(np.float64(nodes[v].degree))
    best = child = np.int64(nodes[v].first_child)
    best_score = -np.inf
    while child != NONE:
        size = np.float64(nodes[child].n_leaves)
        if balance == RATIO:
            smaller = share - log(size)
        elif balance == PRINTED:
            smaller = share / size
        else:
            smaller = -log(size) / LOG_2
        score = (1.0 - alpha) * np.float64(sigmoid(scores[nodes[child].column])) + alpha * smaller
        if score > best_score:
            best, best_score = child, score
        child = np.int64(nodes[child].next_sibling)
    return best


@njit(cache=True, nogil=True)
def only_leaf(tree, v):
    """Return the child of v that is a leaf if there is exactly one, else v (line 8)."""
    nodes = tree.nodes
    if nodes[v].leaf_children != 1:
        return v
    child = np.int64(nodes[v].first_child)
    while nodes[child].degree > 0:
        child = np.int64(nodes[child].next_sibling)
    return child


@njit(cache=True, nogil=True)
def has_room(tree, v, settings):
    """Tell whether an inner node takes one more leaf: always a first group of the program, for its own instance."""
    node = tree.nodes[v]
    first = settings.program and node.parent == ROOT and node.stamp == NONE
    return first or node.degree < settings.max_leaf


@njit(cache=True, nogil=True)
def group_with_room(tree, v, settings):
    """Return the group v, or if it is full the first of its siblings that is a group and is not; v if there is none."""
    nodes = tree.nodes
    if v == ROOT or has_room(tree, v, settings):
        return v
    sibling = np.int64(nodes[nodes[v].parent].first_child)
    while sibling != NONE and not (nodes[sibling].auxiliary == 1 and has_room(tree, sibling, settings)):
        sibling = np.int64(nodes[sibling].next_sibling)
    return v if sibling == NONE else sibling


@njit(cache=True, nogil=True)
def extends_inner(settings, v, degree, leaf_children):
    """Tell whether a later label may extend inner node v with so many children, so many of them leaves."""
    if settings.program:
        return v != ROOT or degree < settings.arity
    if settings.policy == RANDOM or settings.policy == BEST_GREEDY:
        return leaf_children == degree or degree < settings.arity
    if settings.policy == COMPLETE:
        return degree < settings.arity
    return settings.policy == ONE_LEVEL


@njit(cache=True, nogil=True)
def extends_leaf(settings, degree, leaf_children):
    """Tell whether a later label may extend a leaf whose parent has so many children, so many of them leaves."""
    if settings.policy == RANDOM or settings.policy == BEST_GREEDY:
        return leaf_children < degree and not settings.program
    return settings.policy == COMPLETE or settings.policy == CPET


@njit(cache=True, nogil=True)
def has_capacity(tree, nodes, slots, entries):
    """Tell whether so much more fits; if not, write down the capacity wanted."""
    counters = tree.counters
    if (
        counters[N_NODES] + nodes <= tree.nodes.size
        and (counters[SLOTS_USED] + slots) * SLOT <= tree.rows.size
        and counters[ENTRIES_USED] + entries <= tree.entries.size
    ):
        return True
    counters[NODES_WANTED], counters[SLOTS_WANTED], counters[ENTRIES_WANTED] = nodes, slots, entries
    return False


@njit(cache=True, nogil=True)
def new_node(tree, label, threshold):
    """Create a node that stands alone: no parent, no children, no block."""
    t = tree.counters[N_NODES]
    tree.counters[N_NODES] = t + 1
    node = tree.nodes[t]
    node.parent = node.first_child = node.last_child = node.next_sibling = node.head = node.next_positive = NONE
    node.label, node.bound, node.stamp = label, threshold, NONE
    node.column = node.degree = node.leaf_children = node.padded = node.width = node.auxiliary = node.n_features = 0
    node.n_leaves = 0 if label == NONE else 1
    if label != NONE:
        tree.leaves[label] = t
    return t


@njit(cache=True, nogil=True)
def append_child(tree, v, child, column):
    """Make a node the last child of v, its classifier the given column of v's block."""
    nodes = tree.nodes
    if nodes[v].degree == 0:
        nodes[v].first_child = child
    else:
        nodes[nodes[v].last_child].next_sibling = child
    nodes[v].last_child, nodes[child].parent, nodes[child].column = child, v, column
    nodes[v].degree += 1
    nodes[v].leaf_children += nodes[child].label != NONE
