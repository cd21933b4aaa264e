"""Store a growing label tree: its nodes, the weights of their children, and arrays with spare capacity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit

ABOVE, ROOT = 0, 1  # Node 0 is the parent of the root, so that the root is a child like any other.
NONE = -1  # This number stands for a missing node or label.
SLOT = 8  # A slot has 8 float32 numbers. A slot, the unit of allocation, is a row of four siblings.
MOST_SLOTS = np.iinfo(np.uint32).max  # Half of a hash table entry stores the number of a slot.
SMALLEST_TABLE = 3  # A table has at least 2**3 entries, which fill a cache line.

# Indices in OnlineTree.counters.
N_NODES, SLOTS_USED, ENTRIES_USED, N_LEARNED, MARK, SELECTED, SELECTED_FOR = range(7)
NODES_WANTED, SLOTS_WANTED, ENTRIES_WANTED = range(7, 10)
N_COUNTERS = 10

# A node also describes the block of its children. A block has one row for each feature of the instances that reached
# the node. A row holds the weights of all children, then their sums of squared derivatives. The number of 4-byte fields
# is even, so that a stored node has no padding bytes of undefined content.
NODE = np.dtype(
    [
        ("parent", np.int32),
        ("label", np.int32),  # Label of a leaf, NONE for inner nodes.
        ("first_child", np.int32),
        ("last_child", np.int32),
        ("next_sibling", np.int32),
        ("column", np.int32),  # Column of this node in its parent's block.
        ("degree", np.int32),  # Number of children.
        ("leaf_children", np.int32),  # Number of children that are leaves.
        ("n_leaves", np.int32),  # Number of leaves below this node, 1 for a leaf.
        ("padded", np.int32),  # Number of columns in a row of the block, 0 if the node has no block.
        ("width", np.int32),  # Number of columns of the block that are in use.
        ("auxiliary", np.int32),  # This field is 1 if column 0 of the block is the node's auxiliary classifier, else 0.
        ("n_features", np.int32),  # Number of rows of the block, without the row of the constant feature.
        ("table_bits", np.int32),  # The block's table has 2**table_bits entries.
        ("bias", np.int64),  # Slot of the row of the constant feature.
        ("table", np.int64),  # Index of the first entry of the block's table.
        ("stamp", np.int64),  # Mark of the last instance for which the node was positive.
        ("head", np.int32),  # First child of this node that is positive for the marked instance.
        ("next_positive", np.int32),  # Next positive child of this node's parent.
    ],
    align=True,
)


class OnlineTree(NamedTuple):
    """Hold a tree as arrays for the kernels. The arrays have spare capacity, which `grown` extends.

    Attributes
    ----------
    nodes : NODE (capacity,)
        Nodes in the order of their creation.
    leaves : int32 (labels,)
        Leaf of each label, NONE for labels that no instance had.
    rows : float32 (capacity,)
        Rows of weights. Row s begins at ``SLOT * s``. Slot 0 means no row.
    entries : uint64 (capacity,)
        Hash tables, one per block. An entry has a feature in its upper half and the slot of the feature's row in its
        lower half. An entry of 0 is empty.
    free_rows : uint32 (64,)
        Entry b is the slot of the first free row for 2**b siblings. The first number of a free row encodes the slot of
        the next free row. 0 means that there is no free row.
    free_tables : int64 (64,)
        Entry b is the index of the first free table of 2**b entries. The first entry of a free table is the index of
        the next free table. 0 means that there is no free table.
    counters : int64 (N_COUNTERS,)
        Counts, marks and required capacities, at the indices ``N_NODES`` to ``ENTRIES_WANTED``.
    """

    nodes: np.ndarray
    leaves: np.ndarray
    rows: np.ndarray
    entries: np.ndarray
    free_rows: np.ndarray
    free_tables: np.ndarray
    counters: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """Return the labels of the instances learned so far, ascending, int64."""
        return np.flatnonzero(self.leaves != NONE)

    @property
    def n_instances(self) -> int:
        """Return the number of instances learned so far.

        Each pass over the same data counts all its instances again.
        """
        return int(self.counters[N_LEARNED])


class GrowthSettings(NamedTuple):
    """Hold the settings of a tree's growth and learning."""

    #: Whether the policy is "random" instead of "best_greedy".
    random: bool
    #: Whether the tree grows as in the authors' program.
    program: bool
    #: Whether only the classifiers that the policy needs are learned. If True, the resulting tree cannot predict.
    tree_only: bool
    #: Weight of the tree's balance in the score of the policy "best_greedy".
    alpha: float
    #: Whether the tree's balance is measured as printed in the paper.
    printed: bool
    #: b and b_max of the paper: the largest degree of inner nodes, and of nodes whose children are all leaves.
    arity: int
    max_leaf: int
    #: float32: AdaGrad's learning rate and epsilon.
    rate: np.float32
    eps: np.float32
    #: uint64: Stream of random numbers for the random policy.
    key: np.uint64


