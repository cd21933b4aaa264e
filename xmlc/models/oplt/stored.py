"""Checks of a stored online tree, which keep kernels inside its arrays."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.indices import Malformed
from xmlc.kernels.stored import Field
from xmlc.models.oplt.rows import hash_table_of, row_size, slots_of
from xmlc.models.oplt.tree import (
    ABOVE,
    N_COUNTERS,
    N_LEARNED,
    N_NODES,
    NODE,
    NODES_WANTED,
    NONE,
    ROOT,
    SELECTED,
    SELECTED_FOR,
    SLOT,
    SLOTS_USED,
    SMALLEST_TABLE,
    OnlineTree,
)

LARGEST_TABLE = 40  # a table of 2**40 entries would take 8 TB
# fields of an `OnlineTree`. A model that cannot learn more has those of a `PLT`.
STORED = (
    Field("nodes", NODE, ("nodes",)),
    Field("leaves", np.int32, ("n_labels",), least=NONE, below="nodes"),
    Field("rows", np.float32, (f"{SLOT} * slots",)),
    Field("free_rows", np.uint32, (64,), below="slots"),
    Field("counters", np.int64, (N_COUNTERS,)),
)


def check_tree(tree: OnlineTree, n_features: int, program: bool = False) -> None:
    """Raise `Malformed` if a node, row, table or counter disagrees with the others."""
    nodes = tree.nodes
    n_nodes = nodes.size
    sizes = [n_nodes, tree.rows.size]
    counters = tree.counters.tolist()  # unlike integers of NumPy, these do not overflow
    if (
        [counters[N_NODES], counters[SLOTS_USED] * SLOT] != sizes
        or not 0 <= counters[SELECTED] < n_nodes
        or not max(counters[SELECTED_FOR], 0) <= counters[N_LEARNED]
        or any(counters[NODES_WANTED:])
    ):
        raise Malformed(
            "counters", f"found {counters}, expected counts of {sizes} nodes and numbers in rows"
        )
    parent = nodes["parent"]
    if (
        n_nodes < 2
        or parent[ABOVE] != NONE
        or not ((parent[1:] >= 0) & (parent[1:] < n_nodes)).all()
    ):
        raise Malformed("nodes", "found a parent that is no node")
    if np.flatnonzero(parent == ABOVE).tolist() != [ROOT] or nodes["auxiliary"][ABOVE] != 0:
        raise Malformed("nodes", "found a tree with another root")
    used = np.zeros(tree.rows.size // SLOT, dtype=np.bool_)
    faulty = faulty_links(tree, program) | ~blocks_fit(tree, n_features, used)
    if faulty.any():
        message = (
            f"found node {faulty.argmax()} in disagreement with its children or its block of "
            "weights"
        )
        raise Malformed("nodes", message)
    selected = nodes[counters[SELECTED]]
    if (
        counters[SELECTED_FOR] == counters[N_LEARNED]
        and selected["auxiliary"] == 0
        and selected["leaf_children"] != 1
    ):
        raise Malformed(
            "counters", f"found node {counters[SELECTED]} selected, which no label extends"
        )
    if not free_rows_fit(tree, used):
        raise Malformed("free_rows", "found a free row that is in use or lies outside of the rows")


def faulty_links(tree: OnlineTree, program: bool) -> np.ndarray:
    """Return which nodes have links or counts that do not follow from parents and labels."""
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
    for name in (
        "next_sibling",
        "first_child",
        "last_child",
        "degree",
        "leaf_children",
        "n_leaves",
    ):
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
    # the policy neither descends from such a node nor to it
    is_end = (degree == 0) & (nodes["auxiliary"] == 0)
    faulty[1:] |= is_end[1:] & (nodes["auxiliary"][parent[1:]] == 0)
    if not program:  # the policy goes on to the only leaf among the children of a node
        is_bare = is_end & (parent != ABOVE)
        faulty |= is_bare & (
            (nodes["leaf_children"][parent] < degree[parent]) | (degree[parent] == 1)
        )
    return faulty


@njit
def blocks_fit(tree, n_features, used):
    """Return which nodes have a correct table with an empty entry and share no slots, which are
    marked in ``used``.

    A node without children and auxiliary classifier needs no block.
    """
    fits = np.zeros(tree.nodes.size, dtype=np.bool_)
    widest = row_size(tree.leaves.size + 1)  # as in `empty_row_scratch`
    for v in range(tree.nodes.size):
        node = tree.nodes[v]
        padded = np.int64(node.padded)
        bits = np.int64(node.table_bits)
        if padded == 0:
            fits[v] = node.degree == 0 and node.auxiliary == 0
            continue
        if (
            padded < 4
            or padded > widest
            or padded & (padded - 1) != 0
            or node.width < 0
            or node.width > padded
        ):
            continue
        if node.auxiliary not in (0, 1) or bits < SMALLEST_TABLE or bits > LARGEST_TABLE:
            continue
        if not use_slots(used, node.bias, padded) or not use_slots(
            used, node.table, np.int64(1) << bits
        ):
            continue
        table = hash_table_of(tree, v)
        n_filled = 0
        is_inside = True
        for entry in table:
            if entry != 0:
                is_inside &= use_slots(used, np.int64(entry & np.uint64(0xFFFFFFFF)), padded)
                is_inside &= np.int64(entry >> np.uint64(32)) < n_features
                n_filled += 1
        fits[v] = is_inside and n_filled == node.n_features and n_filled < table.size
    return fits


@njit
def use_slots(used, slot, padded):
    """Mark the slots of a row, and return whether they exist and were not in use."""
    size = slots_of(padded)
    if slot < 1 or slot > used.size - size:
        return False
    is_free = True
    for place in range(slot, slot + size):
        is_free &= not used[place]
        used[place] = True
    return is_free


@njit
def free_rows_fit(tree, used):
    """Return whether the free rows exist and overlap neither one another nor the ``used`` slots."""
    links = tree.rows.view(np.uint32)
    for kind in range(tree.free_rows.size):
        slot = np.int64(tree.free_rows[kind])
        while slot != 0:  # each step marks slots, so that the loop ends
            if kind < 2 or kind > LARGEST_TABLE or not use_slots(used, slot, np.int64(1) << kind):
                return False
            slot = np.int64(links[slot * SLOT])
    return True
