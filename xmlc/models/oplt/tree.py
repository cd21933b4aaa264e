"""A label tree that grows: its nodes, the rows of weights of their children, and arrays that grow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.errors import XmlcError

ABOVE, ROOT = 0, 1  # node 0 stands above the root, so that the root is a child like any other
NONE = -1  # no node, no label
SLOT = 8  # float32 in a slot, the unit in which rows are given out: a row of four siblings
MOST_SLOTS = np.iinfo(np.uint32).max  # half of an entry of a hash table
SMALLEST_TABLE = 3  # a table has at least 2**3 entries: a cache line

# Indices in OnlineTree.counters.
N_NODES, SLOTS_USED, ENTRIES_USED, N_LEARNED, MARK, SELECTED, SELECTED_FOR = range(7)
NODES_WANTED, SLOTS_WANTED, ENTRIES_WANTED = range(7, 10)
N_COUNTERS = 10

# A node, and with it the block of its children: one row for each feature that an instance which reached the node had,
# with the weights of all children side by side, their sums of squared derivatives behind them. There is an even number
# of 4-byte fields, so that no byte of a stored node is left to chance.
NODE = np.dtype(
    [
        ("parent", np.int32),
        ("label", np.int32),  # of a leaf, else NONE
        ("first_child", np.int32),
        ("last_child", np.int32),
        ("next_sibling", np.int32),
        ("column", np.int32),  # of this node in its parent's block
        ("degree", np.int32),  # children
        ("leaf_children", np.int32),  # of which leaves
        ("n_leaves", np.int32),  # below this node, itself included
        ("padded", np.int32),  # columns of a row of the block; 0: this node has none
        ("width", np.int32),  # of which used
        ("auxiliary", np.int32),  # 1: column 0 is the node's auxiliary classifier
        ("n_features", np.int32),  # rows of the block, without the one of the constant feature
        ("table_bits", np.int32),  # its table has 2**table_bits entries
        ("bias", np.int64),  # slot of the row of the constant feature
        ("table", np.int64),  # index of the table's first entry
        ("stamp", np.int64),  # the last mark: of the instance for which it was positive
        ("head", np.int32),  # then: its first positive child
        ("next_positive", np.int32),  # and its parent's next
    ],
    align=True,
)


class OnlineTree(NamedTuple):
    """The tree as kernels take it; the arrays have capacity to spare, `grown` gives more.

    Attributes
    ----------
    nodes : NODE (capacity,)
        Nodes in the order of their creation.
    leaves : int32 (labels,)
        Leaf of each label, NONE for one that was not seen.
    rows : float32 (capacity,)
        Rows of weights; row s begins at ``SLOT * s``. Slot 0 is none.
    entries : uint64 (capacity,)
        Hash tables, one for each block: a feature in the upper half, the slot of its row in the lower; 0 is empty.
    free_rows : uint32 (64,)
        First free row for 2**bits siblings, by bits; the bits of its first number are the next; 0 is none.
    free_tables : int64 (64,)
        First free table of each size in bits; its first entry is the next; 0 is none.
    counters : int64 (N_COUNTERS,)
    """

    nodes: np.ndarray
    leaves: np.ndarray
    rows: np.ndarray
    entries: np.ndarray
    free_rows: np.ndarray
    free_tables: np.ndarray
    counters: np.ndarray


class GrowthSettings(NamedTuple):
    """How a tree grows and learns."""

    #: Whether a new label descends to any child, instead of best-greedily.
    random: bool
    #: Whether the tree grows as the authors' program's.
    program: bool
    #: Whether only classifiers that a descent may ask are learned, so that the tree grows and there is no model.
    tree_only: bool
    #: Share of the tree's balance in best-greedy's score.
    alpha: float
    #: Whether balance is measured as the paper prints it.
    printed: bool
    #: b and b_max of the paper: the largest degree of an inner node, and of one whose children are leaves.
    arity: int
    max_leaf: int
    #: float32: AdaGrad's learning rate and epsilon.
    rate: np.float32
    eps: np.float32
    #: uint64: Random stream of the random policy.
    key: np.uint64


def empty_online_tree() -> OnlineTree:
    """Make an empty tree without even a root: it has room for one."""
    counters = np.zeros(N_COUNTERS, dtype=np.int64)
    counters[SLOTS_USED], counters[ENTRIES_USED], counters[SELECTED_FOR] = 2, 1 << SMALLEST_TABLE, NONE
    return OnlineTree(
        np.zeros(16, dtype=NODE),
        np.zeros(0, dtype=np.int32),
        np.zeros(64 * SLOT, dtype=np.float32),
        np.zeros(64, dtype=np.uint64),
        np.zeros(64, dtype=np.uint32),
        np.zeros(64, dtype=np.int64),
        counters,
    )


def grown(tree: OnlineTree) -> OnlineTree:
    """Return the tree with the capacity that its counters want, and some more; its content stays."""
    wanted = tree.counters[[NODES_WANTED, SLOTS_WANTED, ENTRIES_WANTED]].tolist()
    tree.counters[[NODES_WANTED, SLOTS_WANTED, ENTRIES_WANTED]] = 0
    return with_room(tree, *wanted)


def with_room(tree: OnlineTree, n_nodes: int, slots: int, entries: int) -> OnlineTree:
    """Return the tree with capacity for so many more nodes, slots of rows, and entries of hash tables."""
    counters = tree.counters
    slots += int(counters[SLOTS_USED])
    if slots > MOST_SLOTS:
        raise XmlcError(f"OPLT: more than {MOST_SLOTS * SLOT * 4 >> 30} GB of weights; give X fewer features")
    return tree._replace(
        nodes=_longer(tree.nodes, int(counters[N_NODES]) + n_nodes, 1.5),
        rows=_longer(tree.rows, slots * SLOT, 1.25),
        entries=_longer(tree.entries, int(counters[ENTRIES_USED]) + entries, 1.25),
    )


def _longer(array: np.ndarray, size: int, factor: float) -> np.ndarray:
    """Return an array of at least ``size`` entries that begins with ``array``; further entries are zero.

    An array that owns its memory grows in place, so that the system moves its pages and it need not fit twice: kernels
    keep no view between calls, and `OPLT` hands out copies.
    """
    if size <= array.size:
        return array
    size = max(size, int(array.size * factor))
    if array.flags.owndata and array.flags.writeable:
        array.resize(size, refcheck=False)
        return array
    longer = np.zeros(size, dtype=array.dtype)
    longer[: array.size] = array
    return longer


def with_labels(tree: OnlineTree, n_labels: int) -> OnlineTree:
    """Return the tree with capacity for labels below ``n_labels``."""
    more = n_labels - tree.leaves.size
    if more <= 0:
        return tree
    return tree._replace(leaves=np.concatenate((tree.leaves, np.full(more, NONE, dtype=np.int32))))


def trimmed(tree: OnlineTree) -> OnlineTree:
    """Return the tree without spare capacity, as it is stored: views of its arrays."""
    counters = tree.counters
    return tree._replace(
        nodes=tree.nodes[: counters[N_NODES]],
        rows=tree.rows[: counters[SLOTS_USED] * SLOT],
        entries=tree.entries[: counters[ENTRIES_USED]],
    )
