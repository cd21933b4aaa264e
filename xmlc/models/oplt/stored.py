"""Check a stored online tree, so that kernels stay inside its arrays when it predicts or learns more."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.indices import Malformed
from xmlc.models.oplt.tree import (
    ABOVE,
    ENTRIES_USED,
    N_LEARNED,
    N_NODES,
    NODE,
    NONE,
    SELECTED,
    SLOT,
    SLOTS_USED,
    SMALLEST_TABLE,
    OnlineTree,
)

LARGEST_TABLE = 40  # A table of 2**40 entries would take 8 TB.


def checked_tree(tree: OnlineTree, n_features: int) -> OnlineTree:
    """Check what the fields of an `OnlineTree` cannot say, and return the tree with empty lists of free memory.

    The lists are emptied because a check would have to follow them through the arrays.

    Raises
    ------
    Malformed
        The nodes are not a tree, a node's block lies outside of the arrays, or a counter disagrees with the arrays.
    """
    n_nodes = tree.nodes.size
    counters = tree.counters
    used = [counters[N_NODES], counters[SLOTS_USED] * SLOT, counters[ENTRIES_USED]]
    sizes = [n_nodes, tree.rows.size, tree.entries.size]
    if used != sizes or not 0 <= counters[SELECTED] < n_nodes or counters[N_LEARNED] < 0:
        raise Malformed("counters", f"found {counters.tolist()}, expected counts of {sizes} nodes, rows and entries")
    parent = tree.nodes["parent"]
    if n_nodes < 2 or parent[ABOVE] != NONE or not ((parent[1:] >= 0) & (parent[1:] < n_nodes)).all():
        raise Malformed("nodes", "found a parent that is no node")
    faulty = faulty_links(tree) | ~blocks_fit(tree, n_features)
    if faulty.any():
        message = f"found node {faulty.argmax()} in disagreement with its children or its block of weights"
        raise Malformed("nodes", message)
    return tree._replace(free_rows=np.zeros_like(tree.free_rows), free_tables=np.zeros_like(tree.free_tables))


def faulty_links(tree: OnlineTree) -> np.ndarray:
    """Return which nodes differ from what the parents and labels say. Siblings are in the order of their numbers."""
    nodes = tree.nodes
    n_nodes = nodes.size
    label = nodes["label"]
    parent = np.maximum(nodes["parent"], ABOVE)
    above = parent
    for _ in range(n_nodes.bit_length()):  # each step doubles the number of levels
        above = above[above]
    child = 1 + np.argsort(parent[1:], kind="stable")
    of = parent[child]
    is_next = of[1:] == of[:-1]
    expected = np.full(n_nodes, NONE).astype(NODE)  # all fields are NONE
    expected["next_sibling"][child[:-1][is_next]] = child[1:][is_next]
    expected["last_child"][of] = child
    expected["first_child"][of[::-1]] = child[::-1]
    expected["degree"] = np.bincount(of, minlength=n_nodes)
    expected["leaf_children"] = np.bincount(of, label[child] != NONE, n_nodes)
    expected["n_leaves"] = np.bincount(of, nodes["n_leaves"][child], n_nodes) + (label != NONE)
    faulty = above != ABOVE
    for name in ("next_sibling", "first_child", "last_child", "degree", "leaf_children", "n_leaves"):
        faulty |= nodes[name] != expected[name]
    degree = nodes["degree"]
    is_leaf = label != NONE
    if n_nodes > 2:  # only a root alone may have neither a label nor children
        faulty |= is_leaf != (degree == 0)
    is_known = is_leaf & (label >= 0) & (label < tree.leaves.size)
    faulty |= is_leaf != is_known
    faulty[is_known] |= tree.leaves[label[is_known]] != np.flatnonzero(is_known)
    faulty |= np.count_nonzero(is_leaf) != np.count_nonzero(tree.leaves != NONE)
    faulty[1:] |= (nodes["column"][1:] < 0) | (nodes["column"][1:] >= nodes["width"][parent[1:]])
    is_end = (degree == 0) & (nodes["auxiliary"] == 0)  # the policy does not descend from such a node, and not to it
    faulty[1:] |= is_end[1:] & (nodes["auxiliary"][parent[1:]] == 0)
    return faulty


@njit
def blocks_fit(tree, n_features):
    """Return for each node whether its rows and its hash table lie inside the arrays, and the table has an empty entry.

    A node may have no block if it has no children.
    """
    fits = np.zeros(tree.nodes.size, dtype=np.bool_)
    for v in range(tree.nodes.size):
        node = tree.nodes[v]
        padded = np.int64(node.padded)
        bits = np.int64(node.table_bits)
        if padded == 0:
            fits[v] = node.degree == 0
            continue
        if padded < 4 or padded & (padded - 1) != 0 or node.width < 0 or node.width > padded:
            continue
        if node.auxiliary not in (0, 1) or bits < SMALLEST_TABLE or bits > LARGEST_TABLE:
            continue
        size = np.int64(1) << bits
        last = tree.rows.size // SLOT - 2 * padded // SLOT
        if node.table < 0 or node.table > tree.entries.size - size or node.bias < 1 or node.bias > last:
            continue
        n_filled = 0
        is_inside = True
        for place in range(node.table, node.table + size):
            entry = tree.entries[place]
            if entry != 0:
                slot = np.int64(entry & np.uint64(0xFFFFFFFF))
                is_inside &= slot >= 1 and slot <= last and np.int64(entry >> np.uint64(32)) < n_features
                n_filled += 1
        fits[v] = is_inside and n_filled == node.n_features and n_filled < size
    return fits