def empty_online_tree() -> OnlineTree:
    """Return an empty tree that has no root yet, but capacity for a root."""
    counters = np.zeros(N_COUNTERS, dtype=np.int64)
    counters[SLOTS_USED], counters[ENTRIES_USED], counters[SELECTED_FOR] = 2, 1 << SMALLEST_TABLE, NONE
    nodes, leaves = np.zeros(16, dtype=NODE), np.zeros(0, dtype=np.int32)
    rows, entries = np.zeros(64 * SLOT, dtype=np.float32), np.zeros(64, dtype=np.uint64)
    free_rows, free_tables = np.zeros(64, dtype=np.uint32), np.zeros(64, dtype=np.int64)
    return OnlineTree(nodes, leaves, rows, entries, free_rows, free_tables, counters)


@njit(cache=True, nogil=True)
def has_capacity(tree, nodes, slots, entries):
    """Return whether the arrays have space for the given numbers of additional nodes, slots and entries.

    Otherwise, store the required capacity for `grown`.
    """
    counters = tree.counters
    if (
        counters[N_NODES] + nodes <= tree.nodes.size
        and (counters[SLOTS_USED] + slots) * SLOT <= tree.rows.size
        and counters[ENTRIES_USED] + entries <= tree.entries.size
    ):
        return True
    counters[NODES_WANTED], counters[SLOTS_WANTED], counters[ENTRIES_WANTED] = nodes, slots, entries
    return False


def grown(tree: OnlineTree) -> OnlineTree:
    """Return the tree with at least the capacity that its counters require. The content of the tree does not change."""
    wanted = tree.counters[[NODES_WANTED, SLOTS_WANTED, ENTRIES_WANTED]].tolist()
    tree.counters[[NODES_WANTED, SLOTS_WANTED, ENTRIES_WANTED]] = 0
    return with_room(tree, *wanted)


def with_room(tree: OnlineTree, n_nodes: int, slots: int, entries: int) -> OnlineTree:
    """Return the tree with capacity for additional nodes, slots of rows, and entries of hash tables."""
    counters = tree.counters
    slots += int(counters[SLOTS_USED])
    if slots > MOST_SLOTS:
        raise XmlcError(f"OPLT: found more than {MOST_SLOTS * SLOT * 4 >> 30} GB of weights. Use fewer features.")
    return tree._replace(
        nodes=_longer(tree.nodes, int(counters[N_NODES]) + n_nodes, 1.5),
        rows=_longer(tree.rows, slots * SLOT, 1.25),
        entries=_longer(tree.entries, int(counters[ENTRIES_USED]) + entries, 1.25),
    )


def _longer(array: np.ndarray, size: int, factor: float) -> np.ndarray:
    """Return an array of at least ``size`` entries that begins with ``array``.

    All entries after the content of ``array`` are zero. An array that owns its memory grows in place. The operating
    system then moves the pages of the array without a second copy of the array in memory. Growth in place is safe,
    because kernels keep no view between calls and `OPLT` returns copies.
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
    """Return the tree with capacity for the labels ``0 .. n_labels - 1``."""
    more = n_labels - tree.leaves.size
    if more <= 0:
        return tree
    return tree._replace(leaves=np.concatenate((tree.leaves, np.full(more, NONE, dtype=np.int32))))


def trimmed_tree(tree: OnlineTree) -> OnlineTree:
    """Return the tree without spare capacity, as views of its arrays, for storage."""
    counters = tree.counters
    return tree._replace(
        nodes=tree.nodes[: counters[N_NODES]],
        rows=tree.rows[: counters[SLOTS_USED] * SLOT],
        entries=tree.entries[: counters[ENTRIES_USED]],
    )
