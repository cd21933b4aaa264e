"""The tree takes a new label, in one of three ways (oplt2021, Algorithms 4-6 and Figure 1): kernels.

Auxiliary classifiers are kept where the policy can extend a node, and nowhere else (`extends_inner`, `extends_leaf`):
with Algorithm 8 in nodes all of whose children are leaves, in inner nodes with fewer than b children, and in leaves
with a sibling that is none.
"""

from __future__ import annotations

import numpy as np

from xmlc.kernels.sibling_rows import padded_size
from xmlc.models.oplt._blocks import (
    add_inverse,
    copy_auxiliary,
    list_rows,
    open_auxiliary,
    open_block,
    open_copies,
    widen,
)
from xmlc.models.oplt._pending import CHANGES_USED, MOVED_USED, has_room_to_grow
from xmlc.models.oplt._policy import COMPLETE, CPET, extends_inner, extends_leaf, node_for_label, reads_rows
from xmlc.models.oplt._rows import slots_of
from xmlc.models.oplt._settle import make_changes_now, make_inverses
from xmlc.models.oplt.tree import (
    ABOVE,
    ENTRIES_USED,
    ENTRIES_WANTED,
    N_LEARNED,
    N_NODES,
    NODES_WANTED,
    NONE,
    ROOT,
    SLOT,
    SLOTS_USED,
    SLOTS_WANTED,
    SMALLEST_TABLE,
    UNBOUNDED,
)
from xmlc.runtime.kernel_cache import njit

GROWN, TREE_FULL, PENDING_FULL = 0, -1, -4
LISTS_OF_LABEL = 2  # of a block's rows, which the changes of one new label read and write at the most


@njit(cache=True, nogil=True)
def has_capacity(tree, nodes, slots, entries):
    """Tell whether so much more fits; if not, write down what is wanted."""
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
def add_label(tree, pending, ids, values, label, scratch, settings):
    """Extend the tree by a label that an instance is the first to have: lines 2-6 of Algorithm 4.

    Returns
    -------
    int
        `GROWN`; `TREE_FULL` if the arrays are full, `PENDING_FULL` if there is no room for the changes: nothing has
        changed then.
    """
    nodes, counters, root = tree.nodes, tree.counters, tree.nodes[ROOT]
    if root.n_leaves == 0:
        root.label, root.n_leaves, tree.leaves[label] = label, 1, ROOT
        nodes[ABOVE].leaf_children = nodes[ABOVE].n_leaves = 1
        return GROWN
    v = node_for_label(tree, pending, ids, values, scratch, settings, counters[N_LEARNED])
    node = nodes[v]
    # At the most a block of as many rows, or the same rows two columns longer, one beside it of auxiliary classifiers,
    # and two small ones.
    table = np.int64(1) << node.table_bits
    slots = slots_of(padded_size(wanted_width(node.width + 2, settings))) + 1
    if settings.policy == COMPLETE or settings.policy == CPET:
        slots, table = slots + slots_of(padded_size(1)) + 1, 2 * table
    if not has_capacity(tree, 2, (node.n_features + 1) * slots + 4, table + 16):
        return TREE_FULL
    if not has_room_to_grow(pending, LISTS_OF_LABEL * (node.n_features + 1) + 2):
        return PENDING_FULL
    reads, n_changes, n_moved = reads_rows(settings), pending.counters[CHANGES_USED], pending.counters[MOVED_USED]
    if reads and not takes_column(node, settings):
        make_inverses(tree.rows, pending, v, scratch, settings)
    if node.degree == 0:
        extend_leaf(tree, pending, v, label, settings)
    elif node.degree < settings.max_leaf:
        extend_inner(tree, pending, v, label, settings)
    else:
        push_down(tree, pending, v, label, settings)
    if reads:
        make_changes_now(tree.rows, pending, n_changes, n_moved, scratch, settings)
    return GROWN


@njit(cache=True, nogil=True)
def takes_column(node, settings):
    """Tell whether a new label of a node takes one more column of its rows, of which all else stays."""
    fits = node.degree > 0 and node.degree < settings.max_leaf and padded_size(node.width + 1) <= node.padded
    return fits and extends_inner(settings, node.degree + 1, node.leaf_children + 1)


@njit(cache=True, nogil=True)
def wanted_width(width, settings):
    """Return how wide to make a block that must have ``width`` columns: half as much more where there is no end.

    Rows that were outgrown are of no use to another block of a tree of one level; so they take no more than the rest.
    """
    return width + width // 2 if settings.max_leaf == UNBOUNDED else width


@njit(cache=True, nogil=True)
def extend_inner(tree, pending, v, label, settings):
    """Variant 1: a leaf becomes one more child of an inner node."""
    node = tree.nodes[v]
    leaf_children = node.leaf_children + 1
    if extends_inner(settings, node.degree + 1, leaf_children):
        if padded_size(node.width + 1) > node.padded:
            widen(tree, pending, v, wanted_width(node.width + 1, settings))
        column = node.width
        node.width += 1
        add_inverse(tree, pending, v)
    else:  # no label extends it again: the leaf takes the place of the auxiliary classifier
        column, node.auxiliary = np.int32(0), 0
        copy_auxiliary(tree, pending, v, list_rows(tree, pending, v), 0, 0, 1)
    leaf = new_node(tree, label, settings.threshold)
    append_child(tree, v, leaf, column)
    if extends_leaf(settings, node.degree, leaf_children):
        open_auxiliary(tree, pending, leaf)
    count_leaf(tree, leaf, settings.threshold)


@njit(cache=True, nogil=True)
def push_down(tree, pending, v, label, settings):
    """Variant 2: a new node takes over all children of v, whose children it and a new leaf become.

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
    open_copies(tree, pending, v, v, new, list_rows(tree, pending, new), auxiliary, auxiliary + 1, True)
    old.degree = old.leaf_children = 0
    leaf = new_node(tree, label, threshold)
    append_child(tree, v, new, auxiliary)
    append_child(tree, v, leaf, auxiliary + 1)
    open_auxiliary(tree, pending, leaf)
    count_leaf(tree, leaf, threshold)


@njit(cache=True, nogil=True)
def extend_leaf(tree, pending, v, label, settings):
    """Variant 3: a leaf becomes an inner node above two leaves, one with its label and one with the new.

    A leaf's block has its auxiliary classifier and nothing else; in its rows there is room for two more.
    """
    nodes, threshold = tree.nodes, settings.threshold
    node = nodes[v]
    old, leaf = new_node(tree, node.label, node.bound), new_node(tree, label, threshold)
    rows = list_rows(tree, pending, v)
    if extends_leaf(settings, 2, 2):
        open_copies(tree, pending, v, old, v, rows, 1, 1, False)
        open_auxiliary(tree, pending, leaf)
    auxiliary = 1 if extends_inner(settings, 2, 2) else 0  # else the old leaf takes its place
    copy_auxiliary(tree, pending, v, rows, 1, auxiliary + 1, auxiliary + 2)
    node.label, node.width, node.auxiliary = NONE, auxiliary + 2, auxiliary
    append_child(tree, v, old, auxiliary)
    append_child(tree, v, leaf, auxiliary + 1)
    nodes[node.parent].leaf_children -= 1
    count_leaf(tree, leaf, threshold)


@njit(cache=True, nogil=True)
def count_leaf(tree, leaf, threshold):
    """Let all nodes above a new leaf know of it."""
    nodes, v = tree.nodes, np.int64(tree.nodes[leaf].parent)
    while v != NONE:
        nodes[v].n_leaves += 1
        nodes[v].bound = min(nodes[v].bound, threshold)
        v = np.int64(nodes[v].parent)
