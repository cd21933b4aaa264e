"""An online tree that starts as a given one (oplt2021, Section 4.1: training without OPLT.Init): kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.sibling_rows import padded_size
from xmlc.models.oplt._blocks import open_block
from xmlc.models.oplt._extend import append_child, has_capacity, new_node, plant_root
from xmlc.models.oplt._policy import FIXED, extends_inner, extends_leaf
from xmlc.models.oplt._rows import slots_of
from xmlc.models.oplt.tree import (
    NONE,
    ROOT,
    SMALLEST_TABLE,
    OnlineTree,
    Settings,
    empty_online_tree,
    grown,
    with_labels,
)
from xmlc.runtime.kernel_cache import njit
from xmlc.trees import LabelTree

MOST_AT_FIRST = 4096


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
            auxiliary = 1 if extends_inner(settings, degree, leaves) else 0
            open_block(tree, v, degree + auxiliary, auxiliary, SMALLEST_TABLE)
            for c in range(degree):
                append_child(tree, v, children[t] + c + ROOT, c + auxiliary)
        elif (settings.policy != FIXED and t == 0) or extends_leaf(
            settings, nodes[nodes[v].parent].degree, nodes[nodes[v].parent].leaf_children
        ):
            open_block(tree, v, 1, 1, SMALLEST_TABLE)
    for t in range(n_nodes - 1, -1, -1):
        nodes[nodes[t + ROOT].parent].n_leaves += nodes[t + ROOT].n_leaves
    return True


def first_degree(settings: Settings) -> int:
    """Return for how many children of a node a tree without labels has capacity; see `with_degree` for later."""
    most = max(settings.arity, settings.max_leaf)
    return most if most <= MOST_AT_FIRST else 2


def planted(settings: Settings) -> OnlineTree:
    """Return a tree of a root without label."""
    tree = empty_online_tree(first_degree(settings))
    while not plant_root(tree, settings.threshold):
        tree = grown(tree)
    return tree


def planted_as(given: LabelTree, labels: np.ndarray, settings: Settings) -> OnlineTree:
    """Return a tree of a given shape.

    Parameters
    ----------
    given : LabelTree
    labels : ndarray of int, ascending
        The label that each of the tree's labels stands for.
    settings : Settings
    """
    largest = int(np.diff(given.children).max())
    tree = empty_online_tree(max(first_degree(settings), largest))
    tree = with_labels(tree, int(labels.max()) + 1)
    own = np.where(given.label >= 0, labels[given.label], NONE).astype(np.int32)
    while not plant_given(tree, given.children, own, settings):
        tree = grown(tree)
    return tree
