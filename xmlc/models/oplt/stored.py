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
    NONE,
    SELECTED,
    SLOT,
    SLOTS_USED,
    SMALLEST_TABLE,
    OnlineTree,
)

LARGEST_TABLE = 40  # A table of 2**40 entries would take 8 TB.


def check_online_tree(tree: OnlineTree, n_features: int) -> None:
    """Check what the fields of an `OnlineTree` cannot say.

    Raises
    ------
    Malformed
        The nodes are not a tree, a node's block lies outside of the arrays, or a counter disagrees with the arrays.
    """
    n_nodes = tree.nodes.size
    counters = {
        "nodes": (int(tree.counters[N_NODES]), n_nodes),
        "rows": (int(tree.counters[SLOTS_USED]) * SLOT, tree.rows.size),
        "entries": (int(tree.counters[ENTRIES_USED]), tree.entries.size),
    }
    for name, (found, expected) in counters.items():
        if found != expected:
            raise Malformed("counters", f"found {found} {name}, expected {expected}, the size of the array")
    if not 0 <= tree.counters[SELECTED] < n_nodes or tree.counters[N_LEARNED] < 0:
        raise Malformed("counters", f"found {tree.counters.tolist()}, expected numbers of nodes and instances")
    fault = faulty_node(tree, n_features)
    if fault != NONE:
        raise Malformed("nodes", f"found node {fault} in disagreement with its children or its block of weights")
    if free_fault(tree):
        raise Malformed("free_rows", "found a list of free rows or tables that leaves the arrays or does not end")


@njit(cache=True, nogil=True)
def faulty_node(tree, n_features):
    """Return the first node that disagrees with the rest of an online tree, or NONE.

    The walk from node ABOVE meets each node once. It ends, because a node that it meets a second time is a fault.
    """
    nodes, n = tree.nodes, tree.nodes.size
    seen, order = np.zeros(n, dtype=np.uint8), np.empty(n, dtype=np.int64)
    if n < 2:
        return np.int64(ABOVE)
    order[0], seen[ABOVE], count, at = ABOVE, 1, 1, 0
    while at < count:
        v = order[at]
        at += 1
        degree, leaf_children, child = 0, 0, np.int64(nodes[v].first_child)
        while child != NONE:
            if child < 0 or child >= n or seen[child] == 1 or nodes[child].parent != v:
                return v
            if nodes[child].column < 0 or nodes[child].column >= nodes[v].width:
                return child
            seen[child] = 1
            order[count] = child
            count += 1
            degree += 1
            leaf_children += nodes[child].label != NONE
            if nodes[child].next_sibling == NONE and nodes[v].last_child != child:
                return v
            child = np.int64(nodes[child].next_sibling)
        if degree != nodes[v].degree or leaf_children != nodes[v].leaf_children:
            return v
        label = np.int64(nodes[v].label)
        if label != NONE:
            if label < 0 or label >= tree.leaves.size or tree.leaves[label] != v or degree > 0:
                return v
        elif degree == 0 and n > 2:
            return v
        if not block_fits(tree, v, n_features):
            return v
    if count < n:
        return np.int64(seen.argmin())
    leaves = np.zeros(n, dtype=np.int64)
    for at in range(n - 1, -1, -1):
        v = order[at]
        if nodes[v].label != NONE:
            leaves[v] = 1
        if nodes[v].n_leaves != leaves[v]:
            return v
        if v != ABOVE:
            leaves[nodes[v].parent] += leaves[v]
    for label in range(tree.leaves.size):
        leaf = np.int64(tree.leaves[label])
        if leaf != NONE and nodes[leaf].label != label:
            return leaf
    return np.int64(NONE)


@njit(cache=True, nogil=True)
def block_fits(tree, v, n_features):
    """Return whether the rows and the hash table of node v lie inside the arrays, and the table has an empty entry."""
    node = tree.nodes[v]
    padded, width, bits = np.int64(node.padded), np.int64(node.width), np.int64(node.table_bits)
    if padded == 0:
        return node.degree == 0
    if padded < 4 or padded & (padded - 1) != 0 or width < 0 or width > padded or node.auxiliary not in (0, 1):
        return False
    if bits < SMALLEST_TABLE or bits > LARGEST_TABLE or node.table < 0:
        return False
    size, last = np.int64(1) << bits, tree.rows.size // SLOT - 2 * padded // SLOT
    if node.table > tree.entries.size - size or node.bias < 1 or node.bias > last:
        return False
    filled = 0
    for place in range(node.table, node.table + size):
        entry = tree.entries[place]
        if entry == 0:
            continue
        filled += 1
        slot = np.int64(entry & np.uint64(0xFFFFFFFF))
        if slot < 1 or slot > last or np.int64(entry >> np.uint64(32)) >= n_features:
            return False
    return filled == node.n_features and filled < size


@njit(cache=True, nogil=True)
def free_fault(tree):
    """Return whether a list of free rows or of free tables leaves the arrays or does not end."""
    most_rows, links = tree.rows.size // SLOT, tree.rows.view(np.uint32)
    for kind in range(tree.free_rows.size):
        slot, steps = np.int64(tree.free_rows[kind]), 0
        while slot != 0:
            steps += 1
            if kind < 2 or kind > 31 or steps > most_rows or slot > most_rows - (np.int64(2) << kind) // SLOT:
                return True
            slot = np.int64(links[slot * SLOT])
    for bits in range(tree.free_tables.size):
        index, steps = np.int64(tree.free_tables[bits]), 0
        while index != 0:
            steps += 1
            if bits > LARGEST_TABLE or steps > tree.entries.size or index < 0:
                return True
            if index > tree.entries.size - (np.int64(1) << bits):
                return True
            index = np.int64(tree.entries[index])
    return False
