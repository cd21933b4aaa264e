"""What proves that a stored online tree is what its kernels take it for: its nodes, and their rows and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from xmlc.gate.fields import Malformed, check_below, field_of
from xmlc.models.oplt._freeze import breadth_first
from xmlc.models.oplt._policy import COMPLETE, CPET, ONE_LEVEL
from xmlc.models.oplt._robin_hood import is_findable
from xmlc.models.oplt._rows import slots_of
from xmlc.models.oplt.tree import (
    ABOVE,
    ENTRIES_USED,
    MARK,
    N_COUNTERS,
    N_LEARNED,
    N_NODES,
    NODE,
    NONE,
    ROOT,
    SELECTED,
    SELECTED_FOR,
    SLOT,
    SLOTS_USED,
    SMALLEST_TABLE,
    OnlineTree,
    Settings,
)
from xmlc.runtime.kernel_cache import njit

MOST_TABLE_BITS = 40
UNIT = 1 << SMALLEST_TABLE  # entries; tables start at multiples of it
FIRST_SLOT = 2  # the slots before it are never given out
# What `first_fault` finds: the array, and what is wrong there.
FAULTS = (
    ("", ""),
    ("nodes", "the row of its constant feature is beyond the rows, or another's"),
    ("nodes", "its table is beyond the entries, or another's"),
    ("entries", "a table has a feature that is none of the model's"),
    ("entries", "a table names a row beyond the rows, or another's"),
    (
        "entries",
        "an entry of a table stands where no search finds it: too far from its home, or behind one of the same feature",
    ),
    ("entries", "a table does not have as many features as its node says"),
    ("free_rows", "a free row is beyond the rows, or in use"),
    ("free_tables", "a free table is beyond the entries, or in use"),
)
BIAS, TABLE, FEATURE, ROW, ORDER, COUNT, FREE_ROW, FREE_TABLE = range(1, len(FAULTS))


def proven_tree(arrays: Mapping[str, np.ndarray], n_features: int, n_labels: int) -> OnlineTree:
    """Return a stored tree, every index of which has been proven: one pass over nodes and entries.

    Weights are numbers of any value. A search through the rows, which are most of a model, is not made: of them only
    the links of free ones are read.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        The fields of an `OnlineTree` without spare capacity, and without ``links``, which stand in free rows.
    n_features, n_labels : int
        Of the model.

    Raises
    ------
    Malformed
    """
    nodes = field_of(arrays, "nodes", NODE, (None,))
    leaves = field_of(arrays, "leaves", np.int32, (n_labels,))
    counters = field_of(arrays, "counters", np.int64, (N_COUNTERS,))
    entries = field_of(arrays, "entries", np.uint64, (int(counters[ENTRIES_USED]),))
    rows = field_of(arrays, "rows", np.float32, (int(counters[SLOTS_USED]) * SLOT,))  # int: no overflow
    free_rows = field_of(arrays, "free_rows", np.uint32, (None,))
    free_tables = field_of(arrays, "free_tables", np.int64, (64,))
    expected = sorted(field for field in OnlineTree._fields if field != "links")
    if sorted(arrays) != expected:
        raise Malformed("model.json", f"arrays are {sorted(arrays)}, expected {expected}")
    if not ROOT < nodes.size == counters[N_NODES] <= np.iinfo(np.int32).max:
        raise Malformed("nodes", f"are {nodes.size}, expected {counters[N_NODES]}, as counted, and at least 2")
    _check_counters(counters, nodes)
    _check_links(nodes)
    _check_labels(nodes, leaves)
    _check_sums(nodes)
    _check_columns(nodes, free_rows.size - 1)
    links = np.zeros(rows.size // SLOT, dtype=np.uint32)
    tree = OnlineTree(nodes, leaves, rows, entries, free_rows, links, free_tables, counters)
    fault, place = first_fault(tree, n_features)
    if fault:
        field, what = FAULTS[fault]
        of = f"of size {place}: " if field.startswith("free") else f"node {place}: "
        raise Malformed(field, of + what)
    return tree


def _check_counters(counters: np.ndarray, nodes: np.ndarray) -> None:
    check_below(counters[[N_LEARNED, MARK]], "counters", 1 << 62)  # they do not overflow
    check_below(counters[[SELECTED]], "counters", nodes.size)
    check_below(counters[[SELECTED_FOR]], "counters", int(counters[N_LEARNED]), least=NONE)
    check_below(nodes["stamp"], "nodes", int(counters[MARK]) + 1, least=NONE)


def _check_links(nodes: np.ndarray) -> None:
    """Prove that each node but the one above the root is reached once, among the children of its parent."""
    parent, first, following = (nodes[name].astype(np.int64) for name in ("parent", "first_child", "next_sibling"))
    _expect("the parents of the first two", parent[: ROOT + 1], [NONE, ABOVE])
    check_below(parent[ROOT:], "nodes", nodes.size)
    check_below(np.concatenate((first, following)), "nodes", nodes.size, least=NONE)
    with_first, with_next = np.flatnonzero(first != NONE), np.flatnonzero(following != NONE)
    linked = np.concatenate((first[with_first], following[with_next]))
    _expect("the times that a node is a child", np.bincount(linked, minlength=nodes.size), np.arange(nodes.size) > 0)
    _expect("the parents of first children", parent[first[with_first]], with_first)
    _expect("the parents of next siblings", parent[following[with_next]], parent[with_next])
    if (following[with_next] <= with_next).any():  # children are appended as they are created: no chain is a circle
        raise Malformed("nodes", "a next sibling is older")
    parent[ABOVE] = ABOVE
    ancestors = parent
    for _ in range(nodes.size.bit_length()):  # twice as far up each time
        ancestors = ancestors[ancestors]
        if not ancestors.any():
            break
    _expect("what stands above all", ancestors, np.full(nodes.size, ABOVE))
    last, ends = np.full(nodes.size, NONE), np.flatnonzero(following[ROOT:] == NONE) + ROOT
    last[parent[ends]] = ends
    _expect("last children", nodes["last_child"], last)
    _expect("degrees", nodes["degree"], np.bincount(parent[ROOT:], minlength=nodes.size))
    _expect("roots", nodes["degree"][:ROOT], [1])


def _check_labels(nodes: np.ndarray, leaves: np.ndarray) -> None:
    """Prove that each label seen has one leaf, and each leaf a label; a root that stands alone may have none."""
    label, is_leaf = nodes["label"].astype(np.int64), nodes["degree"] == 0
    check_below(leaves, "leaves", nodes.size, least=NONE)
    check_below(label, "nodes", leaves.size, least=NONE)
    is_leaf[ROOT] &= nodes.size > ROOT + 1 or label[ROOT] != NONE
    _expect("leaves with a label", label != NONE, is_leaf)
    seen = np.flatnonzero(leaves != NONE)
    _expect("leaves of labels", [seen.size], [np.count_nonzero(is_leaf)])
    _expect("labels of leaves", label[leaves[seen]], seen)


def _check_sums(nodes: np.ndarray) -> None:
    """Prove what nodes say of all nodes below them."""
    parent, has_label, bound = nodes["parent"][ROOT:], nodes["label"] != NONE, nodes["bound"]
    below = np.bincount(parent, weights=nodes["n_leaves"][ROOT:], minlength=nodes.size)
    _expect("leaves below", nodes["n_leaves"], has_label + below)
    _expect("leaf children", nodes["leaf_children"], np.bincount(parent[has_label[ROOT:]], minlength=nodes.size))
    if not ((bound >= 0) & (bound <= 1)).all():
        raise Malformed("nodes", "a threshold is not in 0 .. 1")
    smallest = np.full(nodes.size, np.inf, dtype=np.float32)
    np.minimum.at(smallest, parent, bound[ROOT:])
    _expect("smallest thresholds", bound, np.where(nodes["degree"] > 0, smallest, bound))


def _check_columns(nodes: np.ndarray, largest_row: int) -> None:
    """Prove that each child has a column of its parent's rows to itself, and that rows are as wide as can be used."""
    names = ("degree", "width", "auxiliary", "padded", "table_bits", "n_features")
    degree, width, auxiliary, padded, bits, n_features = (nodes[name].astype(np.int64) for name in names)
    check_below(auxiliary, "nodes", 2)
    _expect("columns", width, degree + auxiliary)
    fits = (padded == 4) | (padded == 8) | ((padded > 0) & (padded % 16 == 0))
    fits &= (width <= padded) & (padded // 4 <= largest_row)
    fits |= (padded == 0) & (width == 0) & (n_features == 0)
    _expect("nodes whose rows are as wide as their columns take", fits, np.ones(nodes.size))
    check_below(n_features, "nodes", np.iinfo(np.int32).max)
    check_below(bits[padded > 0], "nodes", MOST_TABLE_BITS + 1, least=SMALLEST_TABLE)
    if (8 * n_features > 7 << bits)[padded > 0].any():
        raise Malformed("nodes", "a table is more than seven eighths full")
    parent = nodes["parent"][ROOT:].astype(np.int64)
    own = nodes["column"][ROOT:] - auxiliary[parent]
    if not ((own >= 0) & (own < degree[parent])).all():
        raise Malformed("nodes", "a child has no column")
    places = (np.cumsum(degree) - degree)[parent] + own
    _expect("children for a column", np.bincount(places, minlength=places.size), np.ones(places.size))


def _expect(what: str, found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    if not np.array_equal(found, expected):
        at = int(np.argmax(found != expected))
        raise Malformed("nodes", f"{what}: entry {at} is {found[at]}, expected {expected[at]}")


def check_extendable(tree: OnlineTree, settings: Settings) -> None:
    """Prove that a policy can extend a tree: that what it may extend has auxiliary classifiers, or is where it looks.

    Raises
    ------
    Malformed
        The tree was grown by another policy or with another arity.
    """
    nodes = tree.nodes[ROOT:]
    degree, leaf_children, parent = (nodes[name].astype(np.int64) for name in ("degree", "leaf_children", "parent"))
    parent[0] = ROOT
    degree_above, leaves_above = (tree.nodes[name][parent] for name in ("degree", "leaf_children"))
    if settings.policy in (COMPLETE, CPET):
        inner, leaf = (degree < settings.arity) & (settings.policy == COMPLETE), np.ones(degree.size, dtype=bool)
    elif settings.policy == ONE_LEVEL:
        inner, leaf = np.arange(degree.size) == 0, np.zeros(degree.size, dtype=bool)
    else:
        inner, leaf = (leaf_children == degree) | (degree < settings.arity), leaves_above < degree_above
    leaf[0] = True  # the root while it is a leaf
    missing = np.where(degree > 0, inner, leaf) & (nodes["auxiliary"] == 0)
    if missing.any() or (settings.policy == COMPLETE and not _is_complete(tree, settings.arity)):
        raise Malformed("model.json", "hyperparameters are of another policy, or other degrees, than the tree's")


def _is_complete(tree: OnlineTree, arity: int) -> bool:
    """Tell whether nodes are filled level by level from the left, each with ``arity`` children but the last."""
    children = breadth_first(tree)[1]
    n = children.size - 1
    expected = np.minimum(arity * np.arange(n + 1, dtype=np.float64) + 1, n)
    return bool(np.array_equal(children, expected) and (np.diff(children) != 1).all())


@njit(cache=True, nogil=True)
def first_fault(tree, n_features):
    """Find what is wrong with the rows and tables of a tree whose nodes are proven; see `FAULTS`.

    Each row and each table in use or free is within the buffers and has its place to itself, and `find_slot` finds
    each feature of a table. One pass over the entries; a byte for each slot. Writes the ``links`` of free rows.

    Returns
    -------
    fault : int
        0: none.
    place : int
        The node; of what is free, the size of the list.
    """
    slots = np.zeros(tree.rows.size // SLOT, dtype=np.bool_)
    units = np.zeros(tree.entries.size // UNIT, dtype=np.bool_)
    slots[:FIRST_SLOT] = units[:1] = True
    for v in range(tree.nodes.size):
        node = tree.nodes[v]
        if node.padded == 0:
            continue
        size, n_entries = slots_of(np.int64(node.padded)), np.int64(1) << node.table_bits
        if not claimed(slots, np.int64(node.bias), size):
            return BIAS, v
        if node.table % UNIT != 0 or not claimed(units, node.table // UNIT, n_entries // UNIT):
            return TABLE, v
        table = tree.entries[node.table : node.table + n_entries]
        fault = fault_of_table(table, node.table_bits, slots, size, n_features, node.n_features)
        if fault != 0:
            return fault, v
    stored_links = tree.rows.view(np.uint32)
    for size in range(tree.free_rows.size):
        slot = np.int64(tree.free_rows[size])
        while slot != 0:
            if size == 0 or not claimed(slots, slot, size):
                return FREE_ROW, size
            tree.links[slot] = stored_links[slot * SLOT]
            slot = np.int64(tree.links[slot])
    for bits in range(tree.free_tables.size):
        index = tree.free_tables[bits]
        while index != 0:
            fits = SMALLEST_TABLE <= bits <= MOST_TABLE_BITS and index % UNIT == 0
            if not fits or not claimed(units, index // UNIT, (np.int64(1) << bits) // UNIT):
                return FREE_TABLE, bits
            index = np.int64(tree.entries[index])
    return 0, 0


@njit(cache=True, nogil=True)
def claimed(taken, start, size):
    """Take places that must be there and must not be taken yet; tell whether that is so."""
    if start < 0 or start > taken.size - size:
        return False
    free = True
    for place in range(start, start + size):
        free &= not taken[place]
        taken[place] = True
    return free


@njit(cache=True, nogil=True)
def fault_of_table(table, bits, slots, size, n_features, expected):
    """Find what is wrong with one table and the rows of ``size`` slots that it names; 0: nothing."""
    count = 0
    for index in range(table.size):
        entry = table[index]
        if entry == 0:
            continue
        count += 1
        feature = np.int64(entry >> np.uint64(32))
        if feature >= n_features:
            return FEATURE
        if not claimed(slots, np.int64(entry & np.uint64(0xFFFFFFFF)), size):
            return ROW
        if not is_findable(table, bits, index):
            return ORDER
    return 0 if count == expected else COUNT
